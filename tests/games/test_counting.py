import pytest

from equipoise.errors import TooLargeError
from equipoise.games import counting
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
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


def enumerate_nodes(rules):
    """The slow twin: play every betting sequence there is."""
    nodes = [0] * rules.rounds
    todo = [State.start(rules)]
    while todo:
        state = todo.pop()
        if state.is_over:
            continue
        nodes[state.round] += 1
        legal = state.legal()
        todo.append(state.apply(CALL))
        if legal.fold:
            todo.append(state.apply(FOLD))
        if legal.raise_min:
            amounts = range(legal.raise_min, legal.raise_max + 1)
            todo.extend(state.apply(raise_to(amount)) for amount in amounts)
    return tuple(nodes)


def test_limit_holdem():
    size = counting.size(LIMIT_HOLDEM)
    assert size.decision_nodes == (8, 70, 630, 5670)
    assert size.information_sets == 319_365_922_522_608
    assert f"{size.states:.3e}" == "3.162e+17"
    assert enumerate_nodes(LIMIT_HOLDEM) == size.decision_nodes


def test_nolimit_stack_20():
    size = counting.size(nolimit(20, 1, 2))
    assert size.decision_nodes == (1188, 19_996, 151_124, 738_540)
    assert f"{size.information_sets:.6e}" == "4.168332e+16"
    assert f"{size.states:.6e}" == "4.127484e+19"


def test_nolimit_stack_400():
    size = counting.size(nolimit(400, 1, 2))
    assert f"{sum(size.decision_nodes):.6e}" == "2.472207e+37"
    assert f"{size.information_sets:.6e}" == "1.389094e+48"
    assert f"{size.states:.6e}" == "1.375203e+51"


def test_nolimit_stack_20000():
    size = counting.size(nolimit(20_000, 50, 100))
    assert f"{sum(size.decision_nodes):.6e}" == "1.134587e+151"
    assert f"{size.information_sets:.6e}" == "6.375191e+161"
    assert f"{size.states:.6e}" == "6.311439e+164"


def test_leduc():
    # 936 with suits: 6 cards before the board, 6 × 5 after it.
    assert counting.size(LEDUC).information_sets == 936


@pytest.mark.parametrize(
    "rules",
    [
        nolimit(9, 1, 2),
        nolimit(11, 2, 3),
        nolimit(3, 1, 2),
        nolimit(2, 1, 2),  # the big blind is all-in
        nolimit(1, 1, 2),  # both are
        postflop(pot=10, stack=7, rounds=3),
        Rules("capped", False, (2, 1), (1, 0), (9, 9), (), (2, 3), board_cards=(0, 3)),
        Rules("uneven", False, (2, 1), (1, 0), (9, 14), board_cards=(0, 3)),
        Rules("large bets", False, (2, 1), (1, 0), (14, 14), board_cards=(0, 3), min_bet=3),
        LEDUC,
    ],
    ids=lambda rules: rules.name,
)
def test_counting_agrees_with_enumeration(rules):
    assert counting.decision_nodes(rules) == enumerate_nodes(rules)


def test_refuses_what_it_cannot_count():
    rules = Rules("capped", False, (2, 1), (1, 0, 0, 0), (9000, 9000), (), (2, 2, 2, 2))
    with pytest.raises(TooLargeError, match="drop the cap"):
        counting.size(rules)
