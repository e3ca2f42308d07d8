"""What others see of a blueprint agent: the mixture over its private draws, hand by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

import numpy as np
import pytest
from tinyblueprint import tiny

from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.arena.match import play_match
from equipoise.arena.measures.aivat import aivat
from equipoise.arena.measures.lbr import LocalBestResponse, local_best_response
from equipoise.arena.statistics import pair_means
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import blocked, combo_index
from equipoise.games.hand import View, hand_seed
from equipoise.games.nodes import SHOWDOWN
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import CALL, NOLIMIT_HOLDEM, Action, Kind, State, raise_to

BOARD = parse_cards("Td 8d 4c 2d Js")
FLOP = BOARD[:3]
#: Up to three bets that the tiny tree of pots and all-ins lacks, all by the opponent of who is to act.
LINES = (
    "r251",
    "cr433c/r900",
    "r212c/cr500",
    "r212r636c/cr1500",
    "r212r636c/cr1500c/cr4000",
    "r260c/cr900c/cc/cr1700",
    "cr3000c/r4000c/r9000",
)


def after(betting: str) -> State:
    return State.from_betting_text(NOLIMIT_HOLDEM, betting)


def seen(state: State, board=BOARD) -> tuple[int, ...]:
    return board[: (0, 3, 4, 5)[state.round]]


def foreign(state: State) -> Action:
    """A bet that the tiny tree of pots and all-ins lacks, once a round; then calls."""
    legal = state.legal()
    mine = bets_of(state._replace(history=((),) * state.round + state.history[-1:]), state.to_act)
    if mine or not legal.raise_min:
        return CALL
    called, pot = max(state.committed), 2 * max(state.committed)
    amount = called + int(pot * (0.55, 0.62, 1.9, 1.4)[state.round])
    return raise_to(min(max(amount, legal.raise_min), legal.raise_max))


def bets_of(state: State, player: int) -> int:
    """How often a player has bet or raised so far."""
    first = state.rules.first
    return sum(
        action.kind == Kind.RAISE
        for number, part in enumerate(state.history)
        for action in part[player != first[number] :: 2]
    )


def played(agent: BlueprintAgent, hole, hands: int, me: int):
    """Real decisions of many hands with the same cards: what was played, by the betting before it."""
    tally: dict[State, Counter[Action]] = defaultdict(Counter)
    for hand in range(hands):
        agent.random = Random(hand_seed(agent.seed, hand, 0))
        state = State.start(NOLIMIT_HOLDEM)
        while state.to_act is not None:
            if state.to_act == me:
                action = agent.act(View(state, me, hole, seen(state), hand))
                tally[state][action] += 1
            else:
                action = foreign(state)
            state = state.apply(action)
    return tally


@pytest.mark.parametrize(
    ("me", "hole", "settings"),
    [
        (0, "Ah9c", {}),
        (1, "7s6s", {"postprocess": "threshold 0.15"}),
        (0, "QdQh", {"postprocess": "raw/purify"}),
        (1, "Ah9c", {"back_onto_tree": True, "translation": "arithmetic"}),
        (0, "Kd5d", {"guard": "always"}),
    ],
)
def test_many_hands_are_played_as_often_as_the_policy_says(me, hole, settings):
    agent = BlueprintAgent(NOLIMIT_HOLDEM, tiny(), **{"guard": "never"} | settings)
    agent.reset(3)
    cards = parse_cards(hole)
    bets = set()
    for state, counts in played(agent, cards, 2000, me).items():
        policy = agent.policy(PublicState(state, seen(state), 0))
        row = policy.probabilities[combo_index(*cards)].astype(float)
        assert row.sum() == pytest.approx(1, abs=1e-6)
        assert set(counts) <= set(policy.actions)
        total = counts.total()
        for action, chance in zip(policy.actions, row, strict=True):
            error = (chance * (1 - chance) / total) ** 0.5
            told = (state.betting_text(), str(action), total, chance)
            assert abs(counts[action] / total - chance) <= 5 * error + 1e-6, told
        if total >= 100:
            bets.add(bets_of(state, 1 - me))
    assert {1, 2} <= bets


def test_draws_stay_private():
    agent = BlueprintAgent(NOLIMIT_HOLDEM, tiny(), guard="never")
    state = after("r260c/cr900")
    found = set()
    places = set()
    for seed in (1, 2):
        agent.reset(seed)
        for hand in range(30):
            found.add(agent.policy(PublicState(state, FLOP, hand)).probabilities.tobytes())
            places.add(agent.line.stand(state, seed, hand).place)
    assert len(found) == 1
    assert len(places) > 2


# -------------------------------------------------------------------- the strategy, written down


def outcomes(agent: BlueprintAgent, state: State):
    """All outcomes of the draws one by one: how likely, where they lead, and the own decisions."""
    line, me, now = agent.line, state.to_act, State.start(NOLIMIT_HOLDEM)
    found = [(1.0, 0, [])]
    for action in (action for part in state.history for action in part):
        more = []
        for chance, place, own in found:
            place = line.tree.caught_up(place, now.round)
            children = line.betting.children(place)
            if now.to_act == me:
                own = [*own, (now, place, action)]
            same = [child for child in children if line.betting.actions[child] == action]
            if not line.tree.turn(place, now):
                leads = [(place, 1.0)]
            elif same and not line.off_tree(place, now):
                leads = [(same[0], 1.0)]
            elif now.to_act != me:
                leads = line.tree.taken_for(place, now, action)
            else:
                mine = [c for c in children if line.carried(place, c, now) == action]
                leads = [(child, 1.0) for child in mine[-1:]]
            more += [(chance * likely, child, own) for child, likely in leads]
        found, now = more, now.apply(action)
    return [(chance, line.tree.caught_up(place, state.round), own) for chance, place, own in found]


def on_one_line(agent, place: int, state: State, board) -> dict[Action, np.ndarray]:
    """What every hand plays in a place."""
    if not agent.line.tree.turn(place, state):
        return {CALL: np.ones(1326)}
    columns = np.maximum(agent.book.columns(seen(state, board))[-1], 0)
    found: dict[Action, np.ndarray] = {}
    for row, child in zip(agent.book.table(place), agent.line.betting.children(place), strict=True):
        action = agent.line.carried(place, child, state)
        found[action] = found.get(action, 0) + row[columns]
    return found


def written(agent: BlueprintAgent, state: State, board) -> dict[Action, np.ndarray]:
    """The mixture, outcome by outcome; NaN for hands that never come here."""
    total, mixed = np.zeros(1326), {}
    for chance, place, own in outcomes(agent, state):
        weight = np.full(1326, chance)
        for before, stood, action in own:
            weight = weight * on_one_line(agent, stood, before, board).get(action, np.zeros(1326))
        for action, chances in on_one_line(agent, place, state, board).items():
            mixed[action] = mixed.get(action, 0) + weight * chances
        total += weight
    with np.errstate(invalid="ignore"):
        return {action: chances / total for action, chances in mixed.items()}


class Written(BlueprintAgent):
    """Plays the same, and tells its policy as it is written down outcome by outcome."""

    def policy(self, public: PublicState) -> Policy:
        mixed = written(self, public.state, public.board)
        rows = np.nan_to_num(np.stack(list(mixed.values()), axis=1), nan=1 / len(mixed))
        return Policy(tuple(mixed), rows.astype(np.float32))


@pytest.mark.parametrize(
    ("betting", "settings"),
    [
        *((betting, {}) for betting in LINES),
        *((betting, {"postprocess": "purify"}) for betting in LINES[:5]),
        # Own raises are of other sizes on each line.
        *((betting, {"back_onto_tree": True}) for betting in (*LINES[:3], "r212r900c/cr1500")),
    ],
)
def test_the_policy_is_the_mixture_written_down(betting, settings):
    agent = BlueprintAgent(NOLIMIT_HOLDEM, tiny(), guard="never", **settings)
    state = after(betting)
    board = seen(state)
    policy, mixed = agent.policy(PublicState(state, board, 0)), written(agent, state, board)
    comes = ~blocked(board) & ~np.isnan(mixed[CALL])
    assert comes.any()
    for action, chances in mixed.items():
        if action in policy.actions:
            told = policy.probabilities[:, policy.actions.index(action)]
            np.testing.assert_allclose(told[comes], chances[comes], atol=1e-6)
        else:
            assert not chances[comes].any()
    assert np.allclose(policy.probabilities[~blocked(board)].sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("menu", ["fcpa", "c,56,fcpa,fcpa"])
def test_a_local_best_response_sees_the_mixture_and_not_the_draw(menu):
    agents = [
        kind(NOLIMIT_HOLDEM, tiny(), guard="never", postprocess="threshold 0.1")
        for kind in (BlueprintAgent, Written)
    ]
    won = [local_best_response(agent, hands=40, menu=menu, seed=5).match for agent in agents]
    assert won[0].payoffs.tolist() == won[1].payoffs.tolist()
    responses = [LocalBestResponse(agent, NOLIMIT_HOLDEM, menu) for agent in agents]
    for betting in ("r260c/c", "cr433c/", "r212c/cr500c/c"):
        state = after(betting)
        public = PublicState(state, seen(state), 4)
        facing = [response.range(*public) for response in responses]
        np.testing.assert_allclose(facing[0].weights, facing[1].weights, rtol=1e-4, atol=1e-9)
        for hand in (0, 400, 1000):
            first, second = (
                response.values(hand, public, belief)
                for response, belief in zip(responses, facing, strict=True)
            )
            assert first == pytest.approx(second, abs=1e-2)


def test_lines_on_which_the_hand_is_over_are_one():
    agent = BlueprintAgent(NOLIMIT_HOLDEM, tiny(), guard="never")
    state = after("r7000c/cr12000c/cr16000")
    kind, alone = agent.line.betting.kind, outcomes(agent, state)
    lines = agent.mixture.lines(state, seen(state))
    over = [line for line in lines if kind[line.standing.place] == SHOWDOWN]
    ends = [chance for chance, place, _ in alone if kind[place] == SHOWDOWN]
    assert (len(over), len(ends)) == (1, 2)
    assert over[0].drawn == pytest.approx(sum(ends))
    assert len(lines) == len(alone) - 1


def test_what_no_hand_plays_is_answered_as_the_draws_fall():
    agent = BlueprintAgent(NOLIMIT_HOLDEM, tiny(), guard="never")
    # The player's own raise to 251 is on no line: it is translated like the bets of others.
    state = after("r251r20000")
    policy = agent.policy(PublicState(state, (), 0))
    lines = agent.mixture.lines(state, ())
    assert sum(line.drawn for line in lines) == pytest.approx(1)
    expected = sum(
        line.drawn * agent.mixture.played(line.standing, state, ())[CALL] for line in lines
    )
    np.testing.assert_allclose(
        policy.probabilities[:, policy.actions.index(CALL)], expected, atol=1e-6
    )


def test_aivat_is_unbiased_by_the_mixture(tmp_path):
    agent = BlueprintAgent(NOLIMIT_HOLDEM, tiny(), guard="never")
    match = play_match(agent, "odd-sizes", hands=500, seed=9, log=tmp_path / "log")
    assert not match.faults
    luckless = aivat(match, agent, "odd-sizes")
    luck = pair_means(match.payoffs - luckless.payoffs)
    assert abs(luck.mean()) < 5 * luck.std() / len(luck) ** 0.5
    assert luckless.reduction > 0.1
