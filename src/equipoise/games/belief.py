"""What is known of a hidden hand: a range, brought up to date by cards and by policies.

A *belief* has a weight w(h) for every hand h that may be held, 1 for all of them at the start. What
happens changes it by Bayes' rule, prior times likelihood:

    public cards come          w(h) becomes 0 where h holds one of them (card removal)
    an action a is played      w(h) becomes w(h) · p(a | h), with the policy p of who played it
    the hand is seen           w is 1 for that hand and 0 for all others

Weights are left as they come out: w(h) is how likely who holds h is to have come so far. Divided by
their sum they are what an onlooker thinks. Players are no onlookers: two hands in play share no card,
so a pair x, y has the weight w0(x) · w1(y) if they share none and 0 if they do, and who holds x
himself divides by the weight of what x can meet (the mass of :mod:`equipoise.games.checkdown`).

Of an action that the policy never takes Bayes' rule says nothing, for it divides 0 by 0. Whoever knows
the policy that is played *refuses* it; who only supposes one *ignores* it, and goes on believing what
he did.

Hands are all sets of private cards of a 52-card deck, numbered as in :mod:`equipoise.cards.combos`
(single cards by their own number), whatever deck a game uses: the rows of a
:class:`~equipoise.games.policy.Policy`. Rows of hands that cannot be held are never read.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.errors import GameError
from equipoise.games.dealing import deck_of
from equipoise.games.policy import Policy
from equipoise.games.rules import Action, Rules

Weights = NDArray[np.float64]
Cards = tuple[int, ...]


class Belief:
    """The range of a player whose hand is hidden; a value: every change makes a new one.

    >>> from equipoise.cards.card import parse_cards
    >>> from equipoise.games.policy import same_for_all
    >>> from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, State
    >>> belief = Belief.start(NOLIMIT_HOLDEM).see(parse_cards("Td 9d 6h"))
    >>> int(belief.weights.sum())
    1176
    >>> policy = same_for_all(State.start(NOLIMIT_HOLDEM), {FOLD: 0.75, CALL: 0.25})
    >>> float(belief.act(policy, CALL).weights.sum())
    294.0
    """

    __slots__ = ("rules", "weights")

    def __init__(self, rules: Rules, weights: Weights) -> None:
        self.rules = rules
        #: Weight of every hand: float64[hands].
        self.weights = weights

    @classmethod
    def start(cls, rules: Rules) -> Belief:
        """Of a player of whom nothing is known: every hand of the deck."""
        return cls(rules, _in_deck(rules).astype(np.float64))

    @property
    def is_known(self) -> bool:
        """Whether one hand is left."""
        return int(np.count_nonzero(self.weights)) == 1

    def see(self, board: Cards) -> Belief:
        """After public cards: hands that hold one of them are gone."""
        return Belief(self.rules, np.where(free_hands(self.rules, board), self.weights, 0.0))

    def only(self, hand: int) -> Belief:
        """After the hand was seen."""
        if not self.weights[hand] > 0:
            raise GameError(
                f"hand {hand} cannot be held here: it holds a public card, or never acts so"
            )
        weights = np.zeros(len(self.weights))
        weights[hand] = 1.0
        return Belief(self.rules, weights)

    def act(
        self,
        policy: Policy,
        action: Action,
        *,
        never: Literal["refuse", "ignore"] = "refuse",
        who: str = "the player",
    ) -> Belief:
        """After an action of who plays `policy`; `never` says what becomes of one it never takes."""
        if action in policy.actions:
            chances = policy.probabilities[:, policy.actions.index(action)]
        else:
            chances = np.zeros(len(self.weights), dtype=np.float32)
        return self.update(chances, never=never, told=f"{who} played {action}")

    def update(
        self,
        chances: NDArray[np.floating],
        *,
        never: Literal["refuse", "ignore"] = "refuse",
        told: str = "an action was played",
    ) -> Belief:
        """After an action that each hand plays with probability `chances`."""
        after = self.branch(chances)
        if after.any():
            return Belief(self.rules, after)
        if never == "ignore":
            return self
        raise GameError(
            f"{told}, which the policy never does here: what is held follows only from the policy "
            "that is played"
        )

    def branch(self, chances: NDArray[np.floating]) -> Weights:
        """Weight with which each hand is held and plays an action of probability `chances`."""
        held = self.weights > 0
        after: Weights = np.multiply(self.weights, chances, out=np.zeros(len(held)), where=held)
        return after

    def branches(self, policy: Policy) -> Weights:
        """Weight with which each hand is held and plays each action: float64[hand, action]."""
        weights, chances = self.weights[:, None], policy.probabilities
        after: Weights = np.multiply(
            weights, chances, out=np.zeros(chances.shape), where=weights > 0
        )
        return after


@lru_cache(maxsize=64)
def free_hands(rules: Rules, board: Cards) -> NDArray[np.bool_]:
    """Which hands of a game's deck hold no card of the board: bool[hands], not to be written to."""
    dead = np.zeros(DECK_SIZE, dtype=bool)
    dead[list(board)] = True
    free = _in_deck(rules) & ~np.asarray(dead[holdings(rules.hole_cards)].any(axis=1))
    free.flags.writeable = False
    return free


@cache
def holdings(held: int) -> NDArray[np.int64]:
    """Sets of private cards in the order of their numbers: int64[hands, held].

    >>> holdings(2)[:3].tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    cards = sorted(combinations(range(DECK_SIZE), held), key=lambda cards: cards[::-1])
    return np.array(cards, dtype=np.int64)


@cache
def _in_deck(rules: Rules) -> NDArray[np.bool_]:
    """Which sets of private cards a game's deck has."""
    return np.asarray(np.isin(holdings(rules.hole_cards), deck_of(rules)).all(axis=1))
