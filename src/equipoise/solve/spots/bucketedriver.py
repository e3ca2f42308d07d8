"""A river by linear programming: over all hands, or over buckets of like hands.

Claudico solved the rivers it came to at the table (Ganzfried and Sandholm, AAMAS 2015): hands of both
ranges are put into buckets by equity, for each player apart, and the sequence-form linear program of
the buckets (:mod:`equipoise.solve.solvers.linear_program`) is solved exactly. A hand then plays its
bucket's mixture. Without buckets the same program over all hands is the exact river.

For hands h of a player against the other's weighted hands that share no card with h, equity e(h) is
the chance to win plus half that to tie, and mass m(h) the weight of h times theirs. Hands of equal
equity are one block and stay together.

    quantile    blocks upwards, bucket = floor(n · (mass below + half the block's mass) / total)
    width       floor(n · e) on [0, 1]
    blockers    n / 2 quantiles of equity, each halved by the share of the opponent's strongest
                tenth that a hand's own cards rule out: what equity does not tell of a bluff

Two hands of a bucket block different cards, which the buckets forget: that is the *card removal* their
author names as the weakness of such endgames. And an equilibrium of the buckets is not unique; real hands
see the difference, so a `tremble` chooses the one in which every action keeps a little weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError, TooLargeError
from equipoise.games.boards import Board, BoardTree, compatible
from equipoise.games.game import Game
from equipoise.games.margins import signs
from equipoise.games.spot import Spot
from equipoise.settings import choose
from equipoise.solve.solvers.linear_program import SequenceForm, load_highs, optimal_plans
from equipoise.solve.spots.answer import RiverProgram
from equipoise.solve.spots.solution import Solution
from equipoise.solve.strategies.bestresponse import exploitability_of
from equipoise.solve.sweep.rowindex import RowIndex, aligned, probabilities

#: Tremble that makes the answer of a bucketed river one.
TREMBLE = 1e-4
#: Hands whose equities differ by no more are one block.
_EQUAL = 1e-9
#: Share of the opponent's mass, from the strongest down, that a bluff wants to block.
_STRONG = 0.1
#: Sequences of both players from which on the interior-point method is the faster one.
_LARGE = 1500
#: A plan of no more is 0: so precisely programs are solved.
_NOTHING = 1e-9
#: Payoff entries that are tried: some minutes.
MOST_ENTRIES = 6_000_000

Floats = NDArray[np.float64]
Buckets = NDArray[np.int64]


class RiverHands:
    """Both players' hands on a river: who wins against whom, equities, and what cards rule out."""

    def __init__(self, game: Game) -> None:
        board, deal = game.deal.boards[0], game.deal
        assert board.strength is not None
        #: Range weight of each player's hands.
        self.weights = deal.initial
        apart = compatible(*board.hands)
        #: [hand of player 0, hand of player 1]: whether they share no card.
        self.apart = apart.astype(np.float64)
        #: 1 where player 0 wins, -1 where he loses.
        self.signs = signs(board.strength) * self.apart

    def tables(self, player: int) -> tuple[Floats, Floats]:
        """Opponents that share no card, and who wins, from a player's side: [his hand, theirs]."""
        if player == 0:
            return self.apart, self.signs
        return self.apart.T, -self.signs.T

    def equities(self, player: int) -> tuple[Floats, Floats]:
        """Equity and mass of each of a player's hands; a hand without opponents has equity ½."""
        apart, result = self.tables(player)
        their = self.weights[1 - player]
        met = apart @ their
        equity = 0.5 + (result @ their) / np.where(met > 0, 2 * met, 1.0)
        return equity, self.weights[player] * met


def _blocks(values: Floats) -> Buckets:
    """Number of each value's block, in ascending order: neighbours that are equal are together."""
    order = np.argsort(values, kind="stable")
    new = np.diff(values[order], prepend=-np.inf) > _EQUAL
    blocks = np.empty(len(values), dtype=np.int64)
    blocks[order] = np.cumsum(new) - 1
    return blocks


