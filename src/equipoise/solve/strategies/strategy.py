"""Strategies of both players: to print, slice, compare, purify, threshold and save."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.game import Game
from equipoise.settings import brief
from equipoise.solve import restoring
from equipoise.solve.sweep.rowindex import RowIndex

if TYPE_CHECKING:
    from rich.table import Table


class Entry(NamedTuple):
    """What is played at one information set."""

    player: int
    #: Public cards, as text.
    board: str
    #: The betting so far, as the ACPC writes it.
    betting: str
    #: The private state, as text.
    state: str
    actions: tuple[str, ...]
    probabilities: tuple[float, ...]


class Strategy:
    """A behaviour strategy for both players of a game.

    `rows` may be a realisation plan or behaviour probabilities: only the proportions within an
    information set count. Where they are all zero the state was never reached, nothing was learnt,
    and the strategy is uniform.
    """

    def __init__(self, game: Game, rows: NDArray[Any], index: RowIndex | None = None) -> None:
        self.game = game
        self.index = index or RowIndex(game)
        if rows.shape != (self.index.size,):
            raise SolverError("these rows belong to another game")
        self.rows = np.array(rows)

    @classmethod
    def uniform(cls, game: Game) -> Strategy:
        """Every action alike."""
        index = RowIndex(game)
        return cls(game, np.zeros(index.size), index)

    def at(self, node: int, board: int = 0) -> NDArray[np.float64]:
        """Probabilities at a decision: [action, state]."""
        block = np.maximum(self.index.block(self.rows, board, node).astype(np.float64), 0.0)
        total = block.sum(axis=0)
        safe = np.where(total > 0, total, 1.0)
        return np.where(total > 0, block / safe, 1.0 / len(block))

    def reached(self, node: int, board: int = 0) -> NDArray[np.bool_]:
        """Which states have a meaningful strategy at a decision."""
        block: NDArray[np.bool_] = self.index.block(self.rows, board, node).max(axis=0) > 0
        return block

    def __iter__(self) -> Iterator[Entry]:
        game = self.game
        betting = game.betting
        for b, node in self.index.decisions():
            board, player = game.deal.boards[b], int(betting.kind[node])
            actions = tuple(betting.label(child) for child in betting.children(node))
            table = self.at(node, b)
            for state in range(table.shape[1]):
                yield Entry(
                    player,
                    game.board_name(board),
                    betting.states[node].betting_text(),
                    game.state_name(board, player, state),
                    actions,
                    tuple(float(p) for p in table[:, state]),
                )

    def __repr__(self) -> str:
        return f"<Strategy of {self.game.name}: {self.index.size:,} numbers>"

    def distance(self, other: Strategy) -> float:
        """Largest difference in a probability over all information sets."""
        if other.index.size != self.index.size:
            raise SolverError("strategies of different games cannot be compared")
        return max(
            float(np.abs(self.at(n, b) - other.at(n, b)).max()) for b, n in self.index.decisions()
        )

    def table(self, player: int | None = None, most: int = 200) -> Table:
        """A readable table, at most `most` lines."""
        from rich.table import Table

        table = Table(title=f"{self.game.name}: average strategy")
        for column in ("player", "board", "betting", "holds", "plays"):
            table.add_column(column)
        shown = hidden = 0
        for entry in self:
            if player is not None and entry.player != player:
                continue
            if shown == most:
                hidden += 1
                continue
            shown += 1
            pairs = zip(entry.actions, entry.probabilities, strict=True)
            plays = "  ".join(f"{action} {p:.1%}" for action, p in pairs)
            table.add_row(str(entry.player), entry.board, entry.betting, entry.state, plays)
        if hidden:
            table.caption = f"{hidden:,} more information sets not shown"
        return table

    def save(self, path: str | Path) -> None:
        """Write the strategy with the fingerprint of its game."""
        game = {"game": self.game.name, "fingerprint": self.game.fingerprint()}
        artefact.write(path, "strategy", game, {"rows": self.rows})

    @classmethod
    def load(cls, path: str | Path, game: Game) -> Strategy:
        """Read a strategy of `game`; one of another game is refused."""
        manifest, arrays = artefact.read(path, "strategy")
        with artefact.understanding(path, "strategy"):
            configuration = restoring.table(manifest["configuration"], "configuration")
            if configuration.get("fingerprint") != game.fingerprint():
                other = brief(configuration.get("game"))
                raise ArtefactError(f"{path}: a strategy of {other}, not of {game.name}")
            index, kinds = RowIndex(game), (np.dtype("float32"), np.dtype("float64"))
            rows = restoring.array(arrays, "rows", (index.size,), *kinds)
            return cls(game, rows, index)
