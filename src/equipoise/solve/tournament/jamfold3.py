"""One hand of jam or fold among three players, solved.

Blinds of 0.5 and 1, no ante. The button jams or folds; the small blind jams or folds after a fold and
calls or folds after a jam; the big blind calls or folds against one of them, or both (an overcall).
Calls are all-in, what nobody calls returns, folded blinds stay in the main pot, and side pots are
built in layers. What a player gets from the stacks after the hand is his prize equity
(:mod:`.icm`), or his net chips.

Private states are the 169 classes of hole cards with exact card removal among all three hands, and
showdowns come from the table of :mod:`equipoise.cards.threeway.table`, which also tells how two hands
stand when a third was folded. With w(a, s, b) the ways to deal three classes, the value of a player is
a sum over 169³ of products of the six strategies with four tensors, one for each line that ends in a
showdown:

    (1−J)[(1−D) k1 + D((1−E) k2 + E U3)] + J[(1−C)((1−F) k4 + F U5) + C((1−O) U6 + O U7)]

with J the button's jam, D and C the small blind's jam and call, E, F and O the big blind's calls.
Folds are most of what is played, so that each sum is one over *all* hands, made once, less one over
the few that are not folded.

All three play regret matching+ in turn (Tammelin 2014), averages weighted by the square of the
iteration. Three players' equilibria need not be unique nor is convergence promised: what is reached
is measured by exact best responses on the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE
from equipoise.cards.threeway.table import (
    STANDINGS,
    ThreeWayTable,
    combinations_of,
    order_for,
    seatings,
    table,
    triples,
)
from equipoise.errors import GameError
from equipoise.run import Event, Listener, Stop
from equipoise.solve.sweep.blas import on_one_thread
from equipoise.solve.tournament.icm import prize_equities
from equipoise.solve.tournament.kernels import contract

Vector = NDArray[np.float64]
Tensor = NDArray[np.float32]

BLINDS = (0.0, 0.5, 1.0)
#: Decisions by name: whose, and in what the order of figures is.
DECISIONS = ("b_jam", "sb_jam", "sb_call", "bb_v_sb", "bb_v_b", "bb_overcall")
OWNER = {"b_jam": 0, "sb_jam": 1, "sb_call": 1, "bb_v_sb": 2, "bb_v_b": 2, "bb_overcall": 2}
#: Ways to deal three hands.
_DEALS = 1326 * 1225 * 1128
#: Most that a stack or a prize may be.
LARGEST = 1_000_000
#: Iterations between two looks at what is reached.
_LOOK = 50
#: Errors of an ev for each unit of what somebody still gains by deviating (measured over starts).
PER_EPSILON = 50
#: Standard errors of the sampled table that the stated error covers. Strategies follow the table, so
#: that evs move by more than the table's own error.
_STANDARD_ERRORS = 5


class Showdown(NamedTuple):
    """A line that ends in a showdown: who is in."""

    players: tuple[int, ...]


#: U3, U5, U6, U7.
SHOWDOWNS = {
    "sb v bb": Showdown((1, 2)),
    "b v bb": Showdown((0, 2)),
    "b v sb": Showdown((0, 1)),
    "all": Showdown((0, 1, 2)),
}


def after_hand(
    stacks: Sequence[float], in_hand: Sequence[int], standing: Sequence[float]
) -> tuple[float, ...]:
    """Stacks after a hand: those `in_hand` are all-in (a blind if only one is), the others folded.

    `standing` tells who is best, the higher the better.

    >>> after_hand((5, 10, 15), (0, 1, 2), (2, 1, 0))
    (15.0, 10.0, 5.0)
    >>> after_hand((10, 10, 10), (2,), (0, 0, 0))
    (10.0, 9.5, 10.5)
    """
    alone = len(in_hand) == 1
    put = [
        float(stacks[p]) if p in in_hand and not alone else min(BLINDS[p], float(stacks[p]))
        for p in range(3)
    ]
    left = [float(stacks[p]) - put[p] for p in range(3)]
    below = 0.0
    for level in sorted({amount for amount in put if amount > 0}):
        layer = sum(min(amount, level) - min(amount, below) for amount in put)
        eligible = [p for p in in_hand if put[p] >= level or alone]
        best = max(standing[p] for p in eligible)
        winners = [p for p in eligible if standing[p] == best]
        for p in winners:
            left[p] += layer / len(winners)
        below = level
    return tuple(left)


@dataclass(frozen=True)
class JamFold3:
    """Three stacks in big blinds before the blinds are posted, and what is played for."""

    #: Button, small blind, big blind.
    stacks: tuple[float, float, float]
    #: First, second and third prize; None plays for chips.
    prizes: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if len(self.stacks) != 3 or not all(1 <= stack <= LARGEST for stack in self.stacks):
            raise GameError(
                "stacks are those of button, small blind and big blind, at least 1 big blind each: "
                "10,10,10"
            )
        if self.prizes is not None:
            if len(self.prizes) != 3 or not all(0 <= prize <= LARGEST for prize in self.prizes):
                raise GameError("prizes are those of first, second and third place: 50,30,20")
            if sorted(self.prizes, reverse=True) != list(self.prizes) or not sum(self.prizes):
                raise GameError("prizes fall from first to third place: 50,30,20")

    def worth(self, stacks: tuple[float, ...]) -> tuple[float, ...]:
        """What each player has with these stacks after the hand."""
        if self.prizes is None:
            return tuple(now - then for now, then in zip(stacks, self.stacks, strict=True))
        return prize_equities(stacks, self.prizes, self.stacks)

    def payoffs(self, players: tuple[int, ...]) -> Vector:
        """What each player has when `players` showed down, by order: [order, player]."""
        return np.array(
            [self.worth(after_hand(self.stacks, players, standing)) for standing in STANDINGS]
        )

    @property
    def unit(self) -> float:
        """What ε is a share of: the prize pool as a hundred, or a big blind."""
        return 1.0 if self.prizes is None else sum(self.prizes) / 100


@dataclass(frozen=True)
class JamFoldAnswer:
    """What is played, what it is worth, and how sure that is."""

    game: JamFold3
    #: How often each class jams or calls, by decision.
    strategy: dict[str, Vector]
    ev: tuple[float, float, float]
    #: Most that any player gains by deviating alone, in the units of ev.
    epsilon: float
    #: What an ev may be off by, in its units: of the table's sampling and of ε.
    error: float
    iterations: int

    def ranges_pct(self) -> dict[str, float]:
        """Share of all hands that jam or call, in per cent."""
        return {
            name: 100 * float(CLASS_SIZE @ played) / 1326 for name, played in self.strategy.items()
        }


def endings_of(stacks: Sequence[float]) -> list[tuple[float, ...]]:
    """Stacks after each way the hand can end: three folds, then four showdowns in 13 orders each.

    >>> endings_of((10, 10, 10))[:3]
    [(10.0, 9.5, 10.5), (10.0, 11.0, 9.0), (11.5, 9.5, 9.0)]
    """
    folds = [after_hand(stacks, (winner,), (0.0, 0.0, 0.0)) for winner in (2, 1, 0)]
    return folds + [
        after_hand(stacks, line.players, standing)
        for line in SHOWDOWNS.values()
        for standing in STANDINGS
    ]


def _ways_by_order(source: ThreeWayTable) -> Tensor:
    """Ways to deal three classes so that the players stand in each order: float32[13, 169³]."""
    ways, classes = combinations_of(), triples()
    shares = np.ascontiguousarray(source.units.T, dtype=np.float32)
    shares *= ways[tuple(classes.T)] / np.float32(255)
    found: Tensor = np.empty((len(shares), ways.size), dtype=np.float32)
    for seating in seatings():
        places = np.ravel_multi_index(tuple(classes[:, place] for place in seating), ways.shape)
        for share, order in zip(shares, order_for(seating), strict=True):
            found[order][places] = share
    return found


@dataclass
class Learnt:
    """What regret matching remembers of a hand, by decision."""

    #: How often each class jams or calls next.
    strategy: dict[str, Vector] = field(default_factory=lambda: _everywhere(0.5, CLASS_COUNT))
    #: Regrets for folding and for not folding, and how often each was played: [2, 169].
    regrets: dict[str, Vector] = field(default_factory=lambda: _everywhere(0.0, 2, CLASS_COUNT))
    average: dict[str, Vector] = field(default_factory=lambda: _everywhere(0.0, 2, CLASS_COUNT))
    iteration: int = 0


def _everywhere(number: float, *shape: int) -> dict[str, Vector]:
    return {name: np.full(shape, number) for name in DECISIONS}


class _Line(NamedTuple):
    """A showdown's values less those of the fold that it is an alternative to."""

    #: For each player, weighted with the ways to deal: float32[169, 169, 169].
    values: tuple[Tensor, Tensor, Tensor]
    #: The same with the player who folds summed out, by player: float64[169, 169].
    sums: tuple[Vector, Vector, Vector]


