"""The borders of regions, solved for as a mixed-integer linear system.

The six indifferences of :mod:`.regions` are linear in the shares F(t) and G(t) of hands below the borders t,
once it is guessed which border stands where: the *ordering*.

    I             b <= f: player 2 bluffs more hands after a check than player 1 bets as bluffs
    II            f <= b
    III           player 1 never bets: a = 1, b = 0
    half-street   player 2 may not bet: a, b and d, the last two by 2 G(a) = 1 + G(d) and
                  P G(b) = (P + 1) G(d) - 1

Distributions are piecewise linear. With a binary z(t, s) that says that border t lies in segment s, and
0 <= l(t, s) <= z(t, s) for how far into it,

    t = Σ_s left(s) z(t, s) + width(s) l(t, s),        F(t) = Σ_s F(left(s)) z(t, s) + mass(s) l(t, s),

so equations and binaries are a mixed-integer feasibility problem, which HiGHS solves (Ganzfried and
Sandholm, "Computing equilibria by incorporating qualitative models", AAMAS 2010). Inside the segments that
it names the borders follow from six linear equations to the last digits. The order itself is not put into
the system: whether it was guessed right is seen after the fact, by ε.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.bench.reproduce.claudico.regions import (
    UNIFORM,
    Checked,
    Hands,
    Regions,
    check_regions,
)
from equipoise.errors import SolverError

Floats = NDArray[np.float64]
#: Factors of F(t) and G(t), by names such as "Fa" and "Gd", and the right-hand side.
Equation = tuple[Mapping[str, float], float]

#: Times that borders may step into the next segment where HiGHS left them on the edge.
_MOST_STEPS = 50
#: Seconds after which an ordering is given up.
_SECONDS = 20.0


@dataclass(frozen=True)
class Ordering:
    """A guess of which border stands where."""

    name: str
    #: Borders on the edge of all hands; the others are solved for.
    fixed: Mapping[str, float]

    def equations(self, pot: float) -> list[Equation]:
        """What holds at the borders that are solved for: as many equations as there are of them."""
        more = pot + 1
        bluff = ({"Fa": 1, "Fb": more}, 1.0)
        if self.name == "half-street":
            return [bluff, ({"Ga": 2, "Gd": -1}, 1.0), ({"Gb": pot, "Gd": -more}, -1.0)]
        stab = ({"Ge": 1, "Gf": more}, 1.0)
        value = ({"Fe": 2, "Fa": -1, "Fc": -1}, 0.0)
        lowest = "Fb" if self.name == "II" else "Ff"
        catch = ({"Fc": more, lowest: -pot, "Fa": -1}, 0.0)
        answer = ({"Ge": 1, "Gd": -1, "Gf": -1}, 0.0)
        if self.name == "III":
            return [stab, value, catch, answer]
        call: Equation = ({"Gd": more}, 1.0)
        if self.name == "II":
            call = ({"Gd": more, "Gb": -pot, "Gf": pot}, 1.0)
        return [bluff, stab, value, catch, call, answer]

    @property
    def unknown(self) -> list[str]:
        """Borders that are solved for."""
        return [border for border in Regions._fields if border not in self.fixed]


ORDERINGS = {
    "I": Ordering("I", {}),
    "II": Ordering("II", {}),
    "III": Ordering("III", {"a": 1.0, "b": 0.0}),
    "half-street": Ordering("half-street", {"c": 1.0, "e": 1.0, "f": 0.0}),
}


class _Segments:
    """Both distributions over the segments between all knots."""

    def __init__(self, own: Hands, other: Hands) -> None:
        self.edges = np.unique([hand for hands in (own, other) for hand, _ in hands.knots])
        self.shares = {
            "F": np.array([own.below(edge) for edge in self.edges]),
            "G": np.array([other.below(edge) for edge in self.edges]),
        }

    @property
    def count(self) -> int:
        return len(self.edges) - 1

    def share(self, hands: str, segment: int) -> tuple[float, float]:
        """Share of hands below a segment, and inside it."""
        shares = self.shares[hands]
        return float(shares[segment]), float(shares[segment + 1] - shares[segment])


def solve_ordering(pot: float, own: Hands, other: Hands, ordering: Ordering) -> Regions:
    """The borders of an ordering; refused where its equations have no solution."""
    segments = _Segments(own, other)
    found = _places(pot, segments, ordering)
    return _polished(pot, segments, ordering, found)


def _places(pot: float, segments: _Segments, ordering: Ordering) -> list[int]:
    """Segment of each border that is solved for, by mixed-integer program."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    unknown, count = ordering.unknown, segments.count
    # Columns: z(t, s) of all borders, then l(t, s).
    half = len(unknown) * count
    rows: list[Floats] = []
    right: list[float] = []
    for number in range(len(unknown)):
        one = np.zeros(2 * half)
        one[number * count : (number + 1) * count] = 1
        rows.append(one)
        right.append(1.0)
    for factors, wanted in ordering.equations(pot):
        row = np.zeros(2 * half)
        for name, factor in factors.items():
            hands, border = name[0], name[1]
            shares = segments.shares[hands]
            if border in ordering.fixed:
                wanted -= factor * float(shares[-1 if ordering.fixed[border] else 0])
                continue
            at = unknown.index(border) * count
            row[at : at + count] += factor * shares[:-1]
            row[half + at : half + at + count] += factor * np.diff(shares)
        rows.append(row)
        right.append(wanted)
    inside = np.hstack([-np.eye(half), np.eye(half)])
    found = milp(
        np.zeros(2 * half),
        integrality=np.repeat([1, 0], half),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(np.array(rows), np.array(right), np.array(right)),
            LinearConstraint(inside, -np.inf, 0),
        ],
        options={"time_limit": _SECONDS},
    )
    if found.x is None:
        raise SolverError(f"these hands do not fit ordering {ordering.name}: try another")
    return [int(part.argmax()) for part in found.x[:half].reshape(len(unknown), count)]


