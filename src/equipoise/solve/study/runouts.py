"""What every next card does: one row a card, with what is played on it and what it is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.cards.card import RANKS, SUITS, card_text, cards_text
from equipoise.columnar import Columnar, columns_of
from equipoise.errors import IllegalActionError
from equipoise.games.nodes import DEAL
from equipoise.games.spot import SEATS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from equipoise.run import Listener
    from equipoise.solve.spots.position import Position


class RunoutReport(Columnar):
    """All cards that can come at a position where one is dealt.

    Frequencies are of the player who acts first on the new street; EVs are from there on.
    """

    def __init__(self, position: Position, listener: Listener | None = None) -> None:
        from equipoise.run import Event

        if position.answer.game.betting.kind[position.node] != DEAL:
            if len(position.board) == 5:
                raise IllegalActionError("no card is dealt after the river: look at a flop or turn")
            told = ", ".join(position.line) or "the start"
            raise IllegalActionError(
                f"no card is dealt after '{told}': name a line that ends its street, such as "
                "'check, check'"
            )
        self.title, self.unit = position.title, position.answer.spot.unit
        #: Names of the actions that follow a card.
        self.actions: tuple[str, ...] = ()
        self.rows: list[dict[str, Any]] = []
        cards = [card for card in range(51, -1, -1) if card not in position.board]
        for done, card in enumerate(cards):
            self._add(position, card)
            if listener is not None:
                listener(Event(done + 1, len(cards), what=card_text(card)))

    def _add(self, position: Position, card: int) -> None:
        try:
            after = position.step(card_text(card))
        except IllegalActionError:
            # No hand of one player is left beside this card.
            return
        if not all(np.isfinite([after.mean_ev(0), after.mean_ev(1)])):
            return
        row: dict[str, Any] = {"card": card_text(card), "board": cards_text(after.board)}
        row["player"] = after.player or ""
        for player, name in enumerate(SEATS):
            row[f"ev_{name}_{self.unit}"] = after.mean_ev(player)
            row[f"equity_{name}"] = after.mean_equity(player)
        if after.to_act is not None:
            self.actions = after.actions
            row |= dict(zip(after.actions, after.frequencies().tolist(), strict=True))
        self.rows.append(row)

    def columns(self) -> dict[str, list[Any]]:
        """One row a card, aces first."""
        return columns_of(self.rows)

    def caption(self) -> str:
        """After what the cards come."""
        return self.title

    def table(self) -> Table:
        """The report for a terminal."""
        from rich.table import Table

        table = Table("card", title=self.title)
        for name in (*self.actions, *(f"EV {name} {self.unit}" for name in SEATS), "equity oop"):
            table.add_column(name, justify="right")
        for row in self.rows:
            table.add_row(
                row["card"],
                *(f"{row.get(action, float('nan')):.1%}" for action in self.actions),
                *(f"{row[f'ev_{name}_{self.unit}']:z.3f}" for name in SEATS),
                f"{row['equity_oop']:.1%}",
            )
        return table

    def plot(self, path: str | Path | None = None, figure_of: str = "equity_oop") -> Figure:
        """A heat map, ranks by suits, of one column; saved when a path is given."""
        from matplotlib.figure import Figure

        from equipoise.cards import chart

        grid = np.full((4, 13), np.nan)
        for row in self.rows:
            rank, suit = RANKS.index(row["card"][0]), SUITS.index(row["card"][1])
            grid[suit, 12 - rank] = row.get(figure_of, np.nan)
        figure = Figure(figsize=(9, 3.2), layout="constrained")
        axes = figure.subplots()
        # From light to dark: whoever cannot tell red from green reads it too.
        drawn = axes.imshow(grid, cmap="YlGnBu", aspect="auto")
        axes.set_xticks(range(13), list(RANKS[::-1]))
        axes.set_yticks(range(4), list(SUITS))
        for (suit, rank), value in np.ndenumerate(grid):
            if value == value:
                text = f"{value:.0%}" if "ev_" not in figure_of else f"{value:.3g}"
                ink = "white" if value > 0.4 * np.nanmin(grid) + 0.6 * np.nanmax(grid) else "black"
                axes.text(rank, suit, text, ha="center", va="center", fontsize=8, color=ink)
        axes.set_title(f"{self.title}: {figure_of}", fontsize=9)
        figure.colorbar(drawn)
        if path is not None:
            chart.save(figure, path)
        return figure
