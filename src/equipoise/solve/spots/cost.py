"""What a spot costs, before anything large is allocated.

A solver keeps two sets of rows, regrets and the average strategy: a number for every hand, action,
decision and board, hands padded to whole blocks. Betting is counted without building its tree, and
boards without their hands, so this takes milliseconds. Numbers and bytes of rows and of all-in
tables are exact; the tables of the boards and the time of an iteration are rough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from equipoise.games.betting import TreeSize, measure
from equipoise.games.runouts import Weighted, runouts, suit_symmetries
from equipoise.games.spot import Spot
from equipoise.solve.sweep.lanes import LANES

#: Rough bytes a hand takes on each board for cards, order of strength, bundles and arrival maps.
_BOARD_BYTES = 50
#: Rough seconds an iteration of both players takes for each number in a set of rows.
_SECONDS_PER_NUMBER = 3.3e-9


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
        # The last counts are read a whole block at a time.
        tables = sum(cards.pairs[early[0] : -1]) + LANES if early else 0
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
            f"{_count(self.total_decisions)} in all, {size_text(self.memory_bytes())} "
            f"({size_text(self.memory_bytes(True))} in 16 bits), "
            f"roughly {duration_text(self.seconds_per_iteration)} an iteration on one thread"
        )
        return "\n".join(lines)


def board_counts(spot: Spot, use_symmetry: bool = True) -> BoardCounts:
    """The boards to come in a spot, counted."""
    ranges = spot.hands(0), spot.hands(1)
    return BoardCounts.count(spot.board, spot.rules.board_cards, ranges, use_symmetry)


def spot_cost(spot: Spot, use_symmetry: bool = True, cards: BoardCounts | None = None) -> SpotCost:
    """Size of the tree, memory and rough time, before anything large is allocated.

    `cards` are the boards of its ranges, where somebody has counted them already.

    >>> spot = Spot("Td9d6h", "22+,A2s+", "TT+,AKs", pot=100, stack=200, menu="50%,a")
    >>> spot_cost(spot).boards, spot_cost(spot).deals
    ((1, 36, 1429), (1, 49, 2352))
    """
    size = measure(spot.rules, spot.menu, keep_first=True, start=spot.origin)
    return SpotCost.of(spot.streets, size, cards or board_counts(spot, use_symmetry))


def size_text(size: int) -> str:
    """Bytes as people say them."""
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
