"""Hands as players sort them on a board: what is made, and what may still come.

*Made* is what a hand adds to the board: a pair that lies there is everybody's, so a king on K-8-8 is top
pair and not two pair. *Draws* are cards to a flush or a straight with at least one of the hand's own, on
boards where cards are still to come; open-ended is any straight draw of two ranks.

>>> from equipoise.cards.card import parse_cards
>>> made_and_draw(parse_cards("AhKd"), parse_cards("Ks8d3c"))
('top pair', 'no draw')
>>> made_and_draw(parse_cards("QhJh"), parse_cards("Th9h2c"))
('no pair', 'combo draw')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.evaluator import evaluate
from equipoise.cards.handnames import category
from equipoise.columnar import Columnar
from equipoise.games.spot import SEATS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from equipoise.solve.spots.position import Position

#: What may be made, the best first.
MADE = (
    "straight flush", "four of a kind", "full house", "flush", "straight", "set", "trips",
    "two pair", "overpair", "top pair", "second pair", "pocket pair", "low pair", "ace high",
    "king high", "no pair",
)  # fmt: skip
#: What may come, the best first.
DRAWS = ("combo draw", "flush draw", "open-ended", "gutshot", "no draw")
_WHOLE = MADE[:5]
_ACE, _KING = 12, 11


def made_and_draw(hand: Sequence[int], board: Sequence[int]) -> tuple[str, str]:
    """The classes of a hand on a flop, turn or river."""
    made = _made(hand, board)
    if len(board) == 5 or made in _WHOLE:
        return made, DRAWS[-1]
    suits = Counter(card % 4 for card in (*hand, *board))
    flush = any(suits[card % 4] == 4 for card in hand)
    ranks = _straight_outs(hand, board)
    if flush and ranks:
        return made, "combo draw"
    if flush:
        return made, "flush draw"
    return made, "open-ended" if ranks > 1 else "gutshot" if ranks else "no draw"


def _made(hand: Sequence[int], board: Sequence[int]) -> str:
    name = category(evaluate((*hand, *board)))
    if name in _WHOLE:
        return name
    high, low = sorted((card // 4 for card in hand), reverse=True)
    lying = Counter(card // 4 for card in board)
    order = sorted(lying, reverse=True)
    if high == low:
        if lying[high]:
            return "set"
        return "overpair" if high > order[0] else "pocket pair"
    hit = [rank for rank in (high, low) if lying[rank]]
    if any(lying[rank] >= 2 for rank in hit):
        return "trips"
    if len(hit) == 2:
        return "two pair"
    if hit:
        place = order.index(hit[0])
        return "top pair" if place == 0 else "second pair" if place == 1 else "low pair"
    return "ace high" if high == _ACE else "king high" if high == _KING else "no pair"


def _straight_outs(hand: Sequence[int], board: Sequence[int]) -> int:
    """Ranks that make a straight for this hand and not for the board alone."""
    lying = _mask(board)
    together = lying | _mask(hand)
    found = 0
    for rank in range(13):
        bits = _mask((4 * rank,))
        found += _straight(together | bits) > _straight(lying | bits)
    return found


def _mask(cards: Sequence[int]) -> int:
    """Ranks as bits, the ace below the deuce too."""
    bits = 0
    for card in cards:
        bits |= 2 << card // 4
    return bits | (bits >> 13)


def _straight(bits: int) -> int:
    """The top of the highest straight among bits, 0 if there is none."""
    run = bits & bits >> 1 & bits >> 2 & bits >> 3 & bits >> 4
    return run.bit_length()


def classes_of(
    combos: NDArray[np.int64], board: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the made classes and of the draws of hands that the board leaves."""
    made, draws = _classes(tuple(combos.tolist()), tuple(board))
    return np.array(made, dtype=np.int64), np.array(draws, dtype=np.int64)


@lru_cache(maxsize=64)
def _classes(combos: tuple[int, ...], board: tuple[int, ...]) -> tuple[list[int], list[int]]:
    found = [made_and_draw(COMBO_CARDS[combo].tolist(), board) for combo in combos]
    return [MADE.index(one) for one, _ in found], [DRAWS.index(draw) for _, draw in found]


