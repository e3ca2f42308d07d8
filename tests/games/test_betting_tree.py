"""Betting trees: measured before they are built, refused when too large, and with what advice."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.errors import GameError, TooLargeError
from equipoise.games.betting import Betting, Rake, measure
from equipoise.games.catalogue import game, names
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.nodes import DEAL, FOLD, SHOWDOWN
from equipoise.games.rules import CALL, LIMIT_HOLDEM, Rules, State, nolimit, postflop

TREES = [
    (LIMIT_HOLDEM, BetMenu.full()),
    (nolimit(stack=6, small=1, big=2), BetMenu.full()),
    (nolimit(stack=2000), BetMenu.parse("50%,100%,a")),
    (nolimit(stack=60, small=1, big=2), BetMenu.parse("e,a", raises=["3x", "a"], donks="")),
    (postflop(pot=100, stack=200, rounds=3), BetMenu.parse("33%,75%,a", raises="60%")),
    (postflop(pot=100, stack=200), BetMenu.parse("50%,a", add_allin_threshold=1.5)),
    (postflop(pot=10, stack=7, rounds=2), BetMenu(((StreetMenu.parse("a"), StreetMenu()),))),
]


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=lambda part: str(getattr(part, "name", "")))
def test_measured_is_built(rules: Rules, menu: BetMenu) -> None:
    size, betting = measure(rules, menu), Betting.build(rules, menu)
    assert size.nodes == tuple(b - a for a, b in betting.spans())
    assert size.rows == tuple(map(tuple, betting.rows.tolist()))
    assert size.total == len(betting.kind)


@pytest.mark.parametrize("name", [name for name in names() if name != "rhode-island"])
def test_measured_is_built_in_the_catalogue(name: str) -> None:
    betting = game(name).betting
    size = measure(betting.rules, betting.menu)
    assert size.nodes == tuple(b - a for a, b in betting.spans())
    assert size.rows == tuple(map(tuple, betting.rows.tolist()))


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=lambda part: str(getattr(part, "name", "")))
def test_the_tree_is_the_rules_played_out(rules: Rules, menu: BetMenu) -> None:
    """Walking the rules line by line finds the ends of the tree, no more and no fewer."""
    betting = Betting.build(rules, menu)

    def ends(state: State) -> list[str]:
        if state.is_over:
            return [state.betting_text()]
        return [end for action in menu.actions(state) for end in ends(state.apply(action))]

    over = np.flatnonzero(np.isin(betting.kind, (FOLD, SHOWDOWN)))
    built = [betting.states[node].betting_text() for node in over]
    # A round without a decision is a root that is already over or dealt on at once.
    assert sorted(built) == sorted(ends(State.start(rules)))


def test_a_tree_that_nothing_could_hold_is_given_up_early() -> None:
    """Few different positions, but lines without number: twelve rounds of four raises each."""
    rounds = 12
    rules = Rules(
        "long",
        True,
        (2, 1),
        (1,) * rounds,
        raise_sizes=(2,) * rounds,
        max_raises=(4,) * rounds,
        board_cards=(0,) + (1,) * (rounds - 1),
    )
    with pytest.raises(TooLargeError, match="more than 1,000,000,000 nodes: drop sizes"):
        measure(rules, BetMenu.full())


def test_rounds_begin_where_the_one_before_ended() -> None:
    betting = Betting.build(*TREES[0])
    for number in range(betting.rounds - 1):
        deals = betting.of_kind(number, DEAL)
        first = int(betting.start[number + 1])
        for i, node in enumerate(deals.tolist()):
            assert betting.states[first + i] == betting.states[node]
            assert betting.parent[first + i] == -1


def test_payoffs_and_rake() -> None:
    rules, menu = postflop(pot=100, stack=200), BetMenu.parse("a")
    betting = Betting.build(rules, menu, Rake(0.05, 8))
    by_text = {state.betting_text(): node for node, state in enumerate(betting.states)}
    checked, called, folded = by_text["cc"], by_text["r200c"], by_text["r200f"]
    assert betting.swing[checked] == 50 - 2.5
    assert betting.even[checked].tolist() == [-2.5, -2.5]
    assert betting.swing[called] == 250 - 4
    assert betting.even[called].tolist() == [-4, -4]
    assert betting.even[folded].tolist() == [45, -50]
    assert betting.swing[folded] == 0


def test_a_tree_too_large_names_the_size_to_drop() -> None:
    rules = postflop(pot=100, stack=1000, rounds=3)
    menu = BetMenu.from_dict(
        {"flop": {"bets": "33%,75%"}, "turn": {"bets": "50%", "raises": "2.5x"}, "river": {}},
        rounds=3,
    )
    total = measure(rules, menu).total
    assert Betting.build(rules, menu, max_nodes=total).kind.size == total
    with pytest.raises(TooLargeError, match=f"has {total:,} nodes") as caught:
        Betting.build(rules, menu, max_nodes=total - 1)
    smaller = {name: measure(rules, less).total for name, less in menu.without_each_size(3)}
    best = min(smaller, key=lambda name: smaller[name])
    assert best == "the turn's 2.5x raise of player 0"
    assert f"drop {best} ({smaller[best]:,} nodes)" in str(caught.value)


def test_every_size_is_dropped_once() -> None:
    menu = BetMenu(
        (
            (StreetMenu.parse("3x", raises=["a"]), StreetMenu.parse("3x,a")),
            (StreetMenu.parse("50%,a", raises=["3x", "2x,a"], donks="33%"), StreetMenu.parse("e")),
        ),
        merging_threshold=0.1,
    )
    dropped = dict(menu.without_each_size())
    assert list(dropped) == [
        "the preflop's 3x bet of player 0",
        "the preflop's a raise of player 0",
        "the preflop's 3x bet of player 1",
        "the preflop's a bet of player 1",
        "the flop's 50% bet of player 0 (and later)",
        "the flop's a bet of player 0 (and later)",
        "the flop's 33% donk bet of player 0 (and later)",
        "the flop's 3x raise of player 0 (and later)",
        "the flop's 2x re-raise of player 0 (and later)",
        "the flop's a re-raise of player 0 (and later)",
        "the flop's e bet of player 1 (and later)",
    ]
    for name, less in dropped.items():
        assert less != menu, name
        assert less.merging_threshold == 0.1
    donk = dropped["the flop's 33% donk bet of player 0 (and later)"]
    assert donk.streets[1][0].donks == ()


def test_a_game_without_decisions_is_refused() -> None:
    with pytest.raises(GameError, match="give the menu a bet"):
        Betting.build(postflop(pot=10, stack=10), BetMenu.parse(""))


def test_antes_are_not_bets() -> None:
    """Amounts at the table leave antes out, and count blinds."""
    labels = {
        name: {game(name).betting.label(node) for node in range(len(game(name).betting.kind))}
        for name in ("kuhn", "leduc")
    }
    assert labels["kuhn"] == {"", "fold", "check", "call", "bet 1"}
    assert labels["leduc"] == {
        "", "fold", "check", "call", "bet 2", "raise 4", "bet 4", "raise 8",
    }  # fmt: skip
    start = State.start(game("leduc-nolimit").betting.rules)
    assert [str(action) for action in BetMenu.parse("3c").actions(start)] == ["c", "r4"]


def test_checks_that_nobody_decides_are_no_nodes() -> None:
    """Player 1 cannot bet, so his check behind is not a decision."""
    menu = BetMenu(((StreetMenu.parse("a"), StreetMenu()),))
    betting = Betting.build(postflop(pot=10, stack=7), menu)
    assert [state.betting_text() for state in betting.states] == ["", "cc", "r7", "r7f", "r7c"]
    assert betting.actions[1] == CALL
