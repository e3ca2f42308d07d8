"""The experiments with blueprints, played with tiny ones, and blueprints found by name or path."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib.resources import files as resources

import numpy as np
import pytest
from printing import printed
from tinyblueprint import tiny
from typer.testing import CliRunner

from equipoise.abstraction.bets.translation import mapping
from equipoise.abstraction.boardindex import board_index
from equipoise.abstraction.publicclasses import board_classes
from equipoise.abstraction.tables import transitions
from equipoise.agents.blueprint import files as blueprintfiles
from equipoise.agents.blueprint.files import (
    find_blueprint,
    has_blueprint,
    load_blueprint,
    trained,
)
from equipoise.agents.blueprint.guard import SCOPES
from equipoise.agents.registry import AGENTS, make_agent
from equipoise.bench.reports import boardclasses_report, fellomen_report, translation_report
from equipoise.bench.reproduce import boardclasses, fellomen, tartanian, translation
from equipoise.bench.reproduce.meetings import Stable, verdict
from equipoise.cli import app
from equipoise.errors import ArtefactError
from equipoise.games.policy import PublicState
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, State
from equipoise.solve.strategies.postprocessing import PostProcessing
from equipoise.solve.training.blueprint import Blueprint
from equipoise.solve.training.recipe import Model, Recipe


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blueprints")
    found = {"limit": folder / "limit.blueprint", "nolimit": folder / "nolimit.blueprint"}
    tiny(limit=True, classes=3).save(found["limit"])
    tiny({"bets": "100%,a", "raises": "a"}).save(found["nolimit"])
    return found


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No blueprint is to be found by its name."""
    monkeypatch.setattr(
        blueprintfiles, "places", lambda name: [tmp_path / "shipped" / f"{name}.blueprint"]
    )
    return tmp_path / "shipped"


def invoke(*words: str):
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})


def told(*words: str):
    done = invoke("reproduce", *words, "--quick")
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def short(monkeypatch):
    """Experiments against fewer opponents, so that a test can wait for them."""
    for module, constants in {
        fellomen: {"SUITE": ("call", "random")},
        tartanian: {"FIELD": ("odd-sizes",), "MENUS": ("fc", "c,c,fcpa,fcpa")},
        translation: {"FIELD": ("odd-sizes",), "EXPERIMENTS": {}},
        boardclasses: {"CLASSED": ("none", "flop"), "QUICK_BOARDS": 100},
    }.items():
        for name, value in constants.items():
            monkeypatch.setattr(module, name, value)


def test_fell_omen(files, nowhere, short, tmp_path):
    words = ["fell-omen", "--hands", "60", "--seed", "3",
             *(f"--blueprint={name}={files['limit']}"
               for name in ("inot", "fell-omen-2", "inot-negative"))]  # fmt: skip
    picture = tmp_path / "meetings.png"
    data = json.loads(told(*words, "--json", "--plot", str(picture)))
    assert [(row["a"], row["b"]) for row in data["meetings"]] == [
        ("fell-omen-2", "inot"),
        ("inot-negative", "inot"),
        ("inot", "call"),
        ("inot", "random"),
        ("fell-omen-2", "call"),
        ("fell-omen-2", "random"),
    ]
    assert all(row["hands"] == 60 for row in data["meetings"])
    assert data["claims"] == fellomen.claims(data["meetings"])
    assert "equipoise train fell-omen-1" in data["missing"]["fell-omen-1"]
    assert data["document"]["inot, 2007"]["GS3"] == 0.004
    assert picture.read_bytes()[:4] == b"\x89PNG"
    shown = printed(fellomen_report.report(data))
    for expected in ("Small bets a hand over 60", "is not here: train it", "Hyperborean 2007"):
        assert expected in shown


def test_what_fell_omen_claims_is_what_its_rows_say(short):
    """True or False where the two met, None where they did not; draws and losses are named."""

    def row(a, b, says):
        return {"a": a, "b": b, "says": says}

    for says, claim in (("wins", True), ("open", True), ("loses", False)):
        told = fellomen.claims([row("fell-omen-2", "inot", says), row("inot", "call", says)])
        assert told["fell_omen_2_not_beaten_by_inot"] is claim
        assert told["not_beaten_beyond_doubt"] == {"inot": [] if says == "wins" else ["call"]}
    assert fellomen.claims([])["fell_omen_2_not_beaten_by_inot"] is None


def test_tartanian(files, nowhere, short, tmp_path):
    words = ["tartanian5", "--hands", "6",
             *(f"--blueprint={name}={files['nolimit']}" for name in ("tartanian5", "8-4-3-3"))]  # fmt: skip
    picture = tmp_path / "meetings.png"
    data = json.loads(told(*words, "--json", "--plot", str(picture)))
    assert data["blueprint"] == "tartanian5"
    assert [row["a"] for row in data["postprocessing"]["field"]] == list(tartanian.POSTPROCESSING)
    assert [row["than"] for row in data["off_tree"]["better"]][:3] == list(tartanian.OFF_TREE)[1:]
    assert {row["agent"] for row in data["lbr"]} == {"tartanian5", "fold", *tartanian.OFF_TREE}
    assert set(data["missing"]) >= {"tartanian4", "tartanian5-m"}
    assert data["claims"]["the_middle_size"] == {"against 8-4-3-3": None, "against 12-25-6-6": None}
    assert picture.read_bytes()[:4] == b"\x89PNG"
    shown = told(*words, "--aivat")
    for expected in ("Local best responses win", "Slumbot-2016, published", "without luck"):
        assert expected in shown
    # Figures of other menus than ours are not set beside them.
    assert "4,020" in shown
    assert "3,763" not in shown


