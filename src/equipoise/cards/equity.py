"""All-in equity of two hands or ranges: the mean share of the pot if all cards come without a bet.

It is exact by default, by the counts of :mod:`equipoise.cards.matchup`. By choice pairs of hands
and boards are sampled instead, and the standard error is stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE, card_text, cards_text, check_distinct, parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT, blocked, combo_index
from equipoise.cards.evaluator import CARD_BIT, COMBO_BIT, evaluate_many
from equipoise.cards.matchup import (
    Weights,
    by_class,
    compatible_weight,
    count,
    live_deck,
)
from equipoise.cards.range import Range
from equipoise.columnar import Columnar
from equipoise.errors import CardError, RangeError
from equipoise.run import Event, Listener

#: A hand or a range: text, two cards, a :class:`Range`, or one weight for each combination.
Holding = str | Range | Sequence[int] | NDArray[np.floating]

_SAMPLES_PER_ROUND = 1 << 18


@dataclass(frozen=True)
class EquityResult(Columnar):
    """What two hands or ranges share of the pot, and how it was found."""

    equity: tuple[float, float]
    """Share of the pot of each player, ties split."""
    win: tuple[float, float]
    """How often each player wins outright."""
    tie: float
    """How often they tie."""
    wins: tuple[float, float]
    """Pairs of hands on a board that each player wins, by weight: whole numbers for plain hands."""
    ties: float
    """Pairs of hands on a board that tie, by weight."""
    total: float
    """All pairs of hands on a board, by weight, or the number of samples."""
    boards: int
    """Boards counted for each pair of hands, or the number of samples."""
    standard_error: float
    """Standard error of `equity`: 0 when it is exact."""
    method: str
    """`table`, `pairs` or `sweep`, which are exact, or `sampling`."""

    def columns(self) -> dict[str, list[Any]]:
        """One row a player.

        >>> equity(["AsAh", "KcKd"]).to_numpy()["equity"].round(4)
        array([0.8126, 0.1874])
        """
        return {
            "player": [0, 1],
            "equity": list(self.equity),
            "win": list(self.win),
            "tie": [self.tie] * 2,
            "standard_error": [self.standard_error] * 2,
        }

    def caption(self) -> str:
        """How it was found."""
        exact = "sampled" if self.method == "sampling" else "exact"
        return f"all-in equity, {exact}: {self.boards:,} boards"


def equity(
    hands: Sequence[Holding],
    board: str | Iterable[int] = "",
    dead: str | Iterable[int] = "",
    *,
    samples: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Listener | None = None,
) -> EquityResult:
    """Equity of two hands or ranges on a board of none to five cards.

    Exact unless `samples` asks for that many random deals. `progress` hears of boards
    or samples while a long count runs.

    >>> result = equity(["AsAh", "KcKd"])
    >>> result.wins, result.ties, result.total
    ((1388072, 317694), 6538, 1712304)
    >>> round(equity(["AKs", "QQ+"], board="Kh 7d 2c").equity[0], 4)
    0.5865
    """
    if isinstance(hands, str) or len(hands) != 2:
        raise RangeError("equity is between two: give a list of exactly two hands or ranges")
    common, gone = _visible(board, dead)
    ours, theirs = (_live_weights(holding, common + gone) for holding in hands)
    if not _can_meet(theirs)[ours > 0].any():
        raise RangeError("every hand of one side holds a card of every hand of the other")
    if samples is not None:
        return _sampled(ours, theirs, common, gone, samples, seed, progress)
    # The table needs the other range to be class-wise; what one side wins the other loses.
    swapped = by_class(theirs) is None and by_class(ours) is not None
    if swapped:
        ours, theirs = theirs, ours
    counts = count(ours, theirs, common, gone, threads, progress)
    won, tied, total = (
        _whole(float(ours @ part)) for part in (counts.win, counts.tie, counts.total)
    )
    wins = (total - won - tied, won) if swapped else (won, total - won - tied)
    unseen = DECK_SIZE - len(common) - len(gone)
    return EquityResult(
        equity=((wins[0] + tied / 2) / total, (wins[1] + tied / 2) / total),
        win=(wins[0] / total, wins[1] / total),
        tie=tied / total,
        wins=wins,
        ties=tied,
        total=total,
        boards=comb(unseen - 4, 5 - len(common)),
        standard_error=0.0,
        method=counts.method,
    )


def hand_equities(
    range_a: Holding,
    range_b: Holding,
    board: str | Iterable[int] = "",
    dead: str | Iterable[int] = "",
    *,
    threads: int | None = None,
    progress: Listener | None = None,
) -> Weights:
    """Exact equity of each combination of one range against another: float64[1326].

    It is NaN for combinations that are not in the range, that hold a board or dead card, or that
    no hand of the other range can be dealt against.

    >>> river = hand_equities("AA,KK", "random", board="Kh 7d 2c 2s 9h")
    >>> int(np.isfinite(river).sum()), float(np.nanmax(river).round(4))
    (9, 0.999)
    """
    common, gone = _visible(board, dead)
    ours, theirs = (_live_weights(holding, common + gone) for holding in (range_a, range_b))
    counts = count(ours, theirs, common, gone, threads, progress)
    met = (ours > 0) & _can_meet(theirs)
    result = np.full(COMBO_COUNT, np.nan)
    result[met] = (counts.win[met] + counts.tie[met] / 2) / counts.total[met]
    return result


def _visible(
    board: str | Iterable[int], dead: str | Iterable[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Board and dead cards, refused if they do not exist, repeat, or leave too few to deal."""
    read = [
        parse_cards(cards) if isinstance(cards, str) else tuple(int(card) for card in cards)
        for cards in (board, dead)
    ]
    common, gone = read
    for card in common + gone:
        card_text(card)
    check_distinct(common + gone)
    if len(common) > 5:
        raise CardError(f"{cards_text(common)!r}: {len(common)} cards, a board has at most 5")
    if DECK_SIZE - len(gone) < 9:
        raise CardError(f"{len(gone)} dead cards leave too few for two hands and a board")
    return common, gone


