"""The figures of the flagship: rows, what is kept of them, tables."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from equipoise.agents.blueprint.files import find_blueprint, make_blueprint_once
from equipoise.agents.registry import AgentSpec, make_agent
from equipoise.agents.searching.searchagent import SearchAgent
from equipoise.bench.reports.strength_report import picture, report
from equipoise.bench.reproduce import strength
from equipoise.bench.reproduce.strength import QUICK, VARIANTS, Effort, Plan, measured, slim
from equipoise.errors import EquipoiseError
from equipoise.games.rules import NOLIMIT_HOLDEM


@pytest.fixture
def plan(tmp_path, monkeypatch) -> Plan:
    monkeypatch.setattr(strength, "OPPONENTS", ("tartanian5", "quick"))
    found = Plan(3, QUICK, 1, "quick")
    found.folder = tmp_path  # type: ignore[misc]
    return found


def test_every_row_has_a_command_of_its_own(plan: Plan) -> None:
    rows = list(plan.rows())
    assert len({row.name for row in rows}) == len({row.command for row in rows}) == len(rows)
    wanted = ("c,c,fcpa,fcpa", "c,c,c,56", "c,56,fc,fc", "--responder-sizes", "--aivat", "As4s")
    told = "\n".join(row.command for row in rows)
    assert all(word in told for word in wanted)
    assert all("--seed 3" in row.command or row.words[0] == "search" for row in rows)


def test_variants_are_agents_set_as_they_are_called(plan: Plan) -> None:
    for variant, settings in VARIANTS.items():
        agent = make_agent(plan.agent(variant), NOLIMIT_HOLDEM)
        assert isinstance(agent, SearchAgent)
        street = {"none": None, "river": 3, "turn": 2, "flop": 1}[settings["search"]]
        assert agent.first_street == street
        assert agent.gadget == settings.get("gadget", "resolve")
        assert agent.flops == settings.get("flops", "off-tree")


def test_a_figure_is_measured_once(plan: Plan, monkeypatch) -> None:
    calls: list[list[str]] = []

    def answer(words, **more):
        calls.append(words)
        return SimpleNamespace(returncode=0, stdout=json.dumps({"mbb_per_hand": -3.0}), stderr="")

    monkeypatch.setattr(strength.subprocess, "run", answer)
    row = next(row for row in plan.rows() if row.words[0] == "lbr")
    first = measured(plan, row)
    assert first == measured(plan, row)
    assert first["result"] == {"mbb_per_hand": -3.0}
    assert len(calls) == 1
    assert calls[0][-1] == "--json"
    failing = SimpleNamespace(returncode=2, stdout="", stderr="no such agent")
    monkeypatch.setattr(strength.subprocess, "run", lambda words, **more: failing)
    other = next(row for row in plan.rows() if row.words[0] == "match")
    with pytest.raises(EquipoiseError, match="no such agent"):
        measured(plan, other)


def test_a_quick_run_has_the_rows_of_a_whole_one(plan: Plan) -> None:
    whole = Plan(3, Effort(), 1, "quick")
    whole.folder = plan.folder  # type: ignore[misc]
    left_out = "endgames, turn, with the responder's sizes"
    wanted = [row.name for row in whole.rows() if row.name != left_out]
    assert [row.name for row in plan.rows()] == wanted
    assert left_out in [row.name for row in whole.rows()]


def test_quick_opponents_train_shortly_and_beside_the_others(plan: Plan, monkeypatch) -> None:
    monkeypatch.setattr(strength, "OPPONENTS", ("sampled", "quick"))
    monkeypatch.setattr(strength, "has_blueprint", lambda name: name != "sampled")
    trained: list[tuple[object, ...]] = []
    monkeypatch.setattr(strength, "make_blueprint_once", lambda *told: trained.append(told))
    plan.train("sampled")
    plan.train("quick")
    run = plan.folder / "sampled-0.5min.run"
    assert trained == [("sampled", 0.5, run)]
    file = plan.opponent("sampled")
    run.mkdir()
    (run / "blueprint.safetensors").symlink_to(find_blueprint("quick"))
    make_blueprint_once("sampled", 0.5, run)  # It is here: nothing is trained.
    spec = AgentSpec.read(file)
    assert (spec.name, find_blueprint(spec.parameters["blueprint"]).parent) == (
        "sampled-0.5min",
        run,
    )
    row = next(row for row in plan.rows() if "sampled" in row.name)
    assert row.name == "head to head, sampled, which trained for 0.5 minutes"
    assert file in row.command
    assert plan.opponent("quick") == "quick"
    whole = Plan(3, Effort(), 1, "quick")
    whole.train("sampled")
    assert trained[-1] == ("sampled", strength.TRAINED["sampled"])
    assert whole.opponent("sampled") == "sampled"


def test_one_pair_reaches_nothing(plan: Plan) -> None:
    for row in plan.rows():
        if row.reached is not None and row.words[0] == "match":
            assert not row.reached({"aivat_mbb_per_hand": 900.0, "aivat_ci95_mbb": None})
        if row.name == "lbr on turn and river":
            assert not row.reached({"mbb_per_hand": -900.0, "ci95_mbb": None})  # type: ignore[misc]


def test_few_hands_of_a_dear_row_have_all_cores(plan: Plan) -> None:
    """Two hands are two workers', of one thread each; a single one is solved by all cores."""
    plan.workers = 2
    for hands, workers in ((1, 1), (2, 2), (4, 2)):
        plan.effort = replace(QUICK, flop_sizes=hands)
        row = next(row for row in plan.rows() if row.name == "lbr, 56 sizes on the flop")
        assert ("--no-duplicate" in row.words) == (hands < 4)
        assert row.words[row.words.index("--workers") + 1] == str(workers)


def test_what_is_told_of_a_row() -> None:
    assert slim({"agent": "x", "ranges": [1], "seconds": 2.0}) == {"agent": "x", "seconds": 2.0}


def test_table_and_picture(tmp_path) -> None:
    rows = [
        {"name": "lbr", "command": "equipoise lbr", "seconds": 3.0, "must": "at most 0",
         "reached": True, "result": {"mbb_per_hand": -3.0, "ci95_mbb": 2.0}},
        {"name": "A4s", "command": "equipoise search", "seconds": 1.0,
         "result": {"hand": {"policy": [0.004, 0.9]}}},
    ]  # fmt: skip
    data = {"agent": "flagship", "rows": rows, "reached": 1, "asked": 1}
    console = Console(file=StringIO(), width=150)
    console.print(report(data))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "-3.0 ± 2.0 mbb/hand" in text
    assert "reached: at most 0" in text
    assert "folds 0.004" in text
    picture(data, tmp_path / "strength.png")
    assert (tmp_path / "strength.png").stat().st_size > 1000
