"""What a spot costs, before anything large is allocated.

A solver keeps two sets of rows, regrets and the average strategy: a number for every hand, action,
decision and board, hands padded to whole blocks. Betting is counted without building its tree, and
boards without their hands, so this takes milliseconds. Numbers and bytes of rows and of all-in
tables are exact; the tables of the boards and the time of an iteration are rough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from time import monotonic

import numpy as np

from equipoise.errors import TooLargeError
from equipoise.games.betting import TreeSize, measure
from equipoise.games.menu import BetMenu
from equipoise.games.runouts import Weighted, runouts, suit_symmetries
from equipoise.games.spot import Spot
from equipoise.solve.sweep.lanes import LANES
from equipoise.workers import available_bytes

#: Rough bytes a hand takes on each board for cards, order of strength and arrival maps.
_BOARD_BYTES = 40
#: Rough seconds an iteration of both players takes for each number in a set of rows.
_SECONDS_PER_NUMBER = 3.3e-9
#: Share of the available memory that a solve may fill.
_SHARE = 0.8
#: Seconds spent on looking for the size that is best dropped.
_SEARCH_SECONDS = 2.0


@dataclass(frozen=True)
class BoardCounts:
    """The boards of a spot, counted round by round."""

    #: Boards of each round, equal ones up to suits once.
    boards: tuple[int, ...]
    #: The same without regard to suits.
    deals: tuple[int, ...]
    #: Sum over boards of the padded hands of each player.
    lanes: tuple[tuple[int, int], ...]
    #: Sum over boards of the hands of both players.
    hands: tuple[int, ...]
    #: Sum over boards of the pairs of hands.
    pairs: tuple[int, ...]

    @classmethod
    def count(
        cls,
        start: tuple[int, ...],
        board_cards: Sequence[int],
        ranges: Sequence[Weighted],
        use_symmetry: bool = True,
    ) -> BoardCounts:
        """Count the boards of a game of two hole cards from a full deck."""
        rounds = len(board_cards)
        boards, hands, pairs = [0] * rounds, [0] * rounds, [0] * rounds
        lanes = [[0, 0] for _ in range(rounds)]
        symmetries = suit_symmetries(4, 52, start, ranges)
        if not use_symmetry:
            symmetries = symmetries[:1]
        held = []
        for cards, _ in ranges:
            table = np.zeros((52, 52), dtype=np.int64)
            table[cards[:, 0], cards[:, 1]] = table[cards[:, 1], cards[:, 0]] = 1
            held.append((len(cards), table.sum(axis=1).tolist(), table.tolist()))
        for board in runouts(52, start, board_cards, symmetries):
            dealt = board.cards[len(start) :]
            left = []
            for count, on_card, on_both in held:
                both = sum(on_both[a][b] for i, a in enumerate(dealt) for b in dealt[:i])
                left.append(count - sum(on_card[card] for card in dealt) + both)
            boards[board.round] += 1
            hands[board.round] += sum(left)
            pairs[board.round] += left[0] * left[1]
            for player in (0, 1):
                lanes[board.round][player] += -(-left[player] // LANES) * LANES
        deals, unseen, ways = [], 52 - len(start), 1
        for cards_dealt in board_cards:
            ways *= comb(unseen, cards_dealt)
            unseen -= cards_dealt
            deals.append(ways)
        return cls(
            boards=tuple(boards),
            deals=tuple(deals),
            lanes=tuple((a, b) for a, b in lanes),
            hands=tuple(hands),
            pairs=tuple(pairs),
        )


@dataclass(frozen=True)
class SpotCost:
    """Size of a spot, and what solving it takes."""

    #: Names of the streets that are played.
    streets: tuple[str, ...]
    #: Betting tree: nodes of each street, whatever the cards.
    nodes: tuple[int, ...]
    #: Betting tree: decisions of each street, whatever the cards.
    decisions: tuple[int, ...]
    #: Boards of each street, equal ones up to suits once.
    boards: tuple[int, ...]
    #: Boards of each street without regard to suits.
    deals: tuple[int, ...]
    #: Numbers in one set of rows.
    numbers: int
    #: Counts of run-outs for all-in calls before the river.
    allin_bytes: int
    #: Cards, orders and maps of the boards, roughly.
    board_bytes: int

    @classmethod
    def of(cls, streets: tuple[str, ...], size: TreeSize, cards: BoardCounts) -> SpotCost:
        """Put betting and boards together."""
        numbers = sum(
            size.rows[number][player] * cards.lanes[number][player]
            for number in range(len(streets))
            for player in (0, 1)
        )
        early = [number for number in range(len(streets) - 1) if size.showdowns[number]]
        tables = sum(cards.pairs[early[0] : -1]) if early else 0
        return cls(
            streets=streets,
            nodes=size.nodes,
            decisions=size.decisions,
            boards=cards.boards,
            deals=cards.deals,
            numbers=numbers,
            allin_bytes=2 * tables,
            board_bytes=_BOARD_BYTES * sum(cards.hands),
        )

    @property
    def total_decisions(self) -> int:
        """Decisions over all boards."""
        return sum(n * b for n, b in zip(self.decisions, self.boards, strict=True))

    def memory_bytes(self, compressed: bool = False) -> int:
        """Two sets of rows, in 32 or 16 bits, with the tables that go with them."""
        rows = 2 * self.numbers * (2 if compressed else 4)
        units = 2 * 4 * self.total_decisions if compressed else 0
        return rows + units + self.allin_bytes + self.board_bytes

    @property
    def memory_mb(self) -> float:
        """Megabytes with 32-bit numbers."""
        return self.memory_bytes() / 1e6

    @property
    def compressed_memory_mb(self) -> float:
        """Megabytes with 16-bit numbers."""
        return self.memory_bytes(compressed=True) / 1e6

    @property
    def seconds_per_iteration(self) -> float:
        """A rough guess for one thread; expect a factor of two either way."""
        return _SECONDS_PER_NUMBER * self.numbers

    def __str__(self) -> str:
        lines = [
            f"{street}: {boards:,} board{'s' * (boards > 1)}, {_count(decisions)} on each"
            for street, boards, decisions in zip(
                self.streets, self.boards, self.decisions, strict=True
            )
        ]
        lines.append(
            f"{_count(self.total_decisions)} in all, {_size_text(self.memory_bytes())} "
            f"({_size_text(self.memory_bytes(True))} in 16 bits), "
            f"roughly {duration_text(self.seconds_per_iteration)} an iteration on one thread"
        )
        return "\n".join(lines)


def board_counts(spot: Spot, use_symmetry: bool = True) -> BoardCounts:
    """The boards to come in a spot, counted."""
    ranges = spot.hands(0), spot.hands(1)
    return BoardCounts.count(spot.board, spot.rules.board_cards, ranges, use_symmetry)


def spot_cost(spot: Spot, use_symmetry: bool = True) -> SpotCost:
    """Size of the tree, memory and rough time, before anything large is allocated.

    >>> spot = Spot("Td9d6h", "22+,A2s+", "TT+,AKs", pot=100, stack=200, menu="50%,a")
    >>> spot_cost(spot).boards, spot_cost(spot).deals
    ((1, 36, 1429), (1, 49, 2352))
    """
    return _cost(spot, spot.menu, board_counts(spot, use_symmetry))


def check_fits(spot: Spot, limit_bytes: int | None = None, compressed: bool = False) -> SpotCost:
    """The cost of a spot; :class:`TooLargeError`, saying what to cut, unless it fits into memory.

    The limit is four fifths of the memory that is free, unless it is given; `compressed` is for
    storage in 16 bits.
    """
    cards = board_counts(spot)
    cost = _cost(spot, spot.menu, cards)
    limit = int(_SHARE * available_bytes()) if limit_bytes is None else limit_bytes
    needed = cost.memory_bytes(compressed)
    if needed <= limit:
        return cost
    packed = cost.memory_bytes(compressed=True)
    cures = [] if compressed else [(packed, f"store 16-bit numbers ({_size_text(packed)})")]
    name, smallest = "", cost
    for words, smaller in _smaller(spot, cards):
        if smaller.memory_bytes() < smallest.memory_bytes():
            name, smallest = words, smaller
    if name:
        least = smallest.memory_bytes(compressed)
        cures.append((least, f"drop {name} ({_size_text(least)})"))
    told = ", or ".join(words for size, words in cures if size <= limit)
    if not told:
        least = smallest.memory_bytes(compressed=True)
        parts = [f"drop {name}"] * bool(name) + ["store 16-bit numbers"] * (not compressed)
        told = " and ".join(parts) + f" ({_size_text(least)})" if parts else ""
        if least > limit:
            rest = "drop more sizes, lower max_raises or narrow the ranges"
            told = f"{told}, then {rest}" if told else rest
    raise TooLargeError(
        f"the spot needs {_size_text(needed)} and {_size_text(limit)} may be used: {told}"
    )


def _cost(spot: Spot, menu: BetMenu, cards: BoardCounts) -> SpotCost:
    """What the spot costs with a menu."""
    size = measure(spot.rules, menu, keep_first=True, start=spot.origin)
    return SpotCost.of(spot.streets, size, cards)


def _smaller(spot: Spot, cards: BoardCounts) -> Iterator[tuple[str, SpotCost]]:
    """Costs with one size left out, until time is up."""
    deadline = monotonic() + _SEARCH_SECONDS
    for words, smaller in spot.menu.without_each_size(spot.rounds):
        if monotonic() > deadline:
            return
        told = words.replace("player 0", "oop").replace("player 1", "ip")
        yield told, _cost(spot, smaller, cards)


def _size_text(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e7 else f"{size / 1e6:,.2g} MB"


def _count(decisions: int) -> str:
    return f"{decisions:,} decision{'s' * (decisions != 1)}"


def duration_text(seconds: float) -> str:
    """A duration as people say it, to two figures.

    >>> [duration_text(s) for s in (0.0042, 0.7, 17.2, 650, 9000, 4e5)]
    ['4.2 ms', '0.7 s', '17 s', '11 min', '2.5 h', '4.6 days']
    """
    for least, unit, name in (
        (2 * 86_400, 86_400, "days"), (2 * 3_600, 3_600, "h"), (120, 60, "min"), (0.1, 1, "s")
    ):  # fmt: skip
        if seconds >= least:
            count = seconds / unit
            return f"{count:,.0f} {name}" if count >= 10 else f"{count:.2g} {name}"
    return f"{1000 * seconds:.2g} ms"
