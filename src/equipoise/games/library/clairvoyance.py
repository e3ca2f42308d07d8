"""The half-street clairvoyance game (Ankenman and Chen, The Mathematics of Poker, 2006).

The pot is 1. Player 0 holds the nuts or air, half the time each, and knows it; player 1 holds a hand
in between. Player 0 may bet up to his stack `n`, player 1 may only call or fold. He bets all of it,
always with the nuts and with air `n/(1+n)` of the time; a bet `x` is called with `1/(1+x)`. Each
player owns half of the pot, so the value is what the first player wins beyond his half:
`n / (2(1+n))`.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import Board, deal_once
from equipoise.games.game import Game, exact, game_name, number_text
from equipoise.games.library.kuhn import half_street_rules
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.notation.betsize import BetSize

#: Multiples of a step that are bet sizes.
_MOST_SIZES = 50_000
_HOLDS = (("nuts", "air"), ("bluff catcher",))


def clairvoyance(
    stack: Fraction | float = 1,
    menu: str | None = None,
    step: Fraction | float | None = None,
) -> Game:
    """The game with `stack` pots behind; the pot is 100 chips, or more where that makes sizes whole.

    Player 0 bets all-in or checks; `menu` gives him other sizes, and `step` every multiple of so many
    pots up to his stack.

    >>> clairvoyance(3, step=0.5).sequences()
    (15, 13)
    """
    pots, grid = exact(stack), exact(step if step is not None else 1)
    if pots <= 0 or grid <= 0:
        raise GameError(f"stack = {stack}, step = {step}: both are more than 0 pots")
    if menu is not None and step is not None:
        raise GameError("menu and step both choose the bet sizes: give one of them")
    pot = lcm(100, pots.denominator, grid.denominator)
    chips = int(pots * pot)
    if step is None:
        bets = StreetMenu.parse("a" if menu is None else menu)
    else:
        stride = int(grid * pot)
        if chips // stride > _MOST_SIZES:
            raise GameError(f"step = {step}: over {_MOST_SIZES:,} sizes: give a larger one")
        bets = StreetMenu(
            tuple(BetSize("c", Fraction(bet)) for bet in range(stride, chips + 1, stride))
        )
    rules = half_street_rules("half-street clairvoyance", chips, pot)
    name = game_name(
        "clairvoyance",
        stack=number_text(pots),
        menu=menu,
        step=None if step is None else number_text(grid),
    )
    betting = Betting.build(rules, BetMenu(((bets, StreetMenu()),)))
    half = np.full((2, 1), 0.5)
    deal = deal_once(half, half * np.array([[1.0], [-1.0]]))
    return Game(name, betting, deal, float(pot), _state_name, _board_name, markov=True)


def _state_name(board: Board, player: int, state: int) -> str:
    return _HOLDS[player][state]


def _board_name(board: Board) -> str:
    return ""
