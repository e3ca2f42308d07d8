"""Betting trees: measured before they are built, refused when too large, and with what advice."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.errors import GameError, TooLargeError
from equipoise.games.betting import Betting, Rake, measure
from equipoise.games.catalogue import game, names
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.nodes import DEAL, FOLD, SHOWDOWN
from equipoise.games.rules import CALL, LIMIT_HOLDEM, Rules, State, nolimit
from equipoise.games.spot import postflop

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


#: Rules, menu and the betting before the tree begins: facing a bet, a limp, a raise that is on no
#: menu, an all-in, a later round, the start of one.
STARTS = [
    (LIMIT_HOLDEM, BetMenu.full(), "rr"),
    (LIMIT_HOLDEM, BetMenu.full(), "rc/crr"),
    (LIMIT_HOLDEM, BetMenu.full(), "rc/cc/"),
    (nolimit(stack=2000), BetMenu.parse("50%,100%,a"), "c"),
    (nolimit(stack=2000), BetMenu.parse("50%,100%,a"), "r333"),
    (nolimit(stack=2000), BetMenu.parse("50%,100%,a"), "r333c/cr777"),
    (nolimit(stack=2000), BetMenu.parse("50%,a", donks="33%"), "r333c/cr777c/"),
    (postflop(pot=100, stack=200, rounds=3), BetMenu.parse("33%,75%,a", raises="60%"), "cr41"),
    (postflop(pot=100, stack=200, rounds=2), BetMenu.parse("50%", max_raises=2), "r50r120"),
    (postflop(pot=100, stack=200, rounds=2), BetMenu.parse("50%,a"), "cc/r200"),
]


@pytest.mark.parametrize(("rules", "menu", "line"), STARTS, ids=lambda part: str(part)[:40])
@pytest.mark.parametrize("keep_first", [False, True])
def test_a_tree_from_the_middle_of_a_hand_is_the_rules_played_on(
    rules: Rules, menu: BetMenu, line: str, keep_first: bool
) -> None:
    start = State.from_betting_text(rules, line)
    betting = Betting.build(rules, menu, keep_first=keep_first, start=start)
    size = measure(rules, menu, keep_first, start)
    assert betting.origin == betting.states[0] == start
    assert betting.rounds == rules.rounds - start.round
    assert size.nodes == tuple(b - a for a, b in betting.spans())
    assert size.rows == tuple(map(tuple, betting.rows.tolist()))
    assert sorted(ended(betting)) == sorted(ends(start, menu))
    for number, (a, b) in enumerate(betting.spans()):
        decisions = [s for s in betting.states[a:b] if not s.is_over and s.to_act is not None]
        assert all(s.round - start.round in (number, number + 1) for s in decisions)
    for node in np.flatnonzero(np.isin(betting.kind, (FOLD, SHOWDOWN))).tolist():
        paid = betting.states[node].payoffs(winner=None if betting.kind[node] == FOLD else 0)
        assert betting.even[node].tolist() == pytest.approx(
            paid if betting.swing[node] == 0 else (0, 0)
        )
        assert betting.kind[node] == FOLD or betting.swing[node] == paid[0] == -paid[1]


def test_the_subtree_of_a_tree_is_the_tree_from_there() -> None:
    """Of a larger tree and of one that begins inside it, the lines from there on are the same."""
    rules, menu = TREES[4]
    whole = Betting.build(rules, menu)
    start = State.from_betting_text(rules, "cr75")
    part = Betting.build(rules, menu, start=start)

    def told(betting: Betting) -> list[tuple[object, ...]]:
        """Nodes after the line, but for roots: how they are reached and what they pay."""
        return sorted(
            (state.betting_text(), *betting.even[node], betting.swing[node], betting.label(node))
            for node, state in enumerate(betting.states)
            if betting.parent[node] >= 0
            and state.betting_text().removeprefix("cr75")
            and state.betting_text().startswith("cr75")
        )

    assert told(part) == told(whole)
    assert len(told(part)) == len(part.kind) - (part.parent < 0).sum()


def test_raises_before_the_tree_count_towards_the_cap() -> None:
    rules = postflop(pot=100, stack=1000)
    menu = BetMenu.parse("50%", max_raises=2)
    for line, options in (("r50", "f c r150"), ("r50r150", "f c"), ("cr50", "f c r150")):
        betting = Betting.build(
            rules, menu, start=State.from_betting_text(rules, line), keep_first=True
        )
        assert " ".join(str(betting.actions[child]) for child in betting.children(0)) == options
    betting = Betting.build(LIMIT_HOLDEM, BetMenu.full(), start=TOP)
    assert [str(betting.actions[child]) for child in betting.children(0)] == ["f", "c"]


#: Three raises before the flop: as many as there may be.
TOP = State.from_betting_text(LIMIT_HOLDEM, "rrr")


def test_a_tree_begins_where_somebody_acts_by_the_same_rules() -> None:
    rules, menu = postflop(pot=100, stack=200), BetMenu.parse("a")
    over = State.from_betting_text(rules, "r200f")
    with pytest.raises(GameError, match="'r200f': the hand is over there"):
        Betting.build(rules, menu, start=over)
    with pytest.raises(GameError, match="not of river spot, pot 50"):
        measure(postflop(pot=50, stack=200), menu, start=State.start(rules))


def test_what_to_drop_counts_from_the_start() -> None:
    rules, menu = TREES[4]
    start = State.from_betting_text(rules, "cr75")
    with pytest.raises(TooLargeError, match="drop the 33% bet of player 0") as caught:
        Betting.build(rules, menu, start=start, max_nodes=3)
    smaller = {
        name: measure(rules, less, start=start).total for name, less in menu.without_each_size(3)
    }
    best = min(smaller, key=lambda name: smaller[name])
    assert f"drop {best} ({smaller[best]} nodes)" in str(caught.value)


def ends(state: State, menu: BetMenu) -> list[str]:
    """How the lines from a state on end."""
    if state.is_over:
        return [state.betting_text()]
    return [end for action in menu.actions(state) for end in ends(state.apply(action), menu)]


def ended(betting: Betting) -> list[str]:
    """How the lines of a tree end."""
    over = np.flatnonzero(np.isin(betting.kind, (FOLD, SHOWDOWN)))
    return [betting.states[node].betting_text() for node in over]


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=lambda part: str(getattr(part, "name", "")))
def test_the_tree_is_the_rules_played_out(rules: Rules, menu: BetMenu) -> None:
    """Walking the rules line by line finds the ends of the tree, no more and no fewer."""
    # A round without a decision is a root that is already over or dealt on at once.
    assert sorted(ended(Betting.build(rules, menu))) == sorted(ends(State.start(rules), menu))


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
            assert betting.next_root[node] == first + i
            assert betting.before[first + i] == node
    elsewhere = np.flatnonzero(betting.kind != DEAL)
    assert (betting.next_root[elsewhere] == -1).all()
    assert betting.past_deals[elsewhere].tolist() == elsewhere.tolist()
    inner = np.flatnonzero(betting.parent >= 0)
    assert betting.before[inner].tolist() == betting.parent[inner].tolist()
    assert betting.before[0] == -1


def test_deals_without_betting_are_passed_at_once() -> None:
    """After a limp nobody can bet on the flop and the turn."""
    idle, bets = StreetMenu(), StreetMenu.parse("a")
    menu = BetMenu(((bets, bets), (idle, idle), (idle, idle), (bets, bets)))
    betting = Betting.build(nolimit(stack=600), menu)
    (limped,) = betting.of_kind(0, DEAL).tolist()
    flop = int(betting.next_root[limped])
    turn = int(betting.next_root[flop])
    river = int(betting.next_root[turn])
    assert [int(betting.kind[n]) for n in (limped, flop, turn, river)] == [DEAL, DEAL, DEAL, 0]
    assert [betting.round_of(n) for n in (limped, flop, turn, river)] == [0, 1, 2, 3]
    assert betting.past_deals[[limped, flop, turn, river]].tolist() == [river] * 4
    assert betting.before[[flop, turn, river]].tolist() == [limped, flop, turn]


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


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=lambda part: str(getattr(part, "name", "")))
def test_a_part_of_a_tree_is_the_tree_that_begins_there(rules: Rules, menu: BetMenu) -> None:
    whole = Betting.build(rules, menu)
    for number in range(whole.rounds):
        roots = whole.of_kind(number - 1, DEAL) if number else []
        for root in [int(whole.next_root[deal]) for deal in roots[:4]] or [0]:
            part, nodes = whole.below(root)
            if whole.kind[root] > 1:
                continue
            built = Betting.build(rules, menu, start=whole.states[root])
            for name in (
                "kind",
                "first",
                "count",
                "parent",
                "row",
                "even",
                "swing",
                "start",
                "rows",
            ):
                assert np.array_equal(getattr(part, name), getattr(built, name)), name
            assert part.states == built.states == tuple(whole.states[n] for n in nodes.tolist())
            assert part.actions == built.actions


def test_a_part_begins_with_a_round() -> None:
    with pytest.raises(GameError, match="middle of its round"):
        Betting.build(LIMIT_HOLDEM, BetMenu.full()).below(1)


def test_rounds_that_are_checked_down() -> None:
    rules = nolimit(stack=2000)
    whole = Betting.build(rules, BetMenu.parse("100%,a"))
    cut = whole.until(1, checked_down=True)
    for node in whole.of_kind(0, DEAL).tolist():
        assert cut.kind[node] == SHOWDOWN
        assert cut.swing[node] == whole.states[node].committed[0]
        assert not cut.even[node].any()
    assert cut.zero_sum
    assert not cut.is_cut
