"""Lines that no poker room writes are refused before a foreign parser gets to see them."""

from __future__ import annotations

import pytest

from equipoise.arena.histories.sites import sections
from equipoise.errors import HistoryError

HAND = """PokerStars Hand #123456789: Hold'em No Limit ($0.50/$1.00 USD) - 2024/01/02 12:00:00 ET
Table 'Aludra' 2-max Seat #1 is the button
Seat 1: Hero ($100 in chips)"""


@pytest.mark.parametrize("brackets", [400, 20_000])
def test_a_line_of_brackets_is_a_sentence(brackets):
    text = HAND + "(" * brackets + "\nSeat 2: Villain ($100 in chips)\n"
    (found,) = sections(text.splitlines(keepends=True), "pokerstars")
    assert isinstance(found, HistoryError)
    assert "a line of over 400 characters" in str(found)
