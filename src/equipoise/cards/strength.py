"""How good a hand is now, and what the cards to come may make of it.

Against one unknown opponent who may hold any other two cards, a hand on the flop, turn or river is
ahead, tied or behind *now*, and ahead, tied or behind *at the river*. Counting both over every
opponent and every runout gives a 3×3 table from which Billings, Davidson, Schaeffer and Szafron
("The challenge of poker", Artificial Intelligence 134, 2002) take, with ties counted half,

- *strength*: the chance to be ahead now;
- *positive potential*: the chance to come from behind to ahead, among what is not ahead now;
- *negative potential*: the chance to fall from ahead to behind, among what is ahead now.

With ties halved in the denominators too, strength · (1 − negative) + (1 − strength) · positive is
exactly the *rollout equity*: the mean share of the pot if no one bets again. Strength and rollout
equity are different things; for a draw on the flop they are far apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import card_text, cards_text, check_distinct, parse_cards
from equipoise.cards.combos import COMBO_COUNT, blocked, class_of, combo_index
from equipoise.cards.evaluator import strengths, tables
from equipoise.cards.kernels import BLOCKED, roll_out
from equipoise.cards.matchup import exchangeable, runouts
from equipoise.cards.preflop import against_random
from equipoise.cards.streets import BOARD_SIZES
from equipoise.columnar import Columnar
from equipoise.errors import CardError
from equipoise.kernel import over_chunks

#: Hands an opponent may hold on the river, and the scale of a river score: two a hand beaten.
RIVER_OPPONENTS = 990
_FULL_SCORE = 2 * RIVER_OPPONENTS

_AHEAD, _TIED, _BEHIND = 0, 1, 2

Cards = str | Iterable[int]


class Standing(NamedTuple):
    """Opponents' hands that a hand beats, ties and loses to now."""

    ahead: int
    tied: int
    behind: int


@dataclass(frozen=True)
class Potential(Columnar):
    """What a hand is and may become against one unknown opponent; as a table, its counts."""

    strength: float
    """Chance to be ahead now, ties half."""
    positive: float
    """Chance that a hand not ahead now is ahead at the river, ties half."""
    negative: float
    """Chance that a hand ahead now is behind at the river, ties half."""
    equity: float
    """Mean share of the pot at the river."""
    counts: tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]
    """Opponent and runout pairs: row ahead, tied, behind now; column the same at the river."""

    def columns(self) -> dict[str, list[Any]]:
        """One row for each standing now."""
        columns = zip(Standing._fields, zip(*self.counts, strict=True), strict=True)
        return {"now": list(Standing._fields)} | {
            f"{name}_at_river": list(column) for name, column in columns
        }

    def caption(self) -> str:
        """The four figures."""
        return (
            f"Strength {self.strength:.3f}, potential +{self.positive:.3f} −{self.negative:.3f}, "
            f"equity {self.equity:.3f}; opponents' hands and run-outs"
        )


def standing(hole: Cards, board: Cards) -> Standing:
    """Hands an opponent may hold that the hand beats, ties and loses to now.

    >>> standing("Ad Qc", "3h 4c Jh")
    Standing(ahead=628, tied=9, behind=444)
    """
    hand, common = _read(hole, board, (3, 4, 5))
    now = _standings(hand, common)
    return Standing(*(int((now == state).sum()) for state in (_AHEAD, _TIED, _BEHIND)))


def strength(hole: Cards, board: Cards) -> float:
    """Chance to be ahead now of an opponent with any other two cards, ties half.

    >>> round(strength("Ad Qc", "3h 4c Jh"), 6)
    0.585106
    """
    now = standing(hole, board)
    return (now.ahead + now.tied / 2) / sum(now)


def potential(hole: Cards, board: Cards) -> Potential:
    """Strength, positive and negative potential and rollout equity, exactly.

    >>> found = potential("Ad Qc", "3h 4c Jh")
    >>> round(found.positive, 6), round(found.negative, 6), round(found.equity, 6)
    (0.208324, 0.273693, 0.511399)
    """
    hand, common = _read(hole, board, (3, 4, 5))
    boards, orbits = _runouts(hand, common)
    counts, _ = _compare(hand, _standings(hand, common), boards, orbits, threads=1)
    # Twice each count, so that half ties stay whole.
    (aa, at, ab), (ta, tt, tb), (ba, bt, bb) = (2 * counts).tolist()
    ahead = aa + at + ab + (ta + tt + tb) // 2
    behind = ba + bt + bb + (ta + tt + tb) // 2
    rows = tuple(tuple(row) for row in counts.tolist())
    return Potential(
        strength=ahead / (ahead + behind),
        positive=(ba + bt / 2 + ta / 2) / behind if behind else 0.0,
        negative=(ab + at / 2 + tb / 2) / ahead if ahead else 0.0,
        equity=(aa + ta + ba + (at + tt + bt) / 2) / (ahead + behind),
        counts=(rows[0], rows[1], rows[2]),
    )


def rollout_equity(hole: Cards, board: Cards = "") -> float:
    """Mean share of the pot against any other two cards if no one bets again, exactly.

    >>> round(rollout_equity("As Ah"), 5), round(rollout_equity("Ad Qc", "3h 4c Jh"), 6)
    (0.85204, 0.511399)
    """
    hand, common = _read(hole, board, BOARD_SIZES)
    if not common:
        return float(against_random()[class_of(*hand)])
    return potential(hand, common).equity


