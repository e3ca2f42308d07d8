"""Where the numbers of an information set stand.

Row `k` of player `p` on board `b` is the vector over his private states from `base[b, p] + k *
width[b, p]`; the rows of one decision (one per action) follow each other. Solvers of every kind,
strategies and saved files share this index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.games.game import Game
from equipoise.solve.sweep.lanes import LANES


def aligned(size: int, dtype: Any) -> NDArray[Any]:
    """Zeros that begin on a cache line."""
    item = np.dtype(dtype).itemsize
    raw = np.zeros(size * item + 64, dtype=np.uint8)
    offset = -raw.ctypes.data % 64
    return raw[offset : offset + size * item].view(dtype)


def probabilities(block: NDArray[Any]) -> NDArray[np.float64]:
    """What rows [action, state] of one decision say is played: uniform where nothing was learnt.

    >>> probabilities(np.array([[1.0, 0.0], [3.0, -2.0]])).T.tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    positive = np.maximum(block.astype(np.float64), 0.0)
    total = positive.sum(axis=0)
    learnt = total > 0
    return np.where(learnt, positive / np.where(learnt, total, 1.0), 1.0 / len(block))


class RowIndex:
    """The layout of rows of one game."""

    def __init__(self, game: Game) -> None:
        self.game = game
        boards = game.deal.boards
        #: [board, player]: private states, and the lanes they fill.
        self.states = np.array([[len(h) for h in board.hands] for board in boards], dtype=np.int64)
        self.width = -(-self.states // LANES) * LANES
        rounds = np.array([board.round for board in boards])
        needed = self.width * game.betting.rows[rounds]
        ends = np.cumsum(needed.reshape(-1))
        #: [board, player]: start of the player's rows.
        self.base = (ends - needed.reshape(-1)).reshape(-1, 2).astype(np.int64)
        #: Numbers in one set of rows.
        self.size = int(ends[-1])
        decisions = np.array(
            [
                [len(game.betting.of_kind(number, player)) for player in (0, 1)]
                for number in range(game.betting.rounds)
            ]
        )[rounds]
        last = np.cumsum(decisions.reshape(-1))
        #: [board, player]: number of the player's first decision.
        self.decision = (last - decisions.reshape(-1)).reshape(-1, 2).astype(np.int64)
        #: Decisions (board, node) of both players.
        self.decision_count = int(last[-1])

    def decisions(self) -> list[tuple[int, int]]:
        """All (board, node) at which somebody decides, boards in order."""
        betting = self.game.betting
        nodes = [betting.of_kind(number, 0, 1).tolist() for number in range(betting.rounds)]
        return [(b, n) for b, board in enumerate(self.game.deal.boards) for n in nodes[board.round]]

    def block(self, rows: NDArray[Any], board: int, node: int) -> NDArray[Any]:
        """View of the rows of one decision: [action, state]."""
        betting = self.game.betting
        player, actions = int(betting.kind[node]), int(betting.count[node])
        width, states = int(self.width[board, player]), int(self.states[board, player])
        start = int(self.base[board, player]) + int(betting.row[node]) * width
        return rows[start : start + actions * width].reshape(actions, width)[:, :states]
