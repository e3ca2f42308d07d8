"""Hold'em in which a player sees buckets instead of cards, as a game for the solvers.

A private state is the sequence of buckets a hand has been in, street by street, so nothing is
forgotten: k buckets a street make k, k², k³ and k⁴ states, less those that no hand can be in. What
ties two players together is the joint table of the river: the probability that they hold states i
and j, and who wins then. It is counted over random boards, on each over *all* pairs of hands that
share no card (some half a million), so correlation through the board and card removal are in it.
The tables of earlier streets are sums of the river's, so the game is consistent in itself.

One board is counted as before the flop in :mod:`equipoise.cards.preflop`: hands are walked from the
weakest while a vector counts, state by state, what has been passed; each hand adds that vector to
its state's wins and takes back the passed hands that hold one of its own cards.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.equitybuckets import NO_BUCKET, STREETS, EquityBuckets
from equipoise.abstraction.rollouts import BOARD_SIZES
from equipoise.cards.evaluator import COMBO_BIT, sort_by_strength, strengths
from equipoise.cards.hand import COMBO_CARDS, COMBO_COUNT
from equipoise.errors import GameError, TooLargeError
from equipoise.games.betting import Betting
from equipoise.games.deal import Board, Deal
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.naming import game_name
from equipoise.games.rules import Rules
from equipoise.kernel import cores, kernel

_STREET_NAMES = ("preflop", "flop", "turn", "river")
#: Sequences of buckets whose joint table is still reasonable.
_MOST_SEQUENCES = 10_000
#: Boards between two reports of progress.
_BATCH = 256

Progress = Callable[[int, int], None]


@kernel
def _count_board(
    strength: NDArray[np.uint16],
    order: NDArray[np.uint16],
    live: int,
    sequence: NDArray[np.int64],
    local: NDArray[np.int64],
    wins: NDArray[np.int64],
    ties: NDArray[np.int64],
) -> None:
    """Add one board's pairs of hands to `wins`[sequence that wins, that loses] and to `ties`.

    `local` numbers the sequences met on this board; it holds -1 throughout before and after.
    """
    known = np.empty(live, np.int64)
    place = np.empty(live, np.uint64)
    states = 0
    for i in range(live):
        met = sequence[order[i]]
        if local[met] < 0:
            local[met] = states
            known[states] = met
            states += 1
        place[i] = np.uint64(local[met])
    size = np.uint64(states)
    won, tied = np.zeros(states * states, np.int32), np.zeros(states * states, np.int32)
    passed = np.zeros(states, np.int32)
    holder = np.empty(52 * 51, np.uint64)
    holders = np.zeros(52, np.uint64)
    first = 0
    while first < live:
        value = strength[order[first]]
        last = first
        while last < live and strength[order[last]] == value:
            combo = order[last]
            base = place[last] * size
            for other in range(size):
                won[base + other] += passed[other]
            for side in range(2):
                card = np.uint64(COMBO_CARDS[combo, side])
                for k in range(card * np.uint64(51), card * np.uint64(51) + holders[card]):
                    won[base + holder[k]] -= np.int32(1)
            for k in range(first, last):
                if not COMBO_BIT[order[k]] & COMBO_BIT[combo]:
                    tied[base + place[k]] += np.int32(1)
            last += 1
        for i in range(first, last):
            passed[place[i]] += np.int32(1)
            for side in range(2):
                card = np.uint64(COMBO_CARDS[order[i], side])
                holder[card * np.uint64(51) + holders[card]] = place[i]
                holders[card] += np.uint64(1)
        first = last
    for i in range(states):
        for j in range(states):
            wins[known[i], known[j]] += won[i * states + j]
            ties[known[i], known[j]] += tied[i * states + j]
    for i in range(states):
        local[known[i]] = -1


@dataclass(frozen=True)
class BucketTables:
    """Joint tables of two players' sequences of buckets, on every street."""

    buckets: EquityBuckets
    #: Sequences that occur on each street, as numbers in base `buckets.count`, ascending.
    sequences: tuple[NDArray[np.int64], ...]
    #: Probability of each pair of sequences, on each street.
    mass: tuple[NDArray[np.float64], ...]
    #: That probability times who wins at the end: 1 the first player, -1 the second.
    signed: tuple[NDArray[np.float64], ...]

    def parents(self, street: int) -> NDArray[np.int64]:
        """Where each sequence of a street was on the street before."""
        above = self.sequences[street] // self.buckets.count
        return np.searchsorted(self.sequences[street - 1], above)


def random_boards(count: int, seed: int) -> NDArray[np.uint8]:
    """Full boards, flop, turn and river in order: uint8[count, 5].

    >>> random_boards(3, seed=1).shape
    (3, 5)
    """
    rng = np.random.default_rng(seed)
    keys = rng.random((count, 52), dtype=np.float32)
    boards: NDArray[np.uint8] = np.argsort(keys, axis=1)[:, :5].astype(np.uint8)
    return boards


