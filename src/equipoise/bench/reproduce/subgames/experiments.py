"""Subgame solving on games where the truth is known, from a coin to a turn with all its rivers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from equipoise.bench.reproduce.subgames.closedforms import apart_table, coin_table, signs_table
from equipoise.bench.reproduce.subgames.leduc import leduc_table
from equipoise.bench.reproduce.subgames.nolimit import nested_table
from equipoise.bench.reproduce.subgames.smalldeck import depth_table, small_table
from equipoise.bench.reproduce.subgames.turnriver import NARROW, WIDE, turnriver_table
from equipoise.run import Event, Listener

Data = dict[str, Any]


def run(seed: int, quick: bool, progress: Listener) -> Data:
    """All experiments; quick ones have fewer iterations and narrower ranges."""
    ranges = NARROW if quick else WIDE
    iterations = 200 if quick else 1000
    steps: dict[str, Callable[[], Data]] = {
        "coin_toss": coin_table,
        "hand_signs": signs_table,
        "games_apart": apart_table,
        "leduc": lambda: leduc_table(iterations),
        "nolimit_leduc": lambda: {"tables": [nested_table(8.0), nested_table(20.0)]},
        "small_deck": lambda: small_table(iterations),
        "depth_limit": lambda: depth_table(iterations),
        "turn_and_rivers": lambda: turnriver_table(
            # So many bring the least margin of all rivers within a few thousandths of the pot.
            ranges,
            iterations=100 if quick else 2000,
            bucket_iterations=100 if quick else 400,
        ),
    }
    found: Data = {"seed": seed, "quick": quick}
    for number, (name, step) in enumerate(steps.items()):
        progress(Event(number, len(steps), name.replace("_", " ")))
        found[name] = step()
    return found
