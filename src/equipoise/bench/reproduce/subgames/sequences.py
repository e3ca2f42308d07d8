"""Tiny zero-sum games in sequence form, and gadgets over parts of them as linear programs.

A game is a list of terminals (last sequences of both seats, chance, payoff to seat 0, a label) and, for
each seat, information sets named (card, board, history) in the order they were met, parents first.
Values are counterfactual: chance × the other seat's plan × payoff. Everything is exact to HiGHS's
tolerance, which makes it the referee of the gadgets that iterate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError

Floats = NDArray[np.float64]
#: Card, board, history.
Name = tuple[Any, Any, str]
#: What a seat plays at each information set.
Play = dict[Name, Floats]
Label = tuple[Any, ...]

#: A plan that reaches no further than this does not get there.
_UNREACHED = 1e-11


class Set(NamedTuple):
    """An information set: its first sequence, number of actions, and the sequence that leads to it."""

    first: int
    actions: int
    parent: int


class Terminal(NamedTuple):
    """An end of the game."""

    sequences: tuple[int, int]
    chance: float
    payoff: float
    #: Cards of both seats, board, history.
    label: Label


class SequenceGame:
    """A game being listed, and then played with."""

    def __init__(self) -> None:
        self.sets: tuple[dict[Name, Set], dict[Name, Set]] = ({}, {})
        #: Sequences of each seat, the empty one included.
        self.counts = [1, 1]
        self.terminals: list[Terminal] = []
        #: Names of the actions at a (board, history, seat), where a game names them.
        self.actions: dict[tuple[Any, str, int], list[str]] = {}

    def infoset(self, seat: int, name: Name, parent: int, actions: int) -> int:
        """First sequence of an information set, met anew or again."""
        if name not in self.sets[seat]:
            self.sets[seat][name] = Set(self.counts[seat], actions, parent)
            self.counts[seat] += actions
        return self.sets[seat][name].first

    def end(self, first: int, second: int, chance: float, payoff: float, label: Label) -> None:
        """List a terminal."""
        self.terminals.append(Terminal((first, second), chance, payoff, label))

    def close(self) -> SequenceGame:
        """Lay out the terminals, once all are listed."""
        self.last = [np.array([t.sequences[seat] for t in self.terminals]) for seat in (0, 1)]
        self.chances = np.array([t.chance for t in self.terminals])
        self.payoffs = np.array([t.payoff for t in self.terminals])
        return self

    # ------------------------------------------------------------------ strategies and responses

    def plan(self, seat: int, play: Sequence[Play]) -> Floats:
        """Realisation plan of a seat's behaviour."""
        plan = np.ones(self.counts[seat])
        for name, (first, actions, parent) in self.sets[seat].items():
            plan[first : first + actions] = plan[parent] * play[seat][name]
        return plan

    def play(self, seat: int, plan: Floats, before: Sequence[Play] | None = None) -> Play:
        """Behaviour of a plan; what it never reaches plays as `before`, else uniformly."""
        found = {}
        for name, (first, actions, _) in self.sets[seat].items():
            part = np.maximum(plan[first : first + actions], 0.0)
            known = before[seat][name] if before else np.full(actions, 1.0 / actions)
            found[name] = part / part.sum() if part.sum() > _UNREACHED else known
        return found

    def uniform(self) -> list[Play]:
        """Both seats play every action alike."""
        return [
            {name: np.full(one.actions, 1.0 / one.actions) for name, one in self.sets[seat].items()}
            for seat in (0, 1)
        ]

    def values(
        self,
        seat: int,
        plan: Floats,
        terminals: Any = slice(None),
        play: Sequence[Play] | None = None,
        closed: Collection[int] = (),
    ) -> tuple[Floats, dict[Name, float]]:
        """Values of a seat's sequences and sets against the other's plan.

        He plays `play`, or his best among sequences that are not `closed`.
        """
        sign = 1 - 2 * seat
        gains = sign * self.chances * self.payoffs * plan[self.last[1 - seat]]
        worth: Floats = np.bincount(
            self.last[seat][terminals], gains[terminals], minlength=self.counts[seat]
        ).astype(np.float64)
        found: dict[Name, float] = {}
        worth[list(closed)] = -np.inf
        for name in reversed(self.sets[seat]):
            first, actions, parent = self.sets[seat][name]
            row = worth[first : first + actions]
            found[name] = float(row.max() if play is None else row @ play[seat][name])
            worth[parent] += found[name]
        return worth, found

    def exploitability(self, play: Sequence[Play], value: float) -> tuple[float, float, float]:
        """Seat 0, seat 1, mean: what the other wins above the value by responding best."""
        best = [float(self.values(s, self.plan(1 - s, play))[0][0]) for s in (0, 1)]
        lost = (best[1] + value, best[0] - value)
        return lost[0], lost[1], sum(lost) / 2

    def equilibrium(self) -> tuple[list[Play], float]:
        """An equilibrium, each seat by a program of its own, and the value to seat 0."""
        play: list[Play] = []
        value = 0.0
        for seat in (0, 1):
            everything = Part(range(len(self.terminals)), lambda name: True, lambda name: "all")
            flat = self.plan(seat, self.uniform())
            found = solve_part(self, seat, everything, flat, {"all": 1.0})
            play.append(self.play(seat, found.plan))
            value = -found.objective if seat == 0 else value
        return play, value


