"""Positions for people: tables, 13×13 charts, pictures, notebooks."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.cards import chart
from equipoise.cards.card import cards_text
from equipoise.cards.combos import CLASS_COUNT, COMBO_CLASS, blocked, combo_text, parse_combo
from equipoise.columnar import Columnar
from equipoise.errors import RangeError
from equipoise.games.spot import SEATS
from equipoise.solve.spots.position import NEVER, Position

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table
    from rich.text import Text


class ShownPosition(Position, Columnar):
    """A position that shows itself."""

    @property
    def unit(self) -> str:
        """What amounts are counted in: `chips` or `bb`."""
        return self.answer.spot.unit

    def columns(self) -> dict[str, Any]:
        """One row a hand of the player to act: how often it takes each action, and what that is worth."""
        who = self.decider()
        return {
            "hand": [combo_text(int(hand)) for hand in self.hands(who)],
            "reach": self.reach(who),
            "equity": self.equity(who),
            f"ev_{self.unit}": self.ev(who),
            **dict(zip(self.actions, self.strategy(), strict=True)),
            **{
                f"ev_{self.unit} {action}": worth
                for action, worth in zip(self.actions, self.action_ev(), strict=True)
            },
        }

    def class_means(self, figures: NDArray[np.float64], player: int) -> NDArray[np.float64]:
        """Means of a figure of a player's hands over each of the 169 classes, by how often they are held.

        A class that is not held has none: NaN.
        """
        weight = self.weight(player)
        known = ~np.isnan(figures) & (weight > 0)
        classes = COMBO_CLASS[self.hands(player)]
        held = np.bincount(classes, weights=np.where(known, weight, 0), minlength=CLASS_COUNT)
        summed = np.bincount(
            classes, weights=np.where(known, weight * figures, 0), minlength=CLASS_COUNT
        )
        means: NDArray[np.float64] = np.full(CLASS_COUNT, np.nan)
        np.divide(summed, held, out=means, where=held > 0)
        return means

    def matrix(self) -> NDArray[np.float64]:
        """How much of each class takes each action, as a chart: [13, 13, action].

        The actions of a class sum to the share of its hands that gets here.
        """
        who = self.decider()
        taken = np.nan_to_num(self.strategy()) * np.minimum(self.reach(who), 1.0)
        classes = COMBO_CLASS[self.hands(who)]
        free = np.bincount(COMBO_CLASS[~blocked(self.board)], minlength=CLASS_COUNT)
        totals = [np.bincount(classes, weights=row, minlength=CLASS_COUNT) for row in taken]
        parts = np.stack(totals, axis=-1) / np.maximum(free, 1)[:, None]
        return parts.reshape(13, 13, len(self.actions))

    def chart(self) -> Text:
        """The strategy as a coloured 13×13 chart for a terminal."""
        return chart.render(self.matrix(), title=self.title, actions=self.actions)

    def plot(self, path: str | Path | None = None) -> Figure:
        """The strategy as a coloured 13×13 chart, saved when a path is given."""
        figure = chart.figure(self.matrix(), title=self.title, actions=self.actions)
        if path is not None:
            chart.save(figure, path)
        return figure

    def action_figures(self) -> list[tuple[str, float, float, float]]:
        """Each action with how often it is taken, by how many combos, and what it is worth to them."""
        who = self.decider()
        weight, taken = self.weight(who), np.nan_to_num(self.strategy())
        reach, worth = self.reach(who), np.nan_to_num(self.action_ev())
        told = []
        for action, often, play, ev in zip(
            self.actions, self.frequencies().tolist(), taken, worth, strict=True
        ):
            share = play * weight
            mean = float(share @ ev / share.sum()) if share.sum() > 0 else float("nan")
            told.append((action, often, float(play @ reach), mean))
        return told

    def hand(self, name: str) -> dict[str, Any]:
        """One hand: of the player to act if he can hold it, else of the other.

        With its reach, EV and equity, and if it is its turn what it does and what each action is worth.
        """
        combo = parse_combo(name)
        turn = self.to_act or 0
        for who in (turn, 1 - turn):
            place = np.flatnonzero(self.hands(who) == combo)
            if len(place):
                break
        else:
            raise RangeError(f"{name}: neither player can hold it on {cards_text(self.board)}")
        at = int(place[0])
        told: dict[str, Any] = {
            "hand": name,
            "player": SEATS[who],
            "reach": float(self.reach(who)[at]),
            "equity": float(self.equity(who)[at]),
            f"ev_{self.unit}": float(self.ev(who)[at]),
        }
        if who == self.to_act:
            rows = zip(self.actions, self.strategy()[:, at], self.action_ev()[:, at], strict=True)
            told["actions"] = [
                {"action": action, "probability": float(p), f"ev_{self.unit}": float(ev)}
                for action, p, ev in rows
            ]
        return told

    def table(self) -> Table:
        """Actions with how often they are taken and what they are worth; EV and equity below."""
        from rich.table import Table

        table = Table(title=self.title)
        for column in ("action", "frequency", "combos", f"EV {self.unit}"):
            table.add_column(column, justify="left" if column == "action" else "right")
        if self.to_act is not None:
            for action, often, combos, worth in self.action_figures():
                mean = f"{worth:z.3f}" if worth == worth else "–"
                table.add_row(action, f"{often:.2%}", f"{combos:.1f}", mean)
        table.caption = (
            "\n".join(
                f"{name}: EV {self.mean_ev(name):z.3f} {self.unit}, equity {self.mean_equity(name):.2%}, "
                f"realised {_percent(self.mean_realisation(name))}, "
                f"{self.range(name).combos:.1f} combos"
                for name in SEATS
            )
            + self.answer.lock_note
        )
        return table

    def hand_table(self, most: int = 50) -> Table:
        """Hands of the player to act, those worth most first."""
        from rich.table import Table

        who = self.decider()
        table = Table("hand", title=self.title)
        for column in ("reach", *self.actions, f"EV {self.unit}", "equity", "realised"):
            table.add_column(column, justify="right")
        hands, reach, ev, equity = (
            self.hands(who), self.reach(who), self.ev(who), self.equity(who),
        )  # fmt: skip
        play, realised = self.strategy(), self.realisation(who)
        there = [i for i in np.argsort(-np.nan_to_num(ev, nan=-np.inf)) if reach[i] > NEVER]
        for i in there[:most]:
            table.add_row(
                combo_text(int(hands[i])),
                f"{reach[i]:.3f}",
                *(f"{p:.1%}" for p in play[:, i]),
                f"{ev[i]:z.2f}",
                f"{equity[i]:.1%}",
                _percent(realised[i], 0),
            )
        if len(there) > most:
            table.caption = f"{len(there) - most:,} more hands not shown"
        return table

    def _repr_html_(self) -> str:
        if self.to_act is None:
            return f"<p>{escape(self.title)}</p>"
        return chart.svg(self.matrix(), title=self.title, actions=self.actions)


def _percent(share: float, digits: int = 1) -> str:
    """A share in percent; a dash where there is none, as of what has no equity to realise."""
    return f"{share:z.{digits}%}" if share == share else "–"
