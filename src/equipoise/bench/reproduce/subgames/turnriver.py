"""An exact turn and all its rivers: blueprints over buckets, every river solved again for one seat.

The turn is small enough that the exploitability of the whole, all hands apart, is known. Blueprints see
buckets by equity quantiles, a river's inside the turn's: *coarse* 4 × 4, *fine* 10 × 8; *purified* is the
coarse one playing its likeliest action only. Each of the rivers after each line of the turn is solved
again for one seat from what its blueprint's turn leads to, by every method. *Floor* is the least that any
rivers can give, the turn kept.

*Thresholded* is the coarse trunk whose turn plays nothing that it played with less than a fifth. Ranges
that come from what is then played forget hands; ranges from the trunk before its threshold do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.bench.reproduce.subgames.nextround import TwoRounds
from equipoise.games.boards import Board, compatible
from equipoise.games.game import Game
from equipoise.games.spot import Spot
from equipoise.solve.spots.spotsolver import SpotSolver
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.gamearrays import Lock
from equipoise.solve.sweep.rowindex import probabilities
from equipoise.solve.sweep.tableau import Rows, Tableau

Data = dict[str, Any]
Floats = NDArray[np.float64]

MENU = {"turn": {"bets": "75%", "raises": ["75%", ""]}, "river": {"bets": "75%,a", "raises": "a"}}
WIDE = (
    "22-JJ,A2s-AJs,A8o-AJo,K8s+,KTo+,Q8s+,Q9o+,J8s+,J9o+,T8s+,T9o,97s+,86s+,75s+,65s,54s",
    "22-KK,A2s+,A7o+,K7s+,K9o+,Q8s+,Q9o+,J8s+,J9o+,T8s+,T9o,97s+,98o,86s+,75s+,65s,54s",
)
NARROW = ("66,TT,A9s,AdJd,KQs,QTs,J8s,87s,75s", "QQ,99,AQs,KdQd,JTs,T8s,98s,AsKs,65s")
#: Buckets of the turn, and of the river inside each of them.
BUCKETS = {"coarse": (4, 4), "fine": (10, 8)}
#: Methods of the table.
_METHODS = ("unsafe", "resolve, best response", "maxmargin", "resolve, self-play")
_THRESHOLD = 0.2


def turn_game(ranges: tuple[str, str] = WIDE) -> Game:
    """The turn with its rivers."""
    return Spot("Td9d6hQh", *ranges, pot=100, stack=400, menu=MENU).game()


# -------------------------------------------------------------------------------------- blueprints


def quantiles(strength: Floats, weight: Floats, count: int) -> NDArray[np.int64]:
    """Buckets of equal mass by strength."""
    order = np.argsort(strength, kind="stable")
    mass = np.cumsum(weight[order])
    bucket = np.empty(len(strength), dtype=np.int64)
    middle = (mass - weight[order] / 2) / mass[-1] * count
    bucket[order] = np.minimum(middle, count - 1).astype(np.int64)
    return bucket


def _equity(board: Board, player: int, reach: Floats) -> Floats:
    """Share of the other's hands that each hand of a player beats on a river."""
    assert board.strength is not None
    mine, his = board.strength[player], board.strength[1 - player]
    fit = compatible(board.hands[player], board.hands[1 - player]) * reach
    won = (np.sign(mine[:, None] - his[None, :]) * fit).sum(axis=1)
    found: Floats = (won / np.maximum(fit.sum(axis=1), 1e-12) + 1) / 2
    return found


