"""The grammar of range text: from text to the weights of 1,326 hands and back.

Items stand between commas, spaces or new lines; upper and lower case are the same.

==================  ==============================================================================
`QQ`, `AKs`, `AKo`  one class: a pair, a suited hand, an offsuit hand
`AK`                both of them, suited and offsuit
`AhKd`              one hand
`QQ+`               this pair and every higher one
`A2s+`, `T8+`       the kicker raised up to just below the high card
`KTo-K8o`, `22-55`  a span in either direction: one high card, or pairs
`JTs-76s`           a span of one gap: JTs, T9s, 98s, 87s, 76s
`random`            every hand; `any` and `100%` are the same
`top 15%`           the best classes by all-in equity against a random hand
`none`              no hand
`sb-open-2.5x@200`  a range with a name (:mod:`.namedranges`)
`A5s:0.5`           any item with a weight, also in percent: `A5s:50%`
`[50]A5s,A4s[/50]`  several items with one weight in percent
==================  ==============================================================================

Items are read from left to right and **the last one wins**: `random,AA:0` is every hand but aces.

`top x%` takes whole classes, best first, until x % of the 1,326 hands are reached; the class that
crosses the line gets the fractional weight that makes the total exactly x %.

Canonical text lists pairs, then for each high card suited before offsuit classes (or both in one
where they agree throughout), compressed with `+` and `-`; hands are written singly where a class is
uneven. A weight has just the digits that give the same float32 back, so reading canonical text
restores every weight to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import RANKS
from equipoise.cards.combos import (
    CLASS_COUNT,
    CLASS_SIZE,
    COMBO_CLASS,
    COMBO_COUNT,
    class_text,
    combo_text,
    parse_combo,
)
from equipoise.cards.namedranges import named_range
from equipoise.errors import CardError, RangeError

_FLAGS = re.IGNORECASE | re.ASCII
# Digits are never given back: a long run of them would else be tried in all its parts.
_NUMBER = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)"
_CARD = r"(?:10|[2-9TJQKA])[cdhs]"
_WEIGHT = re.compile(rf"({_NUMBER}(?:e[+-]?[0-9]+)?)(%?)", _FLAGS)
_TOP = re.compile(rf"top({_NUMBER})%", _FLAGS)
_COMBO = re.compile(r"(?:[2-9TJQKA][cdhs]){2}", _FLAGS)
_BLOCK = re.compile(rf"\[(/?)({_NUMBER})%?\]", _FLAGS)

#: Hands in class order, and where each class begins in that order.
_BY_CLASS = np.argsort(COMBO_CLASS, kind="stable")
_CLASS_START = np.concatenate(([0], np.cumsum(CLASS_SIZE)))


def class_combos(hand_class: int) -> NDArray[np.int64]:
    """Hands of a class, in ascending order.

    >>> [combo_text(int(c)) for c in class_combos(1)]
    ['AcKc', 'AdKd', 'AhKh', 'AsKs']
    """
    hands: NDArray[np.int64] = _BY_CLASS[_CLASS_START[hand_class] : _CLASS_START[hand_class + 1]]
    return hands


def parse_weights(text: str) -> NDArray[np.float32]:
    """Read range text into the weight of each hand: float32[1326].

    >>> parse_weights("QQ+, A5s:0.5").sum()
    np.float32(20.0)
    >>> parse_weights("AKx")
    Traceback (most recent call last):
        ...
    equipoise.errors.RangeError: 'AKx': expected s, o or nothing after the two ranks
    """
    weights = np.zeros(COMBO_COUNT, dtype=np.float32)
    found = False
    for item, block_weight in _items(text):
        found = True
        hands, _, weight_text = item.partition(":")
        weight = block_weight
        if ":" in item:
            if block_weight is not None:
                raise RangeError(f"{item!r}: a weight inside [ ] blocks is given twice, drop one")
            weight = _read_weight(item, weight_text)
        chosen, share = _read_hands(item, hands)
        weights[chosen] = share if weight is None else share * weight
    if not found:
        raise RangeError(
            "the range is empty: name a hand, such as QQ+ or AhKd, "
            "or write 'none' (Range.empty()) if no hand is meant"
        )
    return weights


def _items(text: str) -> Iterator[tuple[str, float | None]]:
    """Items of the text without inner spaces, each with the weight of its [ ] block if any."""
    text = " ".join(text.replace("–", "-").replace("−", "-").split())
    text = re.sub(r" ?([-:]) ?", r"\1", text)
    text = re.sub(r" ([+%])", r"\1", text)
    text = re.sub(r"\btop ", "top", text, flags=_FLAGS)
    text = re.sub(rf"\b({_CARD}) ({_CARD})\b", r"\1\2", text, flags=_FLAGS)
    text = _BLOCK.sub(lambda match: f",{match[0]},", text)
    opened: str | None = None
    for item in re.split(r"[ ,;]+", text):
        block = _BLOCK.fullmatch(item)
        if block is None:
            if item:
                yield item, None if opened is None else _read_weight(f"[{opened}]", f"{opened}%")
        elif not block[1]:
            if opened is not None:
                raise RangeError(f"'[{block[2]}]': close [{opened}] with [/{opened}] first")
            opened = block[2]
        else:
            if opened is None or float(opened) != float(block[2]):
                raise RangeError(f"'[/{block[2]}]': closes no block, open it with [{block[2]}]")
            opened = None
    if opened is not None:
        raise RangeError(f"'[{opened}]': close the block with [/{opened}]")


def _read_weight(item: str, text: str) -> float:
    """Number after the colon, as a share of 1."""
    match = _WEIGHT.fullmatch(text)
    if match is None:
        raise RangeError(f"{item!r}: write the weight as a number, such as A5s:0.5 or A5s:50%")
    weight = float(match[1])
    if match[2]:
        weight /= 100.0
    if not weight <= 1.0:
        raise RangeError(f"{item!r}: a weight is between 0 and 1, or 0% and 100%")
    return weight


def _read_hands(item: str, hands: str) -> tuple[NDArray[np.intp], NDArray[np.float64] | float]:
    """Hands that an item names and their weights before its own weight applies."""
    word = hands.lower()
    if word in ("random", "any", "100%"):
        return np.arange(COMBO_COUNT), 1.0
    if word == "none":
        if ":" in item:
            raise RangeError(f"{item!r}: none takes no weight, write it alone")
        return np.arange(COMBO_COUNT), 0.0
    if "@" in word:
        named = parse_weights(named_range(hands))
        return np.arange(COMBO_COUNT), named.astype(np.float64)
    if word.startswith("top"):
        return _read_top(item, hands)
    if re.fullmatch(rf"{_NUMBER}%", hands, _FLAGS):
        raise RangeError(f"{item!r}: write 'top {hands}' for the best {hands} of hands")
    hands = hands.replace("10", "T")
    if _COMBO.fullmatch(hands):
        try:
            return np.array([parse_combo(hands)]), 1.0
        except CardError as error:
            raise RangeError(str(error)) from None
    if re.match(_COMBO, hands) and hands[4] in "+-":
        raise RangeError(f"{item!r}: a single hand takes no + or -, write a class such as A2s+")
    return np.concatenate([class_combos(c) for c in _read_classes(item, hands)]), 1.0


def _read_top(item: str, hands: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Hands of `top x%` with weight 1, but for the class that crosses the line."""
    match = _TOP.fullmatch(hands)
    if match is None or not 0.0 < float(match[1]) <= 100.0:
        raise RangeError(f"{item!r}: write a share above 0% and up to 100%, such as top 15%")
    order = _best_classes()
    size = CLASS_SIZE[order]
    before = np.cumsum(size) - size
    share = np.clip((float(match[1]) / 100.0 * COMBO_COUNT - before) / size, 0.0, 1.0)
    taken = order[share > 0.0]
    return np.concatenate([class_combos(int(c)) for c in taken]), np.repeat(
        share[share > 0.0], CLASS_SIZE[taken]
    )


