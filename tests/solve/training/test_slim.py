"""The slim form: what comes up is kept, and what is written is read again."""

from __future__ import annotations

import numpy as np
import pytest
from tinyblueprint import tiny
from tinyrecipe import TINY

from equipoise.errors import ArtefactError
from equipoise.games.nodes import DEAL
from equipoise.run import Limit
from equipoise.solve.training.blueprint import Blueprint, make_blueprint
from equipoise.solve.training.forms import FORMS, SLIM, quantised
from equipoise.solve.training.model import TrainingModel
from equipoise.solve.training.recipe import Recipe
from equipoise.solve.training.slim import LEAST
from equipoise.solve.training.symbols import NONE, PART, REST, read_symbols, write_symbols


@pytest.fixture(scope="module")
def trained():
    """A strategy near its equilibrium, with its game."""
    model = TrainingModel(Recipe.from_toml(TINY), threads=1)
    solver = model.solver()
    solver.run(Limit(iterations=300, check_every=300))
    return model, solver.average_strategy()


def made(trained, form: str) -> Blueprint:
    model, strategy = trained
    return make_blueprint(model.recipe, model.abstraction, strategy, form)


def random_block(rng: np.random.Generator, actions: int, columns: int, parts: int):
    table = rng.dirichlet(np.full(actions, 0.3), columns).T
    table[table < 0.1] = 0
    return quantised(table / table.sum(axis=0), parts)


@pytest.mark.parametrize("parts", [255, 65_535])
@pytest.mark.parametrize("seed", range(5))
def test_symbols_are_read_as_they_were_written(seed: int, parts: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = [(int(rng.integers(1, 6)), int(rng.integers(1, 40))) for _ in range(20)]
    blocks = [random_block(rng, *shape, parts) for shape in shapes]
    kinds, shares = write_symbols(blocks, parts)
    again = [np.empty_like(block) for block in blocks]
    read_symbols(kinds, shares, iter(again), parts)
    assert all(np.array_equal(a, b) for a, b in zip(blocks, again, strict=True))
    for wrong in ((kinds[:-1], shares), (kinds, shares[:-1]), (b"", shares), (kinds, b"")):
        with pytest.raises(ArtefactError, match="cut short"):
            read_symbols(*wrong, iter(again), parts)
    for wrong in ((kinds + b"\0", shares), (kinds, shares + b"\1\1")):
        with pytest.raises(ArtefactError, match=r"more than its game has|not prob"):
            read_symbols(*wrong, iter(again), parts)


def test_a_hand_of_one_action_takes_one_kind_for_each_up_to_it() -> None:
    block = np.zeros((3, 3), dtype=np.uint8)
    block[[0, 1, 2], [0, 1, 2]] = 255
    assert write_symbols([block], 255) == (bytes([REST, NONE, NONE, REST, NONE]), b"")


@pytest.mark.parametrize(
    ("kinds", "shares"), [([PART, PART], [200, 55]), ([PART, PART], [200, 0]), ([3, 0], [])]
)
def test_what_are_no_chances_is_refused(kinds: list[int], shares: list[int]) -> None:
    out = [np.empty((3, 1), dtype=np.uint8)]
    with pytest.raises(ArtefactError, match="not probabilities"):
        read_symbols(bytes(kinds), bytes(shares), iter(out), 255)


@pytest.mark.parametrize("form", SLIM)
def test_what_comes_up_is_kept_and_the_rest_is_pure(trained, form: str) -> None:
    fine, slim = made(trained, "fine"), made(trained, form)
    betting, parents = fine.betting, [fine.abstraction.parents(street) for street in range(4)]
    come = {0: [np.ones(fine.abstraction.counts[0], bool)] * 2}
    never = 0
    for node in range(len(betting.kind)):
        kind, here = int(betting.kind[node]), come[node]
        if kind == DEAL:
            street = betting.round_of(node) + 1
            come[int(betting.next_root[node])] = [one[parents[street]] for one in here]
        if kind > 1:
            continue
        table, was = slim.rows(node), fine.rows(node)
        assert np.allclose(table.sum(axis=0), 1)
        there = here[kind]
        never += int((~there).sum())
        assert (table[:, ~there].max(axis=0) == 1).all()
        assert np.array_equal(table[:, ~there].argmax(axis=0), was[:, ~there].argmax(axis=0))
        lost = len(was) * LEAST + 1 / FORMS[form] + 1e-4
        assert np.abs(table - was)[:, there].max(initial=0) <= lost
        for child, played in zip(betting.children(node), table, strict=True):
            after = list(here)
            after[kind] = there & (played > 0)
            come[child] = after
    assert never > 0


def test_slimming_costs_next_to_nothing_in_the_abstraction(trained, tmp_path) -> None:
    game, big = trained[0].game, trained[0].recipe.rules.big_blind
    blueprints = {form: made(trained, form) for form in ("fine", "trim", "lean", "full", "slim")}
    lost = {form: one.in_game(game).exploitability() / big for form, one in blueprints.items()}
    assert lost["trim"] < 1.1 * lost["fine"]
    # Which of them loses less is luck: all are within a thousandth of a big blind.
    assert max(lost["lean"], lost["slim"]) < lost["fine"] + 0.001
    sizes = {form: one.save(tmp_path / form) for form, one in blueprints.items()}
    assert sizes["slim"] < sizes["lean"] < sizes["trim"] < sizes["fine"]
    assert sizes["slim"] < sizes["full"]


def test_mixed_hands_stay_mixed(trained) -> None:
    for form in SLIM:
        blueprint = made(trained, form)
        tables = [blueprint.rows(node) for node in blueprint.layout.nodes]
        assert any(((table > 0) & (table < 1)).any() for table in tables)


@pytest.mark.parametrize("form", SLIM)
def test_a_strategy_without_mixed_hands_is_kept(form: str, tmp_path) -> None:
    def calls(betting, node, columns):
        table = np.zeros((int(betting.count[node]), columns))
        table[-1] = 1
        return table

    pure = tiny(rows=calls, form=form)
    pure.save(tmp_path / "pure")
    again = Blueprint.load(tmp_path / "pure")
    assert set(np.unique(again.weights)) == {0, FORMS[form]}
    assert np.array_equal(again.weights, pure.weights)
