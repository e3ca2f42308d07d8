"""All-in before the flop with three hands: who stands where, for every three classes of hole cards.

Three players can stand in 13 orders, ties included. For each of the 818,805 sets of three classes the
table holds the probability of each, mean over the combinations that share no card and over boards.
Unlike two hands (:mod:`equipoise.cards.preflop`) three are too many to count them all, 10^13 of them
even up to suits, so that they are *sampled*: shuffled decks deal a board and 14 hands, of which every
three are compared. Then the sample is raked to what is known exactly: with the third hand averaged
out, each two classes must win, tie and lose as the heads-up table says. Multiplying each order's
probability by the ratios of its three comparisons, again and again, changes nothing but that.

With the third hand *given* the table tells more than that one: the cards of a player who has folded
are gone, and a sum over orders is how often one of two hands wins then.

Shipped is a byte for each order: probabilities in units of 1/255, rounded up or down at random so
that they sum to 1 and no order is favoured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE, COMBO_CARDS, COMBO_CLASS
from equipoise.cards.evaluator import tables
from equipoise.cards.preflop import BOARDS_PER_PAIR
from equipoise.cards.preflop import table as heads_up
from equipoise.cards.threeway.kernels import HANDS, ORDERS, count_orders
from equipoise.errors import ArtefactError
from equipoise.files import written
from equipoise.kernel import over_chunks
from equipoise.run import Event, Listener

#: Sets of three classes.
TRIPLES = CLASS_COUNT * (CLASS_COUNT + 1) * (CLASS_COUNT + 2) // 6
#: Comparisons of three hands made on one deal.
PER_DEAL = HANDS * (HANDS - 1) * (HANDS - 2) // 6
#: Where the shipped table is.
DATA_FILE = Path(__file__).parents[1] / "data" / "threeway.npz"

#: What probabilities are kept in.
_UNITS = 255
#: Decks shuffled at a time, and rounds of raking.
_BATCH, _RAKINGS = 100_000, 6
#: Pairs of the places of a triple.
_PAIRS = ((0, 1), (0, 2), (1, 2))


def _weak_orders() -> tuple[tuple[int, int, int], ...]:
    """The 13 orders by their comparisons: 0 behind, 1 tied, 2 ahead."""
    found = {
        tuple(1 + (ranks[i] > ranks[j]) - (ranks[i] < ranks[j]) for i, j in _PAIRS)
        for ranks in product(range(3), repeat=3)
    }
    return tuple(sorted((a, b, c) for a, b, c in found))


#: How first stands against second, first against third and second against third, in each order.
COMPARISONS = _weak_orders()
#: How many of the others each player beats in each order, half for a tie: [order, player].
STANDINGS: NDArray[np.float64] = np.array(
    [[(x + y) / 2, (2 - x + z) / 2, (4 - y - z) / 2] for x, y, z in COMPARISONS]
)


def _order_of() -> NDArray[np.uint8]:
    """Order by comparisons as digits of base three; impossible ones are nobody's."""
    found = np.zeros(27, dtype=np.uint8)
    for number, (x, y, z) in enumerate(COMPARISONS):
        found[9 * x + 3 * y + z] = number
    return found


@cache
def triples() -> NDArray[np.int64]:
    """The three classes of every set, lowest first: int64[818805, 3].

    >>> triples()[:4].tolist(), len(triples()) == TRIPLES
    ([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]], True)
    """
    low = np.arange(CLASS_COUNT)
    first, second = np.meshgrid(low, low, indexing="ij")
    below = [np.stack([first[: k + 1, : k + 1], second[: k + 1, : k + 1]]) for k in low]
    parts = []
    for third, pair in enumerate(below):
        a, b = pair[1], pair[0]
        keep = a <= b
        parts.append(np.stack([a[keep], b[keep], np.full(int(keep.sum()), third)], axis=1))
    return np.concatenate(parts)