class Part(NamedTuple):
    """A part of a game that one seat re-solves."""

    #: Numbers of its terminals.
    terminals: Iterable[int]
    #: Whether an information set is inside.
    inside: Callable[[Name], bool]
    #: The opponent's hand at its start, for a set's name or a terminal's label.
    hand: Callable[[Any], Any]


class Solution(NamedTuple):
    """What a program found."""

    plan: Floats
    objective: float
    #: Value of each of the opponent's hands.
    values: dict[Any, float]


Gadgets = Literal["unsafe", "resolve", "maxmargin"]


def solve_part(
    game: SequenceGame,
    seat: int,
    part: Part,
    plan: Floats,
    weight: Mapping[Any, float],
    kind: Gadgets = "unsafe",
    alternatives: Mapping[Any, float] | None = None,
    mass: Mapping[Any, float] | None = None,
    *,
    tie: Mapping[Any, float] | np.random.Generator | None = None,
    fixed: Collection[int] = (),
    closed: Collection[int] = (),
) -> Solution:
    """Re-solve a part for a seat: a program over his plan, its duals the opponent's values v.

    `plan` fixes with what reach he gets there. Over the opponent's hands r at the start,

        unsafe      min Σ weight(r) v(r)
        resolve     min Σ weight(r) max(v(r) − alternative(r), 0)
        maxmargin   max m with v(r) + m mass(r) ≤ alternative(r)

    Among optima `tie` takes that of least Σ tie(r) v(r), or any corner. `fixed` sequences of the seat stay
    as they are, the opponent's `closed` ones are not played.
    """
    return _Program(game, seat, part, plan, weight, fixed, closed).solve(
        kind, alternatives or {}, mass or {}, tie
    )


