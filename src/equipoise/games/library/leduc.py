"""Leduc hold'em (Southey et al. 2005): two suits of J < Q < K, one private card, one on the board.

Both players ante 1. A pair with the board wins, else the higher rank. Limit: bets of 2 and then 4,
two a round; the first player loses 0.0856064241 a hand. Suits never matter at a showdown, so the
game is kept with ranks as private states, chance knowing how many cards of each rank are left; with
`suits=True` the six cards stay apart, which is the same game told at greater length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import Board, BoardTree, Hands, deal_cards
from equipoise.games.game import CardText, Game, game_name
from equipoise.games.menu import BetMenu
from equipoise.games.rules import UNLIMITED, Rules

_RANKS, _COPIES = 3, 2
_LETTERS = "JQK"


def leduc(max_raises: int = 2, suits: bool = False) -> Game:
    """Limit Leduc hold'em.

    >>> leduc().information_sets(), leduc().sequences(), sum(leduc(suits=True).information_sets())
    ((144, 144), (337, 337), 936)
    """
    name = game_name("leduc", max_raises=None if max_raises == 2 else max_raises, suits=suits)
    return _game(name, _rules(UNLIMITED, max_raises), BetMenu.limit(), suits)


def leduc_nolimit(stack: int = 12, menu: BetMenu | str | None = None, suits: bool = False) -> Game:
    """No-limit Leduc: `stack` chips before the ante, every legal bet unless `menu` says so.

    >>> leduc_nolimit(menu="100%").name
    'leduc-nolimit(stack=12, menu=100%)'
    """
    if stack < 2:
        raise GameError(f"stack = {stack}: an ante of 1 leaves no bet: give 2 or more")
    bets = BetMenu.of(menu)
    name = game_name("leduc-nolimit", stack=stack, menu=bets, suits=suits)
    return _game(name, _rules(stack, None), bets, suits)


def _rules(stack: int, max_raises: int | None) -> Rules:
    limit = stack == UNLIMITED
    return Rules(
        name="Leduc hold'em" if limit else f"no-limit Leduc hold'em, stack {stack}",
        limit=limit,
        blinds=(1, 1),
        first=(0, 0),
        stacks=(stack, stack),
        raise_sizes=(2, 4) if limit else (),
        max_raises=(max_raises, max_raises),
        suits=_COPIES,
        ranks=_RANKS,
        hole_cards=1,
        board_cards=(0, 1),
    )


def _game(name: str, rules: Rules, menu: BetMenu, suits: bool) -> Game:
    deal = _deal_cards() if suits else _deal_ranks()
    text = CardText(_LETTERS, _COPIES if suits else 1)
    return Game(name, Betting.build(rules, menu), deal, 1.0, text.state, text.board)


def _deal_cards() -> BoardTree:
    def strength(hands: Hands, board: tuple[int, ...]) -> NDArray[np.int64]:
        return _strength(hands[:, 0] // _COPIES, board[0] // _COPIES)

    return deal_cards(
        suits=_COPIES,
        ranks=_RANKS,
        hole_cards=1,
        board_cards=(0, 1),
        strength=strength,
        use_symmetry=False,
    )


def _deal_ranks() -> BoardTree:
    every = np.arange(_RANKS)
    hands = every[:, None].astype(np.int16)
    same = np.eye(_RANKS)
    deck = _RANKS * _COPIES
    pairs = _COPIES * (_COPIES - same) / (deck * (deck - 1))
    root = Board(0, -1, (), 1.0, (hands, hands), mass=pairs, signed=np.zeros_like(pairs))
    boards = [root]
    for rank in range(_RANKS):
        left = _COPIES - same[rank][:, None] - same[rank][None, :]
        mass = pairs * left / (deck - 2)
        value = _strength(every, rank)
        signed = mass * np.sign(value[:, None] - value[None, :])
        boards.append(
            Board(1, 0, (rank,), 1.0, (hands, hands), [(every, every)], mass=mass, signed=signed)
        )
        assert root.signed is not None
        root.signed += signed
    ones = np.ones(_RANKS)
    return BoardTree(boards, (ones, ones), 1.0, "matrix")


def _strength(ranks: NDArray[np.integer], board: int) -> NDArray[np.int64]:
    """A pair with the board beats every rank."""
    value: NDArray[np.int64] = np.where(ranks == board, _RANKS, ranks).astype(np.int64)
    return value
