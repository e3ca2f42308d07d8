import copy
import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from equipoise.cards.card import RANKS, SUITS, card_text, parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_CLASS, COMBO_COUNT, class_text, combo_text
from equipoise.cards.preflop import against_random
from equipoise.cards.range import Range
from equipoise.errors import CardError, EquipoiseError, RangeError

SPOT_RANGES = {
    "22+,A2s+,A8o+,K7s+,K9o+,Q8s+,Q9o+,J8s+,J9o+,T8+,97+,86+,75+,64s+,65o,54,43s": 526,
    "22+,A4s+,A9o+,K9s+,KTo+,Q9s+,QTo+,J9+,T9,98s,87s,76s,65s": 330,
    "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s": 202,
    "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+": 298,
}


def any_range():
    """Weights of every kind: even classes, uneven classes, tiny and full weights."""
    weight = st.one_of(
        st.sampled_from([0.0, 1.0, 0.5, 0.25]), st.floats(0, 1, width=32, allow_subnormal=True)
    ).map(np.float32)
    per_hand = hnp.arrays(np.float32, COMBO_COUNT, elements=weight, fill=weight)
    per_class = hnp.arrays(np.float32, 169, elements=weight, fill=weight)
    return st.one_of(per_hand, per_class).map(Range.from_weights)


def dyadic_range():
    """Weights in sixteenths, on which float arithmetic is exact."""
    weight = st.integers(0, 16).map(lambda n: n / 16)
    return hnp.arrays(np.float32, 169, elements=weight, fill=weight).map(Range.from_weights)


def names(text):
    """Class names in a range, told apart by the cards themselves."""
    found = set()
    for combo, _ in Range.parse(text):
        hi, lo = (card_text(int(card)) for card in COMBO_CARDS[combo])
        kind = "" if hi[0] == lo[0] else "s" if hi[1] == lo[1] else "o"
        found.add(hi[0] + lo[0] + kind)
    return found


@pytest.mark.parametrize(
    ("text", "combos"),
    [
        ("QQ+", 18),
        ("A2s+", 48),
        ("KTo-K8o", 36),
        ("22-55", 24),
        ("random", 1326),
        ("AK", 16),
        ("AKs+", 4),
        ("AKo", 12),
        ("AhKd", 1),
        ("A5s:0.5", 2),
        ("QQ+:75%", 13.5),
        ("random:50%", 663),
        ("none", 0),
        *SPOT_RANGES.items(),
    ],
)
def test_known_counts(text, combos):
    assert Range.parse(text).combos == combos


@pytest.mark.parametrize("text", SPOT_RANGES)
def test_canonical_text_is_what_solvers_write(text):
    assert str(Range.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("QQ+", "AA KK QQ"),
        ("T8+", "T9s T8s T9o T8o"),
        ("KTs+", "KQs KJs KTs"),
        ("KTo-K8o", "KTo K9o K8o"),
        ("K8o-KTo", "KTo K9o K8o"),
        ("55-33", "55 44 33"),
        ("JTs-76s", "JTs T9s 98s 87s 76s"),
        ("75o-97o", "97o 86o 75o"),
        ("A3-A2", "A3s A3o A2s A2o"),
        ("KAs", "AKs"),
        ("A10s, 1010", "ATs TT"),
    ],
)
def test_classes_named_by_an_item(text, classes):
    assert names(text) == set(classes.split())


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("qq+, aks ,AHKD", "QQ+,AKs,AhKd"),
        ("QQ +\n\nA5s - A2s : 50 %", "QQ+,A5s-A2s:0.5"),
        ("QQ+ AKs;AQs", "QQ+,AKs,AQs"),
        ("Ah Kd", "KdAh"),
        ("10h 9h", "Th9h"),
        ("22–55", "22-55"),
        ("any", "random"),
        ("100%", "random"),
        ("AA,,KK,", "AA,KK"),
        ("[50]AA,KK[/50],QQ", "AA:0.5,KK:0.5,QQ"),
        ("[33.5]AhKd[/33.5]", "AhKd:33.5%"),
        ("A5s:.5", "A5s:5e-1"),
        ("top15%", "TOP 15 %"),
        ("top 100%", "random"),
        ("top 20%:0.5, AA", "top 20%:50%,AA:1"),
    ],
)
def test_spellings_of_one_range(text, same):
    assert Range.parse(text) == Range.parse(same)