class JamFoldSolver:
    """Regret matching+ for three players over one hand.

    The button's decision may be closed: he then folds everything, and the blinds play heads-up.
    """

    def __init__(
        self, game: JamFold3, source: ThreeWayTable | None = None, *, button_folds: bool = False
    ) -> None:
        on_one_thread()
        self.table = source or table()
        self.button_folds = button_folds
        ways = combinations_of()
        #: Ways to deal with the third hand summed out: [b, s], [b, bb], [s, bb].
        self._pairs = [ways.sum(axis=axis, dtype=np.float64) for axis in (2, 1, 0)]
        self._orders = _ways_by_order(self.table)
        self._store: Tensor = np.empty((3 * len(SHOWDOWNS), ways.size), dtype=np.float32)
        self.play_for(game)

    # -------------------------------------------------------------------------------- tensors

    def play_for(self, game: JamFold3, learnt: Learnt | None = None) -> None:
        """Lay out what another hand's showdowns are worth, in the same memory.

        Learning goes on from `learnt`, or begins anew.
        """
        self.game = game
        nobody = (0.0, 0.0, 0.0)
        self._k1, self._k2, self._k4 = (
            game.worth(after_hand(game.stacks, (winner,), nobody)) for winner in (2, 1, 0)
        )
        pays = {name: game.payoffs(line.players) for name, line in SHOWDOWNS.items()}
        pays["all"] = pays["all"] - pays["b v sb"]
        pays["sb v bb"] = pays["sb v bb"] - np.array(self._k2)
        pays["b v bb"] = pays["b v bb"] - np.array(self._k4)
        columns = np.concatenate([pays[name].T for name in SHOWDOWNS]).astype(np.float32)
        np.matmul(columns, self._orders, out=self._store)
        tensors = self._store.reshape(len(SHOWDOWNS), 3, *(CLASS_COUNT,) * 3)
        summed = {"sb v bb": 0, "b v bb": 1, "b v sb": 2, "all": 2}
        self._lines = {
            name: _Line(
                (of_line[0], of_line[1], of_line[2]),
                tuple(t.sum(axis=summed[name], dtype=np.float64) for t in of_line),
            )
            for name, of_line in zip(SHOWDOWNS, tensors, strict=True)
        }
        self.learnt = learnt or Learnt()

    def _sum(self, line: str, player: int, axis: int, first: Vector, second: Vector) -> Vector:
        """Sum of a line's values to a player over two of the hands, by the class of the third."""
        out = np.empty(CLASS_COUNT)
        one, two = np.flatnonzero(first), np.flatnonzero(second)
        contract(self._lines[line].values[player], axis, one, first[one], two, second[two], out)
        return out

    # ---------------------------------------------------------------------------------- values

    def action_values(self, player: int, played: dict[str, Vector]) -> dict[str, Vector]:
        """What folding and not folding are worth to a player's classes: [2, 169] by decision.

        Weighted with the ways to deal and the others' play, as regrets are.
        """
        return (self._button, self._small_blind, self._big_blind)[player](played)

    def _button(self, played: dict[str, Vector]) -> dict[str, Vector]:
        jam, call = played["sb_jam"], played["sb_call"]
        versus_sb, versus_b, over = played["bb_v_sb"], played["bb_v_b"], played["bb_overcall"]
        pairs, k1, k2, k4 = self._pairs[0], self._k1[0], self._k2[0], self._k4[0]
        fold = pairs @ ((1 - jam) * k1 + jam * k2)
        fold += self._sum("sb v bb", 0, 0, jam, versus_sb)
        shove = k4 * (pairs @ (1 - call)) + self._lines["b v bb"].sums[0] @ versus_b
        shove -= self._sum("b v bb", 0, 0, call, versus_b)
        shove += self._lines["b v sb"].sums[0] @ call + self._sum("all", 0, 0, call, over)
        return {"b_jam": np.stack([fold, shove])}

    def _small_blind(self, played: dict[str, Vector]) -> dict[str, Vector]:
        jam, over = played["b_jam"], played["bb_overcall"]
        versus_sb, versus_b = played["bb_v_sb"], played["bb_v_b"]
        pairs = self._pairs[0]
        folded, jammed = pairs.T @ (1 - jam), pairs.T @ jam
        shove = self._k2[1] * folded + self._lines["sb v bb"].sums[1] @ versus_sb
        shove -= self._sum("sb v bb", 1, 1, jam, versus_sb)
        fold = self._k4[1] * jammed + self._sum("b v bb", 1, 1, jam, versus_b)
        call = self._lines["b v sb"].sums[1].T @ jam + self._sum("all", 1, 1, jam, over)
        return {
            "sb_jam": np.stack([self._k1[1] * folded, shove]),
            "sb_call": np.stack([fold, call]),
        }

    def _big_blind(self, played: dict[str, Vector]) -> dict[str, Vector]:
        jam, sb_jam, sb_call = played["b_jam"], played["sb_jam"], played["sb_call"]
        nothing = np.zeros(CLASS_COUNT)
        versus_sb = self._lines["sb v bb"].sums[2].T @ sb_jam
        versus_sb -= self._sum("sb v bb", 2, 2, jam, sb_jam)
        versus_b = self._lines["b v bb"].sums[2].T @ jam
        versus_b -= self._sum("b v bb", 2, 2, jam, sb_call)
        over = self._sum("all", 2, 2, jam, sb_call)
        return {
            "bb_v_sb": np.stack([nothing, versus_sb]),
            "bb_v_b": np.stack([nothing, versus_b]),
            "bb_overcall": np.stack([nothing, over]),
        }

    def values(self, played: dict[str, Vector]) -> tuple[float, float, float]:
        """Expected worth of the hand to each player."""
        jam, sb_jam, sb_call = played["b_jam"], played["sb_jam"], played["sb_call"]
        found = []
        for player in range(3):
            pairs = self._pairs[0]
            told = (1 - jam) @ pairs @ ((1 - sb_jam) * self._k1[player] + sb_jam * self._k2[player])
            told += jam @ pairs @ ((1 - sb_call) * self._k4[player])
            told += sb_jam @ self._lines["sb v bb"].sums[player] @ played["bb_v_sb"]
            told -= jam @ self._sum("sb v bb", player, 0, sb_jam, played["bb_v_sb"])
            told += jam @ self._lines["b v bb"].sums[player] @ played["bb_v_b"]
            told -= jam @ self._sum("b v bb", player, 0, sb_call, played["bb_v_b"])
            told += jam @ self._lines["b v sb"].sums[player] @ sb_call
            told += jam @ self._sum("all", player, 0, sb_call, played["bb_overcall"])
            found.append(float(told) / _DEALS)
        return found[0], found[1], found[2]

    def endings(self, played: dict[str, Vector]) -> Vector:
        """How likely the hand ends in each way of :func:`endings_of`, in the same order."""
        jam, sb_jam, sb_call = played["b_jam"], played["sb_jam"], played["sb_call"]
        orders = self._orders.reshape(-1, CLASS_COUNT, CLASS_COUNT**2)
        jams = (jam.astype(np.float32) @ orders).reshape(-1, CLASS_COUNT, CLASS_COUNT)
        jammed = jams.astype(np.float64)
        over = played["bb_overcall"]
        shown = np.stack(
            [
                sb_jam @ (self._by_order - jammed) @ played["bb_v_sb"],
                (1 - sb_call) @ jammed @ played["bb_v_b"],
                sb_call @ jammed @ (1 - over),
                sb_call @ jammed @ over,
            ]
        )
        pairs = self._pairs[0]
        walk = (1 - jam) @ pairs @ (1 - sb_jam)
        steal = (1 - jam) @ pairs @ sb_jam - shown[0].sum()
        button = jam @ pairs @ (1 - sb_call) - shown[1].sum()
        found = np.maximum(np.concatenate([[walk, steal, button], shown.reshape(-1)]), 0.0)
        return np.asarray(found / found.sum())

    @cached_property
    def _by_order(self) -> Vector:
        """Ways to deal the blinds' hands by order of all three: float64[13, 169, 169]."""
        orders = self._orders.reshape(-1, CLASS_COUNT, CLASS_COUNT, CLASS_COUNT)
        return np.asarray(orders.sum(axis=1, dtype=np.float64))

    def gains(self, played: dict[str, Vector]) -> tuple[float, float, float]:
        """What each player gains by a best response to the others."""
        found = []
        for player in range(3):
            told = 0.0
            if not (player == 0 and self.button_folds):
                for name, values in self.action_values(player, played).items():
                    here = played[name]
                    mean = (1 - here) * values[0] + here * values[1]
                    told += float((values.max(axis=0) - mean).sum())
            found.append(told / _DEALS)
        return found[0], found[1], found[2]

    # --------------------------------------------------------------------------------- solving

    def advance(self, count: int) -> None:
        """Do so many iterations, each player in turn."""
        for _ in range(count):
            self.learnt.iteration += 1
            for player in range(3):
                if player == 0 and self.button_folds:
                    self.learnt.strategy["b_jam"] = np.zeros(CLASS_COUNT)
                    continue
                for name, values in self.action_values(player, self.learnt.strategy).items():
                    here = self.learnt.strategy[name]
                    mean = (1 - here) * values[0] + here * values[1]
                    regrets = self.learnt.regrets[name]
                    np.maximum(regrets + values - mean, 0.0, out=regrets)
                    total = regrets.sum(axis=0)
                    learnt = total > 0
                    self.learnt.strategy[name] = np.where(
                        learnt, regrets[1] / np.where(learnt, total, 1.0), here
                    )
            self._mix(float(self.learnt.iteration) ** 2)

    def _mix(self, weight: float) -> None:
        """Add what is played to the averages, by own reach."""
        for name in DECISIONS:
            here = self.learnt.strategy[name]
            self.learnt.average[name] += weight * np.stack([1 - here, here])

    def average(self) -> dict[str, Vector]:
        """The average strategies."""
        if self.button_folds:
            self.learnt.average["b_jam"][:] = [[1.0], [0.0]]
        return {
            name: told[1] / np.maximum(told.sum(axis=0), 1e-300)
            for name, told in self.learnt.average.items()
        }

    def run(
        self,
        target: float,
        most_iterations: int = 5000,
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> JamFoldAnswer:
        """Go on until nobody gains more than `target` by deviating, in the units of ev."""
        while True:
            self.advance(_LOOK)
            played = self.average()
            epsilon = max(self.gains(played))
            if listener is not None:
                listener(Event(self.learnt.iteration, most_iterations, f"ε {epsilon:.1e}"))
            stopped = stop is not None and stop.is_set()
            if epsilon <= target or self.learnt.iteration >= most_iterations or stopped:
                error = _STANDARD_ERRORS * self.table_error(played) + PER_EPSILON * epsilon
                values = self.values(played)
                return JamFoldAnswer(
                    self.game, played, values, epsilon, error, self.learnt.iteration
                )

    def table_error(self, played: dict[str, Vector]) -> float:
        """Standard error of an ev that the table's sampling and rounding leave, the largest.

        Each set of three classes was seen in proportion to the ways to deal it; what showdowns of it
        pay varies with the order in which the hands stand.
        """
        jam, sb_jam, sb_call = played["b_jam"], played["sb_jam"], played["sb_call"]
        after_fold = np.outer(sb_jam, played["bb_v_sb"])
        alone = np.outer(1 - sb_call, played["bb_v_b"])
        called = np.outer(sb_call, 1 - played["bb_overcall"])
        by_all = np.outer(sb_call, played["bb_overcall"])
        half = [np.ptp(self.game.payoffs(line.players), axis=0) / 2 for line in SHOWDOWNS.values()]
        squares = np.zeros(3)
        # Of n deals each set of classes has n·share; it counts with weight `share`.
        for ways, jams in zip(combinations_of(), jam, strict=True):
            share = ways / _DEALS
            for player in range(3):
                versus_sb, versus_b, of_two, of_three = (spread[player] for spread in half)
                spread = (1 - jams) * versus_sb * after_fold
                spread += jams * (versus_b * alone + of_two * called + of_three * by_all)
                weighed = share * spread
                sampled = float((weighed * spread).sum()) / self.table.samples
                squares[player] += sampled + float((weighed**2).sum()) / 255**2
        return float(np.sqrt(squares.max()))
