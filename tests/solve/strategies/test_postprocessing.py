"""Post-processing: what each rule plays, on tables that can be checked by eye and on random ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.rules import Kind
from equipoise.solve.strategies.postprocessing import (
    PostProcessing,
    RoundRule,
    fold_or_purified,
    purified,
    thresholded,
    tie_draws,
)

Table = NDArray[np.float64]
FACING = [Kind.FOLD, Kind.CALL, Kind.RAISE, Kind.RAISE, Kind.RAISE]
UNBET = FACING[1:]


@st.composite
def tables(draw: st.DrawFn, actions: int = 5) -> Table:
    """Behaviour at a decision, with ties and zeros."""
    states = draw(st.integers(1, 6))
    parts = draw(
        st.lists(
            st.lists(st.integers(0, 4), min_size=actions, max_size=actions).filter(any),
            min_size=states,
            max_size=states,
        )
    )
    table = np.array(parts, dtype=float).T
    return table / table.sum(axis=0)


seeds = st.integers(0, 2**70)


def slow_rule(
    row: list[float], rule: RoundRule, kinds: list[Kind], draws: list[float]
) -> list[float]:
    """What a rule plays, for one state, one action after another."""

    def best(options: dict[int, float]) -> int:
        top = max(options.values())
        return max((a for a, p in options.items() if p >= top - 1e-9), key=lambda a: draws[a])

    if rule.name == "raw":
        return row
    if rule.name == "threshold":
        kept = [p if p >= rule.level - 1e-9 else 0.0 for p in row]
        if not any(kept):
            kept = [p if p == max(row) else 0.0 for p in row]
        return [p / sum(kept) for p in kept]
    if rule.name == "purify":
        chosen = best(dict(enumerate(row)))
    else:
        together: dict[int, float] = {}
        for action, kind in enumerate(kinds):
            first = kinds.index(kind)
            together[first] = together.get(first, 0.0) + row[action]
        if Kind.FOLD in kinds and row[kinds.index(Kind.FOLD)] > rule.level + 1e-9:
            chosen = kinds.index(Kind.FOLD)
        else:
            group = kinds[best(together)]
            chosen = best({a: row[a] for a, kind in enumerate(kinds) if kind == group})
    return [float(a == chosen) for a in range(len(row))]


RULES = ("raw", "purify", "threshold 0", "threshold 0.3", "threshold 0.9", "fold 0.2", "fold 0")


@pytest.mark.parametrize("text", RULES)
@given(table=tables(), seed=seeds, decision=st.integers(0, 10**12))
def test_rules_agree_with_one_state_at_a_time(
    text: str, table: Table, seed: int, decision: int
) -> None:
    for kinds in (FACING, UNBET):
        cut = table[: len(kinds)].copy()
        cut[:, cut.sum(axis=0) == 0] = 1.0
        cut /= cut.sum(axis=0)
        states = np.arange(cut.shape[1])
        draws = tie_draws(seed, decision, len(kinds), states)
        found = PostProcessing.parse(text, seed).apply(cut, kinds, 0, decision)
        for s in states:
            rule = RoundRule.parse(text)
            told = slow_rule(cut[:, s].tolist(), rule, kinds, draws[:, s].tolist())
            assert found[:, s] == pytest.approx(told)


@pytest.mark.parametrize("text", RULES)
@given(table=tables(), seed=seeds)
def test_rules_give_probabilities_and_change_nothing_twice(
    text: str, table: Table, seed: int
) -> None:
    rules = PostProcessing.parse(text, seed)
    once = rules.apply(table, FACING, 0, 3)
    assert (once >= 0).all()
    assert once.sum(axis=0) == pytest.approx(1)
    assert ((once > 0) <= (table > 0)).all()
    assert rules.apply(once, FACING, 0, 3) == pytest.approx(once)


@given(table=tables(), seed=seeds)
def test_a_state_is_treated_alike_among_any_others(table: Table, seed: int) -> None:
    rules = PostProcessing.parse("purify", seed)
    states = np.arange(table.shape[1])
    whole = rules.apply(table, FACING, 0, 5)
    for s in states:
        alone = rules.apply(table[:, [s]], FACING, 0, 5, states=np.array([s]))
        assert (alone[:, 0] == whole[:, s]).all()
    shuffled = states[::-1]
    assert (rules.apply(table[:, shuffled], FACING, 0, 5, shuffled) == whole[:, shuffled]).all()


def test_ties_fall_on_every_action_alike() -> None:
    states = np.arange(30_000)
    table = np.tile(np.array([[0.4], [0.2], [0.4]]), (1, len(states)))
    pure = purified(table, tie_draws(1, 0, 3, states))
    assert pure[1].sum() == 0
    # Five standard deviations of a fair coin.
    assert abs(pure[0].mean() - 0.5) < 5 * 0.5 / len(states) ** 0.5


def test_ties_differ_by_seed_and_by_decision() -> None:
    states = np.arange(64)
    even = np.full((2, 64), 0.5)
    found = {
        purified(even, tie_draws(seed, decision, 2, states)).tobytes()
        for seed in range(10)
        for decision in range(10)
    }
    assert len(found) == 100


def test_draws_look_uniform_and_unrelated() -> None:
    draws = tie_draws(3, 7, 4, np.arange(20_000))
    assert draws.min() >= 0
    assert draws.max() < 1
    assert draws.mean(axis=1) == pytest.approx(0.5, abs=0.012)
    assert np.abs(np.corrcoef(draws) - np.eye(4)).max() < 0.036
    assert abs(np.corrcoef(draws[0, 1:], draws[0, :-1])[0, 1]) < 0.036


def test_bets_count_together_before_a_size_is_chosen() -> None:
    table = np.array([[0.1], [0.35], [0.15], [0.25], [0.15]])
    draws = np.zeros_like(table)
    assert purified(table, draws).T.tolist() == [[0, 1, 0, 0, 0]]
    assert fold_or_purified(table, FACING, 0.2, draws).T.tolist() == [[0, 0, 0, 1, 0]]


def test_a_likely_fold_comes_first() -> None:
    table = np.array([[0.21], [0.39], [0.2], [0.1], [0.1]])
    draws = np.zeros_like(table)
    assert fold_or_purified(table, FACING, 0.2, draws)[0] == 1
    # Exactly the level is not more than it.
    table = np.array([[0.2], [0.4], [0.2], [0.1], [0.1]])
    assert fold_or_purified(table, FACING, 0.2, draws)[0] == 0


def test_a_threshold_nothing_reaches_keeps_the_likeliest() -> None:
    table = np.array([[0.4], [0.4], [0.2]])
    assert thresholded(table, 0.5).T.tolist() == [[0.5, 0.5, 0.0]]


def test_rounds_have_their_own_rules() -> None:
    rules = PostProcessing.parse("raw/threshold 0.15/purify")
    table = np.array([[0.1], [0.3], [0.6]])
    kinds = [Kind.FOLD, Kind.CALL, Kind.RAISE]
    played = [rules.apply(table, kinds, r, 0)[:, 0].round(3).tolist() for r in range(4)]
    assert played == [[0.1, 0.3, 0.6], [0, 0.333, 0.667], [0, 0, 1], [0, 0, 1]]


def test_the_table_that_was_given_stays_as_it_was() -> None:
    table = np.array([[0.1], [0.9]])
    PostProcessing().apply(table, UNBET[:2], 0, 0)[0] = 5
    assert table[0, 0] == 0.1


@pytest.mark.parametrize("text", ["raw", "purify", "threshold 0.15", "raw/threshold 0.05/fold 0.2"])
def test_text_comes_back(text: str) -> None:
    assert str(PostProcessing.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("pure", "use one of raw"),
        ("treshold 0.1", "use one of raw"),
        ("", "use one of raw"),
        ("raw//purify", "use one of raw"),
        ("purify 0.3", "stands alone"),
        ("threshold", "write a probability"),
        ("threshold x", "write a probability"),
        ("fold 0.1 0.2", "write a probability"),
        ("threshold 1", "from 0 to less than 1"),
        ("fold nan", "from 0 to less than 1"),
        ("threshold -0.1", "from 0 to less than 1"),
    ],
)
def test_text_that_makes_no_sense_is_refused(text: str, cure: str) -> None:
    with pytest.raises(SolverError, match=cure):
        PostProcessing.parse(text)


def test_tables_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SolverError, match="a kind for each action"):
        PostProcessing().apply(np.ones((2, 1)), [Kind.CALL], 0, 0)
    with pytest.raises(SolverError, match="needs a rule"):
        PostProcessing(())
