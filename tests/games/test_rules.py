import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.errors import GameError, IllegalActionError
from equipoise.games.legal import LegalActions
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    Action,
    Kind,
    Rules,
    State,
    nolimit,
    raise_to,
)
from equipoise.games.spot import postflop

LEDUC = Rules(
    name="Leduc",
    limit=True,
    blinds=(1, 1),
    first=(0, 0),
    raise_sizes=(2, 4),
    max_raises=(2, 2),
    suits=2,
    ranks=3,
    hole_cards=1,
    board_cards=(0, 1),
)


def read(text, rules=NOLIMIT_HOLDEM):
    return State.from_betting_text(rules, text)


def uneven(stack0, stack1):
    return Rules(
        name="uneven", limit=False, blinds=(100, 50), first=(1, 0, 0, 0), stacks=(stack0, stack1)
    )


# Real hands.


def logged_hands():
    for game in ("limit", "nolimit"):
        rules = LIMIT_HOLDEM if game == "limit" else NOLIMIT_HOLDEM
        for line in (Path(__file__).parent / "data" / f"{game}.log").read_text().splitlines():
            if line.startswith("STATE:"):
                _, hand, betting, _, payoffs, _ = line.split(":")
                chips = tuple(int(number) for number in payoffs.split("|"))
                yield pytest.param(rules, betting, chips, id=f"{game} {hand}")


@pytest.mark.parametrize(("rules", "betting", "chips"), list(logged_hands()))
def test_replays_the_dealers_log(rules, betting, chips):
    state = State.from_betting_text(rules, betting)
    assert state.is_over
    assert state.betting_text() == betting
    winner = None if chips[0] == 0 else int(chips[1] > 0)
    assert state.payoffs(winner) == chips


# Limit.


def test_limit_cap_counts_the_blind_as_a_bet():
    state = read("rrr", LIMIT_HOLDEM)
    assert state.committed == (30, 40)
    assert state.legal() == LegalActions(fold=True, call=True, raise_min=0, raise_max=0)
    with pytest.raises(
        IllegalActionError, match="character 4: player 0 cannot raise to 50; legal: fold or call"
    ):
        read("rrrr", LIMIT_HOLDEM)
    state = read("rrrc/rrrrc/rrrrc/rrrr", LIMIT_HOLDEM)
    assert state.committed == (220, 240)
    assert state.legal().raise_min == 0


def test_limit_bets_double_on_the_turn():
    assert read("cc/", LIMIT_HOLDEM).legal().raise_min == 20
    assert read("cc/cc/", LIMIT_HOLDEM).legal() == LegalActions(False, True, 30, 30)


def test_limit_raise_is_cut_to_the_stack():
    rules = Rules(
        name="short limit",
        limit=True,
        blinds=(10, 5),
        first=(1, 0),
        stacks=(25, 25),
        raise_sizes=(10, 10),
        max_raises=(3, 4),
        board_cards=(0, 3),
    )
    state = State.start(rules).apply(raise_to(20))
    assert state.legal() == LegalActions(True, True, 25, 25)
    assert state.apply(raise_to(25)).apply(CALL).betting_text() == "rrc/"


def test_leduc_by_hand():
    state = State.start(LEDUC)
    assert state.to_act == 0
    assert not state.legal().fold
    assert read("crrc/crrc", LEDUC).committed == (13, 13)
    assert read("crrc/crrc", LEDUC).payoffs(1) == (-13, 13)
    assert read("cc/rf", LEDUC).payoffs() == (1, -1)


# No-limit.


@pytest.mark.parametrize(
    ("text", "fold", "least"),
    [
        ("", True, 200),  # the small blind's first raise is to two big blinds
        ("c", False, 200),  # the big blind's option
        ("r300", True, 500),
        ("r300r500", True, 700),
        ("r300r1000", True, 1700),
        ("r300c/", False, 400),  # the increment starts anew each round
        ("r300c/r400", True, 500),
        ("r300c/r1300", True, 2300),
        ("r19950", True, 20000),  # all-in for less than a full raise
        ("r15000", True, 20000),
        ("r20000", True, 0),  # nothing left to raise with
    ],
)
def test_smallest_raise(text, fold, least):
    legal = read(text).legal()
    assert legal == LegalActions(fold, True, least, 20000 if least else 0)


def test_increment_survives_an_all_in_for_less():
    rules = uneven(1000, 1000)
    state = read("r900", rules)
    assert state.increment == 800
    assert state.apply(raise_to(1000)).increment == 800


