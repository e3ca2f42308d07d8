"""Exact hands laid out for the sorted evaluator, and all-in calls counted once.

A showdown on a full board is one pass over both players' hands in order of strength. An all-in call
with cards to come is not swept card by card at every iteration: the run-outs won less those lost are
counted once for every pair of hands, bottom up over the boards, as 16-bit integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.errors import GameError
from equipoise.games.boards import compatible
from equipoise.games.margins import add_margins, add_showdowns, run_outs
from equipoise.games.nodes import SHOWDOWN
from equipoise.solve.sweep.layout import Boards
from equipoise.solve.sweep.showdown import SortedHands

if TYPE_CHECKING:
    from equipoise.games.game import Game


def lay_sorted(game: Game, boards: Boards) -> SortedHands:
    """Arrays of the sorted evaluator for every board of a game."""
    deal, betting = game.deal, game.betting
    if deal.boards[0].hands[0].shape[1] != 2:
        raise GameError("the sorted evaluator needs hands of two cards: use the matrix evaluator")
    start = np.zeros((len(deal.boards), 2), dtype=np.int64)
    group_start = np.zeros((len(deal.boards), 3), dtype=np.int64)
    card1, card2, same, group_end, weaker_end, tied_end = [], [], [], [], [], []
    hands_filled = groups_filled = 0
    lookup = np.zeros((64, 64), dtype=np.uint16)
    for b, board in enumerate(deal.boards):
        for player in (0, 1):
            mine, his = board.hands[player], board.hands[1 - player]
            start[b, player] = hands_filled
            hands_filled += len(mine)
            card1.append(mine[:, 0])
            card2.append(mine[:, 1])
            lookup[mine[:, 0], mine[:, 1]] = boards.width[b, 1 - player]
            lookup[his[:, 0], his[:, 1]] = np.arange(len(his))
            same.append(lookup[mine[:, 0], mine[:, 1]])
            group_start[b, player] = groups_filled
            if board.strength is not None:
                strength, theirs = board.strength[player], board.strength[1 - player]
                last = np.flatnonzero(np.diff(strength, append=strength[-1:] + 1))
                group_end.append(last + 1)
                weaker_end.append(np.searchsorted(theirs, strength[last], side="left"))
                tied_end.append(np.searchsorted(theirs, strength[last], side="right"))
                groups_filled += len(last)
        group_start[b, 2] = groups_filled
    runouts, runout_start, runout_share = _count_runouts(game)

    def flat(parts: list[Any], dtype: Any) -> Any:
        return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype=dtype)

    assert betting.rounds == int(boards.round.max()) + 1
    return SortedHands(
        start=start,
        card1=flat(card1, np.uint8),
        card2=flat(card2, np.uint8),
        same=flat(same, np.uint16),
        group_start=group_start,
        group_end=flat(group_end, np.uint16),
        weaker_end=flat(weaker_end, np.uint16),
        tied_end=flat(tied_end, np.uint16),
        runouts=runouts,
        runout_start=runout_start,
        runout_share=runout_share,
    )


def _count_runouts(game: Game) -> tuple[Any, Any, Any]:
    """Tables of all boards on which somebody may be all in with cards to come, starts and shares.

    Boards past the end of a cut game are counted through, and their own tables dropped.
    """
    deal, betting = game.deal, game.betting
    boards = deal.boards + deal.beyond
    last = boards[-1].round
    start = np.full(len(boards), -1, dtype=np.int64)
    share = np.ones(len(boards), dtype=np.float32)
    before_last = range(min(last, betting.rounds))
    ends_early = [r for r in before_last if len(betting.of_kind(r, SHOWDOWN))]
    if not ends_early:
        kept = len(deal.boards)
        return np.zeros(0, dtype=np.int16), start[:kept], share[:kept]
    counted = [b for b, board in enumerate(boards) if ends_early[0] <= board.round < last]
    sizes = [len(boards[b].hands[0]) * len(boards[b].hands[1]) for b in counted]
    start[counted] = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    tables = np.zeros(sum(sizes), dtype=np.int16)
    cards = betting.board_cards
    deck = betting.rules.suits * betting.rules.ranks
    for b in counted:
        to_come = cards[boards[b].round + 1 : last + 1]
        share[b] = 1 / run_outs(deck - len(boards[b].cards) - 4, to_come)
    of_board = {
        b: tables[start[b] : start[b] + size].reshape([len(hands) for hands in boards[b].hands])
        for b, size in zip(counted, sizes, strict=True)
    }
    for b in range(len(boards) - 1, -1, -1):
        board = boards[b]
        if b in of_board:
            # Nobody meets a hand that holds one of his own cards.
            of_board[b] *= compatible(*board.hands)
        if board.parent in of_board:
            above = of_board[board.parent]
            if board.strength is not None:
                add_showdowns(above, board.arrivals, board.strength)
            else:
                add_margins(above, board.arrivals, of_board[b])
    kept = len(deal.boards)
    end = sum(size for b, size in zip(counted, sizes, strict=True) if b < kept)
    return tables[:end].copy() if deal.beyond else tables, start[:kept], share[:kept]
