"""Small blueprints to play in tests: few buckets, and whatever strategy a test gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.definition import Definition
from equipoise.games.betting import Betting
from equipoise.solve.training.blueprint import Blueprint, columns_of
from equipoise.solve.training.forms import FORMS, BlueprintRows, part_type, quantised
from equipoise.solve.training.recipe import Model, Recipe

#: What is played at a node: [action, column].
Rows = Callable[[Betting, int, int], NDArray[np.float64]]


@cache
def halves() -> Abstraction:
    """All 169 classes before the flop; after it, better or worse than even."""
    cuts = Definition("cuts", {"axes": ["equity"]}, {"borders0": np.array([0.5])})
    two = np.array([[0, 1]], dtype=np.uint16)
    river = (np.arange(1981) >= 990).astype(np.uint16)[None]
    classes = np.arange(169, dtype=np.uint16)[None]
    definitions = (Definition("class"), cuts, cuts, Definition("score"))
    return Abstraction("halves", definitions, (classes, two, two, river))


def recipe(menu: dict[str, Any] | None, limit: bool = False) -> Recipe:
    told: dict[str, Any] = {
        "name": "tiny",
        "rules": {"game": "limit" if limit else "nolimit"},
        "abstraction": {"method": "equity", "count": 2, "remembers": False},
        "model": {"kind": "cards"},
        "solver": {"name": "cards"},
        "limit": {"iterations": 1},
    }
    return Recipe.from_dict(told | ({"menu": menu} if menu else {}))


def random_rows(betting: Betting, node: int, columns: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(node)
    weights = rng.dirichlet(np.full(int(betting.count[node]), 0.7), columns).T
    found: NDArray[np.float64] = weights
    return found


def tiny(
    menu: dict[str, Any] | None = None,
    rows: Rows = random_rows,
    form: str = "full",
    limit: bool = False,
    classes: int = 1,
) -> Blueprint:
    """A blueprint that plays `rows`."""
    if menu is None and not limit:
        menu = {"bets": "100%,a", "raises": "100%,a"}
    told, abstraction = recipe(menu, limit), halves()
    flops = None
    if classes > 1:
        flops = (np.arange(1755) % classes).astype(np.int8)
        told = replace(
            told, model=Model(kind="independent", classes="flop"), solver="cfr+", solver_settings={}
        )
    betting = Betting.build(told.rules, told.menu)
    parts = FORMS[form]
    layout = BlueprintRows.of(betting, columns_of(abstraction.counts, flops), form)
    weights = np.empty(layout.size, dtype=part_type(form))
    for node in np.flatnonzero(layout.offset >= 0).tolist():
        table = rows(betting, node, int(layout.columns[node]))
        block = quantised(table, parts) if parts else table.argmax(axis=0).astype(np.uint8)
        start = int(layout.offset[node])
        weights[start : start + block.size] = block.reshape(-1)
    return Blueprint(told, abstraction, form, weights, flops)
