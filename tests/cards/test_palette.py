"""Colours that stay apart for people who see no red, no green or no blue."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from equipoise.cards.chart import action_colours

#: Linear RGB as seen without one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHT = {
    "full": (1, 0, 0, 0, 1, 0, 0, 0, 1),
    "protan": (
        *(0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216),
        *(-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        *(0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413),
        *(-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        *(1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602),
        *(0.004733, 0.691367, 0.303900),
    ),
}


def lab(colour, sight):
    """CIE L*a*b* of a colour as somebody sees it."""
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.reshape(SIGHT[sight], (3, 3)) @ linear, 0, 1)
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ seen
    )
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 1e-9))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
def test_fold_call_bet_and_all_in_are_told_apart(sight):
    colours = action_colours(["fold", "call", "raise 300", "allin 20000"])
    for one, two in combinations(colours, 2):
        distance = float(np.linalg.norm(lab(one, sight) - lab(two, sight)))
        assert distance > 20, (one, two, distance)