class _Program:
    """The program of one part: columns are own sequences, values of sets, values of hands, and extras."""

    def __init__(
        self,
        game: SequenceGame,
        seat: int,
        part: Part,
        plan: Floats,
        weight: Mapping[Any, float],
        fixed: Collection[int],
        closed: Collection[int],
    ) -> None:
        self.game, self.seat, self.part, self.plan = game, seat, part, plan
        self.weight, self.fixed = weight, fixed
        mine = {n: s for n, s in game.sets[seat].items() if part.inside(n)}
        his = {n: s for n, s in game.sets[1 - seat].items() if part.inside(n)}
        sequences = [k for one in mine.values() for k in range(one.first, one.first + one.actions)]
        self.own = {sequence: i for i, sequence in enumerate(sequences)}
        self.set_at = {name: len(self.own) + i for i, name in enumerate(his)}
        base = len(self.own) + len(his)
        self.hand_at = {hand: base + i for i, hand in enumerate(weight)}
        self.last = base + len(weight)
        inner = {
            k: name
            for name, one in his.items()
            for k in range(one.first, one.first + one.actions)
            if k not in closed
        }
        row_of = {k: i for i, k in enumerate(inner)}
        hand_row = {hand: len(inner) + i for i, hand in enumerate(weight)}
        self.entries: list[tuple[int, int, float]] = []
        self.bounds = [0.0] * (len(inner) + len(weight))
        for k, name in inner.items():
            self._put(row_of[k], self.set_at[name], -1.0)
        for hand, row in hand_row.items():
            self._put(row, self.hand_at[hand], -1.0)
        for name, one in his.items():
            row = row_of[one.parent] if one.parent in row_of else hand_row[part.hand(name)]
            self._put(row, self.set_at[name], 1.0)
        for i in part.terminals:
            end = game.terminals[i]
            gain = (2 * seat - 1) * end.chance * end.payoff
            theirs, ours = end.sequences[1 - seat], end.sequences[seat]
            row = row_of[theirs] if theirs in row_of else hand_row[part.hand(end.label)]
            if ours in self.own:
                self._put(row, self.own[ours], gain)
            else:
                self.bounds[row] -= gain * plan[ours]
        self.equal: list[tuple[int, int, float]] = []
        self.totals: list[float] = []
        for one in mine.values():
            for k in range(one.first, one.first + one.actions):
                self.equal.append((len(self.totals), self.own[k], 1.0))
            inside = one.parent in self.own
            if inside:
                self.equal.append((len(self.totals), self.own[one.parent], -1.0))
            self.totals.append(0.0 if inside else float(plan[one.parent]))

    def _put(self, row: int, column: int, value: float) -> None:
        self.entries.append((row, column, value))

    def solve(
        self,
        kind: Gadgets,
        alternatives: Mapping[Any, float],
        mass: Mapping[Any, float],
        tie: Mapping[Any, float] | np.random.Generator | None,
    ) -> Solution:
        """Put the gadget on, and solve."""
        hands, extra = list(self.weight), 0
        if kind == "resolve":
            extra = len(hands)
            for i, hand in enumerate(hands):
                self._put(len(self.bounds), self.hand_at[hand], 1.0)
                self._put(len(self.bounds), self.last + i, -1.0)
                self.bounds.append(alternatives[hand])
        elif kind == "maxmargin":
            extra = 1
            for hand in (hand for hand in hands if mass[hand] > 1e-12):
                self._put(len(self.bounds), self.hand_at[hand], 1.0)
                self._put(len(self.bounds), self.last, mass[hand])
                self.bounds.append(alternatives[hand])
        cost = np.zeros(self.last + extra)
        if kind == "unsafe":
            for hand in hands:
                cost[self.hand_at[hand]] = self.weight[hand]
        elif kind == "resolve":
            cost[self.last :] = [self.weight[hand] for hand in hands]
        else:
            cost[self.last] = -1.0
        least = 0 if kind == "resolve" else None
        ranges: list[tuple[float | None, float | None]] = [(0, None)] * len(self.own)
        ranges += [(None, None)] * (self.last - len(self.own)) + [(least, None)] * extra
        for k in self.fixed:
            ranges[self.own[k]] = (float(self.plan[k]), float(self.plan[k]))
        found, objective = _minimised(
            cost, self.entries, self.bounds, self.equal, self.totals, ranges
        )
        if tie is not None:
            second = np.zeros(len(cost))
            if isinstance(tie, np.random.Generator):
                second[: len(self.own)] = tie.normal(size=len(self.own))
            else:
                second[[self.hand_at[hand] for hand in hands]] = [tie[hand] for hand in hands]
            row = [(len(self.bounds), int(j), float(cost[j])) for j in np.flatnonzero(cost)]
            bounds = [*self.bounds, objective + 1e-9]
            found, _ = _minimised(
                second, self.entries + row, bounds, self.equal, self.totals, ranges, found
            )
        plan = self.plan.copy()
        for k, i in self.own.items():
            plan[k] = max(float(found[i]), 0.0)
        return Solution(plan, objective, {h: float(found[self.hand_at[h]]) for h in hands})


def _minimised(
    cost: Floats,
    entries: list[tuple[int, int, float]],
    bounds: list[float],
    equal: list[tuple[int, int, float]],
    totals: list[float],
    ranges: list[tuple[float | None, float | None]],
    otherwise: Floats | None = None,
) -> tuple[Floats, float]:
    """The minimum of a program; `otherwise` if HiGHS finds none."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    def matrix(found: list[tuple[int, int, float]], rows: int) -> Any:
        i, j, value = zip(*found, strict=True)
        return coo_array((value, (i, j)), shape=(rows, len(cost))).tocsr()

    answer = linprog(
        cost,
        A_ub=matrix(entries, len(bounds)),
        b_ub=bounds,
        A_eq=matrix(equal, len(totals)) if totals else None,
        b_eq=totals or None,
        bounds=ranges,
        method="highs",
    )
    if answer.status != 0:
        if otherwise is None:
            raise SolverError(f"HiGHS gave up on a gadget ({answer.message})")
        return otherwise, float("nan")
    return answer.x, float(answer.fun)