@cache
def combinations_of() -> NDArray[np.float32]:
    """Ways to deal three hands of three classes that share no card: float32[169, 169, 169].

    >>> int(combinations_of().sum(dtype=np.float64)) == 1326 * 1225 * 1128
    True
    """
    cards, classes = COMBO_CARDS.astype(np.int64), COMBO_CLASS.astype(np.int64)
    firsts = np.unique(classes, return_index=True)[1]
    found = np.zeros((CLASS_COUNT, CLASS_COUNT, CLASS_COUNT), dtype=np.float32)
    holds = np.bincount(
        (classes[:, None] * 52 + cards).reshape(-1), minlength=CLASS_COUNT * 52
    ).reshape(CLASS_COUNT, 52)
    number = np.zeros((52, 52), dtype=np.int64)
    number[cards[:, 0], cards[:, 1]] = number[cards[:, 1], cards[:, 0]] = classes
    square = (CLASS_COUNT, CLASS_COUNT)
    for first, hand in enumerate(firsts):
        apart = ~(cards[:, :, None] == cards[hand]).any(axis=(1, 2))
        others = np.flatnonzero(apart)
        second, used = classes[others], cards[others]
        pairs = np.bincount(second, minlength=CLASS_COUNT)
        # Third hands, less those that hold a card of the first or the second; those that hold two
        # of the four cards were taken off twice.
        left = pairs[:, None] * (CLASS_SIZE - holds[:, cards[hand]].sum(axis=1))[None, :]
        places = (second[:, None] * 52 + used).reshape(-1)
        taken = np.bincount(places, minlength=CLASS_COUNT * 52).reshape(CLASS_COUNT, 52)
        left = left - taken @ holds.T
        left[:, first] += pairs
        left[np.diag_indices(CLASS_COUNT)] += pairs
        twice = (second[:, None, None] * CLASS_COUNT + number[cards[hand]][:, used.T].T).reshape(-1)
        left += np.bincount(twice, minlength=CLASS_COUNT**2).reshape(square)
        found[first] = left * CLASS_SIZE[first]
    return found


@dataclass(frozen=True)
class ThreeWayTable:
    """How three hands stand when all boards are dealt.

    >>> aces = table().probabilities([[0, 0, 14]])[0]
    >>> float(aces.sum()) > 0.999
    True
    """

    #: Units of 1/255 of each order for each set of three classes: uint8[818805, 13].
    units: NDArray[np.uint8]
    #: Sets of three hands compared.
    samples: int

    def probabilities(self, classes: NDArray[np.int64] | list[list[int]]) -> NDArray[np.float64]:
        """Probability of each order of the places of `classes`[..., 3], lowest class first."""
        a, b, c = np.moveaxis(np.asarray(classes), -1, 0)
        number = c * (c + 1) * (c + 2) // 6 + b * (b + 1) // 2 + a
        found: NDArray[np.float64] = self.units[number] / _UNITS
        return found

    def save(self, path: Path) -> None:
        """Write the table, whole or not at all."""
        with written(path) as file:
            np.savez_compressed(file, units=self.units.T.copy(), samples=np.int64(self.samples))


def load(path: Path = DATA_FILE) -> ThreeWayTable:
    """Read a table that :meth:`ThreeWayTable.save` wrote."""
    advice = "restore it from the package, or make it anew with `equipoise jamfold3 --rebuild`"
    try:
        with np.load(path, allow_pickle=False) as stored:
            units, samples = stored["units"], stored["samples"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, NotImplementedError) as error:
        raise ArtefactError(f"{path}: no three-way table can be read there; {advice}") from error
    if units.shape != (ORDERS, TRIPLES) or units.dtype != np.uint8 or samples.shape != ():
        raise ArtefactError(f"{path}: not a table of 818,805 × 13 orders; {advice}")
    if samples.dtype != np.int64 or samples < 1 or (units.sum(axis=0, dtype=np.int64) != 255).any():
        raise ArtefactError(f"{path}: probabilities that do not sum to 1; {advice}")
    return ThreeWayTable(np.ascontiguousarray(units.T), int(samples))


@cache
def table() -> ThreeWayTable:
    """The shipped table."""
    return load()


def seatings() -> Iterator[tuple[int, int, int]]:
    """Places (lowest, middle, highest class) of the first, second and third player, in all ways."""
    yield from permutations(range(3))


def order_for(seating: tuple[int, int, int]) -> NDArray[np.int64]:
    """For each order of the places, the order of the players who sit there: int64[13]."""
    found = []
    for comparisons in COMPARISONS:
        versus = dict(zip(_PAIRS, comparisons, strict=True))
        versus |= {(j, i): 2 - told for (i, j), told in versus.items()}
        seen = tuple(versus[seating[i], seating[j]] for i, j in _PAIRS)
        found.append(COMPARISONS.index((seen[0], seen[1], seen[2])))
    return np.array(found)