def river_equities(
    hole: Cards, board: Cards = "", threads: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equity at the river on each runout, and the chance of the runout.

    Runouts that differ by suits the hand and the board do not tell apart are listed once.

    >>> equities, chances = river_equities("Ad Qc", "3h 4c Jh")
    >>> round(float(equities @ chances), 6)
    0.511399
    """
    scores, orbits = _river_scores(hole, board, threads)
    return scores / _FULL_SCORE, orbits / orbits.sum()


def next_equities(hole: Cards, board: Cards) -> NDArray[np.float64]:
    """Rollout equity after each next card, in ascending order of the cards, on flop or turn.

    >>> next_equities("Ad Qc", "3h 4c Jh").shape
    (47,)
    """
    scores, runs = _next_scores(hole, board)
    return scores / (_FULL_SCORE * runs)


def equity_histogram(
    hole: Cards,
    board: Cards = "",
    bins: int = 50,
    *,
    street: Literal["river", "next"] = "river",
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Chance that the equity at the river, or after the next card, falls in each of equal bins.

    A value on the border of two bins belongs to the upper one; 1 belongs to the last.

    >>> equity_histogram("Ad Qc", "3h 4c Jh 2s", bins=4).round(3)
    array([0.   , 0.783, 0.087, 0.13 ])
    """
    if bins < 1:
        raise CardError(f"{bins} bins: a histogram has at least 1")
    if street == "river":
        scores, weights = _river_scores(hole, board, threads)
        full = _FULL_SCORE
    elif street == "next":
        scores, runs = _next_scores(hole, board)
        full, weights = _FULL_SCORE * runs, np.ones(len(scores))
    else:
        raise CardError(f"{street!r}: the histogram is of the 'river' or of the 'next' street")
    # Whole numbers throughout: equal equities never part at the border of a bin.
    bin_of = np.minimum(scores * bins // full, bins - 1)
    chances: NDArray[np.float64] = np.bincount(bin_of, weights, bins) / weights.sum()
    return chances


def _read(
    hole: Cards, board: Cards, sizes: tuple[int, ...]
) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Two hole cards and a board of one of the sizes, all distinct."""
    hand, common = (
        parse_cards(cards) if isinstance(cards, str) else tuple(int(card) for card in cards)
        for cards in (hole, board)
    )
    for card in hand + common:
        card_text(card)
    if len(hand) != 2:
        raise CardError(f"{cards_text(hand)!r}: a hand is two cards, such as AsKd")
    if len(common) not in sizes:
        fit = ", ".join(str(size) for size in sizes[:-1]) + f" or {sizes[-1]}"
        raise CardError(f"{cards_text(common)!r}: {len(common)} cards; a board here has {fit}")
    check_distinct(hand + common)
    return (hand[0], hand[1]), common


def _standings(hand: tuple[int, int], board: tuple[int, ...]) -> NDArray[np.uint8]:
    """Standing now against each combination, or blocked."""
    now = np.full(COMBO_COUNT, _TIED, dtype=np.uint8)
    if board:
        value = strengths(board)
        mine = value[combo_index(*hand)]
        now[value < mine], now[value > mine] = _AHEAD, _BEHIND
    now[blocked(hand + board)] = BLOCKED
    return now


def _runouts(
    hand: tuple[int, int], board: tuple[int, ...]
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    return runouts(board, hand, exchangeable(board, hand))


def _compare(
    hand: tuple[int, int],
    now: NDArray[np.uint8],
    boards: NDArray[np.uint8],
    orbits: NDArray[np.float64],
    threads: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The 3×3 counts over all boards, and the score of each board."""
    hero = combo_index(*hand)
    scores = np.empty(len(boards), dtype=np.int64)
    parts: list[NDArray[np.float64]] = []

    def work(first: int, last: int) -> None:
        part, counts = slice(first, last), np.zeros(9)
        roll_out(boards[part], orbits[part], hero, now, tables(), counts, scores[part])
        parts.append(counts)

    over_chunks(work, len(boards), threads)
    total: NDArray[np.int64] = np.sum(parts, axis=0).astype(np.int64).reshape(3, 3)
    return total, scores


def _river_scores(
    hole: Cards, board: Cards, threads: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Score of each distinct runout and how many runouts it stands for."""
    hand, common = _read(hole, board, BOARD_SIZES)
    boards, orbits = _runouts(hand, common)
    _, scores = _compare(hand, _standings(hand, common), boards, orbits, threads)
    return scores, orbits


def _next_scores(hole: Cards, board: Cards) -> tuple[NDArray[np.int64], int]:
    """Sum of the river scores behind each next card, and how many runouts each sum has."""
    hand, common = _read(hole, board, (3, 4))
    apart = [[suit] for suit in range(4)]
    boards, orbits = runouts(common, hand, apart)
    _, scores = _compare(hand, _standings(hand, common), boards, orbits, threads=1)
    new = boards[:, len(common) :]
    sums = np.bincount(new.ravel(), np.repeat(scores, new.shape[1]), 52).astype(np.int64)
    times = np.bincount(new.ravel(), minlength=52)
    return sums[times > 0], int(times.max())
