"""Practice hands with all cards shown afterwards, for agents that learn before they play a match.

Seats alternate. The cards follow from the seed and the number of the hand, and so do the players'
random choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from equipoise.abstraction.lookup import BOARD_SIZES
from equipoise.agents.agent import Agent, HandResult, View
from equipoise.cards.evaluator import evaluate
from equipoise.games.rules import Rules, State

_DECK = range(52)
#: Practice hands that an agent may ask for: an hour or two of them.
MOST_HANDS = 10_000_000


def winner(first: tuple[int, ...], second: tuple[int, ...], board: tuple[int, ...]) -> int | None:
    """Who wins a showdown on a full board: 0, 1, or None for a tie.

    >>> from equipoise.cards.card import parse_cards
    >>> winner(parse_cards("AsAh"), parse_cards("KsKh"), parse_cards("2c 7d 9h Js 4c"))
    0
    """
    mine, theirs = evaluate((*first, *board)), evaluate((*second, *board))
    return None if mine == theirs else int(theirs > mine)


def practice(
    student: Agent, opponent: Agent, rules: Rules, hands: int, seed: int = 0
) -> Iterator[HandResult]:
    """Play hands; each result is the student's, and both players have observed theirs."""
    for hand in range(hands):
        random = Random(f"{seed}/{hand}")
        cards = random.sample(_DECK, 9)
        holes, board = ((cards[0], cards[1]), (cards[2], cards[3])), tuple(cards[4:])
        seat = hand & 1
        players = (student, opponent) if seat == 0 else (opponent, student)
        for position, player in enumerate(players):
            player.random.seed(random.getrandbits(64))
            player.begin(hand, position)
        state = State.start(rules)
        while (turn := state.to_act) is not None:
            seen = board[: BOARD_SIZES[state.round]]
            view = View(state, turn, holes[turn], seen, hand)
            state = state.apply(players[turn].act(view))
        paid = state.payoffs(winner(*holes, board) if state.is_showdown else None)
        results = [
            HandResult(
                state,
                position,
                holes[position],
                board[: BOARD_SIZES[state.round]],
                hand,
                paid[position],
                holes[1 - position],
                board,
            )
            for position in (0, 1)
        ]
        for player, result in zip(players, results, strict=True):
            player.observe(result)
        yield results[seat]