def buckets(game: Game, turn: int, river: int) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Bucket of each hand, by board and player; a river's buckets refine the turn's."""
    boards, found = game.deal.boards, dict[tuple[int, int], NDArray[np.int64]]()
    for p in (0, 1):
        total, count = np.zeros((2, len(boards[0].hands[p])))
        rivers = {
            b: _equity(board, p, game.deal.initial[1 - p][board.arrivals[0][1 - p]])
            for b, board in enumerate(boards)
            if b
        }
        for b, equity in rivers.items():
            for arrival in boards[b].arrivals:
                np.add.at(total, arrival[p], equity)
                np.add.at(count, arrival[p], 1)
        found[0, p] = quantiles(total / np.maximum(count, 1), game.deal.initial[p], turn)
        for b, equity in rivers.items():
            above = found[0, p][boards[b].arrivals[0][p]]
            bucket = np.zeros(len(equity), dtype=np.int64)
            for k in range(turn):
                own = np.flatnonzero(above == k)
                if len(own):
                    bucket[own] = k * river + quantiles(equity[own], np.ones(len(own)), river)
            found[b, p] = bucket
    return found


def bucketed_plan(game: Game, shape: tuple[int, int], iterations: int) -> Rows:
    """CFR whose rows are shared by the hands of a bucket: gradients are added up, strategies spread."""
    tableau, assigned = Tableau(game), buckets(game, *shape)
    index, betting = tableau.index, game.betting
    slot = np.zeros(index.size, dtype=np.int32)
    sets, owner, size = [0], [-1], 1
    for b, node in index.decisions():
        player = int(betting.kind[node])
        bucket = assigned[b, player]
        count = int(bucket.max()) + 1
        block = index.block(slot, b, node)
        for a in range(len(block)):
            block[a] = size + a * count + bucket
        first = sets[-1] + 1
        sets += list(range(first, first + count)) * len(block)
        owner += [player] * (count * len(block))
        size += count * len(block)
    groups, owners = np.array(sets), np.array(owner)
    actions = np.bincount(groups)
    regret, out, plan = np.zeros(size), tableau.rows(), tableau.rows()
    for t in range(1, iterations + 1):
        told = SpotSolver.default.parameters(t)
        par = tableau.parameters(**told)
        for player in (0, 1):
            up = np.maximum(regret, 0.0)
            total = np.bincount(groups, up)[groups]
            play = np.where(total > 0, up / np.where(total > 0, total, 1), 1 / actions[groups])
            rows = play[slot].astype(tableau.dtype)
            out[:] = 0
            tableau.sweep(
                player, rowrules.GRADIENT, facing=rows, rows=rows, out=out, plan=plan, par=par
            )
            gain = np.bincount(slot, out, size)
            mean = np.bincount(groups, gain * play)[groups]
            faded = np.where(regret > 0, told["positive"], told["negative"]) * regret
            regret = np.where(owners == player, faded + gain - mean, regret)
    return plan


def purified(tableau: Tableau, plan: Rows) -> Rows:
    """The plan playing the likeliest action of each hand only."""
    new = plan.copy()
    for b, node in tableau.index.decisions():
        block = tableau.index.block(new, b, node)
        block[:] = np.arange(len(block))[:, None] == block.argmax(axis=0)[None, :]
    return new


def thresholded(tableau: Tableau, plan: Rows, threshold: float = _THRESHOLD) -> Rows:
    """The plan whose turn plays nothing that it plays with less than the threshold."""
    new = plan.copy()
    for b, node in tableau.index.decisions():
        if b == 0:
            play = probabilities(tableau.index.block(plan, b, node))
            kept = np.where(play >= threshold, play, 0.0)
            kept = np.where(kept.sum(axis=0) > 0, kept, play == play.max(axis=0))
            tableau.index.block(new, b, node)[:] = kept / kept.sum(axis=0)
    return new


# ------------------------------------------------------------------------------------------ rivers


class TurnRiver(TwoRounds):
    """The turn with its rivers, solved exactly."""

    def __init__(self, ranges: tuple[str, str] = WIDE, exact_iterations: int = 400) -> None:
        game = turn_game(ranges)
        solver = SpotSolver(game)
        solver.advance(exact_iterations)
        super().__init__(game, solver.value() - game.value_offset_chips)
        self.exact_pct = 100 * solver.exploitability() / self.pot

    @property
    def pot(self) -> int:
        """Chips in the middle of the turn."""
        return self.game.betting.origin.pot

    def lost_pct(self, plan: Rows) -> list[float]:
        """Exploitability of seat 0, seat 1 and their mean, in percent of the turn's pot."""
        return [100 * chips / self.pot for chips in self.lost(plan)]

    def floor(self, plan: Rows, me: int, iterations: int = 500) -> float:
        """Least that any rivers can give a seat, its turn kept, in % of the turn's pot."""
        solver, index = SpotSolver(self.game), self.tableau.index
        kept: dict[tuple[int, int], Lock] = {}
        for node in self.game.betting.of_kind(0, me).tolist():
            play = probabilities(index.block(plan, 0, node))
            kept[0, node] = (np.ones(play.shape[1], dtype=bool), play)
        solver.lock(kept)
        solver.advance(iterations)
        new = solver.plan.copy()
        for (_, node), (_, play) in kept.items():
            index.block(new, 0, node)[:] = play
        return self.lost_pct(new)[me]


