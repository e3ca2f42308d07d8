"""What both players' hands are worth when the hand goes on by a trunk: pair by pair, run-out by run-out.

A line that is cut on the flop is worth something to two real hands s and t only together:

    M(s, t) = mean over run-outs, that neither holds a card of, of  Σ_z  π_s(z) π_t(z) u(z; s, t)

over all ends z of the betting after the cut, with π the chance that a player goes there by the trunk. On one
board an end that shows hands pays a number of chips to the stronger, so the sum over all of them is one
product of two matrices, [hand, end] of mine and [end, hand] of his, times who is stronger; ends with a fold
are the same without the last factor. Both are exact in the hands and their cards.

There are 2,352 run-outs after a flop. A part of them is drawn, the same for whoever asks: every card comes
as often on the turn as on the river, so what the turn brings is not left to luck. The mean of a pair is over
the run-outs that it can meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.evaluator import strengths
from equipoise.errors import SolverError
from equipoise.games.betting import Betting
from equipoise.games.nodes import DEAL, FOLD, SHOWDOWN
from equipoise.games.policy import PublicState
from equipoise.games.rules import Action, Kind, State
from equipoise.run import Stop
from equipoise.search.subgame import Weights, free_combos
from equipoise.search.trunk import Columned, PolicyMenu, PolicySource, asked
from equipoise.solve.sweep.blas import on_one_thread

Singles = NDArray[np.float32]
Cards = tuple[int, ...]

#: How much likelier a biased continuation makes what it is biased towards.
BIAS = 10.0
#: The blueprint, and the blueprint biased towards folding, calling and raising.
WAYS: tuple[Kind | None, ...] = (None, *Kind)
#: Boards whose folds are multiplied at once.
_TOGETHER = 8


class StoppedError(SolverError):
    """A search was stopped, by somebody or by its clock, before it had anything to say."""


def check_on(stop: Stop | None, end: float | None = None) -> None:
    """Go on, unless that is no longer wanted: somebody set the flag, or the clock shows `end`."""
    if stop is not None and stop.is_set():
        raise StoppedError("the search was stopped: let it finish")
    if end is not None and perf_counter() > end:
        raise StoppedError("what a flop leads to was not known in time: allow more seconds")


def bent(
    play: NDArray[np.floating],
    actions: Sequence[Action | None],
    towards: Kind,
    factor: float = BIAS,
) -> NDArray[np.floating]:
    """What is played, [action, hand], with all actions of a kind `factor` times as likely.

    >>> from equipoise.games.rules import CALL, FOLD
    >>> bent(np.array([[0.5], [0.5]]), (FOLD, CALL), Kind.CALL).round(3).tolist()
    [[0.091], [0.909]]
    """
    weights = np.array([factor if a is not None and a.kind == towards else 1.0 for a in actions])
    found = play * weights[:, None].astype(play.dtype)
    total = found.sum(axis=0)
    return found / np.where(total > 0, total, 1.0)


def drawn_runouts(flop: Cards, rounds: int = 1) -> list[tuple[int, int]]:
    """Turns and rivers: in every round each card that is left comes once on the turn and once on the river.

    >>> len(drawn_runouts((0, 1, 2), 2)), drawn_runouts((0, 1, 2)) == drawn_runouts((0, 1, 2))
    (98, True)
    """
    cards = [card for card in range(DECK_SIZE) if card not in flop]
    random = np.random.default_rng(sorted(flop))
    found: list[tuple[int, int]] = []
    for _ in range(rounds):
        order = random.permutation(cards).tolist()
        found += zip(order, order[1:] + order[:1], strict=True)
    return found


class Rollout:
    """A trunk's play from a place to the end of the hand, on boards that are named one by one."""

    def __init__(self, source: PolicySource, state: State, board: Cards, hand: int = 0) -> None:
        self.source, self.hand, self.first = source, hand, state.round
        menu = PolicyMenu.known_to(source, board, hand)
        self.betting = Betting.build(state.rules, menu, keep_first=True, start=state)
        #: Hands that the first board allows.
        self.combos = free_combos(board)
        self._cards = state.rules.board_cards
        betting = self.betting
        self._rounds = range(betting.rounds)
        nodes = range(len(betting.kind))
        self.shown = [node for node in nodes if betting.kind[node] == SHOWDOWN]
        self.folded = [node for node in nodes if betting.kind[node] == FOLD]
        self._ends = self.shown + self.folded
        self._steps = [
            [(n, int(betting.kind[n])) for n in range(a, b) if betting.kind[n] < 2 or betting.kind[n] == DEAL]
            for a, b in betting.spans()
        ]  # fmt: skip
        self._tables: dict[tuple[int, int, Kind | None], Singles] = {}

    def _actions(self, node: int) -> list[Action | None]:
        return [self.betting.actions[child] for child in self.betting.children(node)]

    def _stacked(self, number: int, player: int, towards: Kind | None) -> Singles:
        """Tables of all decisions of a player in a round, one below another: [row, column]."""
        key = (number, player, towards)
        if key not in self._tables:
            source, betting = self.source, self.betting
            assert isinstance(source, Columned)
            parts = []
            for node in betting.of_kind(number, player).tolist():
                play = source.table(betting.states[node], self.hand)[1]
                parts.append(play if towards is None else bent(play, self._actions(node), towards))
            width = min((part.shape[1] for part in parts), default=0)
            rows = [part[:, :width] for part in parts] or [np.zeros((0, 1))]
            self._tables[key] = np.concatenate(rows).astype(np.float32)
        return self._tables[key]

    def plays(self, board: Cards, player: int, towards: Kind | None = None) -> list[Singles]:
        """What every hand plays at each decision of a player, round by round: [row, hand]."""
        found = []
        for number in self._rounds:
            cards = board[: sum(self._cards[: self.first + number + 1])]
            if isinstance(self.source, Columned):
                columns = np.maximum(self.source.columns(cards), 0)[self.combos]
                found.append(np.take(self._stacked(number, player, towards), columns, axis=1))
            else:
                rows = [np.zeros((0, len(self.combos)), dtype=np.float32)]
                for node in self.betting.of_kind(number, player).tolist():
                    public = PublicState(self.betting.states[node], cards, self.hand)
                    play = asked(self.source, public).probabilities[self.combos].T
                    bias = () if towards is None else (towards,)
                    rows += [bent(play, self._actions(node), kind) for kind in bias] or [play]
                found.append(np.concatenate(rows).astype(np.float32))
        return found

    def reaches(self, player: int, plays: list[Singles], start: Singles) -> tuple[Singles, Singles]:
        """Reach of a player's hands at all ends, those that show hands and those that fold: [end, hand]."""
        betting, reach = self.betting, dict[int, Singles]({0: start})
        for number in self._rounds:
            for node, kind in self._steps[number]:
                here = reach[node]
                if kind == DEAL:
                    reach[int(betting.next_root[node])] = here
                elif kind == player:
                    row = int(betting.row[node])
                    for a, child in enumerate(betting.children(node)):
                        reach[child] = here * plays[number][row + a]
                else:
                    reach.update(dict.fromkeys(betting.children(node), here))
        ends = np.array([reach[node] for node in self._ends], dtype=np.float32)
        ends = ends.reshape(len(self._ends), len(start))
        return ends[: len(self.shown)], ends[len(self.shown) :]


