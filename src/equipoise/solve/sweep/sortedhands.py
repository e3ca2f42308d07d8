"""Exact hands laid out for the sorted evaluator, and all-in calls counted once.

A showdown on a full board is one pass over the opponent's hands in order of strength, those of one
strength that share a card together (:mod:`.bundles`). An all-in call
with cards to come is not swept card by card at every iteration: the run-outs won less those lost are
counted once for every pair of hands, bottom up over the boards, as 16-bit integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError
from equipoise.games.boards import Board, compatible
from equipoise.games.margins import add_margins, add_showdowns, run_outs
from equipoise.games.nodes import FOLD, SHOWDOWN
from equipoise.solve.sweep.bundles import ANSWERS, FOUR, SHOWDOWNS, SortedHands
from equipoise.solve.sweep.lanes import LANES
from equipoise.solve.sweep.layout import CARDS, BettingArrays, Boards

if TYPE_CHECKING:
    from equipoise.games.game import Game


def lay_sorted(game: Game, boards: Boards, lines: BettingArrays) -> SortedHands:
    """Arrays of the sorted evaluator for every board of a game."""
    deal, betting = game.deal, game.betting
    if deal.boards[0].hands[0].shape[1] != 2:
        raise GameError("the sorted evaluator needs hands of two cards: use the matrix evaluator")
    start, bundle_start, bundles, fours_start = (
        np.zeros((len(deal.boards), 2), dtype=np.int64) for _ in range(4)
    )
    group_start = np.zeros((len(deal.boards), 3), dtype=np.int64)
    hands: list[_Hands] = []
    hands_filled = groups_filled = bundles_filled = fours_filled = 0
    for b, board in enumerate(deal.boards):
        for player in (0, 1):
            found = _bundled(board, player, int(boards.width[b, 1 - player]))
            hands.append(found)
            start[b, player], group_start[b, player] = hands_filled, groups_filled
            bundle_start[b, player], fours_start[b, player] = bundles_filled, fours_filled
            # Ends are one more than bundles.
            bundles[b, player] = len(found.fours_end) - 1
            hands_filled += len(found.card1)
            groups_filled += len(found.group_end)
            bundles_filled += len(found.fours_end)
            fours_filled += len(found.fours)
        group_start[b, 2] = groups_filled
    assert betting.rounds == int(boards.round.max()) + 1
    full = betting.rounds - 1 if deal.boards[-1].strength is not None else betting.rounds
    terminal_start, fold_node, showdown_node = _list_terminals(lines, full)
    runouts, runout_start, runout_share = _count_runouts(game)

    def flat(name: str, dtype: Any) -> Any:
        return np.concatenate([getattr(found, name) for found in hands]).astype(dtype)

    return SortedHands(
        start=start,
        card1=flat("card1", np.uint8),
        card2=flat("card2", np.uint8),
        same=flat("same", np.uint16),
        tie1=flat("tie1", np.uint8),
        tie2=flat("tie2", np.uint8),
        group_start=group_start,
        group_end=flat("group_end", np.uint16),
        weaker_end=flat("weaker_end", np.uint16),
        tied_end=flat("tied_end", np.uint16),
        bundle_start=bundle_start,
        bundles=bundles,
        bundle_card=flat("bundle_card", np.uint8),
        fours_end=flat("fours_end", np.uint16),
        fours_start=fours_start,
        fours=flat("fours", np.uint16),
        terminal_start=terminal_start,
        fold_node=fold_node,
        showdown_node=showdown_node,
        runouts=runouts,
        runout_start=runout_start,
        runout_share=runout_share,
    )


class _Hands(NamedTuple):
    """A player's hands on one board beside the opponent's, as in :class:`SortedHands`."""

    card1: NDArray[Any]
    card2: NDArray[Any]
    same: NDArray[Any]
    tie1: NDArray[Any]
    tie2: NDArray[Any]
    group_end: NDArray[Any]
    weaker_end: NDArray[Any]
    tied_end: NDArray[Any]
    bundle_card: NDArray[Any]
    fours_end: NDArray[Any]
    fours: NDArray[Any]


def _bundled(board: Board, player: int, nobody: int) -> _Hands:
    """Hands of a player, and the opponent's in bundles; `nobody` is a hand that the opponent has not.

    His hands are cut into layers by strength: weaker than my weakest group, tied with it, between that
    and the next, and so on. A bundle is what holds one card in one layer. Cards of mine have a bundle
    in the layer that ties with me even if none of his hands is in it.
    """
    mine, his = board.hands[player].astype(np.int64), board.hands[1 - player].astype(np.int64)
    lookup = np.full((CARDS, CARDS), nobody, dtype=np.int64)
    lookup[his[:, 0], his[:, 1]] = np.arange(len(his))
    group_end = np.zeros(0, dtype=np.int64)
    my_layer, his_layer = None, np.zeros(len(his), dtype=np.int64)
    if board.strength is not None:
        strength, theirs = board.strength[player], board.strength[1 - player]
        last = np.flatnonzero(np.diff(strength, append=strength[-1:] + 1))
        group_end, levels = last + 1, strength[last]
        above = np.searchsorted(levels, theirs)
        # Nobody stands above the last level, and without hands of mine there is none.
        tied = np.append(levels, levels[-1:])[above] == theirs if len(levels) else False
        his_layer = 2 * above + tied
        my_layer = 2 * np.searchsorted(levels, strength) + 1
    in_layer = (his_layer[:, None] * CARDS + his).reshape(-1)
    count = np.bincount(in_layer, minlength=(2 * len(group_end) + 1) * CARDS)
    there = count > 0
    if my_layer is not None:
        my_place = my_layer[:, None] * CARDS + mine
        there[my_place] = True
    keys = np.flatnonzero(there)
    number, size = np.cumsum(there) - 1, count[keys]
    fours_end = np.append(0, np.cumsum(np.maximum(1, -(-size // FOUR))))
    fours = np.full(FOUR * int(fours_end[-1]), nobody, dtype=np.int64)
    bundle = number[in_layer].astype(np.uint16)
    order = np.argsort(bundle, kind="stable")
    bundle = bundle[order]
    turn = np.arange(len(order)) - (np.cumsum(size) - size)[bundle]
    fours[FOUR * fours_end[bundle] + turn] = order // 2
    ends = np.searchsorted(keys, CARDS * np.arange(1, 2 * len(group_end) + 1))
    ties = np.zeros_like(mine)
    if my_layer is not None:
        ties = number[my_place] - ends[my_layer - 1][:, None]
    return _Hands(
        card1=mine[:, 0],
        card2=mine[:, 1],
        same=lookup[mine[:, 0], mine[:, 1]],
        tie1=ties[:, 0],
        tie2=ties[:, 1],
        group_end=group_end,
        weaker_end=ends[0::2],
        tied_end=ends[1::2],
        # As many as there are ends.
        bundle_card=np.append(keys % CARDS, 0),
        fours_end=fours_end,
        fours=fours,
    )


def _list_terminals(
    lines: BettingArrays, full: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Starts of the terminals [player, part, kind], their folds, and their showdowns.

    A player's fold and his call of the same bet are evaluated together on full boards, which are those
    of the parts from `full` on; all-in calls before the river stay together, for their tables are read
    once for sixteen of them. Sixteen are evaluated at a time: where that saves a batch, batches of
    answers are filled up with the showdowns and folds that are left over.
    """
    parts = len(lines.fold_start) - 1
    start = np.zeros((2, parts, 4), dtype=np.int64)
    found: list[tuple[int, int]] = []
    for player in (0, 1):
        for part in range(parts):
            folds, showdowns, decisions = (
                members[starts[part] : starts[part + 1]].tolist()
                for members, starts in (
                    (lines.folds, lines.fold_start),
                    (lines.showdowns, lines.showdown_start),
                    (lines.decisions, lines.decision_start),
                )
            )
            answers: list[tuple[int, int]] = []
            for node in decisions if part >= full else ():
                if lines.kind[node] == player:
                    after = range(lines.first[node], lines.first[node] + lines.count[node])
                    fold = [n for n in after if lines.kind[n] == FOLD]
                    call = [n for n in after if lines.kind[n] == SHOWDOWN]
                    answers += zip(fold, call, strict=False)
            used = {node for answer in answers for node in answer}
            kinds = (
                [(-1, node) for node in showdowns if node not in used],
                answers,
                [(node, -1) for node in folds if node not in used],
            )
            ends = np.cumsum([0, *map(len, kinds)])
            batches = int((-(-np.diff(ends) // LANES)).sum())
            if part >= full and -(-ends[-1] // LANES) < batches:
                ends[SHOWDOWNS + 1] -= ends[SHOWDOWNS + 1] % LANES
                ends[ANSWERS + 1] = min(ends[-1], -(-ends[ANSWERS + 1] // LANES) * LANES)
            start[player, part] = len(found) + ends
            for members in kinds:
                found += members
    nodes = np.array(found, dtype=np.int64).reshape(-1, 2)
    return start, nodes[:, 0].copy(), nodes[:, 1].copy()


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
    # Sixteen are read at a time, from the last hand on, too.
    tables = np.zeros(sum(sizes) + LANES, dtype=np.int16)
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
    if deal.beyond:
        tables = tables[: end + LANES].copy()
    return tables, start[:kept], share[:kept]
