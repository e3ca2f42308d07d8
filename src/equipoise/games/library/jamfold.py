"""Heads-up jam or fold: the small blind goes all-in or folds, the big blind calls or folds.

Player 0 is the small blind (and the button): he acts first, and the value is his. Private states are
the 169 classes of hole cards; the chance of a pair of classes and what they win against each other
are exact counts over all pairs of hands that share no card and all boards
(:mod:`equipoise.cards.preflop`), so card removal is exact too.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from equipoise.cards.combos import class_text
from equipoise.cards.preflop import BOARDS_PER_PAIR, table
from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import Board, deal_once
from equipoise.games.game import Game, exact, game_name, number_text
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.rules import CALL, Action, Rules, State


def jamfold(stack: Fraction | float = 10) -> Game:
    """Jam or fold with blinds 0.5 and 1 and `stack` big blinds before posting.

    >>> game = jamfold(7.5)
    >>> game.information_sets(), game.betting.rules.stacks, game.unit_chips
    ((169, 169), (15, 15), 2.0)
    """
    depth = exact(stack)
    if depth <= 1:
        raise GameError(f"stack = {stack}: with the big blind posted, a jam needs more than 1")
    big = lcm(2, depth.denominator)
    chips = int(depth * big)
    rules = Rules(
        name=f"jam or fold, stack {number_text(depth)}",
        limit=False,
        blinds=(big // 2, big),
        first=(0,),
        stacks=(chips, chips),
        board_cards=(0,),
    )
    betting = Betting.build(rules, JamOrFold(((StreetMenu.parse("a"), StreetMenu()),)))
    counts = table()
    total = float(counts.pairs.sum())
    signed = (counts.wins - counts.wins.T) / (BOARDS_PER_PAIR * total)
    return Game(
        game_name("jamfold", stack=number_text(depth)),
        betting,
        deal_once(counts.pairs / total, signed),
        float(big),
        _state_name,
        _board_name,
        markov=True,
    )


class JamOrFold(BetMenu):
    """No limping: the small blind's call is not on the menu."""

    def actions(self, state: State) -> tuple[Action, ...]:
        """Fold or jam, and then fold or call."""
        options = super().actions(state)
        if state.history[-1]:
            return options
        return tuple(action for action in options if action != CALL)


def _state_name(board: Board, player: int, state: int) -> str:
    return class_text(state)


def _board_name(board: Board) -> str:
    return ""
