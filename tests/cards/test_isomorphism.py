import itertools
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.cards import isomorphism
from equipoise.cards.card import parse_cards
from equipoise.cards.isomorphism import DEALS, HandIndexer
from equipoise.errors import CardError, TooLargeError

RENAMINGS = list(itertools.permutations(range(4)))


def rename(cards, renaming):
    return tuple(4 * (card // 4) + renaming[card % 4] for card in cards)


def sorted_rounds(cards, rounds):
    """Each round of the deal as a sorted tuple; the last rounds may be missing."""
    ends = list(itertools.accumulate(rounds, initial=0))
    parts = (tuple(sorted(cards[a:b])) for a, b in itertools.pairwise(ends))
    return tuple(part for part in parts if part)


def slow_canonical(cards, rounds):
    """The obvious canonical form: the least of the 24 renamed deals."""
    return min(sorted_rounds(rename(cards, renaming), rounds) for renaming in RENAMINGS)


def slow_canonical_many(deals, rounds):
    """The same of many whole deals, each told as a number whose digits are its cards."""
    ends = list(itertools.accumulate(rounds, initial=0))
    digits = 52 ** np.arange(ends[-1] - 1, -1, -1, dtype=np.int64)
    told = []
    for renaming in RENAMINGS:
        renamed = 4 * (deals // 4) + np.array(renaming)[deals % 4]
        for a, b in itertools.pairwise(ends):
            renamed[:, a:b].sort(axis=1)
        told.append(renamed @ digits)
    return np.min(told, axis=0)


def slow_multiplicity(cards, rounds):
    return len({sorted_rounds(rename(cards, renaming), rounds) for renaming in RENAMINGS})


def random_deals(count, cards, rng):
    return rng.random((count, 52)).argsort(axis=1)[:, :cards].astype(np.uint8)


def every_deal(rounds):
    """All deals, each round as a sorted set."""

    def extend(deal, left):
        if not left:
            yield deal
            return
        unseen = [card for card in range(52) if card not in deal]
        for cards in itertools.combinations(unseen, left[0]):
            yield from extend(deal + cards, left[1:])

    return extend((), rounds)


@st.composite
def deals_of(draw, rounds):
    """A deal of some number of whole rounds."""
    width = draw(st.sampled_from(list(itertools.accumulate(rounds))))
    return tuple(draw(st.lists(st.integers(0, 51), min_size=width, max_size=width, unique=True)))


def test_number_of_classes():
    deals = isomorphism.deals()
    assert [deals.size(r) for r in range(4)] == [169, 1_286_792, 55_190_538, 2_428_287_420]
    assert isomorphism.turn_hands().size(1) == 13_960_050
    assert isomorphism.river_hands().size(1) == 123_156_254
    assert isomorphism.flops().size(0) == 1_755
    assert isomorphism.turn_boards().size(0) == 16_432
    assert isomorphism.river_boards().size(0) == 134_459
    boards = isomorphism.dealt_boards()
    assert [boards.size(r) for r in range(3)] == [1_755, 63_193, 2_554_656]


def test_accessors_share_one_indexer():
    assert isomorphism.deals() is isomorphism.deals()
    assert isomorphism.deals().rounds == DEALS


@pytest.mark.parametrize("rounds", [(1,), (2,), (3,), (1, 1), (2, 1)])
def test_index_of_every_deal_is_the_slow_twins_class(rounds):
    """Exhaustive: the index is a bijection from classes, and multiplicities count their deals."""
    every = np.array(list(every_deal(rounds)))
    forms = slow_canonical_many(every, rounds).tolist()
    indexer = HandIndexer(rounds)
    last = len(rounds) - 1
    index = indexer.index_many(every)
    classes = dict(zip(forms, index.tolist(), strict=True))
    assert [classes[form] for form in forms] == index.tolist()
    assert sorted(classes.values()) == list(range(indexer.size(last)))
    all_indices = np.arange(indexer.size(last))
    counts = np.bincount(index, minlength=indexer.size(last))
    assert np.array_equal(indexer.multiplicity_many(last, all_indices), counts)
    canonical = indexer.unindex_many(last, all_indices)
    assert np.array_equal(indexer.index_many(canonical), all_indices)


def test_flops_of_random_hole_cards_agree_with_the_slow_twin():
    rng = np.random.default_rng(3)
    indexer = isomorphism.deals()
    class_of_index = {}
    index_of_class = {}
    for hole in [*random_deals(1, 2, rng).tolist(), parse_cards("AsAh"), parse_cards("7d2d")]:
        unseen = [card for card in range(52) if card not in hole]
        flops = np.array(list(itertools.combinations(unseen, 3)), dtype=np.uint8)
        some = flops[rng.choice(len(flops), 2_500, replace=False)]
        rows = np.column_stack([np.tile(np.array(hole, dtype=np.uint8), (len(some), 1)), some])
        forms = slow_canonical_many(rows.astype(np.int64), DEALS[:2]).tolist()
        for form, index in zip(forms, indexer.index_many(rows).tolist(), strict=True):
            assert class_of_index.setdefault(index, form) == form
            assert index_of_class.setdefault(form, index) == index
    assert len(class_of_index) > 1_000


@pytest.mark.parametrize("rounds", [DEALS, (2, 4), (2, 5), (3, 1, 1), (5,), (4, 4), (8, 8), (1, 6)])
def test_random_indices_come_back_and_multiplicities_are_the_twins(rounds):
    rng = np.random.default_rng(5)
    indexer = HandIndexer(rounds)
    for r in range(len(rounds)):
        size = indexer.size(r)
        indices = np.concatenate([[0, size - 1], rng.integers(0, size, 20_000)])
        deals = indexer.unindex_many(r, indices)
        assert np.array_equal(indexer.index_many(deals), indices)
        multiplicities = indexer.multiplicity_many(r, indices)
        for deal, multiplicity in zip(deals[:100].tolist(), multiplicities[:100], strict=True):
            assert slow_multiplicity(deal, rounds) == multiplicity
            assert deal == [card for part in sorted_rounds(deal, rounds) for card in part]


@pytest.mark.parametrize("rounds", [(2, 3), (3, 1)])
def test_every_index_comes_back(rounds):
    indexer = HandIndexer(rounds)
    indices = np.arange(indexer.size(1))
    assert np.array_equal(indexer.index_many(indexer.unindex_many(1, indices)), indices)


@pytest.mark.parametrize("rounds", [(2,), (3,), (4,), (5,), (2, 3), (3, 1), (3, 1, 1), (1, 1, 1)])
def test_multiplicities_sum_to_the_number_of_deals(rounds):
    indexer = HandIndexer(rounds)
    last = len(rounds) - 1
    unseen = itertools.accumulate(rounds, lambda left, cards: left - cards, initial=52)
    deals = math.prod(map(math.comb, unseen, rounds))
    assert indexer.multiplicity_many(last, np.arange(indexer.size(last))).sum() == deals


@given(deals_of(DEALS))
def test_all_renamings_share_the_index(deal):
    indexer = isomorphism.deals()
    renamed = np.array([rename(deal, renaming) for renaming in RENAMINGS], dtype=np.uint8)
    assert set(indexer.index_many(renamed).tolist()) == {indexer.index(deal)}


@given(deals_of(DEALS), st.randoms())
def test_order_inside_a_round_does_not_matter(deal, random):
    parts = [list(part) for part in sorted_rounds(deal, DEALS)]
    for part in parts:
        random.shuffle(part)
    shuffled = [card for part in parts for card in part]
    assert isomorphism.deals().index(shuffled) == isomorphism.deals().index(deal)


def test_order_of_rounds_matters():
    first, second = parse_cards("AsKs QsJs2h 7c 8d"), parse_cards("AsKs QsJs2h 8d 7c")
    assert isomorphism.deals().index(first) != isomorphism.deals().index(second)
    assert isomorphism.river_hands().index(first) == isomorphism.river_hands().index(second)


@given(deals_of(DEALS))
def test_canonical_deal_is_in_the_class_and_stands_for_it(deal):
    indexer = isomorphism.deals()
    canonical = indexer.canonical(deal)
    assert slow_canonical(canonical, DEALS) == slow_canonical(deal, DEALS)
    assert all(indexer.canonical(rename(deal, renaming)) == canonical for renaming in RENAMINGS[:6])


@settings(max_examples=200)
@given(deals_of(DEALS), st.data())
def test_deals_a_card_apart_share_an_index_only_with_their_class(deal, data):
    """Near misses: swap one card and the index moves exactly when the slow class does."""
    position = data.draw(st.integers(0, len(deal) - 1))
    card = data.draw(st.sampled_from([card for card in range(52) if card not in deal]))
    other = (*deal[:position], card, *deal[position + 1 :])
    indexer = isomorphism.deals()
    same_class = slow_canonical(other, DEALS) == slow_canonical(deal, DEALS)
    assert (indexer.index(other) == indexer.index(deal)) == same_class


def test_batches_agree_with_single_deals_on_any_number_of_threads():
    rows = random_deals(501, 7, np.random.default_rng(11))
    indexer = isomorphism.deals()
    single = [indexer.index(row) for row in rows.tolist()]
    for threads in (None, 1, 2, 3):
        index = indexer.index_many(rows, threads=threads)
        assert index.tolist() == single
        canonical = indexer.unindex_many(3, index, threads=threads)
        assert [tuple(row) for row in canonical.tolist()] == [indexer.unindex(3, i) for i in single]
        counts = indexer.multiplicity_many(3, index, threads=threads)
        assert counts.tolist() == [indexer.multiplicity(3, i) for i in single]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_any_integer_array_is_welcome(dtype):
    rows = random_deals(50, 7, np.random.default_rng(2))
    turned = np.asfortranarray(rows.astype(dtype))
    indexer = isomorphism.deals()
    assert np.array_equal(indexer.index_many(turned), indexer.index_many(rows))
    assert np.array_equal(indexer.index_many(rows[::2]), indexer.index_many(rows)[::2])


def test_no_deals_give_no_indices():
    indexer = isomorphism.deals()
    assert indexer.index_many(np.empty((0, 5), dtype=np.uint8)).shape == (0,)
    assert indexer.unindex_many(1, []).shape == (0, 5)
    assert indexer.multiplicity_many(1, []).shape == (0,)


@pytest.mark.parametrize(
    ("cards", "text"),
    [
        ((3, 3), "appears twice"),
        ((3, 52), "from 0 to 51"),
        ((-1, 3), "from 0 to 51"),
        ((0, 1, 2), "3 cards: rounds .* end at 2, 5, 6, 7 cards"),
        ((), "0 cards"),
        ((0, 1, 2, 3, 4, 5, 4), "appears twice"),
    ],
)
def test_impossible_deals_are_refused(cards, text):
    with pytest.raises(CardError, match=text):
        isomorphism.deals().index(cards)
    with pytest.raises(CardError, match=text):
        isomorphism.deals().canonical(cards)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("card", "text"), [(52, "from 0 to 51"), (116, "from 0 to 51"), (None, "appears twice")]
)
def test_a_batch_names_its_first_bad_row(dtype, threads, card, text):
    rows = random_deals(1_000, 7, np.random.default_rng(4)).astype(dtype)
    for row in (333, 777):
        rows[row, 4] = rows[row, 0] if card is None else card
    with pytest.raises(CardError, match=rf"row 333: .*{text}"):
        isomorphism.deals().index_many(rows, threads=threads)


def test_batches_of_the_wrong_form_are_refused():
    indexer = isomorphism.deals()
    for rows in (np.zeros(7, dtype=np.uint8), np.zeros((2, 7)), np.zeros((2, 4), dtype=np.uint8)):
        with pytest.raises(CardError):
            indexer.index_many(rows)
    with pytest.raises(CardError, match="row 0: -1: a card"):
        indexer.index_many([[-1, 3]])


@pytest.mark.parametrize("index", [-1, 169, 2**70])
def test_indices_out_of_range_are_refused(index):
    indexer = isomorphism.deals()
    with pytest.raises(CardError, match="indices 0 to 168"):
        indexer.unindex(0, index)
    with pytest.raises(CardError, match="indices 0 to 168"):
        indexer.multiplicity(0, index)


def test_batches_of_indices_are_checked():
    indexer = isomorphism.deals()
    for many in (indexer.unindex_many, indexer.multiplicity_many):
        for wrong in (-1, 169):
            with pytest.raises(CardError, match=f"row 1: index {wrong}"):
                many(0, [168, wrong])
        with pytest.raises(CardError, match="row 0: index"):
            many(0, np.array([2**64 - 1], dtype=np.uint64))
        with pytest.raises(CardError, match="one-dimensional"):
            many(0, [[1]])
        with pytest.raises(CardError, match="integers"):
            many(0, [1.0])
        with pytest.raises(CardError, match="no round 4"):
            many(4, [0])


@pytest.mark.parametrize("round", [-1, 4])
def test_rounds_that_are_not_dealt_are_refused(round):
    with pytest.raises(CardError, match="rounds 0 to 3"):
        isomorphism.deals().size(round)


def test_fractions_are_refused():
    indexer = isomorphism.deals()
    for wrong in (
        lambda: indexer.index((0.5, 3)),
        lambda: indexer.unindex(0, 1.5),
        lambda: indexer.unindex(0.5, 1),
        lambda: indexer.multiplicity_many(0.5, [1]),
        lambda: HandIndexer((2.5,)),
    ):
        with pytest.raises(CardError, match="whole numbers"):
            wrong()


@pytest.mark.parametrize("rounds", [(), (0,), (2, -1), (50, 3)])
def test_impossible_rounds_are_refused(rounds):
    with pytest.raises(CardError, match="at least one card"):
        HandIndexer(rounds)


@pytest.mark.parametrize(
    ("rounds", "text"),
    [((13, 13, 13), "tables"), ((1,) * 20, "tables"), ((12, 13), "2^60")],
)
def test_indexes_too_large_for_their_tables_or_numbers_are_refused(rounds, text):
    with pytest.raises(TooLargeError, match=re.escape(text)):
        HandIndexer(rounds).size(len(rounds) - 1)


def test_a_suit_never_holds_more_than_thirteen_ranks():
    """With 51 of 52 cards in one round, a class is the rank that is missing."""
    indexer = HandIndexer((51,))
    assert indexer.size(0) == 13
    deals = indexer.unindex_many(0, np.arange(13))
    missing = [(set(range(52)) - set(deal)).pop() for deal in deals.tolist()]
    assert sorted(card // 4 for card in missing) == list(range(13))
    assert np.array_equal(indexer.index_many(deals), np.arange(13))
    assert set(indexer.multiplicity_many(0, np.arange(13)).tolist()) == {4}


def test_importing_builds_no_table():
    code = (
        "import equipoise.cards.isomorphism as iso\n"
        "assert iso._tables.cache_info().currsize == 0\n"
        "assert iso.index_rows.signatures == []\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
