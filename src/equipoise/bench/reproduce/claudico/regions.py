"""Qualitative models of a river with one bet: regions of hands, their borders solved for.

Ganzfried and Sandholm solved limit rivers from a guess of who does what where: hands are numbers from
[0, 1], the higher wins, distributed by F (player 1) and G (player 2); the pot is P, the bet 1. Player 1
bets x <= b and x >= a, else he checks and calls with x >= c; player 2 calls with y >= d and, after a
check, bets y <= f and y >= e. At every border its hand is indifferent:

    (1)  1 - F(a) = (P + 1) F(b)                (2)  1 - G(e) = (P + 1) G(f)
    (3)  2 F(e) = F(a) + F(c)                   (4)  P (F(c) - max(F(f), F(b))) = F(a) - F(c)
    (5)  (P + 1) G(d) = 1 + P max(G(b) - G(f), 0)    (6)  G(e) = G(d) + G(f)

Here are hands, borders and the check after the fact; :mod:`.orderings` solves for the borders. Against
fixed borders every action's value is linear in the own hand between break points, so a best response is a
sum over cells of the better line, and ε is what both gain by it: 0 where the guess was right.

In the *half-street* game player 2 may not bet, and of the borders a, b and d are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Hands:
    """A piecewise linear distribution of hands on [0, 1], through `knots` (hand, share below)."""

    knots: tuple[tuple[float, float], ...] = ((0.0, 0.0), (1.0, 1.0))

    def __post_init__(self) -> None:
        hands, shares = zip(*self.knots, strict=True)
        rising = all(a < b for line in (hands, shares) for a, b in pairwise(line))
        ends = (hands[0], shares[0], hands[-1], shares[-1]) == (0, 0, 1, 1)
        if not (rising and ends):
            raise SolverError("a distribution of hands rises from (0, 0) to (1, 1)")

    def below(self, hand: float) -> float:
        """Share of hands below one."""
        hands, shares = zip(*self.knots, strict=True)
        return float(np.interp(hand, hands, shares))

    def quantile(self, share: float) -> float:
        """The hand below which a share of hands lies."""
        hands, shares = zip(*self.knots, strict=True)
        return float(np.interp(share, shares, hands))


UNIFORM = Hands()


class Regions(NamedTuple):
    """The borders of both players' regions."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float


class Checked(NamedTuple):
    """What regions are worth, and what either player gains by leaving them."""

    #: Player 1's value less half the pot.
    value: float
    #: Mean of both players' gains by best responses.
    epsilon: float


def check_regions(
    pot: float, own: Hands, other: Hands, at: Regions, half_street: bool = False
) -> Checked:
    """Value and ε of regions, exactly: lines over cells between break points."""
    a, b, c, d, e, f = at
    cells = _cells([*at], own, other)
    middle = (cells[1:] + cells[:-1]) / 2
    mine = np.diff([own.below(x) for x in cells])
    his = np.diff([other.below(x) for x in cells])
    bets, calls = (middle <= b) | (middle >= a), middle >= c
    answers, stabs = middle >= d, (middle <= f) | (middle >= e)
    # Player 1: bet, check and fold, check and call; player 2 in each of the other's lines.
    one = _lines(middle, his, lambda won: (
        pot * (~answers) + (pot * won + 2 * won - 1) * answers,
        pot * won * ~stabs,
        pot * won * ~stabs + (pot * won + 2 * won - 1) * stabs,
    ))  # fmt: skip
    check = ~bets
    two = _lines(middle, mine, lambda won: (
        0.0 * won * bets,
        (pot * won + 2 * won - 1) * bets,
        pot * won * check,
        (pot * ~calls + (pot * won + 2 * won - 1) * calls) * check,
    ))  # fmt: skip
    first, second = ([line[:, 1] for line in lines] for lines in (one, two))
    value = float(mine @ np.where(bets, first[0], np.where(calls, first[2], first[1])))
    facing, after = np.where(answers, second[1], second[0]), np.where(stabs, second[3], second[2])
    his_value = float(his @ (facing + after))
    gain_one = _best(cells, mine, one) - value
    later = two[2:3] if half_street else two[2:]
    gain_two = _best(cells, his, two[:2]) + _best(cells, his, later) - his_value
    return Checked(value - pot / 2, (gain_one + gain_two) / 2)


def _cells(borders: Sequence[float], own: Hands, other: Hands) -> Floats:
    knots = [x for hands in (own, other) for x, _ in hands.knots]
    return np.unique(np.clip([*borders, *knots], 0, 1))


def _lines(
    middle: Floats, mass: Floats, pays: Callable[[Floats], tuple[Floats, ...]]
) -> list[Floats]:
    """Value of each action at the ends and the middle of every cell: [cell, (left, middle, right)].

    Against the other's cells a hand wins below itself; inside its own cell it wins the part below it.
    """
    found = []
    below = np.tri(len(middle), k=-1)
    for action in range(len(pays(np.zeros(len(middle))))):
        values = np.zeros((len(middle), 3))
        for place, inside in enumerate((0.0, 0.5, 1.0)):
            for cell in range(len(middle)):
                won = below[cell] + 0.0
                won[cell] = inside
                values[cell, place] = mass @ pays(won)[action]
        found.append(values)
    return found


def _best(cells: Floats, mass: Floats, lines: Sequence[Floats]) -> float:
    """Σ over cells of ∫ of the best line: each cell cut where lines cross."""
    total = 0.0
    for cell, weight in enumerate(mass):
        ends = np.array([line[cell] for line in lines])
        left, right = ends[:, 0], ends[:, 2]
        cuts = [0.0, 1.0]
        for i in range(len(lines)):
            for j in range(i):
                slope = (right[i] - left[i]) - (right[j] - left[j])
                if slope:
                    at = (left[j] - left[i]) / slope
                    if 0 < at < 1:
                        cuts.append(float(at))
        cuts.sort()
        for low, high in pairwise(cuts):
            at = (low + high) / 2
            total += weight * (high - low) * float((left + at * (right - left)).max())
    return total


def uniform_regions(pot: float) -> Regions:
    """The closed form for even hands; the value is -b / 2."""
    one, two = pot + 1, pot + 2
    return Regions(
        (3 * pot + 2) / (one * two), pot**2 / (one**2 * two), 1 / one, 1 / one, 2 / two,
        pot / (one * two),
    )  # fmt: skip


def half_street_regions(pot: float) -> Regions:
    """The closed form for even hands where player 2 may not bet; the value is pot · b / 2."""
    whole = (2 * pot + 1) * (pot + 2)
    a, b, d = (pot**2 + 4 * pot + 2) / whole, pot / whole, (3 * pot + 2) / whole
    return Regions(a, b, 1.0, d, 1.0, 0.0)


#: Pot, both distributions, and the value that a linear program over 2,000 cells confirms.
INSTANCES: tuple[tuple[float, Hands, Hands, float], ...] = (
    (
        2.0,
        Hands(((0, 0), (0.3, 0.45), (0.7, 0.65), (1, 1))),
        Hands(((0, 0), (0.4, 0.2), (0.8, 0.8), (1, 1))),
        -91 / 450,
    ),
    (1.0, Hands(((0, 0), (0.5, 0.3), (1, 1))), Hands(((0, 0), (0.5, 0.6), (1, 1))), 179 / 1060),
    (2.0, Hands(((0, 0), (0.5, 0.8), (1, 1))), Hands(((0, 0), (0.5, 0.3), (1, 1))), -38 / 55),
)