def test_last_item_wins():
    assert Range.parse("random, AA:0") == ~Range.parse("AA")
    assert Range.parse("AKs:0.25, AsKs").weight("AsKs") == 1
    assert Range.parse("AsKs, AKs:0.25").weight("AsKs") == 0.25
    assert not Range.parse("AA, none")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Range.empty()"),
        (" , \n", "'none'"),
        ("QQ, AKx", "'AKx': expected s, o or nothing after the two ranks"),
        ("A5s:2", "'A5s:2': a weight is between 0 and 1"),
        ("A5s:101%", "a weight is between 0 and 1"),
        ("A5s:-1", "write the weight as a number"),
        ("A5s:nan", "write the weight as a number"),
        ("A5s:", "write the weight as a number"),
        ("A5s:0.5:0.5", "write the weight as a number"),
        ("AhAh", "'AhAh': Ah appears twice"),
        ("KTo-K8s", "'KTo-K8s': both ends are suited, both offsuit, or both neither"),
        ("AKs-AQ", "both ends"),
        ("AA-AKs", "from pair to pair"),
        ("A9s-T9s", "share the high card (KTo-K8o) or the gap"),
        ("QQ+-22", "either a span or a +"),
        ("QQs", "a pair takes neither s nor o, write QQ"),
        ("AhKd+", "a single hand takes no + or -"),
        ("A", "expected two ranks"),
        ("AK-", "expected two ranks"),
        ("1K", "no rank '1'"),
        ("Ah", "no rank 'h'"),
        ("AKſ", "expected s, o or nothing"),
        ("15%", "'top 15%'"),
        ("top", "such as top 15%"),
        ("top 0%", "such as top 15%"),
        ("top 101%", "such as top 15%"),
        ("top 15", "such as top 15%"),
        ("none:0.5", "none takes no weight"),
        ("[50]AA", "close the block with [/50]"),
        ("AA[/50]", "open it with [50]"),
        ("[50]AA[/40]", "open it with [40]"),
        ("[50][40]AA[/40][/50]", "close [50] with [/50] first"),
        ("[50]AA:0.5[/50]", "drop one"),
        ("[500]AA[/500]", "a weight is between 0 and 1"),
    ],
)
def test_bad_text_names_the_item_and_the_cure(text, words):
    with pytest.raises(RangeError) as caught:
        Range.parse(text)
    assert words in str(caught.value)


@given(any_range())
@example(Range.from_weights(np.linspace(0, 1, 169)))
@example(Range.empty())
@example(Range.full())
@example(Range.full() * 1e-45)
@settings(max_examples=120, deadline=None)
def test_canonical_text_restores_every_weight(hands):
    again = Range.parse(str(hands))
    assert again == hands
    assert again.weights.tobytes() == hands.weights.tobytes()
    assert str(again) == str(hands)


def test_canonical_text_restores_random_float32():
    drawn = np.random.default_rng(3).random((40, COMBO_COUNT), dtype=np.float32)
    for weights in drawn:
        assert Range.parse(str(Range(weights))).weights.tobytes() == weights.tobytes()


def test_double_rounding_is_avoided():
    # The shortest decimal of this float32 rounds to its neighbour when read through float64.
    weight = np.uint32(0x15AE43FD).view(np.float32)
    assert np.float32(float(str(weight))) != weight
    hands = Range.from_weights(np.where(np.eye(13), weight, 0))
    assert Range.parse(str(hands)).weights.max() == weight


