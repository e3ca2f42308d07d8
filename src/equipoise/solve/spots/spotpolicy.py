"""What every hand of a solved spot plays at a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equipoise.cards.card import card_text, cards_text
from equipoise.cards.combos import COMBO_COUNT
from equipoise.errors import GameError
from equipoise.games.notation.labels import action_label
from equipoise.games.policy import Policy, PublicState
from equipoise.solve.spots.position import Position


def spot_policy(start: Position, public: PublicState) -> Policy:
    """The policy of the spot that begins at `start`, in a situation of its own rules.

    Hands outside the range of the player to act play nothing.
    """
    game, board = start.answer.game, start.board
    betting, state, origin = game.betting, public.state, game.betting.origin
    if replace(state.rules, name="") != replace(betting.rules, name=""):
        raise GameError(f"the strategy is of {game.name}: play it by the rules of that spot")
    if state.to_act is None:
        raise GameError("the hand is over: a policy is for a player who is to act")
    before = len(origin.history[-1])
    if state.history[origin.round][:before] != origin.history[-1]:
        raise GameError(
            f"{game.name} begins after {origin.betting_text()!r}: ask for betting that goes on from there"
        )
    dealt = public.board[len(board) :]
    if public.board[: len(board)] != board or len(dealt) != state.round - origin.round:
        raise GameError(
            f"the board {cards_text(public.board)!r} is none of {game.name}: begin with "
            f"{cards_text(board)} and deal a card for each street"
        )
    parts = betting.parts
    options = {action_label(state, action, parts): action for action in betting.menu.actions(state)}
    if len(options) == 1:
        return Policy(tuple(options.values()), np.ones((COMBO_COUNT, 1), dtype=np.float32))
    place, now = start, origin
    for number, part in enumerate(state.history[origin.round :]):
        if number:
            place = place.step(card_text(dealt[number - 1]))
        for action in part[0 if number else before :]:
            # Where a single action is left the tree goes on by itself, but for its very first turn.
            if len(betting.menu.actions(now)) > 1 or len(place.actions) == 1:
                place = place.step(action_label(now, action, parts))
            now = now.apply(action)
    rows = np.zeros((COMBO_COUNT, len(place.actions)), dtype=np.float32)
    play = place.answer.rows(place.node, place.board_number)
    rows[place.hands(state.to_act)] = play[:, place.states(state.to_act)].T
    return Policy(tuple(options[label] for label in place.actions), rows)