def test_translation_matches(files, nowhere, short):
    data = json.loads(told("translation", "--hands", "40", "--json",
                           f"--blueprint=quick={files['nolimit']}"))  # fmt: skip
    rows = {row["a"]: row for row in data["matches"]["rows"]}
    assert len(rows) == 7
    assert rows["pseudo-harmonic"]["more_than_pseudo_harmonic"]["mbb_per_hand"] == 0
    assert len({row["mbb_per_hand"] for row in rows.values()}) > 2
    shown = printed(translation_report.matches(data["matches"]))
    for expected in ("with each mapping: mbb/hand over 40 hands", *rows):
        assert expected in shown
    assert "equipoise train quick" in translation.matches(Stable(), None, None)["missing"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["purification", "--hands", "20"], "no use for --hands"),
        (["fell-omen", "--hands", "21"], "give an even number"),
        (["fell-omen", "--blueprint", "inot"], "write NAME=FILE"),
        (["fell-omen", "--blueprint", "inot=none.run"], "no such blueprint"),
        (["fell-omen", "--workers", "0"], "--workers 0: give 1 to 256"),
        (["fell-omen", "--workers", "100000"], "--workers 100000: give 1 to 256"),
        (["fell-omen", "--hands", "-2"], "--hands -2: give 2 to"),
        (["fell-omen", "--hands", "100000000000000000000"], "give 2 to"),
        (["fell-omen", "--seed", "-1"], "--seed -1: give a whole number from 0"),
        (["fell-omen", "--plot", "meetings.bmp"], "end the name with"),
        (["fell-omen", "--blueprint", "inott=some.run"], "did you mean 'inot'"),
        (["purification", "--aivat"], "no use for --aivat"),
    ],
)
def test_wrong_options_are_refused(words, sentence):
    done = invoke("reproduce", *words)
    assert done.exit_code != 0
    assert sentence in str(done.exception)


def test_blueprints_are_found_by_name_and_path(files, nowhere):
    assert not has_blueprint("tartanian4")
    with pytest.raises(
        ArtefactError, match=r"`equipoise train tartanian4 --out .* minutes, .* memory"
    ):
        make_agent("tartanian4")
    with pytest.raises(ArtefactError, match="no blueprint 'mine': name a file, or one of"):
        find_blueprint("mine")
    nowhere.mkdir()
    shutil.copy(files["nolimit"], nowhere / "tartanian4.blueprint")
    agent = make_agent("tartanian4", NOLIMIT_HOLDEM)
    assert agent.line.tree.mapping.name == "geometric-2"
    assert agent.blueprint is make_agent("tartanian4").blueprint
    run = nowhere / "some.run"
    run.mkdir()
    shutil.copy(files["limit"], run / "blueprint.safetensors")
    assert load_blueprint(run).classes.max() == 2
    assert make_agent("inot", LIMIT_HOLDEM, blueprint=str(run)).line is None


def test_an_agents_file_finds_its_blueprint_beside_itself(files, nowhere, tmp_path, monkeypatch):
    folder = tmp_path / "agents"
    (folder / "runs" / "mine.run").mkdir(parents=True)
    shutil.copy(files["nolimit"], folder / "runs" / "mine.run" / "blueprint.safetensors")
    shutil.copy(files["nolimit"], folder / "other.blueprint")
    copied = folder / "mine.toml"
    shipped = (resources("equipoise.agents") / "shipped" / "tartanian5.toml").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("runs/mine.run", "other.blueprint", str(folder / "other.blueprint")):
        copied.write_text(shipped.replace('blueprint = "tartanian5"', f'blueprint = "{name}"'))
        assert make_agent("agents/mine.toml").blueprint.name == "tiny"
    # One that stands in the current folder is found too, and one by its name.
    shutil.copy(files["nolimit"], tmp_path / "here.blueprint")
    copied.write_text(shipped.replace('blueprint = "tartanian5"', 'blueprint = "here.blueprint"'))
    assert make_agent(copied).blueprint.name == "tiny"
    copied.write_text(shipped)
    with pytest.raises(ArtefactError, match="equipoise train tartanian5"):
        make_agent(copied)
    copied.write_text(shipped.replace('blueprint = "tartanian5"', 'blueprint = "runs/none.run"'))
    with pytest.raises(ArtefactError, match=r"mine\.toml: blueprint = 'runs/none\.run': .* beside"):
        make_agent(copied)


