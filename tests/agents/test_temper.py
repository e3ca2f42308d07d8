"""Players of temper: what they say they play is what they play, and each has his vice."""

import numpy as np
import pytest

from equipoise.agents.registry import make_agent
from equipoise.agents.temper import ranks
from equipoise.arena.match import play_match
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, combo_index
from equipoise.errors import EquipoiseError
from equipoise.games.hand import View
from equipoise.games.policy import PublicState
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, Kind, State

NAMES = ["nit", "maniac", "station", "turncoat"]
BOARD = parse_cards("Td9d6hQc2s")
#: Betting and the board cards that are out then.
SPOTS = [("", 0), ("c", 0), ("r300", 0), ("r300r20000", 0), ("cc/", 3), ("r300c/r700", 3),
         ("cc/cc/r200r500r1100", 4), ("cc/cc/cc/r19900", 5)]  # fmt: skip


def policy(agent, betting, cards, hand=0):
    state = State.from_betting_text(NOLIMIT_HOLDEM, betting)
    return agent.policy(PublicState(state, BOARD[:cards], hand))


def share(agent, betting, cards, kinds, hand=0):
    """How often an action of some kinds is played, over all hands."""
    told = policy(agent, betting, cards, hand)
    live = ~np.isin(COMBO_CARDS, BOARD[:cards]).any(axis=1)
    mean = told.probabilities[live].mean(axis=0)
    return sum(p for a, p in zip(told.actions, mean, strict=True) if a.kind in kinds)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("betting", "cards"), SPOTS)
def test_a_policy_is_a_legal_mixture(name, betting, cards):
    told = policy(make_agent(name), betting, cards)
    state = State.from_betting_text(NOLIMIT_HOLDEM, betting)
    assert all(state.can(action) for action in told.actions)
    assert len(set(told.actions)) == len(told.actions)
    assert (told.probabilities >= 0).all()
    assert np.allclose(told.probabilities.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_played_is_what_the_policy_says(name):
    agent = make_agent(name)
    agent.random.seed(4)
    hole = parse_cards("KsJs")
    state = State.from_betting_text(NOLIMIT_HOLDEM, "r300c/r500")
    view = View(state, state.to_act, hole, BOARD[:3], 0)
    told = policy(agent, "r300c/r500", 3)
    draws = [agent.act(view) for _ in range(2000)]
    for action, chance in zip(
        told.actions, told.probabilities[combo_index(*hole)].tolist(), strict=True
    ):
        error = 5 * (chance * (1 - chance) / len(draws)) ** 0.5 + 1e-9
        assert abs(draws.count(action) / len(draws) - chance) <= error


def test_each_has_his_vice():
    nit, maniac, station = (make_agent(name) for name in NAMES[:3])
    facing = ("r300c/r600", 3)
    folds = [share(one, *facing, (Kind.FOLD,)) for one in (nit, maniac, station)]
    raises = [share(one, *facing, (Kind.RAISE,)) for one in (nit, maniac, station)]
    assert folds[0] > 0.6 > 0.3 > max(folds[1:])
    assert raises[1] > 0.3 > 0.1 > max(raises[0], raises[2])
    # The station's large bets are strong: its hands that bet big outrank those that bet small.
    told = policy(station, "cc/", 3)
    rank = ranks(BOARD[:3])
    by_size = sorted((a.amount, float(p @ rank / p.sum()))
                     for a, p in zip(told.actions, told.probabilities.T, strict=True)
                     if a.kind == Kind.RAISE)  # fmt: skip
    assert by_size[0][1] < 0.6 < 0.85 < by_size[-1][1]


def test_the_turncoat_turns():
    turncoat = make_agent("turncoat", turns_at=70)
    before, after = (policy(turncoat, "r300", 0, hand) for hand in (69, 70))
    for told, name in ((before, "nit"), (after, "maniac")):
        known = policy(make_agent(name), "r300", 0)
        assert told.actions == known.actions
        assert (told.probabilities == known.probabilities).all()
    with pytest.raises(EquipoiseError, match="did you mean 'nit'"):
        make_agent("turncoat", first="nitt")
    with pytest.raises(EquipoiseError, match="from 0"):
        make_agent("turncoat", turns_at=-1)


def test_ranks_are_shares_of_live_hands():
    found = ranks(BOARD)
    live = ~np.isin(COMBO_CARDS, BOARD).any(axis=1)
    assert abs(found[live].mean() - 0.5) < 1e-12
    best = combo_index(*parse_cards("KsJs"))
    assert found[best] == found[live].max()


def test_matches_go_without_a_fault():
    for name in NAMES:
        result = play_match(name, "odd-sizes", hands=100, seed=5)
        assert not result.faults
        assert len(result.payoffs) == 100
    told = policy(make_agent("station"), "r300", 0)
    assert told.actions[:2] == (FOLD, CALL)
