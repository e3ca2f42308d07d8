"""The benchmark of searches, on so little that a test can afford it."""

from __future__ import annotations

import pytest

from equipoise.bench import search


def test_every_figure_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    small = search.Case("river", 400, 600, "a", "a", 0.06)
    turn = search.Case("turn", 4000, 2000, "a", "a", 3.0)
    monkeypatch.setattr(search, "CASES", (small, turn))
    monkeypatch.setattr(search, "reference_seconds", lambda: search.REFERENCE_SECONDS)
    told = search.run()
    names = [one["name"] for one in told["figures"]]
    assert names[3] == "river 400/600, a | a (4): to 0.5 %"
    assert {one["name"]: one["value"] for one in told["figures"]}[names[2]] == 1.0
    assert all(one["value"] > 0 for one in told["figures"][:7])
    assert any("two solves side by side" in one.get("target", "") for one in told["figures"])


def test_the_table_has_the_trees_it_names() -> None:
    decisions = [int((case.subgame().betting.kind < 2).sum()) for case in search.CASES]
    assert decisions == [60, 216, 1308, 152, 72, 120]
