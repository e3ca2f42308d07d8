"""A spot made from a hand that was played: board, pot and stacks as they were, ranges as an agent has them.

Ranges are those with which an agent's policy gets to the street: every action of the hand takes from each
holding what the policy does not play (:class:`~equipoise.games.belief.Belief`). The hand is replayed in
hundredths of its big blind at the agent's own game, sizes between the agent's taken for the nearest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise.arena.record import HandRecord
from equipoise.cards.range import Range
from equipoise.cards.streets import BOARD_SIZES, STREETS
from equipoise.errors import EquipoiseError, IllegalActionError
from equipoise.games.belief import Belief
from equipoise.games.policy import PublicState
from equipoise.games.rules import CALL, NOLIMIT_HOLDEM, Action, Kind, State, raise_to
from equipoise.games.spot import Spot
from equipoise.settings import brief

if TYPE_CHECKING:
    from equipoise.agents.agent import Agent

#: Chips of a big blind at the agent's game.
_BIG_BLIND = NOLIMIT_HOLDEM.big_blind


def spot_of_hand(hand: HandRecord, street: str, agent: Agent) -> Spot:
    """The spot with which a street of a hand began, in big blinds.

    The big blind is out of position. Sizes are those of a spot that names none.
    """
    number = STREETS.index(street) if street in STREETS else 0
    if not number:
        raise EquipoiseError(f"--street {brief(street)}: choose flop, turn or river")
    rules = hand.rules
    if rules.limit or rules.rounds != 4 or rules.hole_cards != 2:
        raise EquipoiseError(
            f"hand {hand.number} is of {rules.name}: spots are of no-limit hold'em"
        )
    board = hand.board[: BOARD_SIZES[number]]
    if len(hand.state.history) <= number or len(board) < BOARD_SIZES[number]:
        raise EquipoiseError(f"hand {hand.number} ends before the {street}: choose an earlier one")
    state, ranges = _replayed(hand, number, agent)
    stack = min(rules.stacks) - max(state.committed)
    if stack <= 0:
        raise EquipoiseError(
            f"hand {hand.number} is all-in before the {street}: nothing is to decide"
        )
    big = rules.big_blind
    return Spot.from_dict(
        {
            "name": f"hand {hand.number}, {street}",
            "board": "".join(_card_text(card) for card in board),
            "unit": "bb",
            "pot": round(state.pot / big, 4),
            "stack": round(stack / big, 4),
            "ranges": {
                name: str(own.without(board))
                for name, own in zip(("oop", "ip"), ranges, strict=True)
            },
        }
    )


def _replayed(hand: HandRecord, number: int, agent: Agent) -> tuple[State, tuple[Range, Range]]:
    """The state at the start of a street, and both ranges there."""
    real, ours = State.start(hand.rules), State.start(NOLIMIT_HOLDEM)
    beliefs = [Belief.start(NOLIMIT_HOLDEM), Belief.start(NOLIMIT_HOLDEM)]
    followed = True
    for round_number, actions in enumerate(hand.state.history[:number]):
        board = hand.board[: BOARD_SIZES[round_number]]
        for action in actions:
            who = real.to_act
            assert who is not None
            if followed and ours.to_act == who and ours.round == real.round:
                policy = agent.policy(PublicState(ours, board, hand.number))
                if policy is None:
                    raise EquipoiseError(f"{agent.name} tells no policy: choose another --ranges")
                taken = _nearest(action, hand.rules.big_blind, policy.actions)
                beliefs[who] = beliefs[who].act(policy, taken, never="ignore")
                ours = _applied(ours, action, hand.rules.big_blind)
            else:
                followed = False
            real = real.apply(action)
    ranges = []
    for belief in beliefs:
        weights = belief.weights / belief.weights.max()
        ranges.append(Range(np.where(weights > 0.005, np.round(weights, 3), 0.0)))
    return real, (ranges[0], ranges[1])


def _nearest(action: Action, big_blind: int, known: tuple[Action, ...]) -> Action:
    """What an agent would have called an action: of raises, the one of the nearest size."""
    if action.kind != Kind.RAISE:
        return action
    raises = [one for one in known if one.kind == Kind.RAISE]
    wanted = action.amount * _BIG_BLIND / big_blind
    return min(raises, key=lambda one: abs(np.log(one.amount / wanted)), default=action)


def _applied(state: State, action: Action, big_blind: int) -> State:
    """The state after the action at the agent's game, as far as its stacks and rules allow."""
    if action.kind == Kind.RAISE:
        legal = state.legal()
        amount = round(action.amount * _BIG_BLIND / big_blind)
        if not legal.raise_max:
            return state.apply(CALL)
        return state.apply(raise_to(min(max(amount, legal.raise_min), legal.raise_max)))
    try:
        return state.apply(action)
    except IllegalActionError:
        return state.apply(CALL)


def _card_text(card: int) -> str:
    from equipoise.cards.card import card_text

    return card_text(card)