def test_play_sits_down_with_the_best_that_is_there(files, nowhere):
    done = CliRunner().invoke(app, ["play", "--seed", "1"], input="q\n")
    assert "train flagship" in done.stdout
    assert "Until then you play call." in done.stdout.replace("\n", " ")
    nowhere.mkdir()
    for name in ("quick", "fell-omen-1"):
        kind = "nolimit" if name == "quick" else "limit"
        shutil.copy(files[kind], nowhere / f"{name}.blueprint")
    assert "against quick" in CliRunner().invoke(app, ["play"], input="q\n").stdout
    assert "against fell-omen-1" in CliRunner().invoke(app, ["play", "--limit"], input="q\n").stdout
    # A blueprint keeps to its stacks; one that searches does not.
    assert "against call" in CliRunner().invoke(app, ["play", "--stack", "60"], input="q\n").stdout
    shutil.copy(files["nolimit"], nowhere / "flagship.blueprint")
    short = CliRunner().invoke(app, ["play", "--stack", "60"], input="q\n").stdout
    assert "stack 6000, against flagship" in short
    refused = CliRunner().invoke(app, ["play", "--limit", "--stack", "60"])
    assert "--stack is for no-limit" in str(refused.exception)


def test_verdicts_are_of_the_interval():
    rows = [(5.0, 6.0), (-7.0, 6.0), (7.0, 6.0)]
    told = [verdict({"mbb_per_hand": mean, "ci95_mbb": half}) for mean, half in rows]
    assert told == ["open", "loses", "wins"]


@pytest.mark.parametrize("name", [name for name, entry in AGENTS.items() if entry.settings])
def test_files_of_shipped_agents_say_what_the_class_and_the_recipes_know(name):
    entry = AGENTS[name]
    recipe = Recipe.shipped(entry.settings["blueprint"])
    assert set(entry.settings) <= set(entry.parameters())
    assert entry.plays(recipe.rules)
    PostProcessing.parse(entry.settings.get("postprocess", "raw"))
    if not recipe.rules.limit:
        mapping(entry.settings["translation"])
        assert entry.settings.get("guard", "never") in SCOPES


@pytest.mark.parametrize("name", [name for name in AGENTS if trained(name) == "ships"])
def test_shipped_blueprints_are_whole(name):
    blueprint = Blueprint.load(find_blueprint(name))
    assert blueprint.recipe.rules == Recipe.shipped(name).rules
    for street in range(4):
        rows = blueprint.rows(int(blueprint.betting.start[street]))
        assert rows.shape[1] % blueprint.abstraction.counts[street] == 0
        assert rows.min() >= 0
        np.testing.assert_allclose(rows.sum(axis=0), 1, atol=1e-6)


def test_what_classes_of_boards_are_worth(short, monkeypatch, tmp_path):
    every_board, count = transitions.every_board, transitions.count_transitions
    # Features of INOT's buckets on all boards take longer than all the rest; two buckets have classes too.
    two = tiny(limit=True)
    recipe = replace(two.recipe, model=Model(kind="independent"), solver="cfr+", solver_settings={})
    monkeypatch.setattr(boardclasses, "load_blueprint", lambda name: replace(two, recipe=recipe))

    def some(streets=3):
        boards, weights = every_board(streets)
        step = (1, 20, 500)[streets - 1]
        return boards[::step].copy(), weights[::step].copy()

    monkeypatch.setattr(transitions, "every_board", some)
    monkeypatch.setattr(
        boardclasses,
        "transitions",
        lambda buckets, boards, seed, classes: count(buckets.lookup(), boards, seed, classes),
    )
    picture = tmp_path / "classes.png"
    data = json.loads(told("board-classes", "--json", "--plot", str(picture)))
    none, flop = data["rows"]
    assert none["street"] == "none"
    assert flop["classes"] == 11
    # Who knows the class of the flop takes more than who does not.
    assert flop["worth_sb"] > 0
    assert flop["exploitability_sb"] == pytest.approx(none["exploitability_sb"] + flop["worth_sb"])
    assert picture.stat().st_size > 1000
    assert "random classes" in printed(boardclasses_report.report(data))


def test_shuffled_classes_are_as_likely():
    classes = board_classes(4).of_board
    mixed = boardclasses.shuffled(classes, seed=1)
    weight = board_index(4).multiplicity
    here, there = (np.bincount(one, weight) / weight.sum() for one in (classes, mixed))
    assert there == pytest.approx(here, abs=0.002)
    assert (mixed == classes).mean() < 0.2


@pytest.mark.parametrize("name", ["quick"])
def test_one_shipped_file_plays_raw_and_purified(name):
    """Post-processing is the table's business: what ships is what was trained."""
    start = PublicState(State.start(NOLIMIT_HOLDEM), (), 0)
    raw, pure = (
        make_agent(name, NOLIMIT_HOLDEM, postprocess=rule).policy(start).probabilities
        for rule in ("raw", "purify")
    )
    assert ((raw > 0.01) & (raw < 0.99)).any()
    assert set(np.unique(pure)) == {0.0, 1.0}
