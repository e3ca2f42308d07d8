"""Translation, purification and thresholding reproduced, and post-processing on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from printing import printed
from tinyrecipe import TINY
from typer.testing import CliRunner

from equipoise.agents.blueprint import files as blueprintfiles
from equipoise.bench.reports import purification_report, thresholding_report, translation_report
from equipoise.bench.reproduce import purification, thresholding, translation
from equipoise.cli import app


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few stacks and few games, and no blueprint that could play matches."""
    monkeypatch.setattr(blueprintfiles, "places", lambda name: [])
    monkeypatch.setattr(translation, "CLAIRVOYANCE_STACKS", (3, 5))
    monkeypatch.setattr(translation, "QUICK_SETTINGS", translation.SETTINGS[:1])
    monkeypatch.setattr(translation, "_DCFR_ITERATIONS", 2000)
    monkeypatch.setattr(purification, "QUICK_GAMES", 6000)
    monkeypatch.setattr(purification, "_AT_A_TIME", 2500)
    monkeypatch.setattr(purification, "ITERATIONS", (10, 100))


def invoke(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_translation(little: None, tmp_path: Path) -> None:
    picture = tmp_path / "mappings.png"
    words = ("reproduce", "translation", "--quick")
    data = json.loads(invoke(*words, "--json", "--plot", str(picture)))
    for row in data["clairvoyance"]:
        assert row["caller_loses_pots"] == pytest.approx(row["expected"], abs=0.0051)
    (kuhn,) = data["small_games"]
    for solver, told in kuhn["solved_by"].items():
        assert told["exploitability_in_abstraction_pots"] < 1e-5, solver
        means = {name: lost["mean"] for name, lost in told["loses_pots"].items()}
        assert min(means, key=means.__getitem__) == "pseudo-harmonic"
        assert max(means, key=means.__getitem__) == "arithmetic-deterministic"
    # 5/42 of a chip, the pot being ten.
    assert kuhn["value_pots"] == pytest.approx(1 / 84)
    assert picture.stat().st_size > 10_000
    shown = printed(translation_report.report(data))
    missing = ("no matches were played", "equipoise train quick")
    for expected in ("figure 2: 0.01 to 1", "0.238 (0.24)", "kuhn 100%,a", *missing):
        assert expected in shown


def test_figures_cross_where_the_documents_say() -> None:
    assert translation.even_size("geometric-1", 0.01, 1) == pytest.approx(0.1)
    assert translation.even_size("arithmetic", 0.01, 1) == pytest.approx(0.505)
    assert translation.even_size("pseudo-harmonic-deterministic", 0.01, 1) == pytest.approx(
        1.03 / 3.01
    )


def test_purification(little: None, tmp_path: Path) -> None:
    picture = tmp_path / "supports.png"
    words = ("reproduce", "purification", "--quick")
    data = json.loads(invoke(*words, "--json", "--plot", str(picture)))
    games = data["matrix_games"]
    rows = games["by_support"]
    assert sum(row["games"] for row in rows) == 6000 == games["all"]["games"]
    assert sum(row["games"] for row in games["by_detail"]) == 6000
    total = sum(row["gain"] * row["share"] for row in rows)
    assert total == pytest.approx(games["all"]["gain"])
    full = {row["support"]: row for row in rows}[4]
    assert full["verdict"] == "no change"
    assert full["raw"] == pytest.approx(full["pure"])
    assert all(row["raw_lost"] > 0 for row in rows)
    late = data["leduc"]["rows"][-1]["exploitability_mbb"]
    assert late["raw"] < late["threshold 0.05"] < late["purify"]
    assert picture.stat().st_size > 10_000
    assert "Purification" in printed(purification_report.report(data))


def test_purification_helps_against_the_equilibrium() -> None:
    games = purification.matrix_games(60_000, seed=3)["all"]
    # From 3,000,000 games: raw -.0547, purified -.0507, better in 17.4 % and worse in 11.4 %.
    assert games["verdict"] == "improves"
    assert games["raw"] == pytest.approx(-0.0547, abs=2.5 * games["raw_ci95"])
    assert games["pure"] == pytest.approx(-0.0507, abs=2.5 * games["pure_ci95"])
    assert games["better"] == pytest.approx(0.174, abs=2.5 * games["better_ci95"])
    assert games["worse"] == pytest.approx(0.114, abs=2.5 * games["worse_ci95"])


def test_the_same_seed_gives_the_same_games() -> None:
    first, again, other = (purification.matrix_games(500, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_exploitability_before_and_after_on_any_game() -> None:
    words = ("game", "kuhn", "--solver", "cfr+,dcfr", "--iterations", "200")
    after = ("--postprocess", "purify", "--postprocess", "raw/threshold 0.1")
    for run in json.loads(invoke(*words, *after, "--json"))["runs"]:
        pure, first_round_raw = run["postprocessed"]
        assert pure["postprocess"] == "purify"
        assert pure["exploitability_chips"] > 10 * run["exploitability_chips"]
        assert first_round_raw["exploitability_chips"] == pytest.approx(
            run["exploitability_chips"], abs=1e-12
        )
    assert "raw/threshold 0.1" in invoke(*words, *after)


def test_a_rule_that_does_not_exist_is_refused_before_solving() -> None:
    result = CliRunner().invoke(app, ["game", "kuhn", "--postprocess", "pure"])
    assert "use one of raw" in str(result.exception)


def test_thresholds_of_a_limit_strategy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recipe = tmp_path / "small.toml"
    limit = TINY.replace('game = "nolimit"\nstack = 1000', 'game = "limit"')
    recipe.write_text(limit.replace('bets = "100%,a"', 'bets = "a"'))
    monkeypatch.setattr(thresholding, "RECIPE", str(recipe))
    monkeypatch.setattr(thresholding, "QUICK_ITERATIONS", (3, 200))
    picture = tmp_path / "thresholds.png"
    words = ("reproduce", "thresholding", "--quick", "--json", "--plot", str(picture))
    data = json.loads(invoke(*words))
    early, late = data["rows"]
    assert data["rules"][0] == "raw"
    assert data["rules"][-1] == "purify"
    assert all(set(row["exploitability_mbb"]) == set(data["rules"]) for row in (early, late))
    assert late["exploitability_mbb"]["raw"] < early["exploitability_mbb"]["raw"]
    # Near the equilibrium every threshold takes part of it away.
    found = [late["exploitability_mbb"][rule] for rule in data["rules"]]
    assert found[0] < found[-2] < found[-1]
    assert late["best"] == min(late["exploitability_mbb"], key=late["exploitability_mbb"].get)
    assert picture.stat().st_size > 10_000
    assert "exploitability in its abstraction" in printed(thresholding_report.report(data))
