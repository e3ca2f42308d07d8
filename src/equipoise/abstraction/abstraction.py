"""A card abstraction as a thing: named, saved, loaded, looked into and looked up in.

It holds for each street the *definition* of its features (:mod:`.definition`) and its *child table*
(:mod:`.lookup`): which bucket a hand of a feature goes to, given its bucket on the street before or,
in a table of one row, whatever came before. The file is small; the large feature tables are expanded
into the cache on first use and mapped from there afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.abstraction.definition import Definition, check_definitions, feature_table
from equipoise.abstraction.lookup import (
    BLOCKED,
    Lookup,
    board_buckets,
    lookup,
)
from equipoise.abstraction.totals import BucketTotals, bucket_totals
from equipoise.cache import cached_table
from equipoise.cards.card import card_text, cards_text, check_distinct
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.streets import BOARD_SIZES, STREET_COUNT
from equipoise.errors import ArtefactError, CardError, GameError
from equipoise.run import Listener

_KIND = "card abstraction"

Table = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Abstraction:
    """Buckets of hold'em on four streets.

    >>> from equipoise.cards.card import parse_cards
    >>> from equipoise.cards.combos import parse_combo
    >>> classes = np.arange(169, dtype=np.uint16)[None]
    >>> halves = (np.arange(1981) >= 990).astype(np.uint16)[None]
    >>> cuts = Definition("cuts", {"axes": ["equity"]}, {"borders0": np.array([0.5])})
    >>> two = np.array([[0, 1]], dtype=np.uint16)
    >>> definitions = (Definition("class"), cuts, cuts, Definition("score"))
    >>> halved = Abstraction("halves", definitions, (classes, two, two, halves))
    >>> halved.counts
    (169, 2, 2, 2)
    >>> buckets = halved.buckets(parse_cards("As Ks 7d"))
    >>> int(buckets[parse_combo("Ah Kh")]), int(buckets[parse_combo("3h 2d")])
    (1, 0)
    """

    name: str
    definitions: tuple[Definition, ...]
    children: tuple[Table, ...]
    #: Method and parameters it was made with.
    made_by: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.definitions) != STREET_COUNT or len(self.children) != STREET_COUNT:
            raise GameError(f"{self.name}: give features and a child table for each of 4 streets")
        before = 1
        for street, child in enumerate(self.children):
            features = self.definitions[street].features
            if child.dtype != np.uint16 or child.ndim != 2 or child.shape[1] != features:
                raise GameError(
                    f"{self.name}: the child table of street {street} is {child.dtype}"
                    f"{list(child.shape)}: make it uint16 with {features} columns, as many as features"
                )
            if len(child) not in (1, before):
                raise GameError(
                    f"{self.name}: the child table of street {street} has {len(child)} rows: give 1, "
                    f"or one for each of the {before} buckets before"
                )
            used = np.unique(child)
            if used[-1] != len(used) - 1 or used[-1] >= BLOCKED:
                raise GameError(
                    f"{self.name}: the buckets of street {street} are not numbered 0, 1, 2 … to "
                    f"{len(used) - 1}: number them without gaps"
                )
            before = len(used)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Buckets of each street."""
        return tuple(int(child.max()) + 1 for child in self.children)

    @property
    def perfect_recall(self) -> bool:
        """Whether every bucket tells all the buckets before it."""
        remembered = zip(self.children[1:], self.counts, strict=False)
        return all(len(child) == before for child, before in remembered) and all(
            self.parents(street) is not None for street in range(1, STREET_COUNT)
        )

    def parents(self, street: int) -> NDArray[np.int64] | None:
        """Bucket before each bucket of a street, where it is always the same one."""
        child = self.children[street]
        if street == 0 or len(child) != self.counts[street - 1]:
            return None
        found = np.full(self.counts[street], -1, dtype=np.int64)
        for parent, row in enumerate(child):
            buckets = np.unique(row)
            if (found[buckets] >= 0).any():
                return None
            found[buckets] = parent
        return found

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the buckets: two abstractions with the same one are the same."""
        children = [
            Definition("table", {}, {"table": child}).fingerprint for child in self.children
        ]
        return artefact.fingerprint([[d.fingerprint for d in self.definitions], children])

    def lookup(self, progress: Listener | None = None) -> Lookup:
        """The tables for kernels, expanded if they are not in the cache yet."""
        known: Lookup | None = self.__dict__.get("_lookup")
        if known is None:
            features = [
                feature_table(street, self.definitions, progress) for street in range(STREET_COUNT)
            ]
            known = self.__dict__["_lookup"] = lookup(features, self.children)
        return known

    def path(self, board: Iterable[int]) -> Table:
        """Buckets of every combination on the streets that a board reaches: uint16[streets, 1326].

        Cards stand in the order dealt; a hand that shares a card is `BLOCKED` from there on.
        """
        cards = tuple(int(card) for card in board)
        for card in cards:
            card_text(card)
        check_distinct(cards)
        if len(cards) not in BOARD_SIZES:
            raise CardError(f"{cards_text(cards)!r}: a board has 0, 3, 4 or 5 cards")
        out = np.empty((STREET_COUNT, COMBO_COUNT), dtype=np.uint16)
        board_buckets(self.lookup(), np.array(cards, dtype=np.uint8), out)
        return out[: BOARD_SIZES.index(len(cards)) + 1]

    def buckets(self, board: Iterable[int] = ()) -> Table:
        """Bucket of every combination on a board, `BLOCKED` where they share a card."""
        found: Table = self.path(board)[-1]
        return found

    def totals(self, street: int) -> BucketTotals:
        """How often each bucket comes and what equities are in it, exactly; kept in the cache."""
        if not 0 <= street < STREET_COUNT:
            raise GameError(f"street {street}: choose from 0 (preflop) to 3 (river)")

        def fill(out: NDArray[np.float64]) -> None:
            out[:] = bucket_totals(self.lookup(), street)

        configuration = {"abstraction": self.fingerprint, "street": street}
        shape = (3, self.counts[street])
        found = cached_table("bucket totals", configuration, shape, np.float64, fill)
        return BucketTotals(found[0].astype(np.int64), found[1], found[2])

    def masses(self, street: int) -> NDArray[np.float64]:
        """Probability of each bucket on a street, over all hands and boards: they sum to 1."""
        return self.totals(street).masses

    def save(self, path: str | Path) -> None:
        """Write the artefact."""
        configuration, arrays = self._told()
        artefact.write(path, _KIND, configuration, arrays, abstraction=self.fingerprint)

    def to_bytes(self) -> bytes:
        """The artefact that :meth:`save` writes."""
        configuration, arrays = self._told()
        return artefact.to_bytes(_KIND, configuration, arrays, abstraction=self.fingerprint)

    def _told(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Configuration and arrays of the artefact."""
        arrays: dict[str, NDArray[Any]] = {}
        for street in range(STREET_COUNT):
            arrays[f"child/{street}"] = self.children[street]
            for name, array in self.definitions[street].arrays.items():
                arrays[f"definition/{street}/{name}"] = array
        configuration = {
            "name": self.name,
            "made_by": dict(self.made_by),
            "definitions": [
                {"kind": given.kind, "settings": dict(given.settings)} for given in self.definitions
            ],
        }
        return configuration, arrays

    @classmethod
    def load(cls, path: str | Path) -> Abstraction:
        """Read an artefact; a damaged or foreign file is refused."""
        manifest, arrays = artefact.read(path, _KIND)
        with artefact.understanding(path, _KIND):
            told = manifest["configuration"]
            definitions = []
            for street, given in enumerate(told["definitions"][: STREET_COUNT + 1]):
                start = f"definition/{street}/"
                own = {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}
                definitions.append(Definition(given["kind"], dict(given["settings"]), own))
            check_definitions(definitions)
            children = tuple(arrays[f"child/{street}"] for street in range(STREET_COUNT))
            found = cls(str(told["name"]), tuple(definitions), children, dict(told["made_by"]))
            same = found.fingerprint == manifest["abstraction"]
        if not same:
            raise ArtefactError(
                f"{path}: its buckets are not those it was saved with: make it again"
            )
        return found