def rebuild(
    deals: int,
    seed: int = 0,
    progress: Listener | None = None,
    threads: int | None = None,
    samples: int = 1,
) -> ThreeWayTable:
    """Sample the table anew from so many shuffled decks.

    With `samples` so many decks are dealt from each of `seed`, `seed` + 1 and so on, and all counts are
    added before they are raked: the same as one sample of them all.
    """
    rngs = [np.random.default_rng(seed + number) for number in range(samples)]
    counts = np.zeros(TRIPLES * ORDERS, dtype=np.uint32)
    deck = np.tile(np.arange(52, dtype=np.uint8), (_BATCH, 1))
    for number, rng in enumerate(rngs):
        for done in range(0, deals, _BATCH):
            size = min(_BATCH, deals - done)
            _count(rng.permuted(deck[:size], axis=1), counts, threads)
            if progress is not None:
                progress(Event(number * deals + done + size, samples * deals, "three-way deals"))
    return from_counts(counts.reshape(TRIPLES, ORDERS), rngs[0])


def _count(decks: NDArray[np.uint8], counts: NDArray[np.uint32], threads: int | None) -> None:
    """Add the orders of the hands that decks deal, each thread to counts of its own."""
    order_of = _order_of()
    parts: list[NDArray[np.uint32]] = []

    def work(first: int, last: int) -> None:
        into = counts if first == 0 else np.zeros_like(counts)
        count_orders(decks[first:last], order_of, tables(), into)
        if first:
            parts.append(into)

    over_chunks(work, len(decks), threads)
    for part in parts:
        counts += part


def from_counts(counts: NDArray[np.uint32], rng: np.random.Generator) -> ThreeWayTable:
    """The table of a sample: raked to the heads-up table, and rounded."""
    samples = int(counts.sum(dtype=np.int64))
    return ThreeWayTable(_rounded(_raked(counts), rng), samples)


def _raked(counts: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Probabilities whose two-way margins are those of the heads-up table."""
    classes, exact = triples(), heads_up()
    weights = combinations_of()[tuple(classes.T)].astype(np.float64)
    # A set never seen begins with all strict orders alike.
    strict = np.array([1.0 if 1 not in told else 0.0 for told in COMPARISONS])
    chances = counts + 1e-3 * strict
    total = exact.pairs * BOARDS_PER_PAIR
    target = np.stack([exact.wins.T / total, exact.ties / total, exact.wins / total])
    codes = np.array(COMPARISONS)
    for _ in range(_RAKINGS):
        chances /= chances.sum(axis=1, keepdims=True)
        margins = np.zeros((3, CLASS_COUNT * CLASS_COUNT))
        whole = np.zeros(CLASS_COUNT * CLASS_COUNT)
        for k, (i, j) in enumerate(_PAIRS):
            places = classes[:, i] * CLASS_COUNT + classes[:, j]
            # Of two equal hands either may be the third: both are counted, each by half.
            same = (classes[:, 3 - i - j] == classes[:, i]).astype(int)
            same += classes[:, 3 - i - j] == classes[:, j]
            share = weights / (1 + same)
            whole += np.bincount(places, share, CLASS_COUNT**2)
            for told in range(3):
                mass = chances[:, codes[:, k] == told].sum(axis=1) * share
                margins[told] += np.bincount(places, mass, CLASS_COUNT**2)
        for k, (i, j) in enumerate(_PAIRS):
            places = classes[:, i] * CLASS_COUNT + classes[:, j]
            for told in range(3):
                seen = margins[told] / np.maximum(whole, 1e-300)
                if told != 1:
                    # Of a class against itself neither side wins more.
                    diagonal = np.arange(CLASS_COUNT) * (CLASS_COUNT + 1)
                    seen = seen.copy()
                    both = (margins[0] + margins[2])[diagonal] / np.maximum(whole[diagonal], 1e-300)
                    seen[diagonal] = both / 2
                ratio = np.where(seen > 0, target[told].reshape(-1) / np.maximum(seen, 1e-300), 1.0)
                chances[:, codes[:, k] == told] *= ratio[places][:, None]
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _rounded(chances: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Units of 1/255 that sum to 255: cumulative sums cut at places that one random shift moves."""
    shift = rng.random((len(chances), 1))
    ends = np.cumsum(chances, axis=1) * _UNITS
    ends[:, -1] = _UNITS
    cuts = np.floor(ends + shift).astype(np.int64)
    before = np.concatenate([np.zeros((len(cuts), 1), dtype=np.int64), cuts[:, :-1]], axis=1)
    units: NDArray[np.uint8] = (cuts - before).astype(np.uint8)
    return units