def test_big_blind_may_check_or_raise_after_a_limp():
    limp = read("c")
    assert limp.to_act == 0
    assert limp.to_call == 0
    assert limp.apply(CALL).round == 1
    assert limp.apply(raise_to(300)).to_act == 1


def test_order_of_play():
    assert State.start(NOLIMIT_HOLDEM).to_act == 1
    assert read("cc/").to_act == 0
    assert read("cc/c").to_act == 1
    assert read("cc/cr200").to_act == 0


def test_who_called_to_end_the_round():
    assert read("cc/").caller is None
    assert read("r300c/").caller == 0
    assert read("cr300c/").caller == 1
    assert read("r300c/cc/").caller is None
    assert read("r300c/r500c/").caller == 1


def test_all_in_ends_the_betting():
    state = read("cr18253r20000c///")
    assert state.is_over
    assert state.is_showdown
    assert state.rounds_to_deal == 3
    assert state.round == 0
    assert state.legal() == LegalActions(False, False, 0, 0)
    with pytest.raises(IllegalActionError, match="the hand is over"):
        state.apply(CALL)
    assert read("cc/cc/cc/cc").rounds_to_deal == 0
    assert read("cc/r20000f").rounds_to_deal == 0


def test_call_for_less_returns_the_excess():
    state = read("r5000c///", uneven(300, 5000))
    assert state.committed == (300, 5000)
    assert state.payoffs(0) == (300, -300)
    assert state.payoffs(1) == (-300, 300)
    facing = read("r5000", uneven(300, 5000))
    assert facing.to_call == 200
    assert facing.legal() == LegalActions(True, True, 0, 0)
    assert facing.apply(FOLD).payoffs() == (-100, 100)


def test_no_raise_against_a_player_who_is_all_in():
    state = read("cr300", uneven(300, 5000))
    assert state.legal() == LegalActions(True, True, 0, 0)
    assert state.apply(CALL).rounds_to_deal == 3


def test_a_raise_is_limited_by_ones_own_stack():
    assert State.start(uneven(300, 5000)).legal().raise_max == 5000
    assert read("c", uneven(300, 5000)).legal().raise_max == 300


@pytest.mark.parametrize(
    ("stacks", "to_act", "text"),
    [
        ((100, 5000), 1, "c///"),  # the big blind is all-in: call or fold
        ((5000, 50), None, "///"),  # the small blind is all-in: nothing to decide
        ((100, 100), 1, "c///"),
        ((30, 5000), None, "///"),
        ((5000, 80), 1, "c///"),  # calls with his last 30
    ],
)
def test_stacks_that_do_not_cover_the_blinds(stacks, to_act, text):
    rules = uneven(*stacks)
    start = State.start(rules)
    assert start.to_act == to_act
    end = read(text, rules)
    assert end.is_over
    assert end.payoffs(0) == (min(*stacks, 100), -min(*stacks, 100))


def test_postflop_spot_starts_with_a_pot_that_is_half_each_players():
    state = State.start(postflop(pot=100, stack=200))
    assert state.pot == 100
    assert state.legal() == LegalActions(False, True, 1, 200)
    assert state.apply(raise_to(60)).apply(FOLD).payoffs() == (50, -50)
    assert read("r60c", state.rules).payoffs(1) == (-110, 110)
    assert read("cc", state.rules).payoffs(None) == (0, 0)
    odd = read("cc", postflop(pot=101, stack=200)).payoffs(0)
    assert odd == (50.5, -50.5)


# Refusals.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cf", "character 2: player 0 cannot fold; legal: check or raise to 200-20000"),
        ("r20001", "character 1: player 1 cannot raise to 20001"),
        ("r199", "cannot raise to 199; legal: fold, call or raise to 200-20000"),
        ("r300r499", "character 5: player 0 cannot raise to 499"),
        ("cx", "character 2: 'x' is not an action"),
        ("cr", "character 2: 'r' is not a raise: write r and the total, as r300"),
        ("c/c", "character 2: the round is not over"),
        ("ccc", "character 3: the round is over, so '/' belongs here"),
        ("cc", "the round is over, so add '/'"),
        ("r20000c/", "the round is over, so add '//'"),
        ("r20000c////", "character 11: the round is not over"),
        ("fc", "character 2: cannot play c: the hand is over"),
        ("cc/cc/cc/cc/", "character 12"),
        ("r" + "9" * 5000, "is not a raise"),
        ("r٣٠٠", "is not a raise"),
        ("c" * 70_000, "betting of 70,000 characters"),
    ],
)
def test_bad_text_says_where(text, message):
    with pytest.raises(IllegalActionError, match=message):
        read(text)


