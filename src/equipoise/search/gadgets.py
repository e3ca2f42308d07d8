"""Gadgets: what the opponent may do in place of entering a subgame, so that solving it stays safe.

A subgame solved alone from both ranges (*unsafe*) trusts the opponent to arrive with his range. If my
new strategy gives some of his hands more than they had before, he arrives with those instead. A
gadget lets him choose. His hand h has an *alternative*, what it is worth to him elsewhere:

    unsafe      he plays on with his range; no alternatives
    resolve     every hand chooses to play on or to take its alternative (Burch, Johanson, Bowling 2014)
    maxmargin   he picks the hand to play on with, and gains what it has above its alternative: the least
                margin, alternative less value, becomes as large as can be (Moravcik et al. 2016)

*Reach* (Brown and Sandholm 2017) is either of the two with alternatives raised by the *gifts* that the
opponent forwent on his way (:func:`with_gifts`).

No sweep is changed for this. A sweep for me reads of the opponent only the reach with which his hands
begin, and a sweep for him says what each of them is worth. So before mine that reach is written, and
after his he learns, by regret matching with the discounts of the sweep:

    resolve     reach(h) = follow(h), learnt from value(h) against alternative(h)
    maxmargin   reach(h) = pick(h) · M / mass(h), learnt from (value(h) − alternative(h)) / mass(h)

with mass(h) the reach of mine that h can meet, and M the largest. His hands weigh 1 in resolve, not his
range: a hand that his range forgets would be unguarded. Values of a sweep are counterfactual, chips ×
mass; alternatives are given in *chips*, what a hand wins on average from the start of the whole hand on,
and multiplied by the mass here.

Resolve does not say which of many safe strategies to take; where the alternatives are best-response
values the strategy that they were computed from is one. Ties are broken by his range: it enters with a
small weight beside `follow`. That weight is a price at which hands may gain above their alternatives, so
it fades like 1/t once strategies have formed, and the guarantee is that of resolve alone. A line
that he never takes has no range; all his hands then count alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import RangeError, SolverError
from equipoise.games.game import Game
from equipoise.search.gadgetloop import iterate_gadget
from equipoise.search.gadgetrules import learn_to_follow, learn_to_pick
from equipoise.solve.solvers.cfr import Discounting
from equipoise.solve.spots.spotsolver import SpotSolver
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.layout import UP_ROOT
from equipoise.solve.sweep.tableau import Precision

Floats = NDArray[np.float64]
Kind = Literal["unsafe", "resolve", "maxmargin"]

#: Weight, beside 1 for the likeliest, of hands that a range leaves out: no figure sees it, and they
#: learn an average strategy like all others.
HAIR = 1e-9
#: Iterations after which the weight that breaks ties begins to fade.
_WHOLE_TIES = 50
#: Share of the largest mass below which a hand meets nothing: its value is lost in rounding, and there
#: is none to guard.
_NOTHING = 1e-5


@dataclass(frozen=True, eq=False)
class Gadget:
    """What the opponent may do in place of entering a subgame.

    >>> Gadget("resolve", alternatives=[-2.0, 0.0, 1.5]).kind
    'resolve'
    >>> Gadget("resolve")
    Traceback (most recent call last):
        ...
    equipoise.errors.SolverError: a resolve gadget needs alternatives: what each of the opponent's
    hands is worth elsewhere, in chips
    """

    kind: Kind = "unsafe"
    #: What each of the opponent's hands is worth to him elsewhere, in chips from the start of the hand.
    alternatives: ArrayLike | None = None
    #: Resolve: weight of his likeliest hand beside 1, by which ties among safe strategies are broken, as
    #: long as it does not fade.
    tie: float = 0.01

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise SolverError(f"no gadget {self.kind!r}: choose from {', '.join(get_args(Kind))}")
        if not 0 <= self.tie < float("inf"):
            raise SolverError(f"tie = {self.tie}: the weight that breaks ties is 0 or more")
        if self.kind == "unsafe":
            if self.alternatives is not None:
                raise SolverError("an unsafe solve takes no alternatives: choose resolve, or none")
            return
        if self.alternatives is None:
            raise SolverError(
                f"a {self.kind} gadget needs alternatives: what each of the opponent's hands is worth "
                "elsewhere, in chips"
            )
        worth = np.asarray(self.alternatives, dtype=np.float64)
        if worth.ndim != 1 or not np.isfinite(worth).all():
            raise SolverError("alternatives are one finite number of chips for each hand")
        object.__setattr__(self, "alternatives", worth)


UNSAFE = Gadget()


def with_gifts(alternatives: ArrayLike, gifts: ArrayLike) -> Floats:
    """Alternatives raised by the chips that each hand forwent on its way here: reach.

    A hand that could have had more elsewhere has given something away already by coming here, and may
    be left that much more.

    >>> with_gifts([1.0, 2.0], [0.5, 0.0]).tolist()
    [1.5, 2.0]
    """
    worth, given = (np.asarray(part, dtype=np.float64) for part in (alternatives, gifts))
    if worth.shape != given.shape:
        raise SolverError(
            f"{given.size} gifts for {worth.size} alternatives: give one for each hand"
        )
    if (given < -1e-9).any():
        raise SolverError("a gift is 0 chips or more: the best action less the one taken")
    found: Floats = worth + np.maximum(given, 0.0)
    return found


class SubgameSolver(SpotSolver):
    """CFR of a game whose opponent begins in a gadget.

    `ranges` are the reaches with which both players' states begin; `me` is who re-solves.

    >>> from equipoise.games.library.leduc import leduc
    >>> game = leduc()
    >>> after_king = game.below(int(game.betting.start[1]), 3)
    >>> solver = SubgameSolver(after_king, ranges=(np.ones(3), np.ones(3)))
    >>> solver.advance(100)
    >>> solver.exploitability() < 0.01
    True
    """

    name: ClassVar[str] = "subgame"

    def __init__(
        self,
        game: Game,
        *,
        ranges: tuple[ArrayLike, ArrayLike],
        gadget: Gadget = UNSAFE,
        me: int = 0,
        discounting: Discounting | None = None,
        precision: Precision | None = None,
        threads: int | None = 1,
    ) -> None:
        if me not in (0, 1):
            raise SolverError(f"me = {me}: the player who re-solves is 0 or 1")
        super().__init__(game, discounting=discounting, precision=precision, threads=threads)
        self.me, self.he, self.gadget = me, 1 - me, gadget
        states = [int(n) for n in self.tableau.states[0]]
        #: Both ranges, the likeliest hand 1, hands that they leave out with a hair of weight.
        self.ranges = tuple(self._range(ranges[p], states[p], p, flat=p != me) for p in (0, 1))
        #: Reach of mine that each of his hands can meet.
        own = np.asarray(ranges[me], dtype=np.float64)
        self.mass = meeting(game, self.he, own / own.max())
        #: His hands that can meet any of mine.
        self.held: NDArray[np.bool_] = self.mass > _NOTHING * self.mass.max()
        if not self.mass.max() > 0:
            raise RangeError("every hand of one range shares a card with every hand of the other")
        for player in (0, 1):
            self.tableau.reach(player)[:] = self.ranges[player]
        self._numbers = self.tableau.numbers(facing=self.regrets, rows=self.regrets, plan=self.plan)
        #: How much of the average so far was gained, as the plan fades.
        self._averaged = 0.0
        if gadget.kind != "unsafe":
            self._lay_gadget(states[self.he])

    def _range(self, weights: ArrayLike, states: int, player: int, flat: bool) -> Floats:
        """Weights of a range, the likeliest 1, checked; one without hands is flat where it may be."""
        found = np.asarray(weights, dtype=np.float64)
        if found.shape != (states,):
            raise RangeError(
                f"the range of player {player} has {found.size} weights: give one for each of "
                f"{states} hands"
            )
        if not np.isfinite(found).all() or (found < 0).any():
            raise RangeError(f"the range of player {player}: weights are finite, and 0 or more")
        most = float(found.max())
        if not most > 0:
            if not flat:
                raise RangeError(f"the range of player {player}: no hand has a weight above 0")
            return np.ones(states)
        lifted: Floats = np.maximum(found / most, HAIR)
        return lifted

    def _lay_gadget(self, states: int) -> None:
        gadget, he = self.gadget, self.he
        worth = np.asarray(gadget.alternatives, dtype=np.float64)
        if worth.shape != (states,):
            raise SolverError(
                f"{worth.size} alternatives: give one for each of the opponent's {states} hands here"
            )
        #: The alternatives in counterfactual units.
        self._alternatives: Floats = worth * self.mass
        ones = self.held.astype(np.float64)
        self._average = np.zeros(states)
        self._follow, self._learnt = ones, np.zeros((1 + (gadget.kind == "resolve"), states))
        if gadget.kind == "resolve":
            tie = gadget.tie * self.ranges[he] / self.ranges[he].max() * ones
            self._tie, self._hair = tie, HAIR
            self._state: tuple[Any, ...] = (
                *(self._alternatives, self.held, self._learnt, self._follow, self._average),
                *(tie, self._hair),
            )
            self.tableau.reach(he)[:] = np.maximum(ones + tie, HAIR)
        else:
            self._follow = ones / ones.sum()
            self._scale: Floats = self.mass.max() / np.where(self.held, self.mass, 1.0)
            self._hair = HAIR / states
            self._state = (
                *(self._alternatives, self.held, self._learnt, self._follow, self._average),
                *(self.mass, self._hair),
            )
            self.tableau.reach(he)[:] = np.maximum(self._follow * self._scale, self._hair)

    # --------------------------------------------------------------------------------- iterations

    def advance(self, count: int) -> None:
        """Do `count` iterations."""
        if self.gadget.kind == "unsafe":
            super().advance(count)
            return
        tableau, me, he = self.tableau, self.me, self.he
        schedule, fading = self.schedules(count)
        if self.game.deal.evaluator == "sorted":
            reach, values = tableau.reach(he), tableau.root_values(he)
            shares, picks = tableau.shares(), self.gadget.kind == "maxmargin"
            codes = (rowrules.REGRET, True, UP_ROOT)

            def call(member: int) -> None:
                task = tableau.by_address(self._numbers, member)
                iterate_gadget(
                    task, shares[member], codes, schedule, fading, me, picks, self._state, values,
                    reach,
                )  # fmt: skip

            tableau.together(call)
        else:
            for t in range(count):
                for player in (me, he):
                    row = schedule[t : t + 1]
                    tableau.run(self._numbers, row, rowrules.REGRET, player, player, True)
                self.learn(fading[t])
        self.count_iterations(fading)

    def schedules(self, count: int) -> tuple[NDArray[Any], Floats]:
        """Parameters of the next sweeps, and how the gadget's regrets and average fade: a row each."""
        lowest = float(np.finfo(np.float64).min)
        told = [
            self.discounting.parameters(self.iteration - self._forgotten + 1 + t)
            for t in range(count)
        ]
        schedule = np.array([self.tableau.parameters(**one) for one in told]).reshape(count, -1)
        fading = np.array(
            [
                (one["positive"], one["negative"], one.get("floor", lowest), one["keep"],
                 one.get("gain", 1.0), self._ties_at(self.iteration + 1 + t))
                for t, one in enumerate(told)
            ]
        ).reshape(count, 6)  # fmt: skip
        return schedule, fading

    def _ties_at(self, t: int) -> float:
        """Share of its weight by which the range breaks ties after iteration t."""
        return min(1.0, _WHOLE_TIES / max(1, t - self._forgotten))

    def learn(self, fading: Floats) -> None:
        """After a sweep for him: let him learn whether to enter, and write with which hands he does."""
        learn = learn_to_pick if self.gadget.kind == "maxmargin" else learn_to_follow
        tableau, he = self.tableau, self.he
        learn(tableau.root_values(he), self._state, fading, tableau.reach(he))

    def count_iterations(self, fading: Floats) -> None:
        """So many more are done, by how they fade."""
        for keep, gain in fading[:, 3:5].tolist():
            self._averaged = keep * self._averaged + gain
        self.iteration += len(fading)

    # ------------------------------------------------------------------------------------ figures

    def best_values(self) -> Floats:
        """His best-response values against my average strategy, hand by hand, in chips."""
        found: Floats = self._best(self.he) / np.where(self.held, self.mass, 1.0)
        return np.where(self.held, found, 0.0)

    def margins(self) -> Floats:
        """What each of his hands would lose by entering, at his best: alternative less value, in chips."""
        if self.gadget.kind == "unsafe":
            raise SolverError("an unsafe solve has no margins: they are above alternatives")
        worth = np.asarray(self.gadget.alternatives, dtype=np.float64)
        return np.where(self.held, worth - self.best_values(), np.inf)

    def exploitability(self) -> float:
        """Mean of what both gain by best-responding in the gadget's game, in chips a hand."""
        reach = self.tableau.reach(self.he)
        before = reach.copy()
        try:
            if self.gadget.kind == "unsafe":
                return self._unsafe_gap()
            return self._resolve_gap() if self.gadget.kind == "resolve" else self._margin_gap()
        finally:
            reach[:] = before

    def value(self) -> float:
        """Chips of player 0 a hand, from the start of the hand, both ranges playing the average."""
        self.face_ranges()
        mine = self.tableau.sweep(0, rowrules.VALUE, facing=self.plan)
        total = float(self.ranges[self.he] @ self.mass)
        return float(self.ranges[0] @ mine) / total + self.game.value_offset_chips

    def face_ranges(self) -> None:
        """Let the opponent begin with his range: for values when the solve is done."""
        self.tableau.reach(self.he)[:] = self.ranges[self.he]

    def _best(self, player: int) -> Floats:
        return self.tableau.sweep(player, rowrules.BEST, facing=self.plan)

    def _unsafe_gap(self) -> float:
        players = (0, 1)
        gains = sum(float(self.ranges[p] @ self._best(p)) for p in players)
        if not self.game.betting.zero_sum:
            gains -= sum(
                float(self.ranges[p] @ self.tableau.sweep(p, rowrules.VALUE, facing=self.plan))
                for p in players
            )
        return gains / 2 / float(self.ranges[self.he] @ self.mass)

    def _resolve_gap(self) -> float:
        held, worth = self.held, self._alternatives
        values = self._best(self.he)
        tie = self._tie * self._ties_at(self.iteration)
        his = float(np.maximum(values, worth)[held].sum() + (tie * values)[held].sum())
        follow = self._average / max(self._averaged, 1e-300)
        self.tableau.reach(self.he)[:] = np.maximum(follow + tie, self._hair)
        mine = float(self.ranges[self.me] @ self._best(self.me))
        mine -= float(((1.0 - follow) * worth)[held].sum())
        return (his + mine) / 2 / float(self.mass[held].sum())

    def _margin_gap(self) -> float:
        held, mass = self.held, self.mass
        his = float(((self._best(self.he) - self._alternatives)[held] / mass[held]).max())
        reach = np.where(held, self._average / max(self._averaged, 1e-300) * self._scale, 0.0)
        self.tableau.reach(self.he)[:] = np.maximum(reach, self._hair)
        mine = float(self.ranges[self.me] @ self._best(self.me))
        mine += float((reach * self._alternatives).sum())
        return (his + mine / float(mass.max())) / 2


def meeting(game: Game, player: int, reach: ArrayLike) -> Floats:
    """Of the other player's `reach` at the start, with chance: how much each state of `player` can meet.

    Hands of two cards: all of it, less what holds one of my cards, plus the hand itself, which was
    taken off twice.
    """
    board, other = game.deal.boards[0], np.asarray(reach, dtype=np.float64)
    if board.mass is not None:
        table = board.mass if player == 0 else board.mass.T
        found: Floats = table @ other
        return found
    mine, theirs = (board.hands[p].astype(np.int64) for p in (player, 1 - player))
    if mine.shape[1] != 2:
        from equipoise.games.boards import compatible

        return np.asarray(compatible(board.hands[player], board.hands[1 - player]) @ other)
    on_card, same = np.zeros(64), np.zeros((64, 64))
    for column in (0, 1):
        np.add.at(on_card, theirs[:, column], other)
    same[theirs[:, 0], theirs[:, 1]] = other
    own = same[mine[:, 0], mine[:, 1]] + same[mine[:, 1], mine[:, 0]]
    blocked = on_card[mine].sum(axis=1)
    left: Floats = np.maximum(other.sum() - blocked + own, 0.0)
    return left
