"""Random numbers inside kernels: SplitMix64 (Steele, Lea and Flood 2014).

A stream is one number, its state, which moves on by `STEP`; scrambled it is the next random number.
Kernels keep the state in a register while they walk, so that drawing costs a few multiplications:

    state += STEP
    share = unit(state)
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from equipoise.kernel import kernel

_U = np.uint64
STEP = _U(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = _U(0xBF58476D1CE4E5B9), _U(0x94D049BB133111EB)
_FRACTION = 2.0**-53


@kernel
def scramble(state):
    """The random number of a state: 64 bits."""
    z = (state ^ (state >> _U(30))) * _MIX1
    z = (z ^ (z >> _U(27))) * _MIX2
    return z ^ (z >> _U(31))


@kernel
def unit(state):
    """The random number of a state, from 0 to less than 1."""
    return np.float64(scramble(state) >> _U(11)) * _FRACTION
