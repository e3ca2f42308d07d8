"""The benchmark of searches, on so little that a test can afford it."""

from __future__ import annotations

from functools import partial

import pytest

from equipoise.bench import search
from equipoise.errors import RecipeError
from equipoise.run import Event
from equipoise.search.gadgets import UNSAFE

RIVER = search.Case("river", 400, 600, "a", "a", 0.06)
TURN = search.Case("turn", 4000, 2000, "a", "a", 3.0)


def test_every_figure_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "CASES", (RIVER, TURN))
    monkeypatch.setattr(search, "GROWING", (TURN,))
    monkeypatch.setattr(search, "NATIVE", {"river_small": {0.3: 0.006}})
    monkeypatch.setattr(search, "stop_seconds", lambda: {"a clock": 0.1})
    monkeypatch.setattr(search, "reference_seconds", lambda: search.REFERENCE_SECONDS)
    monkeypatch.setattr(
        search, "threaded", lambda: {"turn": partial(search._solver, TURN.subgame(), UNSAFE)}
    )
    monkeypatch.setattr(search, "thread_gain", partial(search.thread_gain, seconds=0.01))
    heard: list[Event] = []
    told = search.run(listener=heard.append)
    assert [event.what for event in heard] == list(search.PARTS)
    names = [one["name"] for one in told["figures"]]
    assert names[3] == "river 400/600, a | a (4): to 0.5 %"
    values = {one["name"]: one["value"] for one in told["figures"]}
    assert values[names[2]] == 1.0
    assert all(one["value"] > 0 for one in told["figures"][:7])
    assert values["river_small: times as fast as natively to 0.3 %"] > 0
    assert values["the largest beside the cheapest"] == 1.0
    assert values["turn: of what is allowed"] > 0
    assert any("two solves side by side" in one.get("target", "") for one in told["figures"])


def test_parts_are_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "stop_seconds", lambda: {"a clock": 0.1})
    monkeypatch.setattr(search, "reference_seconds", lambda: 2 * search.REFERENCE_SECONDS)
    told = search.run(only="stops")["figures"]
    assert [one["value"] for one in told[2:]] == [0.5, 0.1]
    with pytest.raises(RecipeError, match="stops"):
        search.run(only="stop")


def test_a_search_inside_compiled_code_is_stopped() -> None:
    """By Ctrl-C as by a stop and a clock: without them it would go on for hours."""
    late = search.stop_seconds(TURN, patience=0.05)
    assert set(late) == {"Ctrl-C", "a stop", "a clock"}
    assert all(0 <= seconds < 10 for seconds in late.values())


def test_the_table_has_the_trees_it_names() -> None:
    decisions = [int((case.subgame().betting.kind < 2).sum()) for case in search.CASES]
    assert decisions == [60, 216, 1308, 152, 72, 120]
