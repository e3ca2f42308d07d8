"""What does not fit is refused with cuts that suffice, each with what it saves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from equipoise.cards.range import Range
from equipoise.errors import TooLargeError
from equipoise.games.spot import Spot
from equipoise.solve.spots import fitting
from equipoise.solve.spots.cost import spot_cost
from equipoise.solve.spots.fitting import advice, best_of, check_fits, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "spots"
SIZES = {"bets": "33%,75%,150%,a", "raises": ["60%,100%,a", "a"]}
TURN = Spot("Ks8d3c2h", "22+,A2s+,KTs+,QJs", "TT+,AQs+,KQs,76s", 10, 190, menu=SIZES)
DONKS = replace(
    TURN, menu={"bets": "75%", "raises": "60%", "river": {"oop": {"donks": "33%,a"}}}
)  # fmt: skip
FLOP = Spot("Td9d6h", "22+,A2s+", "TT+,AKs", pot=10, stack=90, menu="33%,75%,a")


@pytest.mark.parametrize(
    ("spot", "share", "compressed"),
    [
        *((spot, share, False) for spot in (TURN, DONKS) for share in (0.9, 0.4, 0.1, 0.01)),
        *((spot, share, True) for spot in (TURN, DONKS) for share in (0.4, 0.01)),
        (FLOP, 0.1, False),
    ],
)
def test_the_cuts_suffice_and_each_saves_what_it_says(spot, share, compressed):
    needed = spot_cost(spot).memory_bytes(compressed)
    limit = int(share * needed)
    found = cuts(spot, limit, compressed)
    for cut in found:
        # As a player would: the spot written, cut, read again, and counted anew.
        again = Spot.from_toml(cut.spot.to_toml())
        assert spot_cost(again).memory_bytes(cut.compressed) == cut.memory_bytes
        assert cut.saved_bytes == needed - cut.memory_bytes > 0
        assert needed > limit, "nothing is cut once it fits"
        needed = cut.memory_bytes
    assert needed <= limit
    assert check_fits(found[-1].spot, limit, found[-1].compressed)


def test_what_costs_no_play_is_cut_first_and_the_middle_size_last():
    needed = spot_cost(TURN).memory_bytes()
    assert [cut.words for cut in cuts(TURN, needed)] == []
    assert [cut.words for cut in cuts(TURN, int(0.6 * needed))] == ["store 16-bit numbers"]
    found = cuts(TURN, int(0.02 * needed))
    assert found[0].words == "store 16-bit numbers"
    assert any(cut.words == "drop the river's 33% bet" for cut in found)
    assert not any("75% bet" in cut.words for cut in found)
    last = found[-1].spot.menu.street(1)[0]
    assert [str(size) for size in last.bets] in (["75%"], ["75%", "a"])


def test_donk_bets_go_before_raises():
    needed = spot_cost(DONKS).memory_bytes(compressed=True)
    found = cuts(DONKS, int(0.5 * needed), compressed=True)
    assert "drop the river's donk bets of oop" in [cut.words for cut in found]


def test_a_refusal_lists_the_cuts_and_what_is_left():
    spot = Spot.load(EXAMPLES / "flop_basic.toml")
    cost = spot_cost(spot)
    assert check_fits(spot, 10**9) == cost
    with pytest.raises(TooLargeError) as caught:
        check_fits(spot, cost.memory_bytes() - 1)
    assert str(caught.value) == (
        "the spot needs 659 MB and 659 MB may be used: "
        "store 16-bit numbers (saves 311 MB); that leaves 347 MB"
    )
    packed = cost.memory_bytes(compressed=True)
    assert check_fits(spot, packed, compressed=True) == cost
    with pytest.raises(TooLargeError) as caught:
        check_fits(spot, packed - 1, compressed=True)
    assert "16-bit" not in str(caught.value)
    assert "(saves " in str(caught.value)
    with pytest.raises(TooLargeError, match="begin on a later street"):
        check_fits(spot, 10**4)


def test_where_nothing_can_be_cut_that_is_said():
    assert advice((), 1) == "nothing can be cut: begin on a later street"


def test_weak_hands_go_when_no_bet_is_left_to_cut():
    river = Spot("Ks8d3c2h7d", "22+,A2s+,K2s+,Q5s+", "22+,A2s+,K9s+", pot=100, stack=90, menu="a")
    limit = int(0.5 * spot_cost(river).memory_bytes(compressed=True))
    found = cuts(river, limit)
    assert "of both ranges" in found[-1].words
    assert found[-1].memory_bytes <= limit
    assert found[-1].spot.oop_range.weights.sum() < river.oop_range.weights.sum()


def test_the_best_of_a_range_keeps_weights_and_at_least_one_class():
    hands = Range.parse("AA:0.5,72o,KK")
    assert str(best_of(hands, 100)) == str(hands)
    assert str(best_of(hands, 50)) == "AA:0.5,KK"
    assert str(best_of(hands, 0)) == "AA:0.5"


def test_the_limit_is_the_memory_there_is(monkeypatch):
    monkeypatch.setattr(fitting, "available_bytes", lambda: 10**6)
    with pytest.raises(TooLargeError, match=r"0\.8 MB may be used"):
        check_fits(Spot.load(EXAMPLES / "turn_medium.toml"))
    assert check_fits(Spot.load(EXAMPLES / "river_small.toml")).boards == (1,)


def test_what_does_not_fit_counts_from_the_line():
    turn = Spot.load(EXAMPLES / "turn_medium.toml")
    late = replace(turn, line="bet 50, raise 120")
    assert spot_cost(late).numbers < spot_cost(turn).numbers
    limit = spot_cost(late).memory_bytes(True) - 1
    found = cuts(late, limit)
    assert found[-1].spot.line == late.line
    assert found[-1].memory_bytes <= limit