def test_canonical_text_examples():
    assert str(Range.parse("AA,KK:0.5,QQ:0.5")) == "AA,KK-QQ:0.5"
    assert str(Range.parse("AK, AQs")) == "AQs+,AKo"
    assert str(Range.parse("KQ")) == "KQ"
    assert str(Range.parse("QQ, JhJd:0.3")) == "QQ,JhJd:0.3"
    assert str(Range.parse("random:0.1")) == "random:0.1"
    assert str(Range.empty()) == "none"
    assert repr(Range.parse("QQ+")) == "Range.parse('QQ+')"


text_pieces = st.sampled_from(
    [*RANKS, *SUITS, *"so+-:%,.[]/ \n", "top ", "random", "none", "AK", "10", "0.5", "50", "e", "ſ"]
)


@given(st.one_of(st.text(max_size=30), st.lists(text_pieces, max_size=14).map("".join)))
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_or_refused(text):
    try:
        hands = Range.parse(text)
    except (RangeError, CardError):
        return
    assert Range.parse(str(hands)) == hands


@given(dyadic_range(), dyadic_range(), dyadic_range())
@settings(max_examples=40, deadline=None)
def test_set_algebra(a, b, c):
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b) | c == a | (b | c)
    assert a & (b | c) == (a & b) | (a & c)
    assert ~(a | b) == ~a & ~b
    assert ~~a == a
    assert a | Range.empty() == a & Range.full() == a
    assert a - Range.empty() == a
    assert not a - a
    assert Range.full() - a == ~a
    assert (a - b).combos + (a & b).combos == a.combos
    assert (0.5 * a).combos * 2 == a.combos


def test_operators_refuse_what_is_not_a_range():
    with pytest.raises(TypeError):
        Range.full() | "AA"
    with pytest.raises(TypeError):
        Range.full() * "2"
    with pytest.raises(RangeError, match="factor"):
        Range.full() * 2
    with pytest.raises(RangeError, match="factor"):
        Range.full() * float("nan")
    assert Range.full() != "random"


@given(st.floats(0.01, 100), st.floats(0.01, 100))
@settings(max_examples=80, deadline=None)
def test_top_share_is_exact_and_monotone(first, second):
    low, high = sorted((first, second))
    small, large = Range.parse(f"top {low:.6f}%"), Range.parse(f"top {high:.6f}%")
    assert small.fraction == pytest.approx(float(f"{low:.6f}") / 100, abs=1e-9, rel=1e-7)
    assert (small.weights <= large.weights).all()
    partial = {int(COMBO_CLASS[c]) for c, weight in small if weight < 1}
    assert len(partial) <= 1


def test_top_share_takes_the_best_classes():
    equity = against_random()
    hands = Range.parse("top 15%")
    held = hands.to_matrix().ravel() > 0
    assert equity[held].min() >= equity[~held].max()
    assert hands.combos == pytest.approx(198.9, abs=1e-5)
    assert str(Range.parse("top 0.1%")).startswith("AA:")


def test_blockers():
    hands = Range.full().without("As Kd")
    assert hands.count == 1326 - 51 - 51 + 1
    assert all("As" not in hand and "Kd" not in hand for hand in hands.hands())
    assert hands == Range.full().without(parse_cards("AsKd"))
    assert hands.without(()) == hands
    with pytest.raises(CardError):
        hands.without([52])
    with pytest.raises(CardError):
        hands.without([-1])


def test_questions():
    hands = Range.parse("AKs, QQ:0.5, 7h2d")
    assert hands.combos == 8
    assert hands.count == 11
    assert hands.fraction == 8 / 1326
    assert "AKs" in hands
    assert "AK" not in hands
    assert "7h2d" in hands
    assert "7h2c" not in hands
    assert 0 not in hands
    assert None not in hands
    assert hands.weight("QQ") == 0.5
    assert hands.weight("AK") == 0.25
    assert hands.weight("7d2h") == 0
    assert dict(hands) == {c: float(hands.weights[c]) for c in np.flatnonzero(hands.weights)}
    assert [combo_text(c) for c, _ in hands] == hands.hands()
    for bad in (-1, 1326, "AA:0", "zz"):
        with pytest.raises(RangeError):
            hands.weight(bad)