def _polished(pot: float, segments: _Segments, ordering: Ordering, places: list[int]) -> Regions:
    """Borders by the linear system inside their segments; on an edge the next segment is tried."""
    unknown, equations = ordering.unknown, ordering.equations(pot)
    for _ in range(_MOST_STEPS):
        matrix = np.zeros((len(equations), len(unknown)))
        right = np.zeros(len(equations))
        for line, (factors, wanted) in enumerate(equations):
            right[line] = wanted
            for name, factor in factors.items():
                hands, border = name[0], name[1]
                if border in ordering.fixed:
                    edge = segments.shares[hands][-1 if ordering.fixed[border] else 0]
                    right[line] -= factor * edge
                    continue
                column = unknown.index(border)
                below, mass = segments.share(hands, places[column])
                right[line] -= factor * below
                matrix[line, column] += factor * mass
        try:
            depth = np.linalg.solve(matrix, right)
        except np.linalg.LinAlgError:
            raise SolverError(
                f"ordering {ordering.name} leaves borders open: try another"
            ) from None
        step = [
            min(
                max(place + (1 if far > 1 + 1e-9 else -1 if far < -1e-9 else 0), 0),
                segments.count - 1,
            )
            for place, far in zip(places, depth, strict=True)
        ]
        if step == places:
            break
        places = step
    depth = np.clip(depth, 0, 1)
    left, right_edge = segments.edges[places], segments.edges[np.array(places) + 1]
    borders = dict(zip(unknown, (left + depth * (right_edge - left)).tolist(), strict=True))
    return Regions(**{**ordering.fixed, **borders})


def solve_regions(
    pot: float, own: Hands = UNIFORM, other: Hands = UNIFORM, half_street: bool = False
) -> tuple[Regions, str]:
    """The regions of the ordering that the check likes best, and its name.

    >>> found, ordering = solve_regions(1.0)
    >>> [round(border, 6) for border in found], ordering
    ([0.833333, 0.083333, 0.5, 0.5, 0.666667, 0.166667], 'I')
    """
    names = ("half-street",) if half_street else ("I", "II", "III")
    best: tuple[Checked, Regions, str] | None = None
    for name in names:
        try:
            found = solve_ordering(pot, own, other, ORDERINGS[name])
        except SolverError:
            continue
        checked = check_regions(pot, own, other, found, half_street)
        if best is None or checked.epsilon < best[0].epsilon - 1e-12:
            best = (checked, found, name)
        if checked.epsilon < 1e-12:
            break
    if best is None:
        raise SolverError("no ordering of regions fits these hands: they are too far apart to bet")
    return best[1], best[2]
