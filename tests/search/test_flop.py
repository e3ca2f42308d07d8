"""Flops that are cut at their end: what lines are worth, refereed one pair of hands at a time."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from equipoise.abstraction.bets.translation import mapping
from equipoise.agents.blueprint.files import load_blueprint
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT, parse_combo
from equipoise.cards.evaluator import evaluate
from equipoise.cards.matchup import compatible_weight
from equipoise.errors import GameError
from equipoise.games.policy import Policy, PublicState, same_for_all
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, Kind, State, raise_to
from equipoise.run import Stop
from equipoise.search.flop import FlopSolver, SolvedFlop, flop_game, flop_leaves, solve_flop
from equipoise.search.gadgets import Gadget
from equipoise.search.menus import MOST_LEAVES
from equipoise.search.resolver import Resolver, SearchSettings
from equipoise.search.rollouts import (
    WAYS,
    LeafMatrices,
    StoppedError,
    bent,
    drawn_runouts,
    flop_values,
)
from equipoise.search.subgame import Subgame
from equipoise.search.thought import think
from equipoise.search.trunk import BlueprintTrunk

FLOP = parse_cards("Td9d6h")
FULL = np.ones(COMBO_COUNT)


def played(text: str) -> State:
    return State.from_betting_text(NOLIMIT_HOLDEM, text)


def trunk(public: PublicState) -> Policy:
    """Bets the pot once a street, the more so the higher a hand's number; on odd boards a little more."""
    state = public.state
    strong = np.linspace(0.1, 0.8, COMBO_COUNT, dtype=np.float32) + 0.1 * (sum(public.board) % 2)
    legal = state.legal()
    bet = raise_to(min(max(legal.raise_min or 0, 3 * max(state.committed)), legal.raise_max or 0))
    if legal.fold:
        return Policy((FOLD, CALL), np.stack([1 - strong, strong], axis=1))
    if legal.raise_min:
        return Policy((CALL, bet), np.stack([1 - strong, strong], axis=1))
    return same_for_all(state, {CALL: 1.0})


def value_of_pair(
    hands: tuple[int, int], state: State, board: tuple[int, ...], me: int, towards: Kind | None
) -> float:
    """The slow twin: what two hands are worth to `me`, walked action by action."""
    if state.folded is not None:
        lost = state.committed[state.folded]
        return float(-lost if state.folded == me else lost)
    if state.is_over:
        mine, his = (evaluate((*board, *COMBO_CARDS[hands[p]].tolist())) for p in (me, 1 - me))
        return float(np.sign(mine - his) * state.committed[0])
    public = PublicState(state, board[: sum(state.rules.board_cards[: state.round + 1])], 0)
    policy, player = trunk(public), state.to_act
    assert player is not None
    chances = policy.probabilities[hands[player]][:, None].astype(float)
    if player != me and towards is not None:
        chances = bent(chances, policy.actions, towards)
    return sum(
        float(chance) * value_of_pair(hands, state.apply(action), board, me, towards)
        for action, chance in zip(policy.actions, chances[:, 0], strict=True)
    )


@pytest.mark.parametrize("me", [0, 1])
def test_leaves_are_worth_what_a_walk_of_two_hands_says(me: int) -> None:
    leaf = played("r250c/r500c/")
    runouts = [(0, 5), (7, 30), (48, 20)]
    found = LeafMatrices(trunk, [leaf], FLOP, me, runouts=runouts)
    place = {int(hand): k for k, hand in enumerate(found.combos)}
    for names in (("AsKs", "QhQd"), ("8c7c", "AdKd"), ("2c2s", "ThTs")):
        hands = tuple(parse_combo(name) for name in names)
        held = {int(card) for hand in hands for card in COMBO_CARDS[hand]}
        boards = [(*FLOP, *cards) for cards in runouts if not held & set(cards)]
        for way, towards in enumerate(WAYS):
            twin = [value_of_pair(hands, leaf, board, me, towards) for board in boards]  # type: ignore[arg-type]
            matrix = found.given[0][way]
            at = (place[hands[me]], place[hands[1 - me]])
            assert matrix[at] == pytest.approx(np.mean(twin), rel=1e-4, abs=0.01)
    # Hands that share a card are never dealt.
    assert found.given[0][0][place[parse_combo("AsKs")], place[parse_combo("AsKd")]] == 0


