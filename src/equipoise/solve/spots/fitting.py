"""Whether a spot fits into memory and, if not, what to cut: a list that suffices, with what each cut saves.

What a player would miss least is cut first:

    1. numbers of 16 bits, which leave the game as it is
    2. raises after the third bet of a street
    3. donk bets, and of several sizes all but the one nearest to two thirds of the pot
    4. raises after the second bet of a street
    5. raises
    6. the weakest hands of both ranges, by all-in equity against a random hand
    7. bets

Cuts that save little are passed over unless nothing else suffices. Within a step the cut that saves least is
taken among those that suffice alone; if none does, the one that saves most, and the search goes on from
there. Every cut is counted as a spot is, so taking the whole list makes the spot fit; where even the last
cut does not, the list ends too large, and the advice says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import log
from time import monotonic

import numpy as np

from equipoise.cards.combos import CLASS_SIZE, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.preflop import against_random
from equipoise.cards.range import Range
from equipoise.errors import EquipoiseError, TooLargeError
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.notation.betsize import BetSize, Sizes
from equipoise.games.spot import SEATS, Spot
from equipoise.solve.solvers.cfr import Storage
from equipoise.solve.spots.cost import BoardCounts, SpotCost, board_counts, size_text, spot_cost
from equipoise.workers import available_bytes

#: Share of the available memory that a solve may fill.
_SHARE = 0.8
#: Seconds spent on comparing cuts; after that the first of each kind is taken.
_SEARCH_SECONDS = 3.0
#: Share of what is needed that a cut saves, unless nothing suffices otherwise.
_WORTHWHILE = 0.05
#: Shares of the ranges that are tried, in percent of their combos, largest first.
_KEPT = tuple(range(95, 0, -5))

#: Memory up to which numbers are kept in 32 bits unless somebody asks for 16.
_MOST_BYTES = 8_000_000_000
#: What sizes of a unit are compared with: pots, multiples of a bet.
_MIDDLES = {"%": 2 / 3, "x": 3.0}

Candidate = tuple[str, Spot]


@dataclass(frozen=True)
class Cut:
    """One cut, after all those before it."""

    #: What to do, as `drop the river's 33% bet`.
    words: str
    #: The spot that is left.
    spot: Spot
    #: Whether its numbers are kept in 16 bits.
    compressed: bool
    #: What that needs.
    memory_bytes: int
    #: What this cut alone takes off.
    saved_bytes: int

    def __str__(self) -> str:
        return f"{self.words} (saves {size_text(self.saved_bytes)})"


def memory_limit() -> int:
    """Bytes that a solve may fill: four fifths of the memory that is free."""
    return int(_SHARE * available_bytes())


def storage_for(spot: Spot) -> Storage:
    """Numbers of 16 bits where 32 would take more than fits, or more than 8 GB.

    >>> storage_for(Spot("Td9d6hQc2s", "22+,A2s+", "TT+,AKs", pot=100, stack=200))
    '32-bit'
    """
    most = min(_MOST_BYTES, memory_limit())
    return "16-bit" if spot_cost(spot).memory_bytes() > most else "32-bit"


def check_fits(spot: Spot, limit_bytes: int | None = None, compressed: bool = False) -> SpotCost:
    """The cost of a spot; :class:`TooLargeError`, saying what to cut, unless it fits into memory.

    The limit is that of :func:`memory_limit` unless it is given; `compressed` is for storage in 16 bits.
    """
    limit = memory_limit() if limit_bytes is None else limit_bytes
    cost = spot_cost(spot)
    needed = cost.memory_bytes(compressed)
    if needed <= limit:
        return cost
    raise TooLargeError(
        f"the spot needs {size_text(needed)} and {size_text(limit)} may be used: "
        f"{advice(cuts(spot, limit, compressed), limit)}"
    )


def advice(found: tuple[Cut, ...], limit_bytes: int) -> str:
    """A list of cuts as a sentence."""
    if not found:
        return "nothing can be cut: begin on a later street"
    left = found[-1].memory_bytes
    if left > limit_bytes:
        return (
            f"with all of {len(found)} cuts, hardly a bet and few hands left, it would still need "
            f"{size_text(left)}: begin on a later street"
        )
    return f"{', then '.join(str(cut) for cut in found)}; that leaves {size_text(left)}"


def cuts(spot: Spot, limit_bytes: int, compressed: bool = False) -> tuple[Cut, ...]:
    """What to cut, in order, until the spot fits: none if it does, all there is if it never will.

    >>> spot = Spot("Td9d6hQc", "22+,A2s+", "TT+,AKs", pot=100, stack=900, menu="33%,75%,a")
    >>> [cut.words for cut in cuts(spot, 26_000_000)]
    ['store 16-bit numbers', 'at most 3 bets and raises on the river (max_raises = 3)']
    """
    found: tuple[Cut, ...] = ()
    for least in (_WORTHWHILE, 0.0):
        found = tuple(_Search(spot, limit_bytes, compressed, least).run())
        if not found or found[-1].memory_bytes <= limit_bytes:
            break
    return found


class _Search:
    """Cut after cut from a spot, each measured."""

    def __init__(self, spot: Spot, limit: int, compressed: bool, least: float) -> None:
        self.spot, self.limit, self.compressed, self.least = spot, limit, compressed, least
        self._deadline = monotonic() + _SEARCH_SECONDS
        self._counted: tuple[tuple[Range, Range], BoardCounts] | None = None
        self.needed = self._measured(spot)

    def run(self) -> Iterator[Cut]:
        if self.needed > self.limit and not self.compressed:
            before, self.compressed = self.needed, True
            self.needed = self._measured(self.spot)
            if self.needed < before:
                yield self._cut("store 16-bit numbers", before)
            else:
                self.compressed, self.needed = False, before
        for candidates in (_fourth_bets, _extra, _third_bets, _raises):
            yield from self._greedily(candidates)
        if self.needed > self.limit:
            yield from self._narrower()
        yield from self._greedily(_bets)

    def _cut(self, words: str, before: int) -> Cut:
        return Cut(words, self.spot, self.compressed, self.needed, before - self.needed)

    def _greedily(self, candidates: Callable[[Spot], Iterator[Candidate]]) -> Iterator[Cut]:
        while self.needed > self.limit:
            best: tuple[tuple[bool, int], str, Spot, int] | None = None
            for words, smaller in candidates(self.spot):
                size = self._measured(smaller)
                if size >= (1 - self.least) * self.needed:
                    continue
                # What suffices comes first, and of that what saves least; else what saves most.
                rank = (size > self.limit, size if size > self.limit else -size)
                if best is None or rank < best[0]:
                    best = (rank, words, smaller, size)
                if monotonic() > self._deadline:
                    break
            if best is None:
                return
            before, (_, words, self.spot, self.needed) = self.needed, best
            yield self._cut(words, before)

    def _narrower(self) -> Iterator[Cut]:
        """Most of both ranges that fits, or the least that is tried."""
        tried = [share for share in _KEPT if self._kept(share) is not None]
        low, high = 0, len(tried) - 1
        while low < high:
            middle = (low + high) // 2
            smaller = self._kept(tried[middle])
            assert smaller is not None
            low, high = (
                (low, middle) if self._measured(smaller) <= self.limit else (middle + 1, high)
            )
        smaller = self._kept(tried[low]) if tried else None
        size = self.needed if smaller is None else self._measured(smaller)
        if smaller is None or size >= self.needed:
            return
        before, self.spot, self.needed = self.needed, smaller, size
        combos = " and ".join(f"{own.combos:.4g}" for own in (smaller.oop_range, smaller.ip_range))
        yield self._cut(f"keep the best {tried[low]} % of both ranges ({combos} combos)", before)

    def _kept(self, share: int) -> Spot | None:
        """The spot with so many percent of both ranges; None if players would have no hands left."""
        try:
            return replace(
                self.spot,
                oop_range=best_of(self.spot.oop_range, share),
                ip_range=best_of(self.spot.ip_range, share),
            )
        except EquipoiseError:
            return None

    def _measured(self, spot: Spot) -> int:
        hands = spot.oop_range, spot.ip_range
        if self._counted is None or self._counted[0] != hands:
            self._counted = hands, board_counts(spot)
        return spot_cost(spot, cards=self._counted[1]).memory_bytes(self.compressed)


def best_of(hands: Range, percent: float) -> Range:
    """The classes of a range that are best all-in against a random hand, up to so many of its combos.

    >>> str(best_of(Range.parse("22+,A2s+,KQo"), 20))
    'JJ+'
    """
    held = np.bincount(COMBO_CLASS, weights=hands.weights, minlength=len(CLASS_SIZE))
    order = np.argsort(-against_random(), kind="stable")
    fits = np.cumsum(held[order]) <= percent / 100 * held.sum() + 1e-9
    kept = np.zeros(len(CLASS_SIZE), dtype=bool)
    kept[order[fits]] = True
    kept[order[np.flatnonzero(held[order])[0]]] = True
    return Range(np.where(kept[COMBO_CLASS[:COMBO_COUNT]], hands.weights, 0.0))


# ------------------------------------------------------------------------------------ candidates


def _fourth_bets(spot: Spot) -> Iterator[Candidate]:
    yield from _capped(spot, 3)


def _extra(spot: Spot) -> Iterator[Candidate]:
    """Without donk bets, or without a size that is not the middle one of its list."""
    yield from _each(spot, _lesser)


def _third_bets(spot: Spot) -> Iterator[Candidate]:
    yield from _capped(spot, 2)


def _raises(spot: Spot) -> Iterator[Candidate]:
    yield from _capped(spot, 1)


def _bets(spot: Spot) -> Iterator[Candidate]:
    yield from _each(spot, StreetMenu.without_each_size)


def _lesser(own: StreetMenu) -> Iterator[tuple[str, StreetMenu]]:
    """What is left of a player's street if a size that others stand in for is dropped."""
    if own.donks:
        yield "donk bets", replace(own, donks=())
    kept = {_middle(own.bets), *(_middle(level) for level in own.raises)}
    for words, less in replace(own, donks=None).without_each_size():
        if not any(size is not None and words.startswith(f"{size} ") for size in kept):
            yield words, replace(less, donks=own.donks)


