"""`equipoise jamfold3`: figures, picture, and one sentence for bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.cards.threeway import table
from equipoise.cli import app
from equipoise.cli.study import jamfold3
from equipoise.errors import EquipoiseError

runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})


def test_figures_and_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(jamfold3, "_TARGET_PCT", 0.05)
    picture = tmp_path / "charts.png"
    words = ["jamfold3", "--stacks", "6,6,6", "--plot", str(picture)]
    told = json.loads(runner.invoke(app, [*words, "--json"], catch_exceptions=False).stdout)
    assert told["prizes"] == [50, 30, 20]
    assert sum(told["ev"]) == pytest.approx(100, abs=1e-4)
    assert set(told["ranges_pct"]) == {
        "b_jam", "sb_jam", "sb_call", "bb_v_sb", "bb_v_b", "bb_overcall",
    }  # fmt: skip
    assert told["epsilon_pct_prizes"] <= 0.05
    assert told["error"] > 0
    assert picture.stat().st_size > 10_000


def test_chips_with_a_folding_button_as_a_table(monkeypatch):
    monkeypatch.setattr(jamfold3, "_TARGET_CHIPS", 0.01)
    words = ["jamfold3", "--stacks", "5,5,5", "--chips", "--button-folds"]
    shown = runner.invoke(app, words, catch_exceptions=False).stdout
    assert "net big blinds" in shown
    assert "small blind jams" in shown


def test_a_whole_tournament():
    words = ["jamfold3", "--stacks", "12,10,8", "--tournament", "--grid", "3"]
    run = runner.invoke(app, [*words, "--json"], catch_exceptions=False)
    told = json.loads(run.stdout)
    assert sum(told["ev"]) == pytest.approx(100, abs=1e-3)
    assert 0 <= told["epsilon_pct_prizes"] <= 0.01
    whole = told["tournament"]
    assert (whole["points"], whole["step_bb"], whole["settled"]) == (3, 10, True)
    assert sum(whole["icm"]) == pytest.approx(100)
    assert "3 stacks on a grid of 10 big blinds" in run.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--stacks", "10,10"), "three numbers"),
        (("--stacks", "10,10,x"), "three numbers"),
        (("--stacks", "10,10,0.5"), "at least 1"),
        (("--prizes", "20,30,50"), "prizes fall"),
        (("--prizes", "50,30,20", "--chips"), "choose one"),
        (("--rebuild",), "--output"),
        (("--rebuild", "--output", "new.npz", "--samples", "0"), "--samples"),
        (("--tournament", "--chips"), "for prizes"),
        (("--tournament", "--grid", "31"), "at most 30 steps"),
    ],
)
def test_bad_input_is_one_sentence(words, why):
    with pytest.raises(EquipoiseError, match=why):
        runner.invoke(app, ["jamfold3", *words], catch_exceptions=False)


def test_a_table_is_sampled_anew_and_samples_are_joined(tmp_path, monkeypatch):
    """Raking takes its time whatever the sample: here it is left out."""
    counted = []

    def raked(counts):
        counted.append(counts.astype(np.int64))
        return (counts + 1.0) / (counts + 1.0).sum(axis=1)[:, None]

    monkeypatch.setattr(table, "_raked", raked)
    for seed, samples in ((3, 1), (4, 1), (3, 2)):
        file = tmp_path / f"small-{seed}-{samples}.npz"
        words = ["jamfold3", "--rebuild", "--output", str(file), "--deals", "250", "--json"]
        words += ["--seed", str(seed), "--samples", str(samples)]
        told = json.loads(runner.invoke(app, words, catch_exceptions=False).stdout)
        assert told["samples"] == samples * 250 * 364
        assert table.load(file).samples == samples * 250 * 364
    assert told["seeds"] == [3, 4]
    one, other, both = counted
    assert np.array_equal(one + other, both)
