"""The agent that searches from a blueprint on: policies, legality, clocks, other stacks."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tinyblueprint import tiny

from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.files import load_blueprint
from equipoise.agents.oddsizes import OddSizesAgent
from equipoise.agents.registry import make_agent
from equipoise.agents.searching import searchagent
from equipoise.agents.searching.searchagent import SearchAgent, blueprint_player
from equipoise.arena.match import play_match
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import parse_combo
from equipoise.errors import EquipoiseError, GameError
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import NOLIMIT_HOLDEM, Action, Kind, Rules, State, nolimit
from equipoise.run import Stop

TURN = parse_cards("Td9d6hQc")
RIVER = (*TURN, *parse_cards("2s"))
#: A handful of iterations, and clocks that never cut.
QUICK: dict[str, Any] = {
    "budget": 0.03,
    "flop_seconds": 3600.0,
    "turn_seconds": 3600.0,
    "river_seconds": 3600.0,
}


def agent(search: str = "turn", rules: Rules = NOLIMIT_HOLDEM, **more: Any) -> SearchAgent:
    return SearchAgent(rules, "quick", search=search, **(QUICK | more))


def public(text: str, board: tuple[int, ...] = (), rules: Rules = NOLIMIT_HOLDEM) -> PublicState:
    return PublicState(State.from_betting_text(rules, text), board, 0)


def same(one: Policy, other: Policy) -> bool:
    return one.actions == other.actions and np.array_equal(one.probabilities, other.probabilities)


class Checked(SearchAgent):
    """Looks at every policy that it plays from."""

    def policy(self, public: PublicState) -> Policy:
        found = super().policy(public)
        assert all(public.state.can(action) for action in found.actions)
        assert found.probabilities.sum(axis=1) == pytest.approx(1.0, abs=1e-3)
        return found


class Clumsy(SearchAgent):
    """Searches fail for a reason that nobody thought of."""

    def before_search(self, public: PublicState) -> Policy:
        raise ZeroDivisionError("nothing")


# ----------------------------------------------------------------------------------------- playing


def test_both_seats_begin_a_street_with_the_same_ranges() -> None:
    """Unsafe, a street has one solve; a gadget guards each seat by itself, and their ranges part."""
    turn, river = public("r250c/cc/", TURN), public("r250c/cc/cc/", RIVER)
    beliefs = {}
    for kind in ("unsafe", "resolve"):
        player = agent(streets=kind)
        player.policy(turn)
        river_of = [resolver.solved(river) for resolver in player.resolvers]
        beliefs[kind] = [[solved.subgame.ranges[p] for p in (0, 1)] for solved in river_of]
    one, other = beliefs["unsafe"]
    np.testing.assert_allclose(one, other, rtol=1e-6)
    one, other = beliefs["resolve"]
    assert np.abs(one[0] - other[0]).max() > 1e-3


def test_after_a_bet_off_the_tree_his_hands_may_stay_away() -> None:
    facing = public("r250c/cc/r431", TURN)
    player = agent()
    player.policy(facing)
    kinds = {solved.solver.gadget.kind for solved in player.resolvers[0].solves}
    assert kinds == {"unsafe", "resolve"}


def test_without_a_search_it_is_the_blueprint_agent() -> None:
    plain = play_match("quick", "odd-sizes", hands=300, seed=5)
    same_again = play_match(agent("none"), "odd-sizes", hands=300, seed=5)
    assert np.array_equal(plain.payoffs, same_again.payoffs)
    asked = public("r250c/cr413", TURN[:3])
    own = BlueprintAgent(NOLIMIT_HOLDEM, "quick").policy(asked)
    assert same(agent("none").policy(asked), own)
    assert same(agent("turn").policy(asked), own)


def test_hundreds_of_hands_of_odd_sizes_are_played_by_the_rules() -> None:
    checked = Checked(NOLIMIT_HOLDEM, "quick", search="river", **QUICK)
    result = play_match(checked, OddSizesAgent(), hands=200, seed=2)
    assert not result.faults
    assert result.fallbacks == (0, 0)


def test_flops_and_turns_against_odd_sizes_are_played_by_the_rules() -> None:
    checked = Checked(NOLIMIT_HOLDEM, tiny(), search="flop", **QUICK)
    result = play_match(checked, OddSizesAgent(), hands=6, seed=2)
    assert not result.faults
    assert result.to_dict()["fallbacks"] == [0, 0]


def test_the_same_chips_for_any_number_of_workers() -> None:
    one, two = (
        play_match(agent("river"), "odd-sizes", hands=40, seed=4, workers=workers)
        for workers in (1, 2)
    )
    assert np.array_equal(one.payoffs, two.payoffs)


def test_the_same_policy_for_any_number_of_threads() -> None:
    asked = public("r250c/cc/", TURN)
    one, two = (agent(threads=threads).policy(asked) for threads in (1, 2))
    assert same(one, two)


def test_the_same_policy_in_any_order_and_in_copies() -> None:
    checked, bet = public("r250c/cc/cc/", RIVER), public("r250c/cc/cc/cr383r877", RIVER)
    first, second = agent("river"), agent("river")
    answers = first.policy(checked), first.policy(bet)
    assert same(second.policy(bet), answers[1])
    assert same(second.policy(checked), answers[0])
    assert same(first.policy(checked), answers[0])
    for other in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert other.budget == first.budget
        assert same(other.policy(public("c")), first.policy(public("c")))


@pytest.mark.parametrize(
    ("line", "board", "hand"),
    [
        ("r300r1000r3000r9900r20000", "", "As4s"),
        ("r300r900c/r2250r3600r9000c/r15000r20000", "Kc8d4d5d", "KdTh"),
    ],
)
def test_two_hands_that_were_folded_are_called(line: str, board: str, hand: str) -> None:
    policy = agent().policy(public(line, parse_cards(board) if board else ()))
    assert policy.actions[0].kind == Kind.FOLD
    assert policy.probabilities[parse_combo(hand), 0] <= 0.01


def test_draws_follow_the_policy() -> None:
    player, asked = agent("river"), public("r250c/cc/cc/", RIVER)
    policy = player.policy(asked)
    hole = tuple(parse_cards("AsAd"))
    row = policy.probabilities[parse_combo("AsAd")]
    player.random.seed(1)
    view = View(asked.state, 0, hole, RIVER, 0)
    drawn = [player.act(view) for _ in range(2000)]
    often = [drawn.count(action) / 2000 for action in policy.actions]
    assert often == pytest.approx(row.tolist(), abs=0.05)


# ------------------------------------------------------------------------------- failed searches


def test_a_stopped_search_leaves_the_answer_to_the_blueprint_and_is_counted() -> None:
    player, asked = agent("river"), public("r250c/cc/cc/", RIVER)
    player.stop = Stop()
    player.stop.set()
    assert same(player.policy(asked), player.plain.policy(asked))
    assert player.fallbacks == 1
    assert "stopped" in player.failure
    player.reset(0)
    assert player.fallbacks == 0


def test_a_search_that_is_cut_too_early_leaves_the_rest_of_the_hand_to_the_blueprint() -> None:
    player = agent(budget=1000.0, turn_seconds=0.001)
    for text, board in (("r250c/cc/", TURN), ("r250c/cc/cr500c/", RIVER)):
        asked = public(text, board)
        player.act(View(asked.state, 0, tuple(parse_cards("AsAd")), board, 0))
        assert same(player.policy(asked), player.plain.policy(asked))
    assert player.fallbacks == 2
    assert "cut short" in player.failure


def test_who_only_asks_has_no_clock() -> None:
    player = agent("river", river_seconds=0.001)
    player.policy(public("r250c/cc/cc/", RIVER))
    assert player.fallbacks == 0


def test_a_search_that_fails_is_counted_in_the_match() -> None:
    clumsy = Clumsy(NOLIMIT_HOLDEM, "quick", search="river", **QUICK)
    counts = [
        play_match(clumsy, "call", hands=40, seed=4, workers=workers).fallbacks
        for workers in (1, 2)
    ]
    assert counts[0][0] > 0
    assert counts[0][1] == 0
    assert counts[0] == counts[1]
    assert clumsy.failure == "ZeroDivisionError: nothing"


# ------------------------------------------------------------------------------------ other stacks


@pytest.mark.parametrize("stack", [2000, 4700, 25_000])
def test_other_stacks_are_played_by_the_rules(stack: int) -> None:
    rules = nolimit(stack)
    checked = Checked(rules, "quick", search="river", **QUICK)
    result = play_match(checked, OddSizesAgent(), rules, hands=40, seed=2)
    assert not result.faults
    assert result.fallbacks == (0, 0)


def test_another_unit_of_chips_changes_nothing_but_the_unit() -> None:
    rules = nolimit(40_000, 100, 200)
    scaled = agent("none", rules).policy(public("r500", (), rules))
    own = agent("none").policy(public("r250"))
    assert [action.kind for action in scaled.actions] == [action.kind for action in own.actions]
    doubled = [2 * action.amount for action in own.actions]
    assert [action.amount for action in scaled.actions] == pytest.approx(doubled, abs=2)
    assert scaled.probabilities == pytest.approx(own.probabilities, abs=1e-6)


def test_all_in_is_all_in_at_any_stack() -> None:
    rules = nolimit(6000)
    policy = agent("none", rules).policy(public("r250", (), rules))
    assert max(action.amount for action in policy.actions) == 6000


def test_the_nearest_blueprint_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        str(stack): SimpleNamespace(name=str(stack), recipe=SimpleNamespace(rules=nolimit(stack)))
        for stack in (20_000, 10_000)
    }
    monkeypatch.setattr(searchagent, "load_blueprint", lambda name: known[name])
    monkeypatch.setattr(searchagent, "has_blueprint", lambda name: name in known)
    taken = [
        searchagent._nearest("20000", "10000, 5000", nolimit(stack)).name
        for stack in (20_000, 15_000, 13_000, 2000, 25_000)
    ]
    assert taken == ["20000", "20000", "10000", "10000", "20000"]


def test_short_stacks_are_jammed_or_folded() -> None:
    rules = nolimit(1000)
    player = agent(rules=rules)
    first, second = (player.policy(public(text, (), rules)) for text in ("", "r1000"))
    assert [str(action) for action in first.actions] == ["f", "r1000"]
    assert [str(action) for action in second.actions] == ["f", "c"]
    aces, rags = parse_combo("AsAh"), parse_combo("7s2h")
    for policy in (first, second):
        assert policy.probabilities[aces, 1] == pytest.approx(1.0, abs=1e-3)
        assert policy.probabilities[rags, 1] == pytest.approx(0.0, abs=1e-3)
    # The share that jams with ten big blinds, of the game's own equilibrium.
    assert float(first.probabilities[:, 1].mean()) == pytest.approx(0.583, abs=0.003)
    limped = player.policy(public("c", (), rules))
    assert limped.actions[0].kind == Kind.CALL


def test_short_stacks_are_played_to_the_end_by_the_rules() -> None:
    rules = nolimit(900)
    checked = Checked(rules, "quick", search="river", **QUICK)
    result = play_match(checked, OddSizesAgent(), rules, hands=40, seed=2)
    assert not result.faults


# ---------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"search": "preflop"}, "search = 'preflop'"),
        ({"blueprint": ""}, "which blueprint"),
        ({"rules": nolimit(25_100)}, "251 big blinds"),
        ({"rules": nolimit(20_000, 50, 150)}, "half the big one"),
    ],
)
def test_what_cannot_be_played_is_refused(given: dict[str, Any], told: str) -> None:
    settings: dict[str, Any] = {"rules": NOLIMIT_HOLDEM, "blueprint": "quick"} | given
    with pytest.raises(EquipoiseError, match=told):
        SearchAgent(**settings)


def test_a_blueprint_agent_still_keeps_to_its_stacks() -> None:
    with pytest.raises(GameError, match="stacks of 20000"):
        BlueprintAgent(nolimit(9000), "quick")
    with pytest.raises(GameError, match="back_onto_tree"):
        BlueprintAgent(nolimit(9000), "quick", back_onto_tree=True, any_stack=True)


def test_a_hand_that_is_over_has_no_policy() -> None:
    with pytest.raises(GameError, match="over"):
        agent().policy(public("f"))


def test_set_in_a_file(tmp_path: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('agent = "search"\nname = "mine"\nblueprint = "quick"\nsearch = "river"\n')
    made = make_agent(file)
    assert isinstance(made, SearchAgent)
    assert made.first_street == 3
    file.write_text('agent = "search"\nblueprint = "quick"\nbudget = -1\n')
    with pytest.raises(EquipoiseError, match="budget"):
        make_agent(file)


def test_whose_blueprint_it_plays() -> None:
    player = agent()
    plain = blueprint_player(player)
    assert plain is not None
    assert plain.blueprint is load_blueprint("quick")
    assert blueprint_player(plain) is plain

    class Other(Agent):
        def act(self, view: View) -> Action:
            raise NotImplementedError

    assert blueprint_player(Other()) is None
