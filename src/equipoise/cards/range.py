"""A range: how likely a player is to hold each of the 1,326 hands.

A range is a vector of weights in [0, 1], one a hand, numbered as in :mod:`equipoise.cards.combos`.
Weights are not probabilities: 1 means that the hand is played whenever it is dealt, so the chance
of a hand is its weight over the sum of the weights left once the visible cards are taken out.
The text it is read from and written to is described in :mod:`equipoise.cards.rangetext`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.cards import chart
from equipoise.cards.card import SUITS, card_text, parse_cards
from equipoise.cards.combos import (
    CLASS_COUNT,
    CLASS_SIZE,
    COMBO_CARDS,
    COMBO_CLASS,
    COMBO_COUNT,
    blocked,
    combo_index,
    combo_text,
)
from equipoise.cards.rangetext import parse_weights, weights_text
from equipoise.columnar import Columnar
from equipoise.errors import CardError, RangeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Range(Columnar):
    """An immutable set of weighted hands.

    >>> opening = Range.parse("QQ+, AKs, A5s:0.5")
    >>> opening.combos, opening.count
    (24.0, 26)
    >>> print(opening | Range.parse("JJ, A4s:0.5"))
    JJ+,AKs,A5s-A4s:0.5
    >>> "AhKh" in opening, opening.weight("A5s")
    (True, 0.5)
    >>> opening.without("As").combos
    19.5
    """

    __slots__ = ("_weights",)

    _weights: NDArray[np.float32]

    def __init__(self, weights: ArrayLike) -> None:
        try:
            own = np.array(weights, dtype=np.float32)
        except (TypeError, ValueError):
            raise RangeError("weights are 1326 numbers; read text with Range.parse(text)") from None
        if own.shape != (COMBO_COUNT,):
            raise RangeError(f"weights are 1326 numbers, one a hand, not of shape {own.shape}")
        if not ((own >= 0) & (own <= 1)).all():
            raise RangeError("every weight is between 0 and 1; divide by the largest one first")
        # Adding zero turns -0 into 0, so that equal ranges have equal bytes and hashes.
        own += np.float32(0)
        own.setflags(write=False)
        object.__setattr__(self, "_weights", own)

    @classmethod
    def parse(cls, text: str) -> Range:
        """Read range text such as `QQ+, A2s+, KTo-K8o, AhKd, A5s:0.5`.

        >>> Range.parse("22-55").combos
        24.0
        """
        return cls(_parsed(text))

    @classmethod
    def from_weights(cls, weights: ArrayLike) -> Range:
        """Range of one weight a hand (1326), or one a class (169, or a 13×13 chart).

        >>> Range.from_weights(np.eye(13)) == Range.parse("22+")
        True
        """
        try:
            array = np.asarray(weights, dtype=np.float32)
        except (TypeError, ValueError):
            raise RangeError("weights are numbers; read text with Range.parse(text)") from None
        if array.shape in ((CLASS_COUNT,), (13, 13)):
            array = array.reshape(CLASS_COUNT)[COMBO_CLASS]
        return cls(array)

    @classmethod
    def empty(cls) -> Range:
        """The range without a hand, whose text is `none`.

        >>> print(Range.empty())
        none
        """
        return cls(np.zeros(COMBO_COUNT, dtype=np.float32))

    @classmethod
    def full(cls) -> Range:
        """Every hand with weight 1, whose text is `random`.

        >>> Range.full().combos
        1326.0
        """
        return cls(np.ones(COMBO_COUNT, dtype=np.float32))

    @property
    def weights(self) -> NDArray[np.float32]:
        """Weight of each hand, read-only: float32[1326]."""
        return self._weights

    @property
    def combos(self) -> float:
        """Sum of the weights."""
        return float(self._weights.sum(dtype=np.float64))

    @property
    def count(self) -> int:
        """Hands with a weight above 0."""
        return int(np.count_nonzero(self._weights))

    @property
    def fraction(self) -> float:
        """Share of the 1,326 hands, by weight.

        >>> f"{Range.parse('22+').fraction:.2%}"
        '5.88%'
        """
        return self.combos / COMBO_COUNT

    def summary(self) -> str:
        """Size in words.

        >>> Range.parse("QQ+, A5s:0.25").summary()
        '19 combos, 1.4%'
        """
        return f"{round(self.combos, 1):,g} combos, {self.fraction:.1%}"

    def weight(self, hand: str | int) -> float:
        """Weight of a hand, by number or text; of several, such as `AKs`, their mean.

        >>> Range.parse("AhKh, AsKs:0.5").weight("AKs")
        0.375
        """
        return float(self._weights[_named(hand)].mean(dtype=np.float64))

    def hands(self) -> list[str]:
        """Text of the hands with a weight above 0, in ascending order of their numbers.

        >>> Range.parse("AKs").without("As").hands()
        ['AcKc', 'AdKd', 'AhKh']
        """
        return [combo_text(combo) for combo, _ in self]

    def without(self, cards: str | Iterable[int]) -> Range:
        """The range less the hands that hold one of these cards.

        >>> Range.parse("AA").without("As Kd").hands()
        ['AdAc', 'AhAc', 'AhAd']
        """
        dead = parse_cards(cards) if isinstance(cards, str) else tuple(int(card) for card in cards)
        for card in dead:
            card_text(card)
        return Range(np.where(blocked(dead), np.float32(0), self._weights))

    def to_matrix(self) -> NDArray[np.float64]:
        """Mean weight of each class as a 13×13 chart, aces first, suited above the diagonal.

        >>> Range.parse("AKs, AhKd").to_matrix()[0, 1], Range.parse("AhKd").to_matrix()[1, 0] * 12
        (np.float64(1.0), np.float64(1.0))
        """
        total = np.bincount(COMBO_CLASS, weights=self._weights, minlength=CLASS_COUNT)
        mean: NDArray[np.float64] = (total / CLASS_SIZE).reshape(13, 13)
        return mean

    def suit_symmetric(self, first: str | int, second: str | int) -> bool:
        """Whether exchanging two suits, `c`, `d`, `h`, `s` or 0 to 3, changes no weight.

        >>> range = Range.parse("AKs, QhQd")
        >>> range.suit_symmetric("h", "d"), range.suit_symmetric("h", "s")
        (True, False)
        """
        exchanged = self._weights[_suit_exchange(_suit(first), _suit(second))]
        return bool((exchanged == self._weights).all())

    def plot(self, path: str | Path | None = None, title: str | None = None) -> Figure:
        """The 13×13 chart as a matplotlib figure, saved when a path is given."""
        headed = f"{title}: {self.summary()}" if title else self.summary()
        figure = chart.figure(self.to_matrix(), title=headed)
        if path is not None:
            chart.save(figure, path)
        return figure

    def columns(self) -> dict[str, Any]:
        """One row a hand that is in the range.

        >>> Range.parse("AsAh:0.5").to_polars().rows()
        [('AsAh', 0.5)]
        """
        held = np.flatnonzero(self._weights)
        return {"hand": [combo_text(int(i)) for i in held], "weight": self._weights[held]}

    def _repr_html_(self) -> str:
        return chart.svg(self.to_matrix(), title=self.summary())

    def __or__(self, other: object) -> Range:
        """Every hand with the larger of its two weights."""
        if not isinstance(other, Range):
            return NotImplemented
        return Range(np.maximum(self._weights, other._weights))

    def __and__(self, other: object) -> Range:
        """Every hand with the smaller of its two weights."""
        if not isinstance(other, Range):
            return NotImplemented
        return Range(np.minimum(self._weights, other._weights))

    def __sub__(self, other: object) -> Range:
        """Every hand with its weight less the other's, never below 0."""
        if not isinstance(other, Range):
            return NotImplemented
        return Range(np.maximum(self._weights - other._weights, np.float32(0)))

    def __invert__(self) -> Range:
        """Every hand with 1 less its weight."""
        return Range(np.float32(1) - self._weights)

    def __mul__(self, factor: object) -> Range:
        """Every weight times `factor`."""
        if not isinstance(factor, int | float | np.floating | np.integer):
            return NotImplemented
        scaled = self._weights * np.float64(factor)
        if not ((scaled >= 0) & (scaled <= 1)).all():
            raise RangeError(f"times {factor} leaves 0 to 1: use a factor that keeps weights there")
        return Range(scaled)

    __rmul__ = __mul__

    def __contains__(self, hand: object) -> bool:
        """Whether all hands that a text or number names have a weight above 0."""
        if not isinstance(hand, str | int | np.integer):
            return False
        return bool((self._weights[_named(hand)] > 0).all())

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """Pairs of hand and weight, for weights above 0, in ascending order of hands."""
        for combo in np.flatnonzero(self._weights):
            yield int(combo), float(self._weights[combo])

    def __bool__(self) -> bool:
        return bool(self._weights.any())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Range):
            return NotImplemented
        return bool((self._weights == other._weights).all())

    def __hash__(self) -> int:
        return hash(self._weights.tobytes())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Range does not change; make a new one to set {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Range, (self._weights,)

    def __str__(self) -> str:
        return _written(self._weights.tobytes())

    def __repr__(self) -> str:
        return f"Range.parse({str(self)!r})"


# A page reads and writes the same two ranges a dozen times while somebody types.
@lru_cache(maxsize=64)
def _parsed(text: str) -> NDArray[np.float32]:
    return parse_weights(text)


@lru_cache(maxsize=64)
def _written(weights: bytes) -> str:
    return weights_text(np.frombuffer(weights, dtype=np.float32))


def _named(hand: str | int | np.integer[Any]) -> NDArray[np.intp]:
    """Numbers of the hands that a text or number names."""
    if isinstance(hand, str):
        chosen = np.flatnonzero(parse_weights(hand))
        if not chosen.size:
            raise RangeError(f"{hand!r}: names no hand; write one such as AhKd or AKs")
        return chosen
    if not 0 <= hand < COMBO_COUNT:
        raise RangeError(f"{hand}: a hand is a number from 0 to 1325, or text such as AhKd")
    return np.array([int(hand)])


def _suit(suit: str | int) -> int:
    """Number of a suit."""
    if isinstance(suit, str):
        if len(suit) == 1 and suit.lower() in SUITS:
            return SUITS.index(suit.lower())
    elif 0 <= suit < 4:
        return int(suit)
    raise CardError(f"{suit!r}: no such suit (suits are c, d, h, s, or 0 to 3)")


@lru_cache(maxsize=16)
def _suit_exchange(first: int, second: int) -> NDArray[np.int64]:
    """Number of each hand after two suits are exchanged."""
    after = np.arange(52)
    after[first::4], after[second::4] = np.arange(second, 52, 4), np.arange(first, 52, 4)
    return np.array([combo_index(int(after[hi]), int(after[lo])) for hi, lo in COMBO_CARDS])