def _middles(values: Floats, mass: Floats) -> Floats:
    """Share of the mass below each value, half of its own block's included."""
    blocks = _blocks(values)
    heavy = np.bincount(blocks, mass)
    total = max(float(heavy.sum()), 1e-300)
    middles: Floats = ((np.cumsum(heavy) - heavy / 2) / total)[blocks]
    return middles


def _cut(shares: Floats, count: int) -> Buckets:
    cells: Buckets = np.minimum(count - 1, np.floor(count * shares + 1e-9)).astype(np.int64)
    return cells


def quantile_buckets(hands: RiverHands, player: int, count: int) -> Buckets:
    """Buckets of about equal mass."""
    return _cut(_middles(*hands.equities(player)), count)


def width_buckets(hands: RiverHands, player: int, count: int) -> Buckets:
    """Buckets of equal width in equity."""
    return _cut(hands.equities(player)[0], count)


def blocker_buckets(hands: RiverHands, player: int, count: int) -> Buckets:
    """Half as many quantiles of equity, each halved by what a hand's cards rule out."""
    first = quantile_buckets(hands, player, max(1, count // 2))
    strong = _middles(*hands.equities(1 - player)) >= 1 - _STRONG
    theirs = np.where(strong, hands.weights[1 - player], 0.0)
    apart, _ = hands.tables(player)
    ruled_out = 1 - apart @ theirs / max(float(theirs.sum()), 1e-300)
    mass = hands.equities(player)[1]
    halves = np.zeros(len(first), dtype=np.int64)
    for bucket in np.unique(first):
        own = first == bucket
        halves[own] = _cut(_middles(ruled_out[own], mass[own]), 2)
    return 2 * first + halves


BUCKETINGS: dict[str, Callable[[RiverHands, int, int], Buckets]] = {
    "quantile": quantile_buckets,
    "width": width_buckets,
    "blockers": blocker_buckets,
}


def river_buckets(hands: RiverHands, count: int, bucketing: str) -> tuple[Buckets, Buckets]:
    """Bucket of each player's hands, those without a hand left out and the rest numbered anew."""
    divide = BUCKETINGS[choose(bucketing, BUCKETINGS, "--bucketing")]
    found = [np.unique(divide(hands, player, count), return_inverse=True)[1] for player in (0, 1)]
    return found[0].reshape(-1), found[1].reshape(-1)


def bucketed(game: Game, hands: RiverHands, buckets: tuple[Buckets, Buckets]) -> Game:
    """The river over buckets: the same betting, chances and results of every pair of them."""
    members = []
    for player in (0, 1):
        member = np.zeros((int(buckets[player].max()) + 1, len(buckets[player])))
        member[buckets[player], np.arange(len(buckets[player]))] = hands.weights[player]
        members.append(member)
    mass = members[0] @ hands.apart @ members[1].T
    signed = members[0] @ hands.signs @ members[1].T
    total = mass.sum()
    none = (np.zeros((len(mass), 0), np.int16), np.zeros((mass.shape[1], 0), np.int16))
    own = game.deal.boards[0]
    board = Board(own.round, -1, own.cards, 1.0, none, mass=mass / total, signed=signed / total)
    starts = (np.ones(len(mass)), np.ones(mass.shape[1]))
    return replace(game, deal=BoardTree([board], starts, 1.0, "matrix"))


class Program(NamedTuple):
    """What is solved: buckets a side, or all hands."""

    buckets: int | None = 20
    bucketing: str = "quantile"
    #: Least chance of every action.
    tremble: float = TREMBLE


def solve_program(
    game: Game, program: Program, unit_chips: float
) -> tuple[NDArray[Any], SequenceForm, tuple[Floats, Floats]]:
    """A river solved: what all its hands play, as rows of the game; the program, and its plans."""
    small = game
    cells: tuple[Buckets, Buckets] | None = None
    if program.buckets is not None:
        hands = RiverHands(game)
        cells = river_buckets(hands, program.buckets, program.bucketing)
        small = bucketed(game, hands, cells)
    form = SequenceForm(small)
    if form.entries() > MOST_ENTRIES:
        raise TooLargeError(
            f"the linear program would have {form.entries():,} payoff entries, more than "
            f"{MOST_ENTRIES:,}: add --buckets 20, or leave out --solver lp"
        )
    large = sum(form.counts) > _LARGE
    plans = optimal_plans(form, tremble=program.tremble, unit_chips=unit_chips, interior=large)
    return _lifted(game, form, plans, cells), form, plans


def solve_river(
    spot: Spot,
    buckets: int | None = None,
    bucketing: str = "quantile",
    tremble: float | None = None,
) -> Solution:
    """A river solved by linear program, over all hands or over `buckets` a side.

    What comes back is a solution as of any spot, whose exploitability is that against real hands.
    `tremble` is the least chance of every action; by default :data:`TREMBLE` with buckets, whose
    answer is not unique, and 0 without.

    >>> spot = Spot("Td9d6hQc2s", "22+,A2s+", "TT+,AKs", pot=100, stack=200, menu="50%,a")
    >>> exact, coarse = solve_river(spot), solve_river(spot, buckets=6)
    >>> exact.exploitability_pct_pot < 1e-4 < coarse.exploitability_pct_pot
    True
    """
    _check(spot, buckets, tremble)
    # Kernels and HiGHS are loaded before the clock starts.
    spot.game()
    load_highs()
    began = perf_counter()
    chosen = (0.0 if buckets is None else TREMBLE) if tremble is None else tremble
    game = spot.game(use_symmetry=buckets is None)
    if not game.betting.zero_sum:
        raise SolverError("a raked river is not zero-sum: drop the rake, or leave out --solver lp")
    program = Program(buckets, bucketing, chosen)
    plan, form, plans = solve_program(game, program, spot.origin.pot)
    took = perf_counter() - began
    solution = Solution(spot, game, plan, use_symmetry=buckets is None)
    solution.program = RiverProgram(
        buckets=buckets,
        bucketing=bucketing if buckets is not None else None,
        tremble=chosen,
        used=tuple(int(n) for n in form.widths[0]),
        ev_oop_chips=_value(form, plans) + game.value_offset_chips,
    )
    solution.iterations, solution.seconds = 1, took
    solution.exploitability_chips = exploitability_of(solution.tableau, plan)
    return solution


def _check(spot: Spot, buckets: int | None, tremble: float | None) -> None:
    if spot.rounds != 1 or len(spot.board) != 5:
        raise SolverError(
            "a linear program is for rivers: leave out --solver lp, or deal the board"
        )
    if buckets is not None and not 1 <= buckets <= 2000:
        raise SolverError(f"--buckets {buckets}: give from 1 to 2,000 a side")
    if tremble is not None and not 0 <= tremble <= 0.05:
        raise SolverError(f"--tremble {tremble:g}: give from 0 to 0.05")


def _value(form: SequenceForm, plans: tuple[Floats, Floats]) -> float:
    """What the plans are worth to player 0, in chips as terminals count them."""
    return float(plans[0] @ (form.payoffs() @ plans[1]))


def _lifted(
    game: Game,
    form: SequenceForm,
    plans: tuple[Floats, Floats],
    cells: tuple[Buckets, Buckets] | None,
) -> NDArray[Any]:
    """What all hands play, in the order of the game's rows: each hand as its bucket does."""
    betting, index = game.betting, RowIndex(game)
    rows = aligned(index.size, np.float32)
    for b, node in index.decisions():
        player = int(betting.kind[node])
        block = index.block(rows, b, node)
        plan = np.array(
            [plans[player][form.sequences(b, child, player)] for child in betting.children(node)]
        )
        # What is left of rounding where a hand never comes is no strategy.
        play = probabilities(np.where(plan > _NOTHING, plan, 0.0))
        block[:] = play if cells is None else play[:, cells[player]]
    return rows