def bucket_tables(
    buckets: EquityBuckets, boards: int = 10_000, seed: int = 0, progress: Progress | None = None
) -> BucketTables:
    """Count the joint tables over random boards; `progress(done, total)` is told of boards."""
    count = buckets.count
    if count**STREETS > _MOST_SEQUENCES:
        raise TooLargeError(
            f"{count} buckets make {count**STREETS:,} sequences: at most 10 buckets a street fit"
        )
    if boards < 1:
        raise GameError(f"{boards} boards: count at least one")
    chosen = random_boards(boards, seed)
    workers = min(cores(), 1 + boards // _BATCH)
    shape = (count**STREETS, count**STREETS)
    wins = [np.zeros(shape, dtype=np.int64) for _ in range(workers)]
    ties = [np.zeros(shape, dtype=np.int64) for _ in range(workers)]
    starts = range(0, boards, _BATCH)

    def work(worker: int) -> None:
        local = np.full(shape[0], -1, dtype=np.int64)
        for start in starts[worker::workers]:
            for board in chosen[start : start + _BATCH].tolist():
                _add_board(buckets, tuple(board), local, wins[worker], ties[worker])
            done[worker] += min(_BATCH, boards - start)
            if progress is not None:
                progress(sum(done), boards)

    done = [0] * workers
    with ThreadPoolExecutor(workers) as pool:
        for finished in [pool.submit(work, worker) for worker in range(workers)]:
            finished.result()
    return _tables(buckets, np.sum(wins, axis=0), np.sum(ties, axis=0))


def _add_board(
    buckets: EquityBuckets,
    board: tuple[int, ...],
    local: NDArray[np.int64],
    wins: NDArray[np.int64],
    ties: NDArray[np.int64],
) -> None:
    sequence = np.zeros(COMBO_COUNT, dtype=np.int64)
    for size in BOARD_SIZES:
        found = buckets.buckets(board[:size])
        sequence = sequence * buckets.count + np.where(found == NO_BUCKET, 0, found)
    strength = strengths(board)
    half_sorted, order = np.empty(COMBO_COUNT, np.uint16), np.empty(COMBO_COUNT, np.uint16)
    live = sort_by_strength(strength, half_sorted, order)
    _count_board(strength, order, live, sequence, local, wins, ties)


def _tables(
    buckets: EquityBuckets, wins: NDArray[np.int64], ties: NDArray[np.int64]
) -> BucketTables:
    pairs = wins + wins.T + ties + ties.T
    total = float(pairs.sum())
    live = np.flatnonzero(pairs.any(axis=1))
    sequences = [live // buckets.count ** (STREETS - 1 - street) for street in range(STREETS)]
    shown = [np.unique(numbers) for numbers in sequences]
    cells = np.ix_(live, live)
    mass, signed = pairs[cells] / total, (wins - wins.T)[cells] / total
    masses, results = [mass], [signed]
    for street in range(STREETS - 2, -1, -1):
        above = np.searchsorted(shown[street], shown[street + 1] // buckets.count)
        starts = np.flatnonzero(np.diff(above, prepend=-1))
        for tables in (masses, results):
            table = np.add.reduceat(tables[0], starts, axis=0)
            tables.insert(0, np.add.reduceat(table, starts, axis=1))
    return BucketTables(buckets, tuple(shown), tuple(masses), tuple(results))


def bucket_game(rules: Rules, tables: BucketTables) -> Game:
    """The betting of `rules` over sequences of buckets; every legal action is on the menu."""
    if rules.board_cards != (0, 3, 1, 1) or rules.hole_cards != 2:
        raise GameError(f"{rules.name} is no hold'em: buckets need two hole cards and four rounds")
    if not rules.limit:
        raise GameError(f"{rules.name} has too many bet sizes: choose a limit game")
    boards: list[Board] = []
    for street in range(STREETS):
        states = len(tables.sequences[street])
        hands = np.arange(states, dtype=np.int16).reshape(states, 1)
        board = Board(street, street - 1, (), 1.0, (hands, hands))
        board.mass, board.signed = tables.mass[street], tables.signed[street]
        if street:
            parents = tables.parents(street)
            board.arrivals.append((parents, parents))
            board.deals.append(())
        boards.append(board)
    ones = np.ones(len(tables.sequences[0]))
    buckets = tables.buckets
    return Game(
        name=game_name("buckets", rules=rules.name, count=buckets.count, by=buckets.division),
        betting=Betting.build(rules, BetMenu.full()),
        deal=Deal(boards, (ones, ones), 1.0, "matrix"),
        unit_chips=float(rules.big_blind),
        state_name=lambda board, _, state: sequence_text(
            int(tables.sequences[board.round][state]), board.round, buckets.count
        ),
        board_name=lambda board: _STREET_NAMES[board.round],
    )


def sequence_text(sequence: int, street: int, count: int) -> str:
    """Buckets of a sequence, numbered from 1.

    >>> sequence_text(7, street=1, count=5)
    '2-3'
    """
    digits = [sequence // count**power % count + 1 for power in range(street, -1, -1)]
    return "-".join(map(str, digits))
