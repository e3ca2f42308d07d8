"""Run-outs won less lost, against counting every board that can come."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np

from equipoise.games.boards import compatible
from equipoise.games.library.smalldeck import SmallDeck, hand_strength
from equipoise.games.margins import Margins, add_margins, add_showdowns, run_outs, signs

DECK = SmallDeck(suits=2, ranks=4, hole_cards=2, board_cards=(0, 1, 1), evaluator="sorted")
CARDS = 8


def margins_of_the_root() -> Margins:
    boards = DECK.deal().boards
    tables = [np.zeros([len(hands) for hands in board.hands], np.int16) for board in boards]
    for board, table in zip(reversed(boards), reversed(tables), strict=True):
        if board.strength is not None:
            add_showdowns(tables[board.parent], board.arrivals, board.strength)
        elif board.parent >= 0:
            add_margins(tables[board.parent], board.arrivals, table)
    return tables[0]


def test_margins_agree_with_dealing_every_run_out():
    hands = DECK.deal().boards[0].hands[0]
    strength = hand_strength(DECK.suits, DECK.ranks)
    found = margins_of_the_root()
    for i, mine in enumerate(hands):
        for j, theirs in enumerate(hands):
            left = set(range(CARDS)) - {*mine.tolist(), *theirs.tolist()}
            if len(left) > CARDS - 4:
                continue
            ways = list(permutations(left, 2))
            assert len(ways) == run_outs(CARDS - 4, DECK.board_cards[1:])
            pair = np.stack([mine, theirs])
            won = [np.sign(np.subtract(*strength(pair, board))) for board in ways]
            assert found[i, j] == sum(won)


def test_matrices_hold_the_mean_margin():
    root = replace(DECK, evaluator="matrix").deal().boards[0]
    mean = margins_of_the_root() / run_outs(CARDS - 4, DECK.board_cards[1:])
    assert root.mass is not None
    assert root.signed is not None
    assert np.abs(root.signed - root.mass * mean).max() < 1e-15
    assert (root.mass[~compatible(*root.hands)] == 0).all()


def test_on_a_full_board_the_stronger_wins():
    board = DECK.deal().boards[-1]
    assert board.strength is not None
    table = signs(board.strength)
    assert (table == -signs(board.strength[::-1]).T).all()
    assert (np.diff(table.astype(int), axis=0) >= 0).all()