class Runout(NamedTuple):
    """A whole board, and how hands stand on it."""

    board: Cards
    #: 1 for hands that it leaves, 0 for those that it blocks.
    live: Singles
    #: Who is stronger: 1 the hand of the row, -1 that of the column.
    signs: Singles


def runout_of(board: Cards, combos: NDArray[np.int64]) -> Runout:
    """Hands on a board of five cards."""
    rank = strengths(board)[combos].astype(np.float32)
    return Runout(board, (rank > 0).astype(np.float32), np.sign(rank[:, None] - rank[None, :]))


def pairs_apart(combos: NDArray[np.int64]) -> Singles:
    """1 where two hands share no card: [hand, hand]."""
    held = np.zeros((len(combos), DECK_SIZE), dtype=np.float32)
    held[np.arange(len(combos))[:, None], COMBO_CARDS[combos]] = 1.0
    found: Singles = (held @ held.T == 0).astype(np.float32)
    return found


class LeafMatrices:
    """What the ends of a flop are worth to me against each of his hands, for each way he goes on.

    `given[leaf][way]` is chips from the start of the hand, [hand of mine, hand of his], 0 where two hands
    share a card.
    """

    def __init__(
        self,
        source: PolicySource,
        leaves: Sequence[State],
        flop: Cards,
        me: int,
        hand: int = 0,
        *,
        ways: Sequence[Kind | None] = WAYS,
        runouts: Sequence[tuple[int, int]] | None = None,
        threads: int = 1,
        end: float | None = None,
        stop: Stop | None = None,
    ) -> None:
        on_one_thread()
        self.flop, self.me, self.ways = flop, me, tuple(ways)
        self._rollouts = [Rollout(source, leaf, flop, hand) for leaf in leaves]
        self.combos = free_combos(flop)
        size = len(self.combos)
        self.given = [[np.zeros((size, size), dtype=np.float32) for _ in ways] for _ in leaves]
        boards = [(*flop, *cards) for cards in (runouts or drawn_runouts(flop))]
        seen = np.zeros((len(boards), size), dtype=np.float32)
        with ThreadPoolExecutor(threads) as pool:
            folds: list[list[list[tuple[Singles, Singles]]]] = [[[] for _ in ways] for _ in leaves]
            for b, board in enumerate(boards):
                check_on(stop, end)
                runout = runout_of(board, self.combos)
                seen[b] = runout.live
                list(
                    pool.map(lambda leaf, on=runout: self._add(leaf, on, folds), range(len(leaves)))
                )
                if b % _TOGETHER == _TOGETHER - 1 or b == len(boards) - 1:
                    list(pool.map(lambda leaf: self._add_folds(leaf, folds), range(len(leaves))))
        met = seen.T @ seen
        scale = pairs_apart(self.combos) / np.maximum(met, 1.0)
        for matrices in self.given:
            for matrix in matrices:
                matrix *= scale

    def _add(
        self, leaf: int, runout: Runout, folds: list[list[list[tuple[Singles, Singles]]]]
    ) -> None:
        """Add one run-out: hands that are shown now, folds later together with those of other boards."""
        rollout, me = self._rollouts[leaf], self.me
        betting = rollout.betting
        mine = rollout.reaches(me, rollout.plays(runout.board, me), runout.live)
        swing = betting.swing[rollout.shown].astype(np.float32)[:, None]
        even = betting.even[rollout.folded, me].astype(np.float32)[:, None]
        showing, folding = (mine[0] * swing).T, mine[1] * even
        for way, towards in enumerate(self.ways):
            plays = rollout.plays(runout.board, 1 - me, towards)
            his = rollout.reaches(1 - me, plays, runout.live)
            worth = showing @ his[0]
            worth *= runout.signs
            self.given[leaf][way] += worth
            folds[leaf][way].append((folding, his[1]))

    def _add_folds(self, leaf: int, folds: list[list[list[tuple[Singles, Singles]]]]) -> None:
        for way, parts in enumerate(folds[leaf]):
            mine = np.concatenate([part[0] for part in parts])
            his = np.concatenate([part[1] for part in parts])
            self.given[leaf][way] += mine.T @ his
            parts.clear()