def turnriver_table(
    ranges: tuple[str, str],
    names: tuple[str, ...] = ("coarse", "purified", "fine"),
    iterations: int = 300,
    bucket_iterations: int = 400,
) -> Data:
    """Exploitability in % of the turn's pot, of each blueprint by each method, and of the thresholds."""
    whole = TurnRiver(ranges)
    plans: dict[str, Rows] = {}
    for name, shape in BUCKETS.items():
        if name in names or name == "coarse":
            plans[name] = bucketed_plan(whole.game, shape, bucket_iterations)
    plans["purified"] = purified(whole.tableau, plans["coarse"])
    rows: Data = {}
    for name in names:
        plan = plans[name]
        row: Data = {
            "blueprint": whole.lost_pct(plan),
            "floor": [whole.floor(plan, me) for me in (0, 1)],
        }
        for method in _METHODS:
            seats, margins = [], []
            for me in (0, 1):
                new, least = whole.resolved(plan, me, method, iterations)
                seats.append(whole.lost_pct(new)[me])
                margins.append(least)
            row[method] = {"lost": seats, "least_margin": margins}
        rows[name] = row
    return {
        "hands": [len(hands) for hands in whole.game.deal.boards[0].hands],
        "rivers": len(whole.rounds),
        "exact_pct": whole.exact_pct,
        "iterations": iterations,
        "rows": rows,
        "thresholds": _thresholds(whole, plans["coarse"], iterations),
    }


def _thresholds(whole: TurnRiver, plan: Rows, iterations: int) -> Data:
    """Rivers after a turn with a threshold: ranges from what is played, and from what was before it."""
    cut = thresholded(whole.tableau, plan)
    told: Data = {"threshold": _THRESHOLD, "blueprint": whole.lost_pct(cut)}
    for name, believed in (("ranges as played", cut), ("ranges before the threshold", plan)):
        seats, bets = [], []
        for me in (0, 1):
            new, _ = whole.resolved(cut, me, "unsafe", iterations, believed)
            seats.append(whole.lost_pct(new)[me])
            bets.append(_bets(whole, new, me))
        told[name] = {"lost": seats, "bets": bets}
    return told


def _bets(whole: TurnRiver, plan: Rows, me: int) -> float:
    """How often a seat's hands bet at their first chance on a river, hands and rivers alike."""
    shares = []
    betting = whole.game.betting
    for river in whole.rounds:
        node = river.root
        while int(betting.kind[node]) != me and int(betting.kind[node]) < 2:
            node = int(betting.first[node])
        if int(betting.kind[node]) == me:
            play = probabilities(whole.tableau.index.block(plan, river.board, node))
            shares.append(float(play[1:].sum(axis=0).mean()))
    return float(np.mean(shares))
