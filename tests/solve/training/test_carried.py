"""Strategies carried to trees of other bet sizes, beside what the mappings say by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from equipoise.abstraction.bets.translation import MAPPINGS
from equipoise.games.betting import Betting
from equipoise.games.menu import BetMenu
from equipoise.games.rules import CALL, FOLD, Rules, raise_to
from equipoise.solve.training.carried import CarriedStrategy

#: Two streets, the small blind 1 of 2 chips, room for a few bets.
RULES = Rules("short", False, (2, 1), (1, 0), stacks=(60, 60), board_cards=(0, 3))
BUCKETS = 3


class Told:
    """Any strategy, the same for all time."""

    def __init__(self, sizes: str) -> None:
        self.betting = Betting.build(RULES, BetMenu.parse(sizes))

    def rows(self, node: int, board: int | None = None) -> np.ndarray:
        chances = np.random.default_rng(node).random((len(self.betting.children(node)), BUCKETS))
        return chances / chances.sum(axis=0)

    def at(self, *actions: object) -> int:
        return found(self.betting, *actions)


def found(betting: Betting, *actions: object) -> int:
    """The decision after `actions`."""
    node = 0
    for action in actions:
        node = next(c for c in betting.children(node) if betting.actions[c] == action)
        node = int(betting.past_deals[node])
    return node


@pytest.mark.parametrize("sizes", ["100%,a", "50%,100%,a", "67%,a"])
def test_on_its_own_tree_a_strategy_is_what_it_was(sizes: str) -> None:
    told = Told(sizes)
    carried = CarriedStrategy(told, told.betting)
    for node in np.flatnonzero(told.betting.kind < 2).tolist():
        np.testing.assert_allclose(carried.rows(node), told.rows(node), atol=1e-12)


@pytest.mark.parametrize(("old", "new"), [("100%,a", "50%,100%,200%,a"), ("67%,a", "50%,100%,a")])
def test_every_decision_of_another_tree_has_a_strategy(old: str, new: str) -> None:
    told = Told(old)
    carried = CarriedStrategy(told, Told(new).betting)
    for node in np.flatnonzero(carried.betting.kind < 2).tolist():
        rows = carried.rows(node)
        assert rows.shape == (len(carried.betting.children(node)), BUCKETS)
        assert rows.min() >= 0
        np.testing.assert_allclose(rows.sum(axis=0), 1, atol=1e-12)


def test_a_size_that_was_there_keeps_its_share_and_what_is_new_begins_with_none() -> None:
    told = Told("100%,a")
    carried = CarriedStrategy(told, Told("50%,100%,a").betting)
    actions = [carried.betting.actions[c] for c in carried.betting.children(0)]
    assert actions == [FOLD, CALL, raise_to(4), raise_to(6), raise_to(60)]
    fold, call, pot, jam = told.rows(0)
    np.testing.assert_allclose(carried.rows(0), [fold, call, 0 * pot, pot, jam], atol=1e-12)


def test_a_size_between_two_is_divided_as_the_mapping_says() -> None:
    told = Told("75%,a")
    carried = CarriedStrategy(told, Told("50%,100%,a").betting)
    sizes = [Fraction(1, 2), Fraction(1), Fraction(58, 4)]
    shares = dict(MAPPINGS["pseudo-harmonic"].weights(Fraction(3, 4), sizes))
    assert 0 < shares[0] < 1
    _, _, between, jam = told.rows(0)
    rows = carried.rows(0)
    np.testing.assert_allclose(rows[2], shares[0] * between, atol=1e-12)
    np.testing.assert_allclose(rows[3], shares[1] * between, atol=1e-12)
    np.testing.assert_allclose(rows[4], jam, atol=1e-12)


def test_a_bet_that_was_not_there_is_answered_like_the_one_it_is_taken_for() -> None:
    told = Told("100%,a")
    new = Told("100%,200%,a")
    carried = CarriedStrategy(told, new.betting)
    # Twice the pot, 8 chips on 2 after the call, is nearer to the pot than to all that is left.
    big, old = found(new.betting, raise_to(10)), told.at(raise_to(6))
    assert carried.places[big] == old
    fold, call = told.rows(old)[:2]
    np.testing.assert_allclose(carried.rows(big)[:2], [fold, call], atol=1e-12)
    # On the next street both stand after the call of that bet.
    after = found(new.betting, raise_to(10), CALL)
    assert carried.places[after] == told.at(raise_to(6), CALL)


def test_where_the_old_hand_is_over_it_is_checked_and_called() -> None:
    told = Told("a")
    carried = CarriedStrategy(told, Told("1000%,a").betting)
    # 44 of 60 chips are all-in on a tree that has no other bet: nothing is left to decide.
    after = found(carried.betting, raise_to(42), CALL)
    assert int(told.betting.kind[carried.places[after]]) > 1
    rows = carried.rows(after)
    actions = [carried.betting.actions[c] for c in carried.betting.children(after)]
    assert (rows[actions.index(CALL)] == 1).all()
    assert rows.sum() == BUCKETS
