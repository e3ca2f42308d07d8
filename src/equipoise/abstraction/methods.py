"""The ways to make a card abstraction, by name, with settings as a recipe writes them.

    potential-aware   branching = [8, 12, 4, 4], or totals = [8, 96, 384, 1536]
    potential         flop, turn, river = { equity = 50, positive = [0.6, 0.8], negative = [0.75] },
                      remember = 5
    histograms        counts = [1000, 1000, 1000], metric = "emd" or "l2", river = "ochs" or "equity"
    hierarchical      clusters = 60, counts = [24, 20, 16], flat = [300, 1000, 1000]
    equity            count = 5, division = "quantile" or "width", remembers = true

Equity counts divisions that are equally likely, or lists the shares of hands below each border.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

from equipoise import artefact
from equipoise.cache import cache_folder
from equipoise.cards.streets import STREETS
from equipoise.errors import ArtefactError, GameError, RecipeError
from equipoise.run import Event, Listener
from equipoise.settings import SEED, Kind, check, choose

if TYPE_CHECKING:
    from equipoise.abstraction.abstraction import Abstraction
    from equipoise.abstraction.buckets.equity import EquityBuckets
    from equipoise.abstraction.buckets.hierarchical import HierarchicalBuckets
    from equipoise.abstraction.buckets.histograms import HistogramBuckets
    from equipoise.abstraction.buckets.potential import StreetDivision
    from equipoise.abstraction.buckets.potential_aware import PotentialAware

#: Buckets of a street are numbered in 16 bits, of which the last stands for none.
_MOST_BUCKETS = 65_535

Settings = Mapping[str, Any]


class Method(NamedTuple):
    """One way to make buckets."""

    #: Kind of each setting (:mod:`equipoise.settings`).
    kinds: Mapping[str, Kind]
    #: Buckets of each street that the settings ask for, without making any.
    counts: Callable[[Settings], tuple[int, ...]]
    #: Whether a player remembers the buckets he was in.
    remembers: Callable[[Settings], bool]
    #: Refuses settings that make no buckets, before anything is made.
    check: Callable[[Settings], object]
    make: Callable[[Settings, Listener, Listener | None], Abstraction]


def _totals(settings: Settings) -> tuple[int, ...]:
    if ("branching" in settings) == ("totals" in settings):
        raise RecipeError(
            "abstraction: give branching or totals, such as branching = [8, 12, 4, 4]"
        )
    given = settings.get("branching") or settings.get("totals") or ()
    if len(given) != 4 or min(given) < 1:
        raise RecipeError(f"abstraction: {list(given)}: give four numbers from 1 up, one a street")
    return tuple(accumulate(given, mul)) if "branching" in settings else tuple(given)


def _aware(settings: Settings) -> PotentialAware:
    from equipoise.abstraction.buckets.potential_aware import PotentialAware

    one, two, three, four = _totals(settings)
    more = {key: value for key, value in settings.items() if key not in ("branching", "totals")}
    return PotentialAware((one, two, three, four), **more)


def _potential_aware(settings: Settings, tell: Listener, progress: Listener | None) -> Abstraction:
    from equipoise.abstraction.buckets.potential_aware import potential_aware

    return potential_aware(_aware(settings), tell)


_STREETS = STREETS[1:]
_INOT = (
    {"equity": 50, "positive": [0.6, 0.8]},
    {"equity": 50, "positive": [0.75]},
    {"equity": 75},
)
_DIVISION: dict[str, Kind] = {"equity": "shares", "positive": "numbers", "negative": "numbers"}


def _divisions(settings: Settings) -> list[dict[str, Any]]:
    given = []
    for name, default in zip(_STREETS, _INOT, strict=True):
        kinds: dict[str, Kind] = {"equity": "shares"} if name == "river" else _DIVISION
        division = check(settings.get(name, default), kinds, f"abstraction.{name}")
        if "equity" not in division:
            raise RecipeError(f"abstraction.{name}: give equity, the number of divisions by it")
        equity = division["equity"]
        if isinstance(equity, int) and not 2 <= equity < _MOST_BUCKETS:
            raise RecipeError(
                f"abstraction.{name}.equity = {equity}: give 2 or more, fewer than {_MOST_BUCKETS:,}"
            )
        given.append(division)
    return given


def _potential_counts(settings: Settings) -> tuple[int, ...]:
    counts = [169]
    for division in _divisions(settings):
        equity = division["equity"]
        parts = equity if isinstance(equity, int) else len(equity) + 1
        counts.append(
            parts
            * (1 + len(division.get("positive", ())))
            * (1 + len(division.get("negative", ())))
        )
    times = _remembered(settings)
    return (169, *(times * count for count in counts[1:]))


def _remembered(settings: Settings) -> int:
    times = settings.get("remember", 1)
    if not 1 <= times <= 100:
        raise RecipeError(f"abstraction.remember = {times}: tell 1 to 100 divisions apart")
    return int(times)


def _check_potential(settings: Settings) -> object:
    return street_divisions(settings), _remembered(settings)


def street_divisions(
    settings: Settings,
) -> tuple[StreetDivision, StreetDivision, StreetDivision]:
    """How buckets of equity and potential divide flop, turn and river."""
    from equipoise.abstraction.buckets.potential import StreetDivision, even_shares

    divisions = []
    for given in _divisions(settings):
        equity = given["equity"]
        shares = even_shares(equity) if isinstance(equity, int) else tuple(equity)
        divisions.append(
            StreetDivision(
                shares, tuple(given.get("positive", ())), tuple(given.get("negative", ()))
            )
        )
    flop, turn, river = divisions
    return flop, turn, river


def _potential(settings: Settings, tell: Listener, progress: Listener | None) -> Abstraction:
    from equipoise.abstraction.buckets.potential import PotentialBuckets, potential_buckets

    divisions = street_divisions(settings)
    tell(Event(0, what="potentials and borders"))
    return potential_buckets(PotentialBuckets(divisions, _remembered(settings)), progress)


def _histogram_counts(settings: Settings) -> tuple[int, ...]:
    given = settings.get("counts", (1000, 1000, 1000))
    if len(given) != 3 or min(given) < 1:
        raise RecipeError(
            f"abstraction.counts = {list(given)}: give buckets of flop, turn and river"
        )
    return (169, *given)


def _clusters(settings: Settings) -> HistogramBuckets:
    from equipoise.abstraction.buckets.histograms import HistogramBuckets

    one, two, three = _histogram_counts(settings)[1:]
    rest = {key: value for key, value in settings.items() if key != "counts"}
    return HistogramBuckets((one, two, three), **rest)


def _histograms(settings: Settings, tell: Listener, progress: Listener | None) -> Abstraction:
    from equipoise.abstraction.buckets.histograms import histogram_buckets

    tell(Event(0, what="clusters of histograms"))
    return histogram_buckets(_clusters(settings), progress)


def _hierarchy(settings: Settings) -> HierarchicalBuckets:
    from equipoise.abstraction.buckets.hierarchical import HierarchicalBuckets

    told: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()
    }
    return HierarchicalBuckets(**told)


def _hierarchical_counts(settings: Settings) -> tuple[int, ...]:
    asked = _hierarchy(settings)
    return (169, *(asked.clusters * count for count in asked.counts))


def _hierarchical(settings: Settings, tell: Listener, progress: Listener | None) -> Abstraction:
    from equipoise.abstraction.buckets.hierarchical import hierarchical_buckets

    return hierarchical_buckets(_hierarchy(settings), tell, progress)


def _equity_counts(settings: Settings) -> tuple[int, ...]:
    count = settings.get("count", 5)
    if not 2 <= count <= 100:
        raise RecipeError(f"abstraction.count = {count}: choose from 2 to 100")
    found = tuple(accumulate([count] * 4, mul)) if _equity_remembers(settings) else (count,) * 4
    if found[-1] >= _MOST_BUCKETS:
        raise RecipeError(
            f"abstraction.count = {count}: {found[-1]:,} sequences of buckets, choose at most 15, "
            "or remembers = false"
        )
    return found


def _equity_remembers(settings: Settings) -> bool:
    return bool(settings.get("remembers", True))


def _levels(settings: Settings) -> EquityBuckets:
    from equipoise.abstraction.buckets.equity import EquityBuckets

    return EquityBuckets(**{key: settings[key] for key in ("count", "division") if key in settings})


def _equity(settings: Settings, tell: Listener, progress: Listener | None) -> Abstraction:
    import numpy as np

    from equipoise.abstraction.abstraction import Abstraction
    from equipoise.abstraction.definition import Definition
    from equipoise.abstraction.features.kernels import FULL_SCORE
    from equipoise.abstraction.features.rollouts import FULL

    tell(Event(0, what="equities"))
    buckets = _levels(settings)
    borders = buckets.borders / FULL
    definitions = [
        Definition("cuts", {"axes": ["equity"]}, {"borders0": borders[street]})
        for street in range(3)
    ]
    scores = np.arange(FULL_SCORE + 1) / FULL_SCORE
    digits = [np.arange(buckets.count)] * 3
    digits.append(np.searchsorted(borders[3], scores, side="right"))
    remembered = buckets.count if _equity_remembers(settings) else 0
    children = tuple(
        (remembered * np.arange(remembered**street)[:, None] + digit).astype(np.uint16)
        if remembered
        else digit.astype(np.uint16)[None]
        for street, digit in enumerate(digits)
    )
    name = f"equity {buckets.count} by {buckets.division}"
    return Abstraction(name, (*definitions, Definition("score")), children)


METHODS: dict[str, Method] = {
    "potential-aware": Method(
        {
            "branching": "wholes",
            "totals": "wholes",
            "river_cells": "whole",
            "turn_classes": "whole",
            "flop_classes": "whole",
            "allocation": "text",
            "seed": SEED,
        },
        _totals,
        lambda _: True,
        _aware,
        _potential_aware,
    ),
    "potential": Method(
        {**dict.fromkeys(_STREETS, "table"), "remember": "whole"},
        _potential_counts,
        lambda _: False,
        _check_potential,
        _potential,
    ),
    "histograms": Method(
        {"counts": "wholes", "metric": "text", "river": "text", "cells": "whole", "seed": SEED},
        _histogram_counts,
        lambda _: False,
        _clusters,
        _histograms,
    ),
    "hierarchical": Method(
        {"clusters": "whole", "counts": "wholes", "flat": "wholes", "seed": SEED},
        _hierarchical_counts,
        lambda _: False,
        _hierarchy,
        _hierarchical,
    ),
    "equity": Method(
        {"count": "whole", "division": "text", "remembers": "truth"},
        _equity_counts,
        _equity_remembers,
        _levels,
        _equity,
    ),
}


def checked(settings: Settings) -> tuple[str, dict[str, Any]]:
    """Method and its own settings, from a recipe's table.

    >>> checked({"method": "potential-aware", "branching": [8, 12, 4, 4]})[0]
    'potential-aware'
    >>> checked({"method": "potential-aware", "branchin": [8, 12, 4, 4]})
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: unknown key 'abstraction.branchin': did you mean
        'abstraction.branching'?
    """
    name = settings.get("method")
    if not isinstance(name, str):
        raise RecipeError(f"abstraction.method: choose from {', '.join(METHODS)}")
    method = METHODS[choose(name, METHODS, "abstraction.method")]
    own = {key: value for key, value in settings.items() if key != "method"}
    check(own, method.kinds, "abstraction")
    try:
        method.counts(own)
        method.check(own)
    except GameError as error:
        raise RecipeError(f"abstraction: {error}") from None
    return name, own


def bucket_counts(settings: Settings) -> tuple[int, ...]:
    """Buckets of each street that a recipe's table asks for.

    >>> bucket_counts({"method": "potential-aware", "branching": [8, 12, 4, 4]})
    (8, 96, 384, 1536)
    """
    name, own = checked(settings)
    return METHODS[name].counts(own)


def remembers(settings: Settings) -> bool:
    """Whether the buckets of a recipe's table have perfect recall."""
    name, own = checked(settings)
    return METHODS[name].remembers(own)


def make_abstraction(
    settings: Settings, tell: Listener = lambda _: None, progress: Listener | None = None
) -> Abstraction:
    """The abstraction of a recipe's table, from the cache folder, or made and kept there."""
    from equipoise.abstraction.abstraction import Abstraction

    name, own = checked(settings)
    configuration = {"method": name, **own}
    path = cache_folder() / f"abstraction-{artefact.fingerprint(configuration)}.safetensors"
    try:
        return Abstraction.load(path)
    except ArtefactError:
        made = METHODS[name].make(own, tell, progress)
    # What it was asked for, as a recipe would write it: the same settings make it again.
    made = replace(made, made_by=configuration)
    made.save(path)
    return made
