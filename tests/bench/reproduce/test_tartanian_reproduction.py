"""Who meets whom when Tartanian5's claims are tested."""

from __future__ import annotations

from equipoise.bench.reproduce.meetings import Stable
from equipoise.bench.reproduce.tartanian import _others


def test_blueprints_of_other_stacks_are_left_out() -> None:
    """The list has one for 100 big blinds, which no match of 200 can seat."""
    found = {contender.name for contender in _others(Stable(), "tartanian5")}
    assert {"flagship", "quick", "claudico"} <= found
    assert not found & {"flagship-100", "tartanian5"}
