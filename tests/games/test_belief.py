"""Beliefs: Bayes' rule and card removal, as a dictionary of hands has them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.cards.combos import blocked, hand_number
from equipoise.errors import GameError
from equipoise.games.belief import Belief, free_hands, holdings
from equipoise.games.dealing import deck_of
from equipoise.games.library.leduc import leduc
from equipoise.games.library.smalldeck import SIZES
from equipoise.games.policy import Policy
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, raise_to

LEDUC, SHORT = leduc().betting.rules, SIZES["short"].rules()
GAMES = {"Leduc": LEDUC, "short": SHORT, "hold'em": NOLIMIT_HOLDEM}
ACTIONS = (FOLD, CALL, raise_to(6))


class Twin:
    """The same, one hand at a time, by sets of cards."""

    def __init__(self, rules):
        hands = combinations(deck_of(rules), rules.hole_cards)
        self.weight = {frozenset(hand): 1.0 for hand in hands}

    def see(self, board):
        for hand in self.weight:
            if hand & set(board):
                self.weight[hand] = 0.0

    def act(self, chance, never):
        """`chance` of each hand; whether the action was taken as one that is sometimes played."""
        after = {hand: w * chance(hand) if w else 0.0 for hand, w in self.weight.items()}
        if any(after.values()):
            self.weight = after
            return True
        assert never == "ignore"
        return False

    def only(self, seen):
        self.weight = {hand: float(hand == seen) for hand in self.weight}

    def equals(self, belief):
        expected = np.zeros(len(belief.weights))
        for hand, weight in self.weight.items():
            expected[hand_number(tuple(hand))] = weight
        return np.array_equal(belief.weights, expected)


def policy_of(rules, seed, rare):
    """Random probabilities, many of them 0, and nonsense in the rows of hands outside the deck."""
    random = np.random.default_rng(seed)
    rows = random.random((len(holdings(rules.hole_cards)), len(ACTIONS)))
    rows[random.random(rows.shape) < rare] = 0.0
    rows[~free_hands(rules, ())] = np.nan
    return Policy(ACTIONS, rows.astype(np.float32))


@given(game=st.sampled_from(sorted(GAMES)), data=st.data())
def test_a_belief_is_its_twin_after_any_events(game, data):
    rules = GAMES[game]
    deck = deck_of(rules)
    belief, twin, board = Belief.start(rules), Twin(rules), ()
    assert twin.equals(belief)
    for _ in range(data.draw(st.integers(1, 6))):
        event = data.draw(st.sampled_from(["see", "act", "act", "act", "only"]))
        before = belief.weights.copy()
        if event == "see":
            left = [card for card in deck if card not in board]
            if not left:
                continue
            board += (data.draw(st.sampled_from(left)),)
            after = belief.see(board)
            twin.see(board)
        elif event == "only" and belief.weights.any():
            hand = data.draw(st.sampled_from(np.flatnonzero(belief.weights).tolist()))
            after = belief.only(hand)
            twin.only(frozenset(holdings(rules.hole_cards)[hand].tolist()))
            assert after.is_known
        elif belief.weights.any():
            policy = policy_of(
                rules, data.draw(st.integers(0, 99)), data.draw(st.sampled_from([0, 0.9, 1]))
            )
            column = data.draw(st.integers(0, 2))

            def chance(hand, policy=policy, column=column):
                return float(policy.probabilities[hand_number(tuple(hand)), column])

            after = belief.act(policy, ACTIONS[column], never="ignore")
            if twin.act(chance, "ignore"):
                assert np.array_equal(after.weights, belief.act(policy, ACTIONS[column]).weights)
            else:
                assert after is belief
                with pytest.raises(GameError, match="which the policy never does here"):
                    belief.act(policy, ACTIONS[column])
            assert np.array_equal(
                belief.branches(policy)[:, column], belief.branch(policy.probabilities[:, column])
            )
        else:
            continue
        assert twin.equals(after)
        # A belief is a value: what it was is left as it is.
        assert np.array_equal(belief.weights, before)
        belief = after


def test_an_action_outside_the_policy_is_one_that_is_never_taken():
    belief, policy = Belief.start(LEDUC), policy_of(LEDUC, 1, 0)
    assert belief.act(policy, raise_to(8), never="ignore") is belief
    with pytest.raises(GameError, match="Ann played r8"):
        belief.act(policy, raise_to(8), who="Ann")


def test_a_hand_that_cannot_be_held_is_not_seen():
    belief = Belief.start(NOLIMIT_HOLDEM).see((51, 50, 49))
    assert not belief.is_known
    with pytest.raises(GameError, match="cannot be held"):
        belief.only(hand_number((51, 2)))


def test_blocked_hands_are_those_of_the_combinations():
    board = (0, 13, 51)
    assert np.array_equal(free_hands(NOLIMIT_HOLDEM, board), ~blocked(board))
