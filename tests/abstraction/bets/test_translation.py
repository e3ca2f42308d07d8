"""Bet translation: the four properties, the printed figures, and what nearby menus do."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from equipoise.abstraction.bets.translation import MAPPINGS, mapping
from equipoise.errors import GameError

RANDOMISED = [name for name, found in MAPPINGS.items() if found.randomised]
DETERMINISTIC = [name for name, found in MAPPINGS.items() if not found.randomised]
GEOMETRIC = ["geometric-deterministic", "geometric-1", "geometric-2"]

every = pytest.mark.parametrize("name", MAPPINGS)


@st.composite
def gaps(draw: st.DrawFn) -> tuple[Fraction, Fraction]:
    """Neighbouring sizes in pots."""
    small = draw(st.fractions(0, 20, max_denominator=100))
    return small, small + draw(st.fractions(Fraction(1, 100), 50, max_denominator=100))


shares = st.fractions(0, 1, max_denominator=200)


def f(name: str, x: float, a: float, b: float, pot: float = 1) -> float:
    return MAPPINGS[name].smaller(x, a, b, pot)


def test_there_are_seven() -> None:
    assert len(MAPPINGS) == 7
    assert len(RANDOMISED) == 4
    assert mapping("pseudo-harmonic") is MAPPINGS["pseudo-harmonic"]


@given(gap=gaps())
def test_sizes_of_the_menu_are_themselves(gap: tuple[Fraction, Fraction]) -> None:
    a, b = gap
    for name in MAPPINGS:
        assert f(name, a, a, b) == 1, name
        assert f(name, b, a, b) == 0, name


@given(gap=gaps(), first=shares, second=shares)
def test_larger_bets_are_less_often_taken_for_the_smaller_size(
    gap: tuple[Fraction, Fraction], first: Fraction, second: Fraction
) -> None:
    a, b = gap
    assume(first < second)
    for name in MAPPINGS:
        low, high = (f(name, a + share * (b - a), a, b) for share in (first, second))
        assert 0 <= high <= low <= 1, name
        if name in RANDOMISED and (a > 0 or name not in GEOMETRIC):
            assert high < low, name


@pytest.mark.parametrize("name", GEOMETRIC)
def test_the_geometric_mappings_lose_monotonicity_at_a_check(name: str) -> None:
    assert f(name, 0, 0, 1) == 1
    assert {f(name, x, 0, 1) for x in (1e-9, 0.1, 0.5, 0.999)} == {0.0}


@given(gap=gaps(), share=shares, scale=st.fractions(Fraction(1, 50), 50, max_denominator=50))
def test_scaling_the_pot_too_changes_nothing(
    gap: tuple[Fraction, Fraction], share: Fraction, scale: Fraction
) -> None:
    a, b = gap
    x = a + share * (b - a)
    for name in MAPPINGS:
        chips = f(name, scale * x, scale * a, scale * b, scale)
        assert chips == pytest.approx(f(name, x, a, b), abs=1e-12), name
        if "harmonic" not in name:
            scaled = f(name, scale * x, scale * a, scale * b)
            assert scaled == pytest.approx(chips, abs=1e-12), name


def test_scaling_the_bets_alone_changes_the_pseudo_harmonic_mapping() -> None:
    assert f("pseudo-harmonic", 0.9, 0.5, 2) == pytest.approx(0.578947, abs=1e-6)
    assert f("pseudo-harmonic", 9, 5, 20) == pytest.approx(0.44)
    assert f("pseudo-harmonic", 9, 5, 20, 10) == pytest.approx(0.578947, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("arithmetic", (0.75, 0.751, 0.758, 0.789, 0.833)),
        ("geometric-1", (0, 0.012, 0.111, 0.429, 0.667)),
        ("geometric-2", (0, 0.015, 0.131, 0.439, 0.641)),
        ("pseudo-harmonic", (0.6, 0.601, 0.612, 0.663, 0.733)),
    ],
)
def test_a_quarter_of_the_pot(name: str, expected: tuple[float, ...]) -> None:
    found = [f(name, 0.25, a, 1) for a in (0, 0.001, 0.01, 0.05, 0.1)]
    assert found == pytest.approx(expected, abs=6e-4)


def test_a_fifth_of_the_pot_between_a_check_and_a_quarter() -> None:
    assert f("pseudo-harmonic", 0.2, 0, 0.25) == pytest.approx(1 / 6)
    assert f("pseudo-harmonic", 40, 0, 50, 200) == pytest.approx(1 / 6)


@given(gap=gaps(), share=shares)
def test_formulas_as_the_papers_write_them(gap: tuple[Fraction, Fraction], share: Fraction) -> None:
    a, b = gap
    assume(a > 0)
    x = a + share * (b - a)
    g = (a / x - a / b) / (1 - a / b)
    h = (x / b - a / b) / (1 - a / b)
    assert f("geometric-1", x, a, b) == pytest.approx(float(g / (g + h)))
    second = a * b * (a + b) / ((b - a) * (x * x + a * b)) + a / (a - b)
    assert f("geometric-2", x, a, b) == pytest.approx(float(second))
    called = f("pseudo-harmonic", x, a, b)
    defence = called / float(1 + a) + (1 - called) / float(1 + b)
    assert defence == pytest.approx(1 / float(1 + x))


@given(gap=gaps())
def test_a_deterministic_mapping_steps_where_its_randomised_one_is_even(
    gap: tuple[Fraction, Fraction],
) -> None:
    a, b = gap
    tiny = (b - a) / 10_000
    middle, harmonic = (a + b) / 2, (a + b + 2 * a * b) / (a + b + 2)
    for kind, step in (("arithmetic", middle), ("pseudo-harmonic", harmonic)):
        assert f(kind, step, a, b) == pytest.approx(0.5)
        assert f(f"{kind}-deterministic", step, a, b) == 1, "ties go to the smaller size"
        assert f(f"{kind}-deterministic", step - tiny, a, b) == 1
        assert f(f"{kind}-deterministic", step + tiny, a, b) == 0


@given(small=st.integers(1, 40), ratio=st.integers(2, 9))
def test_geometric_mappings_are_even_at_the_geometric_mean(small: int, ratio: int) -> None:
    mean, large = small * ratio, small * ratio * ratio
    assert f("geometric-1", mean, small, large) == pytest.approx(0.5)
    assert f("geometric-2", mean, small, large) == pytest.approx(0.5)
    assert f("geometric-deterministic", mean, small, large) == 1
    assert f("geometric-deterministic", mean + 1, small, large) == 0


floats = st.floats(0, 10)


@given(a=floats, moved=floats, rest=st.floats(0, 5), b=st.floats(0.2, 20))
def test_pseudo_harmonic_is_lipschitz_in_the_smaller_size(
    a: float, moved: float, rest: float, b: float
) -> None:
    # |df/dA| = (B - x)(1 + B) / ((1 + x)(B - A)²), at most (1 + B) / ((1 + x)(B - A)).
    x = max(a, moved) + rest
    assume(x < b)
    gap = b - max(a, moved)
    assume(gap > 0.05)
    bound = (1 + b) / ((1 + x) * gap)
    change = abs(f("pseudo-harmonic", x, a, b) - f("pseudo-harmonic", x, moved, b))
    assert change <= bound * abs(a - moved) + 1e-12


@given(a=floats, rest=st.floats(0, 5), more=st.floats(0.01, 5), moved=st.floats(0.01, 5))
def test_pseudo_harmonic_is_lipschitz_in_the_larger_size(
    a: float, rest: float, more: float, moved: float
) -> None:
    # |df/dB| = (1 + A)(x - A) / ((1 + x)(B - A)²), at most 1 / (B - A).
    x = a + rest
    bound = 1 / (rest + min(more, moved))
    change = abs(f("pseudo-harmonic", x, a, x + more) - f("pseudo-harmonic", x, a, x + moved))
    assert change <= bound * abs(more - moved) + 1e-9


@pytest.mark.parametrize("name", ["geometric-1", "geometric-2"])
@pytest.mark.parametrize("tiny", [1e-2, 1e-4, 1e-8])
def test_geometric_mappings_are_not_lipschitz_at_a_check(name: str, tiny: float) -> None:
    x = math.sqrt(tiny)
    jump = f(name, x, tiny, 1) - f(name, x, 0, 1)
    assert jump == pytest.approx(0.5)
    steady = abs(f("pseudo-harmonic", x, tiny, 1) - f("pseudo-harmonic", x, 0, 1))
    assert steady <= 2 * tiny / (1 - tiny)


@every
def test_a_bet_beyond_the_menu_is_taken_for_its_end(name: str) -> None:
    found = MAPPINGS[name]
    assert found.weights(5, [0, 1, 3]) == ((2, 1.0),)
    assert found.weights(0.2, [0.5, 1]) == ((0, 1.0),)
    assert found.weights(1, [0, 1, 3]) == ((1, 1.0),)
    assert found.weights(0.7, [0.5]) == ((0, 1.0),)


@every
@given(bet=st.integers(0, 700), draw=st.floats(0, 1, exclude_max=True))
def test_translate_draws_from_the_weights(name: str, bet: int, draw: float) -> None:
    sizes, found = [0, 50, 100, 600], MAPPINGS[name]
    weights = dict(found.weights(bet, sizes, 100))
    assert sum(weights.values()) == pytest.approx(1)
    assert all(chance > 0 for chance in weights.values())
    chosen = found.translate(bet, sizes, draw, 100)
    first = min(weights)
    assert chosen == (first if draw < weights[first] else max(weights))
    if name in DETERMINISTIC:
        assert len(weights) == 1


def test_translate_keeps_the_frequencies() -> None:
    count = 1000
    small = sum(
        MAPPINGS["pseudo-harmonic"].translate(25, [0, 100], (i + 0.5) / count, 100) == 0
        for i in range(count)
    )
    assert small == 600


@pytest.mark.parametrize(
    ("x", "a", "b", "pot"),
    [(0.5, 1, 2, 1), (3, 1, 2, 1), (1, 1, 1, 1), (0, -1, 1, 1), (1, 0, math.inf, 1),
     (math.nan, 0, 1, 1), (1, 0, 2, 0), (1, 0, 2, math.nan)],
)  # fmt: skip
def test_sizes_that_make_no_sense_are_refused(x: float, a: float, b: float, pot: float) -> None:
    with pytest.raises(GameError, match=r"give 0 <=|pot ="):
        f("arithmetic", x, a, b, pot)


def test_menus_and_draws_that_make_no_sense_are_refused() -> None:
    found = MAPPINGS["arithmetic"]
    with pytest.raises(GameError, match="from small to large"):
        found.weights(1, [])
    with pytest.raises(GameError, match="from small to large"):
        found.weights(1, [2, 1])
    with pytest.raises(GameError, match="give 0 or more"):
        found.weights(-1, [0, 1])
    with pytest.raises(GameError, match="less than 1"):
        found.translate(1, [0, 2], 1.0)
    with pytest.raises(GameError, match="use one of arithmetic"):
        mapping("nearest")
