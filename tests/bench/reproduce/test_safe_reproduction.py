"""The reproduction of safe exploitation, with so few opponents that a test can afford it."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from equipoise.bench.reproduce import safe
from equipoise.cli import app


def test_figures_report_and_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(safe, "QUICK_OPPONENTS", 1)
    monkeypatch.setattr(safe, "QUICK_HANDS", 8)
    monkeypatch.setattr(safe, "CURVES", ((1, "raise"),))
    picture = tmp_path / "curves.png"
    words = ["reproduce", "safe", "--quick", "--json", "--plot", str(picture)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    data = json.loads(done.stdout)
    assert len(data["repeated"]["rows"]) == 20
    assert data["repeated"]["most_risked_above_gift_chips"] <= 1e-6
    assert data["repeated"]["least_gift_chips"] >= -1e-5
    claims = data["repeated"]["claims"]
    assert claims["no_more_risked_than_given"]
    assert claims["safe_rules_keep_the_value"]
    assert [row["rule"] for row in data["repeated"]["differences"]] == [
        *("RWYWE", "BEFFE", "RWYWE", "best equilibrium"),
    ]
    (curve,) = data["curves"]
    assert curve["wins_chips"][0] < curve["wins_chips"][-1]
    assert picture.stat().st_size > 5000
    shown = CliRunner().invoke(app, words[:3], catch_exceptions=False).stdout
    assert "RWYWE" in shown
    assert "Value of the game -0.0556" in shown
    assert "holds" in shown


def test_claims_fall_when_figures_do():
    means = {rule: {"random": [0.0, 0.2]} for rule in safe.RULES}
    means["BEFFE"]["random"] = [0.1, 0.1]
    level = safe._difference("random", "RWYWE", "BEFFE", means)
    assert (level["chips"], round(level["standard_error"], 12)) == (0.0, 0.1)
    rows = [
        {"rule": "RWYWE", "against": "random", "chips": 0.1},
        {"rule": "best response", "against": "dynamic", "chips": -0.2},
    ]
    ahead = level | {"chips": 0.01}
    assert all(safe.claims(0.0, rows, [ahead], 1e-7, -1e-7).values())
    assert not safe.claims(0.0, rows, [level], 0, 0)["rules_stand_in_order"]
    assert not safe.claims(0.0, rows, [ahead], 1e-5, 0)["no_more_risked_than_given"]
    assert not safe.claims(0.0, rows, [ahead], 0, -1e-4)["no_more_risked_than_given"]
    fallen = safe.claims(0.15, rows, [ahead], 0, 0)
    assert not fallen["safe_rules_keep_the_value"]
    assert not safe.claims(-0.3, rows, [ahead], 0, 0)["best_response_below_value"]
