"""Jam or fold by stack, and the spots that studying begins with."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.cards.combos import class_text
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.run import Stop
from equipoise.solve.spots.cost import spot_cost
from equipoise.solve.study.presets import PRESETS, preset, preset_of
from equipoise.solve.study.shortstacks import ShortStacks, jam_charts

CLASSES = [class_text(number) for number in range(169)]


def test_hands_jam_up_to_a_stack_and_some_in_two_spans():
    found = ShortStacks([2, 3, 5, 8])
    assert found.stacks == (2, 3, 5, 8)
    deepest = dict(zip(CLASSES, found.deepest("jam"), strict=True))
    assert deepest["AA"] == deepest["A2o"] == 8
    assert deepest["72o"] <= 2
    # 53s is worth a jam when hardly anything can be folded out, not with three big blinds.
    assert found.spans("jam", CLASSES.index("53s")) == [(2, 2), (5, 8)]
    assert found.spans("jam", CLASSES.index("AA")) == [(2, 8)]
    for kind in ("jam", "call"):
        assert (found.frequencies(kind) >= 0).all()
        assert found.frequencies(kind).shape == (4, 169)
    shares = [chart.jam_share for chart in found.charts]
    assert np.all(np.diff(shares) < 0)
    columns = found.columns()
    assert columns["jam_spans_bb"][CLASSES.index("53s")] == "2–2, 5–8"
    assert found.charts[0] is jam_charts(2)


def test_odd_stacks_are_refused_and_a_stop_keeps_what_is_done(tmp_path):
    for stack in (1, 0, -3, float("nan"), 1e9):
        with pytest.raises(EquipoiseError, match="jam or fold is for more than 1"):
            jam_charts(stack)
    stop = Stop()
    found = ShortStacks([2, 3, 5], lambda event: stop.set(), stop)
    assert found.stacks == (2,)
    found.plot(tmp_path / "limits.png")
    assert (tmp_path / "limits.png").stat().st_size > 1000


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_spots_that_fit(name):
    spot = preset(name)
    assert preset_of(Spot.from_toml(spot.to_toml())) == name
    assert preset_of(preset(name, "Ah9h4h2c")) == name
    assert spot_cost(spot).memory_bytes(compressed=True) < 8e9
    total = spot.pot / 2 + spot.stack
    assert total / spot.parts in (40, 100, 200), "both put in the same before the flop"


def test_a_spot_of_ones_own_is_no_preset():
    assert preset_of(Spot("Ks8d3c", "AA", "KK", 5, 97)) == ""
