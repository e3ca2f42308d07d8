"""A hand in play: what each player sees, what is refused, and what it pays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.cards.card import parse_cards
from equipoise.cards.equity import equity
from equipoise.errors import GameError, IllegalActionError
from equipoise.games.dealing import DealtCards, SeededDeals
from equipoise.games.hand import Hand, all_in_share
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    Action,
    Kind,
    State,
    raise_to,
)


def begun(rules=NOLIMIT_HOLDEM, number=0, **settings):
    return Hand(State.start(rules), SeededDeals(rules, 5).deal(number), number, **settings)


@given(rules=st.sampled_from([NOLIMIT_HOLDEM, LIMIT_HOLDEM]), number=st.integers(0, 500),
       random=st.randoms(use_true_random=False))  # fmt: skip
def test_every_player_sees_his_own_cards_and_the_board_of_the_round(rules, number, random):
    hand = begun(rules, number)
    deal, state = hand.deal, hand.state
    while (position := state.to_act) is not None:
        view = hand.view()
        assert view == (state, position, deal.holes[position], deal.boards[state.round], number)
        assert hand.board == view.board
        legal = state.legal()
        options = [CALL, FOLD] if legal.fold else [CALL]
        if legal.raise_min:
            options.append(raise_to(random.randint(legal.raise_min, legal.raise_max)))
        action = random.choice(options)
        hand.play(action)
        state = state.apply(action)
        assert hand.state == state
    paid = state.payoffs(deal.winner if state.folded is None else None)
    assert hand.payoffs() == paid
    for position in (0, 1):
        plain, revealed = hand.result(position), hand.result(position, reveal=True)
        assert (plain.payoff, plain.hole) == (paid[position], deal.holes[position])
        shown = deal.holes[1 - position]
        assert plain.opponent == (shown if state.is_showdown else None)
        assert plain.board == hand.board
        assert plain.full_board is None
        assert (revealed.opponent, revealed.full_board) == (shown, deal.boards[-1])


def test_an_early_all_in_is_dealt_to_the_end_and_paid_by_choice_by_its_equity():
    plain, fair = begun(), begun(allin_equity=True)
    for hand in (plain, fair):
        hand.play(raise_to(20_000))
        hand.play(CALL)
        assert hand.board == hand.deal.boards[-1]
    share = equity(list(plain.deal.holes)).equity[0]
    assert fair.payoffs()[0] == pytest.approx(20_000 * (2 * share - 1), abs=1e-6)
    assert sum(fair.payoffs()) == 0
    assert plain.payoffs() == plain.state.payoffs(plain.deal.winner)


def test_actions_of_other_types_are_understood_and_nonsense_is_not():
    hand = begun()
    hand.play((np.int64(2), np.int64(300)))
    assert hand.state.history == ((raise_to(300),),)
    assert type(hand.state.history[0][0].amount) is int
    for nonsense in (None, "call", (Kind.RAISE,), (7, 0), Action(Kind.RAISE, 300.5), raise_to(1)):
        with pytest.raises(IllegalActionError):
            hand.play(nonsense)
    assert hand.state.history == ((raise_to(300),),)


def test_who_gives_up_folds_to_a_bet_and_checks_where_there_is_none():
    hand = begun()
    hand.play(CALL)
    hand.give_up()
    assert hand.state.history == ((CALL, CALL), ())
    hand.play(raise_to(300))
    hand.give_up()
    assert hand.state.folded == 1
    with pytest.raises(IllegalActionError, match="over"):
        hand.view()


def test_a_showdown_whose_cards_are_not_all_known_is_not_paid():
    state = State.from_betting_text(NOLIMIT_HOLDEM, "cc/cc/cc/cc")
    mine, board = parse_cards("AsAh"), parse_cards("Td9d6h2c3c")
    hand = Hand(state, DealtCards.of(NOLIMIT_HOLDEM, (mine, ()), board), 0)
    with pytest.raises(GameError, match="not all cards"):
        hand.payoffs()


def test_equity_depends_on_no_names_of_suits():
    board = parse_cards("Td9d6h")
    hands = parse_cards("AsAh"), parse_cards("KdQd")
    swapped = [tuple(4 * (card // 4) + 3 - card % 4 for card in cards) for cards in (*hands, board)]
    assert all_in_share(*hands, board) == all_in_share(*swapped)
    assert all_in_share(*hands, board) == equity(list(hands), board).equity[0]
