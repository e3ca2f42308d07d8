"""Two positions side by side: of one solution, of two, or of the same spot with another menu."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import combo_text
from equipoise.columnar import Columnar
from equipoise.errors import EquipoiseError, IllegalActionError
from equipoise.games.spot import SEATS
from equipoise.settings import brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from equipoise.solve.spots.position import Position
    from equipoise.solve.spots.show import ShownPosition

_Place = TypeVar("_Place", bound="Position")


def alongside(start: _Place, line: Sequence[str]) -> _Place:
    """Where a line of another solution leads here: the same cards and actions, bets of the nearest size.

    Sizes are near by their ratio. Where nobody can bet or raise at all, or a card is on the board already,
    the line ends with an error.
    """
    position = start
    for word in line:
        if position.to_act is not None and word not in position.actions:
            word = _nearest(word, position.actions)
        position = position.step(word)
    return position


def _nearest(word: str, actions: Sequence[str]) -> str:
    """The bet, raise or all-in whose amount is nearest to that of a word."""
    _, _, wanted = word.partition(" ")
    sizes = {action: float(action.split()[1]) for action in actions if " " in action}
    if not wanted or not sizes:
        raise IllegalActionError(f"no {word}: there is only {', '.join(actions)}")
    return min(sizes, key=lambda action: abs(log(sizes[action] / float(wanted))))


class Comparison(Columnar):
    """What differs between two positions: worth to both players, actions, and hand by hand."""

    def __init__(self, first: ShownPosition, second: ShownPosition) -> None:
        units = (first.answer.spot.unit, second.answer.spot.unit)
        if units[0] != units[1]:
            raise EquipoiseError(
                f"one spot is in {brief(units[0])}, the other in {units[1]}: compare those of one unit"
            )
        self.unit, self.titles = units[0], (first.title, second.title)
        #: What both are worth to each player, and how much of the pot the difference is.
        self.ev = {name: (first.mean_ev(name), second.mean_ev(name)) for name in SEATS}
        self.pots = (first.pot, second.pot)
        same = first.to_act is not None and first.to_act == second.to_act
        #: Who decides at both; None if it is not the same player.
        self.player = first.player if same else None
        #: What can be done at each, and how often it is, by action: at the first, at the second.
        self.sides = (first.actions, second.actions)
        self.actions: dict[str, tuple[float, float]] = {}
        self._shown = (first, second)
        self._hands: dict[str, list[Any]] = {}
        if same:
            self._compare_hands(first, second)

    def _compare_hands(self, first: Position, second: Position) -> None:
        who = first.decider()
        names = list(dict.fromkeys((*first.actions, *second.actions)))
        often = [
            dict(zip(one.actions, one.frequencies().tolist(), strict=True))
            for one in (first, second)
        ]
        self.actions = {name: (often[0].get(name, 0.0), often[1].get(name, 0.0)) for name in names}
        there = [
            dict(zip(one.hands(who).tolist(), range(len(one.hands(who))), strict=True))
            for one in (first, second)
        ]
        shared = sorted(there[0].keys() & there[1].keys())
        places = [np.array([held[hand] for hand in shared], dtype=np.int64) for held in there]
        plays, worths = [], []
        for one, place in zip((first, second), places, strict=True):
            play = np.zeros((len(names), len(shared)))
            for row, action in zip(one.strategy(), one.actions, strict=True):
                play[names.index(action)] = row[place]
            plays.append(play)
            worths.append(one.ev(who)[place])
        weight = first.weight(who)[places[0]]
        both: NDArray[np.float64] = plays[0] + plays[1]
        known: NDArray[np.bool_] = np.asarray(np.isfinite(both).all(axis=0))
        apart = np.abs(plays[0] - plays[1]).sum(axis=0) / 2
        score = np.where(known, apart * weight, 0.0)
        order = [i for i in np.argsort(-score, kind="stable") if known[i]]
        self._hands = {
            "hand": [combo_text(shared[i]) for i in order],
            "difference": [float(apart[i]) for i in order],
            "weight": [float(weight[i] / weight.sum()) if weight.sum() else 0.0 for i in order],
        }
        for number, (play, worth) in enumerate(zip(plays, worths, strict=True), start=1):
            self._hands[f"ev_{self.unit}_{number}"] = [float(worth[i]) for i in order]
            for name, row in zip(names, play, strict=True):
                self._hands[f"{name} ({number})"] = [float(row[i]) for i in order]

    def columns(self) -> dict[str, list[Any]]:
        """One row a hand, those first that differ most, weighted by how often they are held."""
        return self._hands

    def caption(self) -> str:
        """What is compared."""
        return " v ".join(self.titles)

    def to_dict(self, most: int = 50) -> dict[str, Any]:
        """Everything in plain types, the hands that differ most first."""
        told: dict[str, Any] = {"first": self.titles[0], "second": self.titles[1]}
        told["player"] = self.player
        for name, (one, other) in self.ev.items():
            told[f"ev_{name}_{self.unit}"] = [one, other]
            told[f"ev_{name}_difference_pct_pot"] = 100 * (other - one) / self.pots[0]
        told["frequencies"] = {name: list(pair) for name, pair in self.actions.items()}
        told["hands"] = {name: values[:most] for name, values in self._hands.items()}
        return told

    @property
    def drawable(self) -> bool:
        """Whether somebody decides at one of them, so that there is a chart."""
        return any(one.to_act is not None for one in self._shown)

    def plot(self, path: str | Path | None = None) -> Figure:
        """The charts of both, with what they are worth to either player; saved when a path is given."""
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch

        from equipoise.cards import chart

        if not self.drawable:
            raise EquipoiseError(
                "nobody decides at either position: compare decisions to see charts"
            )
        figure = Figure(figsize=(14, 8.4), layout="constrained", dpi=110)
        for number, (axes, one) in enumerate(zip(figure.subplots(1, 2), self._shown, strict=True)):
            worth = ", ".join(f"{name} {pair[number]:z.3f}" for name, pair in self.ev.items())
            head = f"{number + 1}: {one.title}\nEV {worth} {self.unit}"
            if one.to_act is None:
                axes.set_title(head, fontsize=11)
                axes.axis("off")
                continue
            colours = chart.action_colours(one.actions)
            chart.draw(axes, one.matrix(), colours=colours)
            axes.set_title(head, fontsize=11)
            labels = [
                f"{action} {often:.1%}"
                for action, often in zip(one.actions, one.frequencies().tolist(), strict=True)
            ]
            axes.legend(
                handles=[Patch(color=c, label=a) for a, c in zip(labels, colours, strict=True)],
                loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False,
            )  # fmt: skip
        if path is not None:
            chart.save(figure, path)
        return figure

    def table(self, most: int = 15) -> Table:
        """Both sides in a terminal."""
        from rich.table import Table

        table = Table("", "1", "2", "difference", title=f"1: {self.titles[0]}\n2: {self.titles[1]}")
        for name, (one, other) in self.ev.items():
            percent = 100 * (other - one) / self.pots[0]
            table.add_row(
                f"EV {name} {self.unit}", f"{one:z.3f}", f"{other:z.3f}",
                f"{other - one:+.3f} = {percent:+.2f} % of pot",
            )  # fmt: skip
        for name, (one, other) in self.actions.items():
            table.add_row(name, f"{one:.1%}", f"{other:.1%}", f"{100 * (other - one):+.1f} points")
        hands = self._hands
        for i in range(min(most, len(hands.get("hand", ())))):
            plays = [
                " ".join(f"{name} {hands[f'{name} ({side})'][i]:.0%}" for name in self.actions)
                for side in (1, 2)
            ]
            table.add_row(hands["hand"][i], *plays, f"{hands['difference'][i]:.0%}")
        return table
