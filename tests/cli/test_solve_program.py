"""`equipoise solve --solver lp`: figures, and what does not go with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equipoise.cli import app

TOML = """
board = "Td 9d 6h Qc 2s"
pot = 100
stack = 200

[ranges]
oop = "KJ,AQ,TT,55,A5s"
ip = "QJ,99,AT,KK:0.5,87s"

[menu]
bets = "50%,a"
"""
runner = CliRunner()


@pytest.fixture
def spot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "river.toml"
    path.write_text(TOML)
    return str(path)


def test_the_exact_river_and_its_buckets(spot: str) -> None:
    told = [
        json.loads(runner.invoke(app, ["solve", spot, "--solver", "lp", "--json", *more]).stdout)
        for more in ([], ["--buckets", "4", "--bucketing", "width", "--tremble", "1e-3"])
    ]
    exact, coarse = told
    assert abs(exact["exploitability_pct_pot"]) < 1e-4 < coarse["exploitability_pct_pot"]
    assert exact["ev_oop_chips"] == pytest.approx(exact["program_ev_oop_chips"], abs=1e-3)
    assert (coarse["buckets"], coarse["bucketing"], coarse["tremble"]) == (4, "width", 1e-3)
    assert max(coarse["states_oop"], coarse["states_ip"]) <= 4
    shown = runner.invoke(app, ["solve", spot, "--solver", "lp"])
    assert "linear program" in shown.stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--buckets", "8"], "add --solver lp"),
        (["--solver", "lpp"], "--solver"),
        (["--solver", "lp", "--bucketing", "depth"], "--bucketing"),
        (["--solver", "lp", "--buckets", "0"], "--buckets"),
        (["--solver", "lp", "--tremble", "0.5"], "--tremble"),
        (["--solver", "lp", "--seconds", "3"], "at once"),
        (["--solver", "lp", "--lock", "check: check=1"], "no locks"),
    ],
)
def test_what_does_not_go_together_is_a_sentence(spot: str, words: list[str], why: str) -> None:
    done = runner.invoke(app, ["solve", spot, *words])
    assert done.exit_code == 2 or why in str(done.exception)
    assert why in done.output + done.stderr + str(done.exception)