@lru_cache(maxsize=1)
def _best_classes() -> NDArray[np.intp]:
    """Classes by all-in equity against a random hand, best first."""
    from equipoise.cards.preflop import against_random

    return np.argsort(-against_random(), kind="stable")


def _read_classes(item: str, hands: str) -> list[int]:
    """Classes that `QQ+`, `KTo-K8o` and the like name."""
    first, dash, second = hands.partition("-")
    if dash:
        if first.endswith("+") or second.endswith("+"):
            raise RangeError(f"{item!r}: write either a span or a +, not both")
        return _span(item, _read_class(item, first), _read_class(item, second))
    high, low, kinds = _read_class(item, first.removesuffix("+"))
    if not first.endswith("+"):
        return _classes([(high, low)], kinds)
    if high == low:
        return _classes([(rank, rank) for rank in range(low, 13)], kinds)
    return _classes([(high, kicker) for kicker in range(low, high)], kinds)


def _read_class(item: str, text: str) -> tuple[int, int, str]:
    """High rank, low rank and kinds (`s`, `o`, `so`; nothing for a pair) of a class."""
    for letter in text[:2]:
        if letter.upper() not in RANKS:
            raise RangeError(
                f"{item!r}: no rank {letter!r} (ranks are 2 to 9, T, J, Q, K, A), "
                "write hands such as QQ, AKs or AhKd"
            )
    if len(text) < 2:
        raise RangeError(f"{item!r}: expected two ranks, such as QQ, AKs or A5s-A2s")
    kind = text[2:].lower()
    if kind not in ("", "s", "o"):
        raise RangeError(f"{item!r}: expected s, o or nothing after the two ranks")
    low, high = sorted(RANKS.index(letter.upper()) for letter in text[:2])
    if high != low:
        return high, low, kind or "so"
    if kind:
        raise RangeError(f"{item!r}: a pair takes neither s nor o, write {text[:2].upper()}")
    return high, low, ""


