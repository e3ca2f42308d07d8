"""A small game in which suits only have names."""

from __future__ import annotations

import numpy as np

from equipoise.games.betting import Betting, Rake
from equipoise.games.boards import deal_cards
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules


def three_suits(use_symmetry=True, rake=0.0):
    """Nine cards, one each, two on the board: a pair beats high card; suits only have names."""

    def strength(hands, board):
        ranks, pair = hands[:, 0] // 3, np.isin(hands[:, 0] // 3, np.array(board) // 3)
        return ranks + 10 * pair.astype(np.int64)

    cards = {"suits": 3, "ranks": 3, "hole_cards": 1, "board_cards": (0, 1, 1)}
    rules = Rules(
        "three suits", False, (1, 1), (0, 0, 0), stacks=(4, 4), **cards
    )  # fmt: skip
    betting = Betting.build(rules, BetMenu.parse("a"), Rake(rake))
    deal = deal_cards(**cards, strength=strength, use_symmetry=use_symmetry)
    return Game("three suits", betting, deal, 1.0, lambda *_: "", lambda *_: "")
