"""The compiled sweep agrees with the enumerator on tiny decks: values and best responses."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, combinations, permutations

import numpy as np
import pytest
from enumerator import Cards, Play, Referee

from equipoise.games.betting import NO_RAKE, Betting, Rake
from equipoise.games.boards import deal_cards
from equipoise.games.catalogue import holdem_small, kuhn, kuhn_half_street, leduc
from equipoise.games.dealing import hand_strength
from equipoise.games.game import CardText, Game
from equipoise.games.library.kuhn import kuhn_nolimit
from equipoise.games.library.smalldeck import SmallDeck
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Kind, Rules, State
from equipoise.solve.strategies.bestresponse import exploitability_of, response_value, value_of
from equipoise.solve.sweep.tableau import Tableau


def by_ranks(suits: int):
    """Multiplicities, then high cards: a second wording of what small decks count."""

    def strength(hole: Cards, board: Cards) -> object:
        counts = Counter(card // suits for card in hole + board)
        order = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
        return [counts[rank] for rank in order], order

    return strength


def by_poker(suits: int, ranks: int):
    """Best five cards, by the ordinary names of hands."""

    def five(cards: Cards) -> object:
        numbers = sorted((card // suits for card in cards), reverse=True)
        counts = Counter(numbers)
        order = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
        shape = tuple(sorted(counts.values(), reverse=True))
        flush = len({card % suits for card in cards}) == 1
        straight = len(counts) == 5 and numbers[0] - numbers[4] == 4
        names = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}
        category = names.get(shape, 0)
        if flush or straight:
            category = 8 if flush and straight else 5 if flush else 4
        return category, order

    return lambda hole, board: max(five(cards) for cards in combinations(hole + board, 5))


def random_play(game: Game, menu: BetMenu, seed: int, suits: int, cuts: tuple[int, ...]) -> Play:
    """Random mixtures, some of them pure, the same for hands and boards equal up to suits.

    `cuts` are the numbers of board cards at which rounds begin, cards of one round being a set.
    """
    rng = np.random.default_rng(seed)
    known: dict[object, np.ndarray] = {}
    renamings = list(permutations(range(suits)))

    def play(player: int, hole: Cards, board: Cards, text: str) -> np.ndarray:
        def moved(renaming: tuple[int, ...], cards: Cards) -> Cards:
            return tuple(sorted(c - c % suits + renaming[c % suits] for c in cards))

        rounds = [board[a:b] for a, b in zip((0, *cuts), (*cuts, len(board)), strict=True)]
        canonical = min(
            (moved(renaming, hole), tuple(moved(renaming, part) for part in rounds))
            for renaming in renamings
        )
        key = (player, canonical, text)
        if key not in known:
            state = State.from_betting_text(game.betting.rules, text)
            count = len(menu.actions(state))
            mixture = rng.dirichlet(np.ones(count))
            if rng.random() < 0.25:
                mixture = np.eye(count)[rng.integers(count)]
            known[key] = mixture
        return known[key]

    return play


def rows_of(tableau: Tableau, play: Play) -> np.ndarray:
    """The rows of a strategy given as a function."""
    game, index = tableau.game, tableau.index
    rows = tableau.rows()
    for b, node in index.decisions():
        board, player = game.deal.boards[b], int(game.betting.kind[node])
        text = game.betting.states[node].betting_text()
        block = index.block(rows, b, node)
        for state, hole in enumerate(board.hands[player].tolist()):
            block[:, state] = play(player, tuple(sorted(hole)), board.cards, text)
    return rows


def compare(game: Game, referee: Referee, play: Play, tolerance: float, **how) -> None:
    tableau = Tableau(game, **how)
    rows = rows_of(tableau, play)
    values = referee.values(play)
    assert value_of(tableau, rows) == pytest.approx(values[0], abs=tolerance)
    best = [response_value(tableau, player, rows) for player in (0, 1)]
    assert best == pytest.approx([referee.best_response(p, play) for p in (0, 1)], abs=tolerance)
    gains = sum(best) - sum(values)
    assert exploitability_of(tableau, rows) == pytest.approx(gains / 2, abs=tolerance)
    assert gains > 0.01


def check(game: Game, strength, seed: int = 0, rake=(0.0, 0.0), tolerance=1e-9, **how) -> None:
    """Compare a game without a board at the start and with all hands alike."""
    rules, menu = game.betting.rules, game.betting.menu
    cuts = tuple(int(n) for n in np.cumsum(rules.board_cards)[:-1])
    play = random_play(game, menu, seed, rules.suits, tuple(c for c in cuts if c))
    compare(game, Referee(rules, menu, strength, rake), play, tolerance, **how)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "game",
    [kuhn(), kuhn(max_raises=3), kuhn_half_street(bet=70), kuhn_nolimit(stack=5)],
    ids=lambda game: game.name,
)
def test_kuhn_and_relatives(game: Game, seed: int) -> None:
    check(game, by_ranks(1), seed)


@pytest.mark.parametrize("seed", range(2))
def test_leduc_with_suits(seed: int) -> None:
    check(leduc(suits=True), by_ranks(2), seed)


def test_leduc_by_ranks_is_leduc() -> None:
    game = leduc()
    rules, menu = game.betting.rules, game.betting.menu
    by_card = random_play(game, menu, 5, 1, (1,))

    def play(player: int, hole: Cards, board: Cards, text: str):
        return by_card(player, (hole[0] // 2,), tuple(c // 2 for c in board), text)

    tableau = Tableau(game)
    rows = rows_of(tableau, by_card)
    referee = Referee(rules, menu, by_ranks(2))
    assert value_of(tableau, rows) == pytest.approx(referee.values(play)[0], abs=1e-9)
    for player in (0, 1):
        expected = referee.best_response(player, play)
        assert response_value(tableau, player, rows) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("game", "total"), [(kuhn(), 0.916667), (leduc(), 4.747222)])
def test_uniform_play_is_exploitable_by_this_much(game: Game, total: float) -> None:
    tableau = Tableau(game)
    assert 2 * exploitability_of(tableau, tableau.rows()) == pytest.approx(total, abs=1e-6)


#: One hand each of what can go wrong: all-in before the last round, blinds, limit, several rounds.
ONE_CARD = [
    {"ranks": 3, "suits": 2, "board_cards": (0, 1), "blinds": (1, 1), "stack": 4},
    {"ranks": 3, "suits": 2, "board_cards": (0, 1), "blinds": (2, 1), "stack": 5, "menu": "100%,a"},
    {
        "ranks": 2,
        "suits": 3,
        "board_cards": (0, 2),
        "blinds": (2, 1),
        "limit": True,
        "max_raises": 2,
    },
    {"ranks": 2, "suits": 3, "board_cards": (0, 1, 1), "blinds": (1, 1), "stack": 3},
    {"ranks": 5, "suits": 1, "board_cards": (0,), "blinds": (2, 1), "stack": 6},
]
TWO_CARDS = [
    {"ranks": 3, "suits": 2, "board_cards": (0, 1), "blinds": (2, 1), "stack": 5, "menu": "a"},
    {"ranks": 3, "suits": 2, "board_cards": (0,), "blinds": (2, 1), "stack": 7},
    {"ranks": 6, "suits": 1, "board_cards": (0, 1), "blinds": (1, 1), "stack": 3},
    {"ranks": 2, "suits": 3, "board_cards": (0, 1, 1), "blinds": (2, 1), "stack": 4, "menu": "a"},
    {
        "ranks": 3,
        "suits": 2,
        "board_cards": (0, 2),
        "blinds": (2, 1),
        "limit": True,
        "max_raises": 1,
    },
]


def named(settings: dict) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


@pytest.mark.parametrize("settings", ONE_CARD, ids=named)
def test_one_hole_card(settings: dict) -> None:
    check(holdem_small(hole_cards=1, **settings), by_ranks(settings["suits"]))


@pytest.mark.parametrize("settings", TWO_CARDS, ids=named)
def test_two_hole_cards(settings: dict) -> None:
    check(holdem_small(hole_cards=2, **settings), by_ranks(settings["suits"]))


@pytest.mark.parametrize("settings", TWO_CARDS, ids=named)
def test_two_hole_cards_sorted(settings: dict) -> None:
    game = holdem_small(hole_cards=2, evaluator="sorted", **settings)
    check(game, by_ranks(settings["suits"]), tolerance=1e-4)


@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
def test_five_cards_with_the_evaluator_of_hands(evaluator: str) -> None:
    game = holdem_small(
        ranks=4, suits=2, hole_cards=2, board_cards=(0, 3), blinds=(2, 1), stack=4, menu="a",
        evaluator=evaluator,
    )  # fmt: skip
    check(game, by_poker(2, 4), tolerance=1e-9 if evaluator == "matrix" else 1e-4)


@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
def test_rake(evaluator: str) -> None:
    game = holdem_small(
        ranks=3, suits=2, hole_cards=2, board_cards=(0, 1), blinds=(2, 1), stack=5, menu="a",
        evaluator=evaluator, rake=Rake(0.1, 0.7),
    )  # fmt: skip
    check(game, by_ranks(2), rake=(0.1, 0.7), tolerance=1e-9 if evaluator == "matrix" else 1e-4)


def test_threads_and_single_precision() -> None:
    game = holdem_small(ranks=3, suits=2, stack=4)
    check(game, by_ranks(2), tolerance=1e-9, threads=2)
    check(game, by_ranks(2), tolerance=1e-4, precision="float32")


def spot(evaluator: str) -> tuple[Game, Referee]:
    """A pot of 10, a board of one card, ranges that differ and break some symmetries of suits."""
    suits, ranks, start = 3, 3, (4,)
    rules = Rules(
        name="spot",
        limit=False,
        blinds=(0, 0),
        first=(0, 0),
        stacks=(6, 6),
        suits=suits,
        ranks=ranks,
        hole_cards=2,
        board_cards=(0, 1),
        dead=10,
    )
    menu = BetMenu.parse("40%,a")
    hands = [pair for pair in combinations(range(9), 2) if 4 not in pair]
    first = {pair: 1.0 for pair in hands if 8 in pair or pair == (0, 1)}
    second = {pair: 0.5 + (sum(pair) % 3) / 4 for pair in hands if 7 not in pair}

    def laid(held: dict[Cards, float]):
        order = sorted(held, key=lambda pair: pair[::-1])
        return (
            np.array([pair[::-1] for pair in order], dtype=np.int16),
            np.array([held[pair] for pair in order]),
        )

    deal = deal_cards(
        suits=suits,
        ranks=ranks,
        hole_cards=2,
        board_cards=(0, 1),
        strength=hand_strength(suits, ranks),
        evaluator=evaluator,
        start=start,
        ranges=(laid(first), laid(second)),
    )
    text = CardText.of_deck(ranks, suits)
    game = Game("spot", Betting.build(rules, menu), deal, 1.0, text.state, text.board)
    return game, Referee(rules, menu, by_ranks(suits), start=start, ranges=(first, second))


@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
def test_ranges_on_a_board(evaluator: str) -> None:
    game, referee = spot(evaluator)
    play = random_play(game, game.betting.menu, 3, 3, (1,))
    compare(game, referee, play, 1e-9 if evaluator == "matrix" else 1e-4)


@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
def test_checking_down_is_worth_equity_times_the_pot(evaluator: str) -> None:
    game, referee = spot(evaluator)

    def check_down(player: int, hole: Cards, board: Cards, text: str):
        state = State.from_betting_text(game.betting.rules, text)
        return [float(a.kind == Kind.CALL) for a in game.betting.menu.actions(state)]

    won = dealt = 0.0
    first, second = referee.ranges or ({}, {})
    for mine, w0 in first.items():
        for theirs, w1 in second.items():
            for card in set(range(9)) - {4, *mine, *theirs}:
                if set(mine) & set(theirs):
                    continue
                a, b = (referee.strength(hole, (4, card)) for hole in (mine, theirs))
                won += w0 * w1 * (1.0 if a > b else 0.5 if a == b else 0.0)
                dealt += w0 * w1
    equity = won / dealt
    assert abs(equity - 0.5) > 0.03
    tableau = Tableau(game)
    value = value_of(tableau, rows_of(tableau, check_down))
    assert value == pytest.approx(10 * equity - 5, abs=1e-9 if evaluator == "matrix" else 1e-4)


#: Where play begins in the middle of a hand: the game, its menu, the betting before, the cards there.
BEGUN = [
    # Before the board: a limp, a raise that the menu does not have, a re-raise all-in.
    ({"board_cards": (0, 1), "stack": 6}, "a", "c", ()),
    ({"board_cards": (0, 1), "stack": 12}, "a", "r5", ()),
    ({"board_cards": (0, 1, 1), "stack": 8}, "50%,a", "r4r8", ()),
    # On it: a bet faced, a check-raise faced, the start of a round; with cards to come and without.
    ({"board_cards": (0, 1, 1), "stack": 8}, "a", "cc/r4", (4,)),
    ({"board_cards": (0, 1, 1), "stack": 12}, "a", "r5c/cr9", (4,)),
    ({"ranks": 4, "board_cards": (0, 2, 1), "stack": 8}, "a", "cc/cr5", (1, 4)),
    ({"board_cards": (0, 1), "stack": 12}, "50%,a", "r4c/r6r9", (4,)),
    ({"board_cards": (0, 1, 1), "stack": 8}, "50%,a", "cc/cc/", (4, 1)),
    ({"board_cards": (0, 1, 1), "stack": 8}, "50%,a", "r4c/cc/cr7", (4, 1)),
    ({"board_cards": (0, 1), "limit": True, "max_raises": 2}, None, "r", ()),
    ({"board_cards": (0, 1, 1), "limit": True, "max_raises": 2}, None, "rc/crr", (4,)),
]


def begun(evaluator: str, settings: dict, menu: str | None, line: str, start: Cards, rake=NO_RAKE):
    """A small game from the middle of a hand on, and its referee."""
    deck = SmallDeck(**{"ranks": 3, "suits": 2, "hole_cards": 2, "blinds": (2, 1), **settings})
    suits, ranks = deck.suits, deck.ranks
    rules, sizes = deck.rules(), BetMenu.of(menu)
    begin = State.from_betting_text(rules, line)
    betting = Betting.build(rules, sizes, rake, start=begin)
    deal = deal_cards(
        suits=suits,
        ranks=ranks,
        hole_cards=2,
        board_cards=betting.board_cards,
        strength=hand_strength(suits, ranks),
        evaluator=evaluator,
        start=start,
    )
    text = CardText.of_deck(ranks, suits)
    game = Game("begun", betting, deal, 1.0, text.state, text.board)
    referee = Referee(rules, sizes, by_ranks(suits), tuple(rake), start=start, begin=begin)
    return game, referee


@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
@pytest.mark.parametrize("begin", BEGUN, ids=lambda begin: begin[2])
def test_games_that_begin_in_the_middle_of_a_hand(evaluator: str, begin: tuple) -> None:
    game, referee = begun(evaluator, *begin)
    cuts = tuple(accumulate(begin[0]["board_cards"]))[1:]
    play = random_play(game, game.betting.menu, 4, 2, cuts)
    compare(game, referee, play, 1e-9 if evaluator == "matrix" else 1e-4)


@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
def test_rake_in_the_middle_of_a_hand(evaluator: str) -> None:
    game, referee = begun(evaluator, *BEGUN[4], Rake(0.1, 0.7))
    play = random_play(game, game.betting.menu, 4, 2, (1, 2))
    compare(game, referee, play, 1e-9 if evaluator == "matrix" else 1e-4)