def _span(item: str, first: tuple[int, int, str], second: tuple[int, int, str]) -> list[int]:
    """Classes from one to the other, both included."""
    (high, low, kinds), (other_high, other_low, other_kinds) = sorted((first, second))
    if bool(kinds) != bool(other_kinds):
        raise RangeError(f"{item!r}: a span goes from pair to pair or between unpaired hands")
    if kinds != other_kinds:
        raise RangeError(f"{item!r}: both ends are suited, both offsuit, or both neither")
    if other_high - other_low == high - low:
        steps = range(other_high - high + 1)
        return _classes([(high + step, low + step) for step in steps], kinds)
    if other_high == high:
        return _classes([(high, kicker) for kicker in range(low, other_low + 1)], kinds)
    raise RangeError(f"{item!r}: both ends share the high card (KTo-K8o) or the gap (JTs-76s)")


def _classes(ranks: list[tuple[int, int]], kinds: str) -> list[int]:
    """Numbers of the classes of these (high, low) ranks."""
    return [_class_number(high, low, kind) for high, low in ranks for kind in kinds or [""]]


def _class_number(high: int, low: int, kind: str) -> int:
    """Cell of the chart: offsuit below the diagonal, the rest on or above it."""
    row, column = 12 - high, 12 - low
    return 13 * column + row if kind == "o" else 13 * row + column


def weights_text(weights: NDArray[np.float32]) -> str:
    """Write weights as canonical text; :func:`parse_weights` reads the same weights back.

    >>> weights_text(parse_weights("KK,AA,QQ, AQs, AKs, A2s:.5, A3s:50%, 7h2d"))
    'QQ+,AQs+,A3s-A2s:0.5,7h2d'
    """
    if weights.min() == weights.max():
        return "none" if weights[0] == 0 else "random" + _weight_suffix(weights[0])
    in_order = weights[_BY_CLASS]
    lowest = np.minimum.reduceat(in_order, _CLASS_START[:CLASS_COUNT])
    even = lowest == np.maximum.reduceat(in_order, _CLASS_START[:CLASS_COUNT])
    pairs = [_class_number(rank, rank, "") for rank in range(12, -1, -1)]
    items = _line_items(pairs, [class_text(c) for c in pairs], weights, even)
    for high in range(12, 0, -1):
        suited, offsuit = (
            [_class_number(high, low, kind) for low in range(high - 1, -1, -1)] for kind in "so"
        )
        alike = even[suited] & even[offsuit] & (lowest[suited] == lowest[offsuit])
        if alike.all():
            items += _line_items(suited, [class_text(c)[:2] for c in suited], weights, even)
        else:
            items += _line_items(suited, [class_text(c) for c in suited], weights, even)
            items += _line_items(offsuit, [class_text(c) for c in offsuit], weights, even)
    return ",".join(items)


def _line_items(
    line: list[int],
    names: list[str],
    weights: NDArray[np.float32],
    even: NDArray[np.bool_],
) -> list[str]:
    """Items of neighbouring classes, best first: runs of one weight, single hands where uneven."""
    items = []
    start = 0
    while start < len(line):
        hands = class_combos(line[start])
        weight = weights[hands[0]]
        stop = start + 1
        if not even[line[start]]:
            items += [
                combo_text(int(combo)) + _weight_suffix(weights[combo])
                for combo in hands[::-1]
                if weights[combo] > 0
            ]
        else:
            while (
                stop < len(line)
                and even[line[stop]]
                and weights[class_combos(line[stop])[0]] == weight
            ):
                stop += 1
            if weight > 0:
                items.append(_run_text(names, start, stop - 1) + _weight_suffix(weight))
        start = stop
    return items


def _run_text(names: list[str], first: int, last: int) -> str:
    """Neighbouring classes of one line: `AKs`, `KTs+` or `A5s-A2s`."""
    if first == last:
        return names[first]
    if first == 0:
        return names[last] + "+"
    return f"{names[first]}-{names[last]}"


def _weight_suffix(weight: np.float32) -> str:
    """`:0.5`, or nothing for weight 1, in the fewest digits that restore the float32."""
    if weight == 1:
        return ""
    text = np.format_float_positional(weight, trim="-")
    # Readers go through float64; for rare float32 the shortest decimal then rounds the other way.
    if np.float32(float(text)) != weight:
        text = np.format_float_positional(np.float64(weight), trim="-")
    return f":{text}"