@given(any_range())
@settings(max_examples=20, deadline=None)
def test_matrix_is_the_mean_of_each_class(hands):
    matrix = hands.to_matrix()
    for place in (0, 1, 13, 80, 168):
        row, column = divmod(place, 13)
        members = [float(hands.weights[c]) for c in range(COMBO_COUNT) if COMBO_CLASS[c] == place]
        assert matrix[row, column] == pytest.approx(sum(members) / len(members), abs=1e-12)
        assert matrix[row, column] == pytest.approx(hands.weight(class_text(place)), abs=1e-12)


def test_suit_symmetry_agrees_with_exchanging_letters():
    rng = np.random.default_rng(5)
    swap = {s: str.maketrans(s, s[::-1]) for s in ("cd", "ch", "cs", "dh", "ds", "hs")}
    for _ in range(6):
        pair = ["cd", "ch", "cs", "dh", "ds", "hs"][rng.integers(6)]
        chosen = [combo_text(int(c)) for c in rng.choice(COMBO_COUNT, 5, replace=False)]
        one_sided = Range.parse(",".join(chosen))
        both = one_sided | Range.parse(",".join(hand.translate(swap[pair]) for hand in chosen))
        assert both.suit_symmetric(*pair)
        for other, table in swap.items():
            moved = Range.parse(",".join(hand.translate(table) for hand in one_sided.hands()))
            assert one_sided.suit_symmetric(*other) == (moved == one_sided)
            assert one_sided.suit_symmetric(SUITS.index(other[1]), SUITS.index(other[0])) == (
                moved == one_sided
            )
    assert Range.parse("QQ+").suit_symmetric("c", "C")
    for bad in ("x", "", "cd", 4, -1):
        with pytest.raises(CardError):
            Range.full().suit_symmetric(bad, "c")


def test_ranges_do_not_change():
    hands = Range.parse("AA")
    with pytest.raises(ValueError, match="read-only"):
        hands.weights[0] = 1
    with pytest.raises(AttributeError):
        hands._weights = np.ones(COMBO_COUNT, dtype=np.float32)
    source = np.zeros(COMBO_COUNT, dtype=np.float32)
    made = Range.from_weights(source)
    source[0] = 1
    assert made == Range.empty()
    for again in (pickle.loads(pickle.dumps(hands)), copy.deepcopy(hands)):
        assert again == hands
        assert not again.weights.flags.writeable


def test_equal_ranges_hash_alike():
    minus_zero = np.zeros(COMBO_COUNT, dtype=np.float32)
    minus_zero[7] = -0.0
    assert Range.from_weights(minus_zero) == Range.empty()
    assert len({Range.from_weights(minus_zero), Range.empty(), Range.parse("none")}) == 1
    assert len({Range.parse("AA"), Range.parse("KK")}) == 2


@pytest.mark.parametrize("digits", ["1" + "0" * 500_000 + "x", "." + "3" * 500_000 + "x"])
def test_digits_without_end_are_refused_at_once(digits):
    """Read digit by digit in all possible parts, these would take minutes."""
    for text in (f"AA:{digits}", f"[{digits}]AA", f"top{digits}%", f"{digits}%"):
        with pytest.raises(RangeError):
            Range.parse(text)


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(10),
        np.zeros((1326, 1)),
        np.full(1326, 1.5),
        np.full(1326, -0.1),
        np.full(1326, np.nan),
        np.full((13, 13), np.inf),
        "QQ+",
        None,
        ["a"] * 1326,
    ],
)
def test_bad_weights_are_refused(bad):
    with pytest.raises(EquipoiseError):
        Range.from_weights(bad)