class HandClasses(Columnar):
    """A range at a position by class: how much of it, what it does, what it is worth."""

    def __init__(self, position: Position, player: int | str | None = None) -> None:
        from equipoise.solve.spots.position import seat

        who = position.decider() if player is None else seat(player)
        self.title, self.unit = position.title, position.answer.spot.unit
        #: Whose hands they are.
        self.player = SEATS[who]
        #: Names of the actions, if it is the player's turn.
        self.actions = position.actions if position.to_act == who else ()
        combos, weight = position.hands(who), position.weight(who)
        groups = classes_of(combos, position.board)
        ev, equity = np.nan_to_num(position.ev(who)), np.nan_to_num(position.equity(who))
        play = np.nan_to_num(position.strategy()) if self.actions else np.zeros((0, len(combos)))
        self.rows: list[dict[str, Any]] = []
        total = weight.sum()
        for kind, names, group in zip(("made", "draw"), (MADE, DRAWS), groups, strict=True):
            for number, name in enumerate(names):
                part = weight * (group == number)
                if not part.sum() > 0:
                    continue
                share = part / part.sum()
                self.rows.append(
                    {
                        "kind": kind,
                        "class": name,
                        "share": float(part.sum() / total),
                        f"ev_{self.unit}": float(ev @ share),
                        "equity": float(equity @ share),
                        **dict(zip(self.actions, (play @ share).tolist(), strict=True)),
                    }
                )

    def columns(self) -> dict[str, list[Any]]:
        """One row a class."""
        from equipoise.columnar import columns_of

        return columns_of(self.rows)

    def caption(self) -> str:
        """Where it is."""
        return self.title

    def plot(self, path: str | Path | None = None) -> Figure:
        """A bar a class, as long as its share and coloured by what it does; saved when a path is given."""
        from matplotlib.figure import Figure

        from equipoise.cards import chart

        kinds = [[row for row in self.rows if row["kind"] == kind] for kind in ("made", "draw")]
        names = self.actions or ("share",)
        colours = chart.action_colours(self.actions) if self.actions else (chart.RANGE_COLOUR,)
        figure = Figure(figsize=(8, 1.6 + 0.3 * len(self.rows)), layout="constrained")
        parts = [rows for rows in kinds if rows]
        all_axes = figure.subplots(
            len(parts), 1, sharex=True, squeeze=False,
            gridspec_kw={"height_ratios": [len(rows) for rows in parts] or None},
        )[:, 0]  # fmt: skip
        for axes, rows in zip(all_axes, parts, strict=True):
            left = np.zeros(len(rows))
            for name, colour in zip(names, colours, strict=True):
                often = [row[name] if self.actions else 1.0 for row in rows]
                width = np.array([row["share"] for row in rows]) * often
                axes.barh(range(len(rows)), width, left=left, color=colour, label=name)
                left += width
            for place, row in enumerate(rows):
                told = f"EV {row[f'ev_{self.unit}']:z.3g}, equity {row['equity']:.0%}"
                axes.text(
                    left[place], place, f" {row['share']:.1%}, {told}", va="center", fontsize=8
                )
            axes.set_yticks(range(len(rows)), [row["class"] for row in rows], fontsize=8)
            axes.invert_yaxis()
            axes.spines[["top", "right"]].set_visible(False)
        longest = max((row["share"] for row in self.rows), default=1.0)
        if parts:
            all_axes[-1].set(xlim=(0, 1.45 * longest), xlabel="share of the range")
            all_axes[-1].xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
            if self.actions:
                figure.legend(
                    *all_axes[0].get_legend_handles_labels(), loc="outside lower center",
                    ncols=len(names), frameon=False,
                )  # fmt: skip
        # The title names who is to act.
        whose = "" if self.actions else f", hands of {self.player}"
        figure.suptitle(f"{self.title}{whose}", fontsize=10)
        if path is not None:
            chart.save(figure, path)
        return figure