def test_limit_raises_carry_no_size():
    with pytest.raises(IllegalActionError, match="write plain r in limit"):
        read("r20", LIMIT_HOLDEM)


def test_unknown_kind_is_refused():
    with pytest.raises(IllegalActionError, match="cannot do 7"):
        State.start(NOLIMIT_HOLDEM).apply(Action(7))


def test_payoffs_need_an_end_and_an_honest_winner():
    with pytest.raises(IllegalActionError, match="not over"):
        read("c").payoffs(0)
    with pytest.raises(IllegalActionError, match="player 1 folded"):
        read("f").payoffs(1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": ()}, "at least one betting round"),
        ({"first": (2, 0, 0, 0)}, "0 or 1"),
        ({"board_cards": (0, 3)}, "board_cards has 2 entries: give one for each of 4 rounds"),
        ({"max_raises": (1,)}, "max_raises has 1 entries"),
        ({"raise_sizes": (1, 1, 1, 1)}, "belong to limit games"),
        ({"limit": True}, "raise_sizes has 0 entries"),
        ({"limit": True, "raise_sizes": (0, 1, 1, 1)}, "at least 1 chip"),
        ({"max_raises": (-1, 1, 1, 1)}, "0 or more"),
        ({"stacks": (0, 5)}, "at least 1 chip"),
        ({"blinds": (-1, 5)}, "cannot be negative"),
        ({"min_bet": 0}, "at least 1 chip"),
        ({"hole_cards": 0}, "at least 1"),
        ({"first": (0,) * 17}, "17 betting rounds: a game has at most 16"),
        ({"stacks": (10**16, 5)}, "at most 1,000,000,000,000,000 chips"),
        ({"suits": 1, "ranks": 8}, "deals 9 cards from a deck of 8"),
    ],
)
def test_senseless_games_are_refused(change, message):
    good = {"name": "game", "limit": False, "blinds": (2, 1), "first": (1, 0, 0, 0)}
    with pytest.raises(GameError, match=message):
        Rules(**(good | change))


def test_postflop_has_at_most_three_rounds():
    with pytest.raises(GameError, match="3 starts on the flop"):
        postflop(100, 200, 4)


# Properties of all play.

games = st.one_of(
    st.sampled_from(
        [LIMIT_HOLDEM, NOLIMIT_HOLDEM, LEDUC, nolimit(20, 1, 2), postflop(101, 350, 3)]
    ),
    st.builds(uneven, st.integers(1, 3000), st.integers(1, 3000)),
)


@given(rules=games, data=st.data())
def test_random_play(rules, data):
    state = State.start(rules)
    while not state.is_over:
        legal = state.legal()
        options = [CALL] + [FOLD] * legal.fold
        if legal.raise_min:
            amount = data.draw(st.integers(legal.raise_min, legal.raise_max))
            options += [raise_to(amount), raise_to(legal.raise_min)]
            assert not state.can(raise_to(legal.raise_min - 1))
            assert not state.can(raise_to(legal.raise_max + 1))
        action = data.draw(st.sampled_from(options))
        assert state.can(action)
        assert state.nearest(action) == action
        before, player = state, state.to_act
        state = state.apply(action)

        assert State.from_betting_text(rules, state.betting_text()) == state
        assert state.committed[1 - player] == before.committed[1 - player]
        paid = state.committed[player] - before.committed[player]
        assert paid == {Kind.FOLD: 0, Kind.CALL: before.to_call}.get(action.kind, paid)
        assert 0 <= state.committed[player] <= rules.stacks[player]
        assert state.pot == rules.dead + sum(state.committed)

    for winner in (None,) if state.folded is not None else (0, 1, None):
        payoffs = state.payoffs(winner)
        assert sum(payoffs) == 0
        for player in (0, 1):
            assert abs(payoffs[player]) <= rules.stacks[player] + math.ceil(rules.dead / 2)


@given(rules=games, data=st.data())
def test_whatever_is_asked_the_dealer_plays_something_legal(rules, data):
    state = State.start(rules)
    kinds = st.sampled_from(list(Kind))
    while not state.is_over:
        wish = Action(data.draw(kinds), data.draw(st.integers(-5, 30000)))
        played = state.nearest(wish)
        assert state.can(played)
        state = state.apply(played)