def test_values_of_the_trunk_are_the_sum_of_its_pairs() -> None:
    """On a single run-out the mean of pairs and the mean of hands are the same."""
    leaf, runouts = played("r250c/r500c/"), [(7, 30)]
    ranges = (np.linspace(0.2, 1.0, COMBO_COUNT), np.linspace(1.0, 0.1, COMBO_COUNT))
    matrices = LeafMatrices(trunk, [leaf], FLOP, 0, runouts=runouts, ways=(None,))
    left = ~np.isin(COMBO_CARDS[matrices.combos], (7, 30)).any(axis=1)
    his = np.where(left, ranges[1][matrices.combos], 0.0)
    met = np.zeros(COMBO_COUNT)
    met[matrices.combos] = his
    mass = compatible_weight(met)[matrices.combos]
    mine = flop_values(trunk, leaf, FLOP, ranges, 0, runouts=runouts)[matrices.combos]
    assert mine[left] == pytest.approx(
        (matrices.given[0][0] @ his / mass)[left], rel=1e-3, abs=0.05
    )


def test_a_blueprint_in_columns_is_worth_what_it_plays() -> None:
    source = BlueprintTrunk(load_blueprint("quick"), mapping("pseudo-harmonic"))
    leaf, runouts = played("r250c/r5000c/"), [(7, 30)]
    ways = (Kind.RAISE,)
    quick = LeafMatrices(source, [leaf], FLOP, 1, runouts=runouts, ways=ways)
    slow = LeafMatrices(lambda public: source(public), [leaf], FLOP, 1, runouts=runouts, ways=ways)
    assert np.allclose(quick.given[0][0], slow.given[0][0], rtol=1e-3, atol=0.1)


def test_run_outs_are_drawn_evenly_and_alike() -> None:
    found = drawn_runouts(FLOP, 2)
    assert found == drawn_runouts(tuple(reversed(FLOP)), 2)
    for place in (0, 1):
        cards = [cards[place] for cards in found]
        assert sorted(cards) == sorted(2 * [card for card in range(52) if card not in FLOP])
    assert all(turn != river for turn, river in found)


# ------------------------------------------------------------------------------------------ solves


@cache
def solved(kind: str) -> SolvedFlop:
    state = played("r250c/r500")
    subgame = Subgame(state, FLOP, (FULL, np.linspace(0.1, 1.0, COMBO_COUNT)))
    gadget = Gadget()
    if kind != "unsafe":
        # He could have had nothing more than what he has put in by giving up.
        gadget = Gadget(kind, np.full(COMBO_COUNT, -250.0))  # type: ignore[arg-type]
    return solve_flop(
        subgame, trunk, 1, gadget, runouts=drawn_runouts(FLOP)[:8], iterations=80
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["unsafe", "resolve", "maxmargin"])
def test_a_cut_flop_is_solved_with_every_gadget(kind: str) -> None:
    found = solved(kind)
    assert found.exploitability_pct_pot < 1.0
    policy = found.policy(played("r250c/r500"))
    assert policy.probabilities.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert policy.actions[:2] == (FOLD, CALL)
    assert found.ends_of_street[0].betting_text() == "r250c/r500c/"
    assert len(found.ends_of_street) <= MOST_LEAVES


def test_what_both_have_at_a_flop_sums_to_nothing() -> None:
    found, state = solved("unsafe"), played("r250c/r500")
    means = []
    for player in (0, 1):
        met = found.subgame.ranges[player] * compatible_weight(found.subgame.ranges[1 - player])
        means.append(float(found.values(player, state) @ met / met.sum()))
        best = found.values(player, state, how="best")
        assert (best - found.values(player, state))[met > 0].min() > -0.5
    assert sum(means) == pytest.approx(0.0, abs=0.5)