def _live_weights(holding: Holding, visible: tuple[int, ...]) -> Weights:
    """Weight of each combination that can still be held."""
    if isinstance(holding, str):
        holding = Range.parse(holding)
    if isinstance(holding, Range):
        weights = holding.weights.astype(np.float64)
    elif len(holding) == 2:
        for card in holding:
            card_text(int(card))
        weights = np.zeros(COMBO_COUNT)
        weights[combo_index(int(holding[0]), int(holding[1]))] = 1.0
    else:
        weights = np.asarray(holding, dtype=np.float64)
        if weights.shape != (COMBO_COUNT,) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise RangeError("weights of a range are 1326 numbers, none of them negative")
    weights = np.where(blocked(visible), 0.0, weights)
    if not weights.any():
        out = f" without {cards_text(visible)}" if visible else ""
        raise RangeError(f"the range has no hand{out}: give it one that can still be held")
    return weights


def _can_meet(weights: Weights) -> NDArray[np.bool_]:
    """Combinations that some hand of the range can be dealt against; counted in whole numbers."""
    return compatible_weight((weights > 0).astype(np.float64)) > 0


def _whole(number: float) -> float:
    """The number as an int where it is one."""
    return int(number) if number.is_integer() else number


def _sampled(
    ours: Weights,
    theirs: Weights,
    board: tuple[int, ...],
    dead: tuple[int, ...],
    samples: int,
    seed: int,
    progress: Listener | None,
) -> EquityResult:
    """Draw pairs of hands by weight and boards uniformly; boards that hit a hand are redrawn."""
    if samples < 2:
        raise RangeError(f"{samples} samples: a standard error needs at least 2")
    if seed < 0:
        raise RangeError(f"seed {seed}: give 0 or more")
    rng = np.random.default_rng(seed)
    our_combos, their_combos = np.flatnonzero(ours), np.flatnonzero(theirs)
    apart = COMBO_BIT[our_combos][:, None] & COMBO_BIT[their_combos][None, :] == 0
    chances = np.cumsum((ours[our_combos][:, None] * theirs[their_combos][None, :] * apart).ravel())
    # Rounding may lift a draw to the very end, where the last pair could be an impossible one.
    final = np.searchsorted(chances, chances[-1])
    deck, need = live_deck(board, dead), 5 - len(board)
    won = lost = drawn = 0
    while drawn < samples:
        size = min(samples - drawn, _SAMPLES_PER_ROUND)
        pair = np.searchsorted(chances, rng.random(size) * chances[-1], side="right")
        i, j = np.divmod(np.minimum(pair, final), len(their_combos))
        holes = COMBO_CARDS[our_combos[i]], COMBO_CARDS[their_combos[j]]
        runouts = np.empty((size, need), dtype=np.uint8)
        open_rows = np.arange(size)
        while len(open_rows):
            runouts[open_rows] = deck[rng.integers(0, len(deck), (len(open_rows), need))]
            cards = np.hstack([runouts[open_rows], holes[0][open_rows], holes[1][open_rows]])
            bits = CARD_BIT[cards]
            # Different cards are different bits, and only then is their sum their union.
            open_rows = open_rows[bits.sum(axis=1) != np.bitwise_or.reduce(bits, axis=1)]
        common = np.broadcast_to(np.array(board, dtype=np.uint8), (size, len(board)))
        ours_value, theirs_value = (
            evaluate_many(np.hstack([hole, common, runouts])) for hole in holes
        )
        won += int((ours_value > theirs_value).sum())
        lost += int((ours_value < theirs_value).sum())
        drawn += size
        if progress is not None:
            progress(Event(drawn, samples))
    tied = samples - won - lost
    share = (won + tied / 2) / samples
    variance = (won + tied / 4) / samples - share**2
    return EquityResult(
        equity=(share, 1 - share),
        win=(won / samples, lost / samples),
        tie=tied / samples,
        wins=(won, lost),
        ties=tied,
        total=samples,
        boards=samples,
        standard_error=sqrt(max(variance, 0.0) / (samples - 1)),
        method="sampling",
    )
