"""The catalogue: names, parameters as text, sizes of the games, and what bad input is told."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from equipoise.cards.card import parse_cards
from equipoise.errors import EquipoiseError, GameError, TooLargeError
from equipoise.games.betting import Rake
from equipoise.games.catalogue import (
    clairvoyance,
    game,
    holdem_small,
    jamfold,
    kuhn,
    leduc,
    leduc_nolimit,
    listing,
    names,
    rhode_island,
)
from equipoise.games.dealing import hand_strength
from equipoise.games.game import Game
from equipoise.games.library.rhode_island import three_card_strength
from equipoise.games.library.smalldeck import SIZES
from equipoise.games.menu import BetMenu
from equipoise.games.nodes import FOLD


@pytest.mark.parametrize("name", [name for name in names() if name != "rhode-island"])
def test_every_game_is_whole(name: str) -> None:
    built = game(name)
    assert built.name.startswith(name)
    assert listing(name).description
    assert built.fingerprint() == game(name).fingerprint()
    check_chances(built)
    words = {built.state_name(built.deal.boards[0], 0, s) for s in range(built.deal.states(0, 0))}
    assert len(words) == built.deal.states(0, 0)


def check_chances(built: Game) -> None:
    """Probabilities of all boards of a round sum to 1, and nobody wins more than there is."""
    if built.deal.evaluator != "matrix":
        return
    for number in range(built.betting.rounds):
        total = 0.0
        for board in built.deal.boards:
            if board.round == number:
                assert board.mass is not None
                assert board.signed is not None
                assert (np.abs(board.signed) <= board.mass + 1e-12).all()
                total += board.mass.sum() * arrivals(built, board)
        assert total == pytest.approx(1.0, abs=1e-12)


def arrivals(built: Game, board) -> int:
    ways = 1
    while board.parent >= 0:
        ways *= len(board.arrivals)
        board = built.deal.boards[board.parent]
    return ways


@pytest.mark.parametrize("size", SIZES)
def test_named_decks_are_whole(size: str) -> None:
    built = holdem_small(size)
    check_chances(built)
    assert sum(built.information_sets()) > 1000


def test_sizes_of_toy_games() -> None:
    assert (kuhn().information_sets(), kuhn().sequences()) == ((6, 6), (13, 13))
    assert (leduc().information_sets(), leduc().sequences()) == ((144, 144), (337, 337))
    assert sum(leduc(suits=True).information_sets()) == 936


def test_rhode_island_is_as_large_as_it_should_be() -> None:
    built = rhode_island()
    boards = [sum(b.round == number for b in built.deal.boards) for number in range(3)]
    assert boards == [1, 13, 325]
    check_chances(built)
    betting = built.betting
    # The published count leaves out the sequences that end in a fold, and merges no suits.
    total, deals = 2, 1
    for number, (a, b) in enumerate(betting.spans()):
        deals *= 52 - number
        rows = int(betting.rows[number].sum())
        folds = int((betting.kind[a:b] == FOLD).sum())
        total += (rows - folds) * deals
    assert total == 91_224_226


def rank_three(cards: tuple[int, ...]) -> object:
    """The slow twin: three cards by the names of hands."""
    ranks, suited = sorted((c // 4 for c in cards), reverse=True), len({c % 4 for c in cards}) == 1
    if ranks == [12, 1, 0]:
        straight, ranks = True, [1, 0, -1]
    else:
        straight = ranks[0] - ranks[1] == ranks[1] - ranks[2] == 1
    if straight:
        return (5 if suited else 3), ranks
    if ranks[0] == ranks[2]:
        return 4, ranks
    if suited:
        return 2, ranks
    if len(set(ranks)) == 2:
        return 1, sorted(ranks, key=lambda rank: (ranks.count(rank), rank), reverse=True)
    return 0, ranks


def test_three_card_hands() -> None:
    strength = three_card_strength()
    deck = np.arange(52, dtype=np.int16)
    values: dict[int, object] = {}
    boards = list(combinations(range(52), 2))
    rng = np.random.default_rng(1)
    for chosen in rng.choice(len(boards), 120, replace=False):
        board = boards[chosen]
        hands = deck[~np.isin(deck, board)][:, None]
        for hand, value in zip(hands[:, 0].tolist(), strength(hands, board).tolist(), strict=True):
            ranked = rank_three((hand, *board))
            assert values.setdefault(value, ranked) == ranked
    order = sorted(values)
    assert sorted(values.values()) == [values[value] for value in order]
    assert len(values) > 300


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("Kh Qh Jh", "Ah Ad Ac"),
        ("2h 2d 2c", "Ah Kd Qc"),
        ("Ah 2d 3c", "Ah Kh Jh"),
        ("4h 2d 3c", "Ah 2d 3c"),
        ("2h 3h 5h", "Ah Ad Kc"),
        ("3h 3d 2c", "2h 2d Ac"),
    ],
)
def test_order_of_three_card_hands(better: str, worse: str) -> None:
    strength = three_card_strength()
    high, low = (
        strength(np.array([[cards[0]]], dtype=np.int16), cards[1:])[0]
        for cards in (parse_cards(better), parse_cards(worse))
    )
    assert high > low


def repeats(cards: tuple[int, ...], suits: int) -> object:
    """The slow twin: how often ranks come, then which."""
    ranks = [card // suits for card in cards]
    order = sorted(set(ranks), key=lambda rank: (ranks.count(rank), rank), reverse=True)
    return [ranks.count(rank) for rank in order], order


@pytest.mark.parametrize("held", [1, 2, 3, 4])
def test_hands_of_fewer_than_five_cards(held: int) -> None:
    strength = hand_strength(suits=3, ranks=4)
    values: dict[int, object] = {}
    for cards in combinations(range(12), held):
        hole, board = np.array([cards[:1]], dtype=np.int16), cards[1:]
        ranked = repeats(cards, 3)
        assert values.setdefault(int(strength(hole, board)[0]), ranked) == ranked
    assert sorted(values.values()) == [values[value] for value in sorted(values)]


def test_two_pair_beats_a_higher_pair() -> None:
    strength = hand_strength(suits=2, ranks=4)
    hands = np.array([[5, 3], [7, 0]], dtype=np.int16)  # KQ and AJ
    kings_up, aces = strength(hands[:1], (4, 2))[0], strength(hands[1:], (6, 2))[0]
    assert kings_up > aces


def test_parameters_as_text() -> None:
    built = game("leduc-nolimit", stack=" 6 ", menu="100%, a", suits="yes")
    assert built.betting.rules.stacks == (6, 6)
    assert built.name == "leduc-nolimit(stack=6, menu=100%,a, suits)"
    assert built.fingerprint() == leduc_nolimit(6, BetMenu.parse("100%,a"), True).fingerprint()
    assert game("leduc-nolimit", stack=12.0, menu="none").name == "leduc-nolimit(stack=12)"
    assert game("jamfold", stack="7.5").name == "jamfold(stack=7.5)"
    assert game("clairvoyance", stack="1/3").betting.rules.dead == 300
    small = game("holdem-small", board_cards="0,1,1", limit="no", rake="0.05,1", menu="a")
    assert small.betting.rounds == 3
    assert small.betting.even.min() < 0
    assert (
        small.name
        == "holdem-small(size=tiny, menu=a, board_cards=0,1,1, limit=no, rake=0.05 up to 1)"
    )


@pytest.mark.parametrize(
    ("name", "parameters", "told"),
    [
        ("leduk", {}, "no game 'leduk': did you mean 'leduc'?"),
        ("chess", {}, "choose from kuhn, "),
        ("leduc", {"max_raise": 2}, "did you mean 'max_raises'?"),
        ("leduc", {"stack": 2}, "leduc has no parameter 'stack': choose from max_raises, suits"),
        ("leduc", {"max_raises": "two"}, "max_raises = 'two': write a whole number"),
        ("leduc", {"suits": "maybe"}, "suits = 'maybe': write yes or no"),
        ("kuhn-nolimit", {"stack": 2.5}, "stack = '2.5': write a whole number"),
        ("kuhn-nolimit", {"stack": 1}, "give 2 or more"),
        ("kuhn-nolimit", {"menu": "50"}, "a size needs a unit"),
        ("kuhn-half-street", {"bet": 0}, "at least 1 chip"),
        ("leduc-nolimit", {"stack": 0}, "give 2 or more"),
        ("jamfold", {"stack": "1"}, "a jam needs more than 1"),
        ("jamfold", {"stack": "1/0"}, "write a number"),
        ("clairvoyance", {"stack": -1}, "more than 0 pots"),
        ("clairvoyance", {"stack": "1e999999999"}, "write a number"),
        ("clairvoyance", {"stack": "1e-999999999"}, "write a number"),
        ("clairvoyance", {"stack": "1E+99_999_999"}, "write a number"),
        ("jamfold", {"stack": "9" * 5000}, "write something shorter"),
        ("leduc", {"max_raises": "9" * 5000}, "write something shorter"),
        ("clairvoyance", {"stack": 1, "menu": "a", "step": ".1"}, "give one of them"),
        ("rhode-island", {"ranks": 14}, "2 to 13 ranks"),
        ("holdem-small", {"size": "huge"}, "use one of tiny, "),
        ("holdem-small", {"board_cards": "flop"}, "separated by commas"),
        ("holdem-small", {"board_cards": "1,1"}, "the first round has no board"),
        ("holdem-small", {"evaluator": "sorted"}, "needs two hole cards"),
        ("holdem-small", {"evaluator": "best"}, "choose matrix or sorted"),
        ("holdem-small", {"hole_cards": 3, "ranks": 5}, "hold 1 or 2"),
        ("holdem-small", {"blinds": "1"}, "such as 2,1"),
        ("holdem-small", {"ranks": 13, "suits": 4, "board_cards": "0,5,2"}, "at most 7 cards"),
        ("holdem-small", {"suits": 5}, "1 to 4 suits"),
        ("holdem-small", {"rake": "5%"}, "the share and the most"),
    ],
)
def test_bad_input_is_told_the_cure(name: str, parameters: dict, told: str) -> None:
    with pytest.raises(GameError) as caught:
        game(name, **parameters)
    assert told in str(caught.value)


def test_a_deck_too_large_is_refused_at_once() -> None:
    with pytest.raises(TooLargeError, match="cut ranks or suits"):
        holdem_small(ranks=13, suits=4, hole_cards=2, board_cards=(0, 3, 1, 1), evaluator="sorted")


def test_clairvoyance_sizes_are_whole_chips() -> None:
    built = clairvoyance(Fraction(3, 7))
    assert built.unit_chips == 700
    assert built.betting.rules.stacks == (300, 300)
    bets = [str(action) for action in clairvoyance(2, step=0.5).betting.actions if action]
    assert bets[:5] == ["c", "r50", "r100", "r150", "r200"]
    assert clairvoyance(2, menu="50%,a").sequences() == (7, 5)


def test_jam_or_fold_has_no_limp() -> None:
    betting = jamfold(10).betting
    assert [state.betting_text() for state in betting.states] == ["", "f", "r20", "r20f", "r20c"]
    assert betting.even[1].tolist() == [-1, 1]
    assert betting.even[3].tolist() == [2, -2]
    assert betting.swing[4] == 20


def test_games_introduce_themselves_briefly() -> None:
    assert repr(leduc()) == "<Game leduc: 144 + 144 information sets>"


def test_rake_reaches_the_tree() -> None:
    raked, free = holdem_small(rake=Rake(0.1, 1)), holdem_small()
    assert raked.fingerprint() != free.fingerprint()
    assert (raked.betting.even.sum(axis=1) <= 0).all()


@pytest.mark.parametrize(
    ("name", "parameters", "told"),
    [
        ("leduc-nolimit", {"stack": "1000000000"}, "amounts: name the sizes"),
        ("leduc-nolimit", {"stack": 10**30, "menu": "a"}, "stack: write a number of a few digits"),
        ("kuhn-nolimit", {"stack": "100000000000000"}, "stack: write a number of a few digits"),
        ("jamfold", {"stack": "1e30"}, "stack: write a number of a few digits"),
        ("jamfold", {"stack": "1.0000000000000000001"}, "stack: write a number of a few digits"),
        ("clairvoyance", {"step": "1e-30"}, "step: write a number of a few digits"),
        ("clairvoyance", {"step": "1e-8"}, "over 50,000 sizes"),
        ("holdem-small", {"rake": "nan"}, "the share is from 0 to 1"),
        ("holdem-small", {"rake": "5"}, "the share is from 0 to 1"),
        ("holdem-small", {"stack": "99999999"}, "amounts: name the sizes"),
    ],
)
def test_numbers_that_no_game_can_be_played_with(name, parameters, told) -> None:
    with pytest.raises(EquipoiseError, match=told):
        game(name, **parameters)
