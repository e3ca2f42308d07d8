"""Kuhn poker and two of its relatives: three cards J < Q < K, one to each player, no board.

In Kuhn's game (1950) both players ante 1 and one bet of 1 is allowed; the first player loses 1/18 a
hand. In the half-street game only the first player may bet: with a bet of `s` pots, `s <= 1`, he
bluffs J with `s/(1+s)`, the middle card calls with `(1-s)/(1+s)`, and he gains
`s(1-s)/(6(1+s))` pots. The no-limit game has the same cards and any stack and bet menu.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import BoardTree, Hands, deal_cards
from equipoise.games.game import CardText, Game, game_name
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.rules import Rules

_CARDS = CardText("JQK")


def kuhn(max_raises: int = 1) -> Game:
    """Kuhn poker; `max_raises` above 1 lets a bet be raised.

    >>> kuhn().information_sets(), kuhn().sequences()
    ((6, 6), (13, 13))
    """
    rules = Rules(
        name="Kuhn poker",
        limit=True,
        blinds=(1, 1),
        first=(0,),
        raise_sizes=(1,),
        max_raises=(max_raises,),
        suits=1,
        ranks=3,
        hole_cards=1,
        board_cards=(0,),
    )
    name = game_name("kuhn", max_raises=None if max_raises == 1 else max_raises)
    return _game(name, rules, BetMenu.limit(), 1.0)


def half_street_rules(name: str, stack: int, pot: int) -> Rules:
    """One round over `pot` chips, in which a menu lets the first player bet and the second only call."""
    return Rules(
        name=name,
        limit=False,
        blinds=(0, 0),
        first=(0,),
        stacks=(stack, stack),
        suits=1,
        ranks=3,
        hole_cards=1,
        board_cards=(0,),
        dead=pot,
    )


def kuhn_half_street(bet: int = 50, pot: int = 100) -> Game:
    """The half-street game: a pot of `pot` chips, and the first player checks or bets `bet` chips.

    Each player owns half of the pot, so the value is what the first player gains by being able to
    bet.

    >>> kuhn_half_street(bet=25).sequences()
    (7, 7)
    """
    if bet < 1 or pot < 1:
        raise GameError(f"bet = {bet}, pot = {pot}: both are at least 1 chip")
    rules = half_street_rules("half-street Kuhn poker", bet, pot)
    menu = BetMenu(((StreetMenu.parse("a"), StreetMenu()),))
    return _game(game_name("kuhn-half-street", bet=bet, pot=pot), rules, menu, float(pot))


def kuhn_nolimit(stack: int = 5, menu: BetMenu | str | None = None) -> Game:
    """Kuhn's cards with ante 1, `stack` chips before it, and every legal bet unless `menu` says so.

    >>> kuhn_nolimit(stack=2).sequences() == kuhn().sequences()
    True
    """
    if stack < 2:
        raise GameError(f"stack = {stack}: an ante of 1 leaves no bet: give 2 or more")
    rules = Rules(
        name=f"no-limit Kuhn poker, stack {stack}",
        limit=False,
        blinds=(1, 1),
        first=(0,),
        stacks=(stack, stack),
        suits=1,
        ranks=3,
        hole_cards=1,
        board_cards=(0,),
    )
    bets = BetMenu.of(menu)
    return _game(game_name("kuhn-nolimit", stack=stack, menu=bets), rules, bets, 1.0)


def _game(name: str, rules: Rules, menu: BetMenu, unit_chips: float) -> Game:
    betting = Betting.build(rules, menu)
    return Game(name, betting, _deal(), unit_chips, _CARDS.state, _CARDS.board)


def _deal() -> BoardTree:
    return deal_cards(suits=1, ranks=3, hole_cards=1, board_cards=(0,), strength=_high_card)


def _high_card(hands: Hands, board: tuple[int, ...]) -> NDArray[np.int64]:
    return hands[:, 0].astype(np.int64)
