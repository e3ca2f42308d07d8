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
    (curve,) = data["curves"]
    assert curve["wins_chips"][0] < curve["wins_chips"][-1]
    assert picture.stat().st_size > 5000
    shown = CliRunner().invoke(app, words[:3], catch_exceptions=False).stdout
    assert "RWYWE" in shown
    assert "Value of the game -0.0556" in shown
