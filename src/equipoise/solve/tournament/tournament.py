"""A whole tournament of jam or fold among three: what stacks are worth when play goes on.

Blinds stay at 0.5 and 1. All chips together are cut into `steps` equal parts, and stacks stand on the
grid of those parts, by seat; stacks between grid points after a hand are rounded by chance to the
corners of the triangle around them so that everybody's expected chips stay what they are. That is a
finite stochastic game, and a finer grid is nearer to the tournament. The button moves on by one seat;
heads-up the big blind goes to the next player who is left, and the other has the small blind.

Solved as by Ganzfried and Sandholm (2008, 2009): inside, the hand at every grid point is brought near
equilibrium with the values so far of the stacks after it (:mod:`.jamfold3`), regrets and averages going
on from sweep to sweep; outside, values are carried back through the strategies found, from Malmuth and
Harville's at first. For strategies that stand still that is a linear system, solved in one go instead
of in hundreds of passes. Nothing promises that this
converges, nor that its limit is an equilibrium: a player might gain by deviating in hand after hand.
So that is checked afterwards. To somebody who deviates alone the tournament is a Markov decision
process in which the others' strategies stand still; policy iteration solves it, and what he gains over
the value of not deviating is ε, at the grid point where he gains the most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.threeway.table import ThreeWayTable
from equipoise.errors import GameError
from equipoise.run import Event, Listener, Stop
from equipoise.solve.tournament.icm import prize_equities
from equipoise.solve.tournament.jamfold3 import (
    PER_EPSILON,
    JamFold3,
    JamFoldAnswer,
    JamFoldSolver,
    Learnt,
    Vector,
    endings_of,
)

Stacks = tuple[float, float, float]
Point = tuple[int, int, int]
#: Parts that all chips are cut into: at least and at most.
FEWEST_STEPS, MOST_STEPS = 3, 40
#: Iterations of the hand at a grid point in each sweep, which go on from the sweep before.
_ITERATIONS = 20
#: Share of the prizes below which values stand still, of sweeps and of policies.
_STILL, _SETTLED = 3e-5, 1e-7
#: Most sweeps over the grid, and most policies of somebody who deviates.
_MOST_SWEEPS, _MOST_POLICIES = 12, 20


class Moves(NamedTuple):
    """Where a player of a grid point goes: by ending, to which place, how likely."""

    ending: NDArray[np.int64]
    place: NDArray[np.int64]
    weight: Vector


@dataclass(frozen=True)
class TournamentHand(JamFold3):
    """A hand after which stacks are worth what they are in the tournament."""

    tournament: Tournament = field(kw_only=True, repr=False, compare=False)
    #: Value of each seat at each grid point.
    values: Vector = field(kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.stacks[0] > 0:  # Else the blinds are heads-up.
            super().__post_init__()

    def worth(self, stacks: tuple[float, ...]) -> tuple[float, ...]:
        """What each player has with these stacks after the hand."""
        paid, moves = self.tournament.continuation(self.stacks, stacks)
        for player, place, weight in moves:
            paid[player] += weight * self.values[place]
        return tuple(paid)


@dataclass(frozen=True)
class TournamentAnswer:
    """The first hand of a tournament, and how sure the values behind it are."""

    hand: JamFoldAnswer
    #: Most that anybody gains by deviating in all hands, in the units of prizes; None if not checked.
    epsilon: float | None
    #: What an ev may be off by in the game on this grid; None if ε is not known.
    error: float | None
    sweeps: int
    #: By how much the last sweep changed a value at most.
    change: float
    #: Whether the last sweep changed no value by more than 0.003 % of the prizes.
    settled: bool
    #: Hands that a player is still dealt, expected; the most of any seat and grid point.
    hands: float


def rounded(point: Sequence[float]) -> list[tuple[float, Point]]:
    """Grid points around stacks in steps, with chances that keep everybody's expected stack.

    >>> rounded((2.25, 3, 4.75))
    [(0.75, (2, 3, 5)), (0.25, (3, 3, 4))]
    """
    total = round(sum(point))
    sums = [round(point[0], 9), round(point[0] + point[1], 9)]
    low = [int(told) for told in sums]
    rest = [told - below for told, below in zip(sums, low, strict=True)]
    first, second = (0, 1) if rest[0] > rest[1] else (1, 0)
    corners = [list(low)]
    for raised in (first, second):
        corners.append(list(corners[-1]))
        corners[-1][raised] += 1
    chances = (1 - rest[first], rest[first] - rest[second], rest[second])
    return [
        (chance, (a, b - a, total - b))
        for chance, (a, b) in zip(chances, corners, strict=True)
        if chance > 0
    ]


class Tournament:
    """Values of stacks on a grid, solved hand by hand and sweep by sweep."""

    def __init__(
        self,
        total: float,
        prizes: tuple[float, float, float],
        steps: int = 12,
        source: ThreeWayTable | None = None,
    ) -> None:
        if not FEWEST_STEPS <= steps <= MOST_STEPS:
            raise GameError(f"a grid has {FEWEST_STEPS} to {MOST_STEPS} steps, not {steps}")
        if total / steps < 1:
            raise GameError(
                f"a step of the grid is at least 1 big blind: {total:g} big blinds make at most "
                f"{int(total)} steps"
            )
        self.prizes, self.steps, self.step = prizes, steps, total / steps
        #: Grid points, button first; heads-up the button has nothing.
        self.points: list[Point] = [
            (button, small, steps - button - small)
            for button in range(steps - 1)
            for small in range(1, steps - button)
        ]
        self._number = {point: number for number, point in enumerate(self.points)}
        even = JamFold3((steps, steps, steps), prizes)  # Refuses prizes that do not fall.
        self.unit = even.unit
        self.values: Vector = np.array(
            [told for point in self.points for told in prize_equities(point, prizes)]
        )
        self.solver = JamFoldSolver(even, source)
        self.strategies: list[dict[str, Vector]] | None = None
        self._learnt = [Learnt() for _ in self.points]
        self._endings: list[Vector] = []
        self._paid: list[Vector] = []
        self._moves: list[list[Moves]] = []
        for point in self.points:
            self._lay_out(point)

    def _stacks(self, point: Point) -> Stacks:
        return point[0] * self.step, point[1] * self.step, point[2] * self.step

    def _lay_out(self, point: Point) -> None:
        """What is paid and where players go after each ending at a grid point."""
        stacks = self._stacks(point)
        paid, moves = [], []
        for ending, after in enumerate(endings_of(stacks)):
            here, onward = self.continuation(stacks, after)
            paid.append(here)
            moves += [(ending, *told) for told in onward]
        self._paid.append(np.array(paid))
        found = []
        for player in range(3):
            rows = [told for told in moves if told[1] == player]
            found.append(
                Moves(
                    np.array([told[0] for told in rows], dtype=np.int64),
                    np.array([told[2] for told in rows], dtype=np.int64),
                    np.array([told[3] for told in rows], dtype=np.float64),
                )
            )
        self._moves.append(found)

    def continuation(
        self, before: Sequence[float], after: Sequence[float]
    ) -> tuple[list[float], list[tuple[int, int, float]]]:
        """What a hand paid each player, and (player, place, chance) of those who play on."""
        paid, moves = [0.0, 0.0, 0.0], []
        for chance, point in rounded([stack / self.step for stack in after]):
            left = [player for player in range(3) if point[player] > 0]
            if len(left) == 3:
                seats, then = {1: 0, 2: 1, 0: 2}, (point[1], point[2], point[0])
            elif len(left) == 2:
                big, small = left  # The first left after the old big blind, and the other.
                seats, then = {small: 1, big: 2}, (0, point[small], point[big])
                (gone,) = {0, 1, 2} - {small, big}
                paid[gone] += chance * self.prizes[2]
            else:
                shares = prize_equities(point, self.prizes, before)
                paid = [told + chance * share for told, share in zip(paid, shares, strict=True)]
                continue
            number = self._number[then]
            moves += [(player, 3 * number + seat, chance) for player, seat in seats.items()]
        return paid, moves

    # ---------------------------------------------------------------------------------- values

    def _chain(self, endings: Sequence[Sequence[Vector]]) -> tuple[Vector, Vector]:
        """Chances from place to place and what is paid on the way, by endings of point and seat."""
        size = 3 * len(self.points)
        steps, paid = np.zeros((size, size)), np.zeros(size)
        for number, seats in enumerate(endings):
            for player, chances in enumerate(seats):
                moves, row = self._moves[number][player], 3 * number + player
                weights = chances[moves.ending] * moves.weight
                steps[row] = np.bincount(moves.place, weights, minlength=size)
                paid[row] = chances @ self._paid[number][:, player]
        return steps, paid

    def _value(self, endings: Sequence[Sequence[Vector]]) -> Vector:
        """Values when every hand ends so: v = paid + steps·v."""
        steps, paid = self._chain(endings)
        return np.asarray(np.linalg.solve(np.eye(len(steps)) - steps, paid))

    def hands_left(self) -> float:
        """Hands that a player is still expected to be dealt, where that is most."""
        steps, _ = self._chain([[told] * 3 for told in self._endings])
        playing = np.ones(len(steps))
        playing[[3 * n for n, point in enumerate(self.points) if not point[0]]] = 0.0
        return float(np.linalg.solve(np.eye(len(steps)) - steps, playing).max())

    def hand(self, stacks: Stacks, values: Vector | None = None) -> TournamentHand:
        """The hand at these stacks with the tournament after it."""
        told = self.values if values is None else values
        return TournamentHand(stacks, self.prizes, tournament=self, values=told)

    def _sit_down(self, number: int, values: Vector) -> None:
        """Lay out the hand at a grid point."""
        point = self.points[number]
        self.solver.button_folds = not point[0]
        self.solver.play_for(self.hand(self._stacks(point), values), self._learnt[number])

    # --------------------------------------------------------------------------------- solving

    def sweep(self, listener: Listener | None = None, stop: Stop | None = None) -> float | None:
        """Solve the hand at every grid point and carry values back; how much they changed.

        None if stopped on the way: strategies and values are then those of the sweep before.
        """
        strategies, endings = [], []
        for number in range(len(self.points)):
            if stop is not None and stop.is_set():
                return None
            self._sit_down(number, self.values)
            self.solver.advance(_ITERATIONS)
            strategies.append(self.solver.average())
            endings.append(self.solver.endings(strategies[-1]))
            if listener is not None:
                listener(Event(number + 1, len(self.points), "grid points"))
        self.strategies, self._endings = strategies, endings
        values = self._value([[told] * 3 for told in endings])
        change = float(np.abs(values - self.values).max())
        self.values = values
        return change

    def epsilon(self, listener: Listener | None = None, stop: Stop | None = None) -> float | None:
        """Most that anybody gains by deviating alone from here on, at the worst grid point.

        None if stopped on the way.
        """
        assert self.strategies is not None
        values = self.values
        for policy in range(1, _MOST_POLICIES + 1):
            endings = []
            for number, played in enumerate(self.strategies):
                if stop is not None and stop.is_set():
                    return None
                self._sit_down(number, values)
                endings.append([self._answered(player, played) for player in range(3)])
                if listener is not None:
                    listener(Event(number + 1, len(self.points), f"deviating, policy {policy}"))
            better = np.maximum(self._value(endings), values)
            gained, values = float((better - values).max()), better
            if gained <= _SETTLED * 100 * self.unit:
                break
        return float((values - self.values).max())

    def _answered(self, player: int, played: dict[str, Vector]) -> Vector:
        """How the hand ends when a player best-responds in it."""
        if player == 0 and self.solver.button_folds:
            return self.solver.endings(played)
        answers = {
            name: (told[1] > told[0]).astype(np.float64)
            for name, told in self.solver.action_values(player, played).items()
        }
        return self.solver.endings(played | answers)

    def run(
        self,
        stacks: Stacks,
        target: float,
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> TournamentAnswer | None:
        """Sweep until values stand still, check by policy iteration, and solve the hand at `stacks`.

        None if stopped before the first sweep was done.
        """
        still = _STILL * 100 * self.unit
        sweeps, change = 0, float("inf")
        while change > still and sweeps < _MOST_SWEEPS:
            told = self.sweep(_named(f"sweep {sweeps + 1}", listener), stop)
            if told is None:
                break
            sweeps, change = sweeps + 1, told
        if self.strategies is None:
            return None
        gained = self.epsilon(_named("check", listener), stop)
        self.solver.button_folds = False
        self.solver.play_for(self.hand(stacks))
        hand = self.solver.run(target)
        hands = self.hands_left()
        if gained is None:
            return TournamentAnswer(hand, None, None, sweeps, change, change <= still, hands)
        epsilon = gained + hand.epsilon
        error = hands * hand.error + (epsilon - hand.epsilon) * PER_EPSILON
        return TournamentAnswer(hand, epsilon, error, sweeps, change, change <= still, hands)


def _named(what: str, listener: Listener | None) -> Listener | None:
    if listener is None:
        return None
    tell = listener
    return lambda event: tell(replace(event, what=f"{what}: {event.what}"))