def _middle(sizes: Sizes) -> BetSize | None:
    """The size that stands best for all of a list: the one nearest to two thirds of the pot."""
    return min(sizes, key=_off, default=None)


def _off(size: BetSize) -> float:
    """How far a size is from two thirds of the pot, or from three times a bet, as a logarithm."""
    if size.unit in _MIDDLES and size.number > 0:
        return abs(log(float(size.number) / _MIDDLES[size.unit]))
    return {"e": 0.1, "c": 1.0}.get(size.unit, 10.0)


def _capped(spot: Spot, most: int) -> Iterator[Candidate]:
    """Streets on which both players bet and raise at most so often."""
    for number, name in enumerate(spot.streets):
        both = spot.menu.street(number)
        if all(own.max_raises is not None and own.max_raises <= most for own in both):
            continue
        capped = [
            replace(own, max_raises=min(most, own.max_raises or most))
            if own.max_raises != 0
            else own
            for own in both
        ]
        what = "no raises" if most == 1 else f"at most {most} bets and raises"
        yield (
            f"{what} on the {name} (max_raises = {most})",
            _with_street(spot, number, (capped[0], capped[1])),
        )


def _each(
    spot: Spot, lesser: Callable[[StreetMenu], Iterator[tuple[str, StreetMenu]]]
) -> Iterator[Candidate]:
    """Every street with one thing less, for both players at once where both have it."""
    for number, name in reversed(list(enumerate(spot.streets))):
        both = spot.menu.street(number)
        less = [dict(lesser(own)) for own in both]
        for words in dict.fromkeys([*less[0], *less[1]]):
            has = [words in own for own in less]
            pair = [own.get(words, all_) for own, all_ in zip(less, both, strict=True)]
            whose = "" if all(has) else f" of {SEATS[has.index(True)]}"
            yield (
                f"drop the {name}'s {words}{whose}",
                _with_street(spot, number, (pair[0], pair[1])),
            )


def _with_street(spot: Spot, number: int, both: tuple[StreetMenu, StreetMenu]) -> Spot:
    menu: BetMenu = spot.menu
    streets = [menu.street(place) for place in range(spot.rounds)]
    streets[number] = both
    return replace(spot, menu=replace(menu, streets=tuple(streets)))
