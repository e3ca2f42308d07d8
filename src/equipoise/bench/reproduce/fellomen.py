"""INOT, Fell Omen 1 and Fell Omen 2 against each other and the suite of limit agents.

The document is "Pseudo-Optimal Solutions to Texas Hold'em Poker with Improved Chance Node
Abstraction" (Fellows, 2010). Its tables are of competitions whose other entries are not to be had,
so they stand beside ours for the order of size only. Matches are duplicate, 60,000 hands each as in
the document; win rates are in small bets a hand.

Its last section asks what negative potential would add, and buckets that remember: INOT with either meets
INOT, where they were trained (`equipoise train inot-negative`, `inot-remembered`; they do not ship).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from equipoise.bench.reproduce.meetings import (
    Contender,
    Data,
    Stable,
    Terms,
    best_figure,
    meet,
    verdict,
)
from equipoise.games.rules import LIMIT_HOLDEM
from equipoise.run import Event, Listener

FAMILY = ("inot", "fell-omen-1", "fell-omen-2")
#: What the document leaves for further work: each meets the first of the family alone.
FURTHER = ("inot-negative", "inot-remembered")
SUITE = (
    "random",
    "all-in",
    "call",
    "fold",
    "bucket",
    "bayes",
    "votes",
    "q-learner",
    "regret-limit",
)
HANDS, QUICK_HANDS = 60_000, 2_000

#: Small bets a hand in the document's tables, of 60,000 hands (600,000 against the first two of
#: 2007). Two entries of 2008 are printed under one name, and one figure of 2008 is that of 2007.
DOCUMENT: dict[str, dict[str, float]] = {
    "inot, 2007": {
        "Hyperborean 2007": -0.021,
        "GS3": 0.004,
        "PokeMinn 1": 0.1295,
        "Quick": 0.0991,
        "Gomel 2": 0.085,
        "Dumbo 1": 0.1415,
        "Dumbo 2": 0.1186,
        "Sequel 1": 0.1307,
        "Sequel 2": 0.14,
        "PokeMinn 2": 0.1421,
        "UNCC": 0.4716,
        "Gomel 1": 0.0875,
        "LeRenard": 0.1297,
        "Monash": 0.4078,
        "Milano": 0.3976,
    },
    "fell-omen-2, 2008": {
        "Hyperborean 2008-Eq": -0.024,
        "Hyperborean 2008-On": -0.004,
        "GGValuta": 0.003,
        "GS4": 0.02,
        "PokeMinn 2": 0.153,
        "PokeMinn 2 (again)": 0.154,
        "GUS": 0.467,
        "Dr. Sahbak": 0.532,
        "Gomel 1": 0.0875,
    },
}


def run(
    seed: int,
    quick: bool,
    progress: Listener,
    hands: int | None = None,
    blueprints: Mapping[str, str] | None = None,
    workers: int = 1,
    without_luck: bool = False,
) -> Data:
    """All meetings of the blueprints that are there."""
    stable = Stable(blueprints)
    found = [stable.find(name) for name in FAMILY]
    family = [contender for contender in found if contender is not None]
    further = [one for one in map(stable.find, FURTHER) if one is not None]
    terms = Terms(
        LIMIT_HOLDEM,
        hands or (QUICK_HANDS if quick else HANDS),
        seed,
        workers,
        without_luck=without_luck,
    )
    meetings = [
        *combinations(reversed(family), 2),
        *((one, other) for one in further for other in found[:1] if other is not None),
        *((one, Contender(name)) for one in family for name in SUITE),
    ]
    rows = []
    for number, (a, b) in enumerate(meetings):
        progress(Event(number, len(meetings), f"{a.name} v {b.name}"))
        told, _ = meet(a, b, terms)
        mean, half = best_figure(told)
        rows.append(
            told | {"small_bets_per_hand": mean / 1000, "ci95": half / 1000, "says": verdict(told)}
        )
    return {
        "experiment": "fell-omen",
        "game": LIMIT_HOLDEM.name,
        "seed": seed,
        "hands": terms.hands,
        "missing": stable.missing,
        "trained": {one.name: one.facts for one in (*family, *further)},
        "meetings": rows,
        "document": DOCUMENT,
        "claims": claims(rows),
    }


def claims(rows: list[Data]) -> Data:
    """What must hold, and where it does not: True, False, or None if it was not played."""
    says = {(row["a"], row["b"]): row["says"] for row in rows}
    newest = says.get(("fell-omen-2", "inot"))
    unbeaten = {
        name: [other for other in SUITE if says.get((name, other), "wins") != "wins"]
        for name in FAMILY
        if any(a == name and b in SUITE for a, b in says)
    }
    return {
        "fell_omen_2_not_beaten_by_inot": None if newest is None else newest != "loses",
        "not_beaten_beyond_doubt": unbeaten,
    }
