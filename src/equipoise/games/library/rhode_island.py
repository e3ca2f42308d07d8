"""Rhode Island hold'em (Shi and Littman 2001): one private card, then two public ones, 52 cards.

Both players ante 5; the bets are 10, 20 and 20 chips, at most three of them a round, and the same
player acts first in every round. The best hand of three cards wins, ranked as Gilpin and Sandholm
did when they solved the game ("Lossless abstraction of imperfect information games", 2007, and the
rules page of their program, cs.cmu.edu/~gilpin/gsi.html): straight flush, three of a kind, straight,
flush, pair, high card. With three cards a straight is rarer than a flush and beats it. The ace
also stands below the deuce, and A-2-3 is the lowest straight.

Boards that differ only by a renaming of suits are kept once: 13 flops and 325 ordered flops and
turns of 2,652.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import Hands, deal_cards
from equipoise.games.game import CardText, Game, game_name
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules
from equipoise.games.runouts import Strength

HIGH_CARD, PAIR, FLUSH, STRAIGHT, TRIPS, STRAIGHT_FLUSH = range(6)


def rhode_island(max_raises: int = 3, ranks: int = 13, suits: int = 4) -> Game:
    """Rhode Island hold'em; fewer ranks (the highest stay) or suits make a smaller game.

    >>> game = rhode_island(ranks=4, suits=2)
    >>> [sum(board.round == r for board in game.deal.boards) for r in range(3)]
    [1, 4, 28]
    """
    if not 1 <= suits <= 4 or not 2 <= ranks <= 13:
        raise GameError(f"{ranks} ranks, {suits} suits: a deck has 2 to 13 ranks and 1 to 4 suits")
    rules = Rules(
        name="Rhode Island hold'em",
        limit=True,
        blinds=(5, 5),
        first=(0, 0, 0),
        raise_sizes=(10, 20, 20),
        max_raises=(max_raises,) * 3,
        suits=suits,
        ranks=ranks,
        hole_cards=1,
        board_cards=(0, 1, 1),
    )
    deal = deal_cards(
        suits=suits,
        ranks=ranks,
        hole_cards=1,
        board_cards=rules.board_cards,
        strength=three_card_strength(suits, ranks),
    )
    name = game_name(
        "rhode-island",
        max_raises=None if max_raises == 3 else max_raises,
        ranks=None if ranks == 13 else ranks,
        suits=None if suits == 4 else suits,
    )
    text = CardText.of_deck(ranks, suits)
    betting = Betting.build(rules, BetMenu.limit())
    return Game(name, betting, deal, 5.0, text.state, text.board)


def three_card_strength(suits: int = 4, ranks: int = 13) -> Strength:
    """Strength of one private card with two public ones; the higher wins.

    >>> from equipoise.cards.card import parse_cards
    >>> strength = three_card_strength()
    >>> straight, flush = np.array([parse_cards("Ah"), parse_cards("9c")], dtype=np.int16)
    >>> board = parse_cards("3c2c")
    >>> bool(strength(straight[None], board) > strength(flush[None], board))
    True
    """

    def strength(hands: Hands, board: tuple[int, ...]) -> NDArray[np.int64]:
        public = np.broadcast_to(np.array(board, dtype=np.int64), (len(hands), 2))
        cards = np.concatenate([hands.astype(np.int64), public], axis=1)
        high, middle, low = np.sort(cards // suits, axis=1)[:, ::-1].T
        suited = (cards % suits == cards[:, :1] % suits).all(axis=1)
        wheel = (high == 12) & (middle == 1) & (low == 0) & (ranks == 13)
        straight = ((high == middle + 1) & (middle == low + 1)) | wheel
        trips, pair = high == low, (high == middle) | (middle == low)
        category = np.select(
            [straight & suited, trips, straight, suited, pair],
            [STRAIGHT_FLUSH, TRIPS, STRAIGHT, FLUSH, PAIR],
            HIGH_CARD,
        )
        # In a wheel the three is the high card; of a pair the paired rank counts first.
        first = np.where(wheel, middle, np.where(pair, middle, high))
        second = np.where(pair, high + low - middle, np.where(wheel, low, middle))
        last = np.where(pair | straight, 0, low)
        value: NDArray[np.int64] = ((category * 13 + first) * 13 + second) * 13 + last
        return value

    return strength
