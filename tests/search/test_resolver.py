"""Continual re-solving: ranges and values carried on, bets off the tree, trunks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from equipoise.abstraction.bets.translation import mapping
from equipoise.agents.blueprint.files import load_blueprint
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_COUNT, parse_combo
from equipoise.cards.equity import hand_equities
from equipoise.cards.matchup import compatible_weight
from equipoise.errors import GameError, SolverError
from equipoise.games.policy import Policy, PublicState, same_for_all
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, State, raise_to
from equipoise.run import Stop
from equipoise.search.gadgets import Gadget
from equipoise.search.menus import menu_for
from equipoise.search.preflop import is_large
from equipoise.search.resolver import Resolver, SearchSettings
from equipoise.search.solved import solve_subgame
from equipoise.search.subgame import Subgame
from equipoise.search.thought import think
from equipoise.search.trunk import BlueprintTrunk, TrunkValues, trunk_ranges

TURN = parse_cards("Td9d6hQc")
RIVER = (*TURN, *parse_cards("2s"))


def played(text: str) -> State:
    return State.from_betting_text(NOLIMIT_HOLDEM, text)


def trunk(public: PublicState) -> Policy:
    """Checks and calls half the time, bets the pot or folds otherwise: strong hands bet more."""
    state = public.state
    strong = np.linspace(0.1, 0.9, COMBO_COUNT, dtype=np.float32)
    legal = state.legal()
    bet = raise_to(min(max(legal.raise_min, 2 * max(state.committed)), legal.raise_max))
    if legal.fold and legal.raise_min and state.raises < 2:
        rows = np.stack([0.5 * (1 - strong), np.full_like(strong, 0.5), 0.5 * strong], axis=1)
        return Policy((FOLD, CALL, bet), rows)
    if legal.fold:
        return Policy((FOLD, CALL), np.stack([1 - strong, strong], axis=1))
    if legal.raise_min and state.raises < 2:
        return Policy((CALL, bet), np.stack([1 - strong, strong], axis=1))
    return same_for_all(state, {CALL: 1.0})


def quick(street: int = 3, **more: object) -> SearchSettings:
    settings: dict[str, object] = {"first_street": street, "iterations": 30}
    return SearchSettings(**(settings | {"menu": lambda state: menu_for(state, 12)} | more))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------- trunk


def test_ranges_of_a_trunk_are_what_its_hands_play() -> None:
    ranges = trunk_ranges(trunk, played("cc/cc/"), TURN)
    strong = np.linspace(0.1, 0.9, COMBO_COUNT)
    hand = parse_combo("AsKs")
    # The button calls its small blind; the big blind checks; on the flop both check.
    assert ranges[0][hand] == pytest.approx((1 - strong[hand]) ** 2, rel=1e-4)
    assert ranges[1][hand] == pytest.approx(0.5 * (1 - strong[hand]), rel=1e-4)
    assert ranges[0][parse_combo("TdTc")] == 0


def test_what_a_trunk_never_does_leaves_its_range_alone() -> None:
    plain = trunk_ranges(trunk, played("cc/cc/"), TURN)
    odd = trunk_ranges(trunk, played("cc/cc/r1234"), TURN)
    assert np.array_equal(plain[0], odd[0])


def test_values_of_a_trunk_on_a_river() -> None:
    state = played("cc/cc/cc/")
    ranges = trunk_ranges(trunk, state, RIVER)
    values = TrunkValues(trunk, state, RIVER, ranges)
    mean = []
    for player in (0, 1):
        own, best = values.values(player), values.values(player, "best-response")
        met = ranges[player] * compatible_weight(ranges[1 - player])
        mean.append(float(own @ met / met.sum()))
        assert (best - own)[met > 0].min() > -0.01
    assert sum(mean) == pytest.approx(0.0, abs=0.01)
    # A caller who holds the nuts wins what his share of the pot and more is.
    assert values.values(0)[parse_combo("KsJs")] > 90


def test_a_trunk_that_always_checks_is_worth_its_equity() -> None:
    def checks(public: PublicState) -> Policy:
        return same_for_all(public.state, {CALL: 1.0})

    state = played("cc/cc/")
    full = np.ones(COMBO_COUNT)
    values = TrunkValues(checks, state, TURN, (full, full)).values(0)
    share = hand_equities("random", "random", board="Td9d6hQc")
    free = np.isfinite(share)
    assert values[free] == pytest.approx(100 * (2 * share[free] - 1), abs=0.01)


# ---------------------------------------------------------------------------------------- resolver


@cache
def on_turn() -> Resolver:
    return Resolver(trunk, 0, quick(2))


def test_before_its_first_street_the_trunk_is_played() -> None:
    state = played("c")
    policy = on_turn().policy(PublicState(state, (), 0))
    assert np.array_equal(policy.probabilities, trunk(PublicState(state, (), 0)).probabilities)


def test_a_street_is_solved_once_and_answers_the_same() -> None:
    resolver, again = on_turn(), Resolver(trunk, 0, quick(2))
    state = played("cc/cc/")
    first = resolver.policy(PublicState(state, TURN, 0))
    assert first.probabilities.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(
        first.probabilities, again.policy(PublicState(state, TURN, 0)).probabilities
    )
    after = resolver.solved(PublicState(state.apply(CALL).apply(raise_to(200)), TURN, 0))
    assert after is resolver.solved(PublicState(state, TURN, 0)) or not after.knows(state)


def test_the_river_goes_on_from_the_turn() -> None:
    resolver = on_turn()
    turn = resolver.solved(PublicState(played("cc/cc/"), TURN, 0))
    state = played("cc/cc/cc/")
    river = resolver.solved(PublicState(state, RIVER, 0))
    assert river.subgame.state.betting_text() == "cc/cc/cc/"
    for player in (0, 1):
        assert river.subgame.ranges[player] == pytest.approx(turn.reach(player, state, RIVER))
    worth = np.asarray(river.solver.gadget.alternatives)
    assert worth == pytest.approx(turn.values(1, state, RIVER, "best")[river._combos[1]], abs=1e-9)


def test_asked_for_the_river_first_the_answer_is_the_same() -> None:
    public = PublicState(played("cc/cc/cc/"), RIVER, 0)
    fresh = Resolver(trunk, 0, quick(2)).policy(public)
    assert np.array_equal(fresh.probabilities, on_turn().policy(public).probabilities)


def test_a_bet_off_the_tree_is_solved_with_it_inside() -> None:
    resolver = Resolver(trunk, 0, quick(3))
    start = played("cc/cc/cc/")
    first = resolver.solved(PublicState(start, RIVER, 0))
    before = start.apply(CALL)
    odd = before.apply(raise_to(333))
    assert not first.knows(odd)
    second = resolver.solved(PublicState(odd, RIVER, 0))
    assert second is not first
    assert second.subgame.state == odd
    assert second.subgame.pot == 433
    worth = np.asarray(second.solver.gadget.alternatives)
    carried = first.values(1, before, RIVER, "best")[second._combos[1]]
    assert worth == pytest.approx(carried)
    policy = resolver.policy(PublicState(odd, RIVER, 0))
    assert FOLD in policy.actions
    # A call of it ends the hand; a raise goes on in the same solve.
    again = odd.apply(max(policy.actions)).apply(CALL) if max(policy.actions).kind == 2 else None
    assert again is None or again.is_over


def test_a_bet_on_the_tree_is_not_solved_again() -> None:
    resolver = Resolver(trunk, 0, quick(3))
    start = played("cc/cc/cc/")
    first = resolver.solved(PublicState(start, RIVER, 0))
    known = max(first.policy(start.apply(CALL)).actions)
    assert resolver.solved(PublicState(start.apply(CALL).apply(known), RIVER, 0)) is first


def test_reach_raises_alternatives_by_what_was_forgone() -> None:
    plain, gifted = (Resolver(trunk, 0, quick(2, reach=reach)) for reach in (False, True))
    state = played("cc/cc/cc/")
    first, second = (one.solved(PublicState(state, RIVER, 0)) for one in (plain, gifted))
    turn = plain.solved(PublicState(played("cc/cc/"), TURN, 0))
    gifts = turn.gifts(1, state)
    raised = np.asarray(second.solver.gadget.alternatives) - np.asarray(
        first.solver.gadget.alternatives
    )
    assert raised == pytest.approx(gifts[second._combos[1]], abs=0.01)
    assert gifts.min() >= 0
    assert gifts.max() > 0


def test_an_off_tree_bet_on_the_turn_and_then_a_river() -> None:
    resolver = on_turn()
    state = played("cc/cc/cr277c/")
    river = resolver.solved(PublicState(state, RIVER, 0))
    assert river.subgame.pot == 554
    assert river.subgame.ranges[0].max() > 0


def test_large_pots_before_the_flop_are_solved() -> None:
    resolver = Resolver(trunk, 0, quick(3, iterations=40))
    state = played("r300r1000r3000r9900r20000")
    policy = resolver.policy(PublicState(state, (), 0))
    assert policy.actions == (FOLD, CALL)
    assert policy.probabilities[parse_combo("AsAh"), 1] > 0.99
    with pytest.raises(GameError, match="at most one pot behind"):
        resolver.solved_preflop(PublicState(played("r300"), (), 0))


def test_a_large_pot_that_the_trunk_knows_is_the_trunks() -> None:
    """He may hold anything who goes all-in: by his range of the trunk nobody would call."""
    blueprint = load_blueprint("quick")
    known = BlueprintTrunk(blueprint, mapping("pseudo-harmonic"))
    resolver = Resolver(known, 0, quick(3, iterations=40))
    jam = PublicState(played("r20000"), (), 0)
    assert is_large(jam.state)
    assert not resolver.solves_preflop(jam)
    np.testing.assert_array_equal(resolver.policy(jam).probabilities, known(jam).probabilities)
    foreign = PublicState(played("cr270r20000"), (), 0)
    assert resolver.solves_preflop(foreign)
    # Whoever goes all-in with any two cards is called by more than kings and aces.
    assert resolver.policy(foreign).probabilities[parse_combo("TsTh"), 1] > 0.9


#: Two hands that were folded with the price to call, by who took the pot for another: history, board.
FOLDED = {
    "As4s": ("r300r1000r3000r9900r20000", ""),
    "KdTh": ("r300r900c/r2250r3600r9000c/r15000r20000", "Kc8d4d5d"),
}


@pytest.mark.parametrize("hand", FOLDED)
def test_hands_with_the_price_to_call_are_not_folded(hand: str) -> None:
    history, board = FOLDED[hand]
    blueprint = load_blueprint("quick")
    source = BlueprintTrunk(blueprint, mapping("pseudo-harmonic"))
    resolver = Resolver(source, 0, quick(2, iterations=60))
    public = PublicState(played(history), parse_cards(board) if board else (), 0)
    policy = resolver.policy(public)
    assert policy.actions[0] == FOLD
    assert policy.probabilities[parse_combo(hand), 0] <= 0.01


def test_a_stopped_solve_is_not_kept() -> None:
    resolver, stop = Resolver(trunk, 0, quick(3, iterations=5000)), Stop()
    stop.set()
    public = PublicState(played("cc/cc/cc/"), RIVER, 0)
    assert resolver.solved(public, stop).stopped
    assert len(resolver.solves) == 0
    assert think(resolver, public, stop) is None


def test_what_a_resolver_refuses() -> None:
    with pytest.raises(GameError, match="seat = 2"):
        Resolver(trunk, 2)
    with pytest.raises(SolverError, match="first_street = 0"):
        SearchSettings(first_street=0)  # type: ignore[arg-type]
    with pytest.raises(GameError, match="it is the turn of seat 0"):
        Resolver(trunk, 1).policy(PublicState(played("cc/cc/cc/"), RIVER, 0))
    with pytest.raises(GameError, match="the hand is over"):
        Resolver(trunk, 1).policy(PublicState(played("f"), (), 0))
    with pytest.raises(GameError, match="later street"):
        Resolver(trunk, 1).solved(PublicState(played("cc/"), TURN[:3], 0))
    with pytest.raises(GameError, match="policy is known"):
        Resolver(lambda public: None, 1).policy(PublicState(played(""), (), 0))


# ----------------------------------------------------------------------------------------- thought


def test_a_thought_can_be_told() -> None:
    resolver = Resolver(trunk, 0, quick(3))
    thought = think(resolver, PublicState(played("cc/cc/cc/"), RIVER, 0))
    assert thought is not None
    told = thought.to_dict(parse_combo("AsKs"))
    assert {"pot", "stacks", "ranges", "tree", "policy", "values", "seconds"} <= set(told)
    assert told["pot"] == 200
    assert told["stacks"] == [19900, 19900]
    assert sum(told["policy"]["range"]) == pytest.approx(1.0, abs=1e-4)
    assert sum(told["hand"]["policy"]) == pytest.approx(1.0, abs=1e-4)
    assert told["tree"]["nodes"][0]["actions"][0] == "check"
    before = think(resolver, PublicState(played("c"), (), 0))
    assert before is not None
    assert before.to_dict()["values"] is None


def test_a_safe_solve_gives_no_hand_more_than_the_trunk() -> None:
    state = played("cc/cc/cc/")
    ranges = trunk_ranges(trunk, state, RIVER)
    worth = TrunkValues(trunk, state, RIVER, ranges).values(1, "best-response")
    subgame = Subgame(state, RIVER, ranges, "100%,a")
    solved = solve_subgame(subgame, 0, Gadget("resolve", worth), iterations=1000)
    # In % of the pot: the trunk's own tree has other sizes, so a little may be lost.
    assert solved.solver.margins().min() > -0.05 * subgame.pot
