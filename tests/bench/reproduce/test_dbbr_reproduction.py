"""The reproduction of DBBR: its report and picture from figures that are given, and its rows from play."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from tinyblueprint import tiny
from typer.testing import CliRunner

from equipoise.agents.exploiting import dbbr as table
from equipoise.bench.reproduce import dbbr
from equipoise.cli import app
from equipoise.solve.training.recipe import Model


def test_rows_report_and_picture(monkeypatch, tmp_path):
    # Features of INOT's buckets on all boards take a minute, and nothing is played with them here.
    two = tiny(limit=True)
    two = replace(two, recipe=replace(two.recipe, model=Model(kind="independent"), solver="cfr+"))
    monkeypatch.setattr(table, "EQUILIBRIA", {True: two})
    lucky = np.random.default_rng(0).normal(0, 10, 40)

    def played(agent, opponent, rules, hands, seed):
        return lucky[:hands] + (5.0 if agent.watch == 1000 else 0.0)

    monkeypatch.setattr(dbbr, "_payoffs", played)
    monkeypatch.setattr(dbbr, "OPPONENTS", {"limit": ("call", "bucket")})
    told = iter([-6.0, -7.0])

    def watched(game, seed):
        return {"exploitability_mbb": 0.003, "won_mbb": {"1000": next(told), "2000": -4.0}}

    monkeypatch.setattr(dbbr, "watched", watched)
    monkeypatch.setattr(dbbr, "RUNS", 2)
    monkeypatch.setattr(dbbr, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(dbbr.run, "__defaults__", (None, ("limit",)))
    picture = tmp_path / "learning.png"
    words = ["reproduce", "dbbr", "--hands", "40", "--json", "--plot", str(picture)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    data = json.loads(done.stdout)
    for row in data["meetings"]:
        assert row["difference_mbb"] == 500.0
        assert row["wins_more"]
        assert row["curve"]["ahead_bb"][-1] == 20.0
    assert picture.stat().st_size > 5000
    assert data["risks"][0]["mean_mbb"] == -5.25
    assert data["risks"][0]["least_mbb"] == -7.0
    assert data["risks"][0]["runs_mbb"]["1000"] == [-6.0, -7.0]
    # Forty hands are over before responses begin.
    assert [row["dip"] for row in data["meetings"]] == [None, None]
    # What was played is kept: nothing is played, or watched, again.
    monkeypatch.setattr(dbbr, "_payoffs", None)
    shown = CliRunner().invoke(app, words[:4], catch_exceptions=False).stdout
    assert "+500" in shown
    assert "-6.50" in shown


def test_a_dip_is_counted_from_where_responses_began():
    hands = list(range(0, 3001, 500))
    found = dbbr.dip({"hands": hands, "ahead_bb": [0, 1, 4, -2, 3, 4, 9]})
    assert (found["began_hands"], found["lost_bb"], found["lowest_hands"]) == (1000, 6, 1500)
    assert found["recovered_hands"] == 2500
    assert dbbr.dip({"hands": hands, "ahead_bb": [0, 1, 4, -2, 3, 3, 3]})["recovered_hands"] is None
    level = dbbr.dip({"hands": hands, "ahead_bb": [0, 0, 0, 1, 2, 3, 4]})
    assert (level["lost_bb"], level["recovered_hands"]) == (0, 1000)