def flop_values(
    source: PolicySource,
    state: State,
    flop: Cards,
    ranges: tuple[Weights, Weights],
    player: int,
    hand: int = 0,
    *,
    runouts: Sequence[tuple[int, int]] | None = None,
    stop: Stop | None = None,
) -> Weights:
    """What each hand of a player is worth from a place of the flop on if both play the trunk: self-play.

    Chips from the start of the hand, over all run-outs or those named; the other holds his range.
    """
    on_one_thread()
    rollout, he = Rollout(source, state, flop, hand), 1 - player
    betting, combos = rollout.betting, rollout.combos
    other = ranges[he][combos].astype(np.float32)
    apart = pairs_apart(combos)
    swing = betting.swing[rollout.shown].astype(np.float32)[:, None]
    even = betting.even[rollout.folded, player].astype(np.float32)[:, None]
    total, met = np.zeros(len(combos)), np.zeros(len(combos))
    for board in _boards(flop, runouts):
        check_on(stop)
        runout = runout_of(board, combos)
        mine = rollout.reaches(player, rollout.plays(board, player), runout.live)
        his = rollout.reaches(he, rollout.plays(board, he), runout.live * other)
        shown = (runout.signs * apart) @ (his[0] * swing).T
        folded = apart @ (his[1] * even).T
        total += np.einsum("hz,zh->h", shown, mine[0]) + np.einsum("hz,zh->h", folded, mine[1])
        met += runout.live * (apart @ (runout.live * other))
    found = np.zeros(len(COMBO_CARDS))
    held = met > 0
    found[combos] = np.where(held, total / np.where(held, met, 1.0), 0.0)
    return found


def _boards(flop: Cards, runouts: Sequence[tuple[int, int]] | None) -> Iterator[Cards]:
    for cards in runouts or drawn_runouts(flop):
        yield (*flop, *cards)