def test_the_turn_begins_with_what_the_flop_left() -> None:
    found, leaf = solved("resolve"), played("r250c/r500c/")
    policy = found.policy(played("r250c/r500"))
    card = parse_cards("2c")
    reach = found.reach(1, leaf, (*FLOP, *card))
    hand = parse_combo("AsKs")
    called = policy.probabilities[hand, policy.actions.index(CALL)]
    assert reach[hand] == pytest.approx(
        found.solver.ranges[1][list(found._combos[1]).index(hand)] * called
    )
    assert reach[parse_combo("2c2s")] == 0
    with pytest.raises(GameError, match="does not come after"):
        found.reach(1, leaf, parse_cards("AsKs2h2c"))


def test_a_stopped_flop_says_nothing() -> None:
    stop = Stop()
    stop.set()
    subgame = Subgame(played("r250c/r500"), FLOP, (FULL, FULL))
    with pytest.raises(StoppedError):
        solve_flop(subgame, trunk, 1, stop=stop)
    with pytest.raises(StoppedError, match="in time"):
        solve_flop(subgame, trunk, 1, seconds=0.001)
    with pytest.raises(GameError, match="depth limit"):
        subgame.game()
    resolver = Resolver(trunk, 1, SearchSettings(first_street=1))
    assert think(resolver, PublicState(played("r250c/r433"), FLOP, 0), stop) is None


def test_leaves_and_tree_must_fit() -> None:
    subgame = Subgame(played("r250c/r500"), FLOP, (FULL, FULL))
    assert len(flop_leaves(subgame)) > 1
    leaves = LeafMatrices(trunk, flop_leaves(subgame)[:1], FLOP, 1, runouts=[(0, 5)])
    with pytest.raises(Exception, match="1 leaves are valued"):
        FlopSolver(flop_game(subgame, 1), leaves, ranges=(np.ones(1176), np.ones(1176)), me=1)


# ---------------------------------------------------------------------------------------- resolver


@pytest.fixture(scope="module")
def searching() -> Resolver:
    source = BlueprintTrunk(load_blueprint("quick"), mapping("pseudo-harmonic"))
    return Resolver(source, 1, SearchSettings(first_street=1, iterations=40, budget=0.5))


def test_flops_are_searched_after_bets_that_the_trunk_does_not_have(searching: Resolver) -> None:
    known = searching.continuation(PublicState(played("r250c/"), FLOP, 0))
    assert known is not None
    bet = next(action for action in known.actions if action.kind == Kind.RAISE)
    own = PublicState(played("r250c/").apply(bet), FLOP, 0)
    assert not searching.searches(own)
    trunk_plays = searching.continuation(own)
    assert trunk_plays is not None
    assert np.array_equal(searching.policy(own).probabilities, trunk_plays.probabilities)
    odd = PublicState(played("r250c/r427"), FLOP, 0)
    assert searching.searches(odd)
    flop = searching.solved(odd)
    assert isinstance(flop, SolvedFlop)
    assert flop.subgame.pot == 677
    thought = think(searching, odd)
    assert thought is not None
    assert thought.source == "flop"
    assert thought.to_dict()["tree"]["decisions"] == flop.decisions


def test_the_turn_after_a_searched_flop_goes_on_from_it(searching: Resolver) -> None:
    turn = (*FLOP, *parse_cards("Qc"))
    begun = played("r250c/r427c/")
    found = searching.solved(PublicState(begun.apply(CALL), turn, 0))
    flop = searching.solved(PublicState(played("r250c/r427"), FLOP, 0))
    for player in (0, 1):
        assert found.subgame.ranges[player] == pytest.approx(flop.reach(player, begun, turn))
    assert found.solver.gadget.kind == "resolve"
    # Where nothing was searched before, the trunk's ranges begin the turn.
    plain = searching.solved(PublicState(played("r250c/cc/c"), turn, 0))
    assert plain.subgame.state.betting_text() == "r250c/cc/"
