"""What a responder wins from an agent's whole range: hands that are imagined, not dealt.

The responder x has cards, the agent has none: it has the *range* of all it may hold, W(y), and what
happens is averaged over it (imaginary observations, Bowling, Johanson, Burch and Szafron 2008; the
corrections are AIVAT's, Burch, Schmid, Moravčík, Morrill and Bowling 2018). At each step

    the agent acts    each action takes the part of the range that plays it. Parts that end the hand
                      are paid; others go on, the likely ones each for itself, and of those below a
                      share of the hand one that is drawn, as likely as it is among them, for all
    cards come        W loses the hands that hold one; the rest is multiplied by how much rarer such
                      cards are for who knows two hands than for who knows one: C(n, k) / C(n - h, k)
                      for k of n unseen cards and hands of h
    the hand ends     the pot is paid to the range, W @ margins, over all run-outs if cards are missing

Whatever is drawn, the sum over W of what x wins is on average what x wins from the agent, because each
step keeps the mean of every function of y. That holds for the check-down value V too, half the called
pot times x's margin over the range, where of an open bet no more than half the pot counts. So its luck is
known and taken off: V before a card or a draw is the mean of V after it, and the difference is added. Of pots
in which nothing but blinds lies it is not: there is little luck in them, and what folds to every bet is paid
without any.

The mean is that of a match, for any responder that looks at the range alone; there is only less luck, and
of the agent's cards none.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

from equipoise.games.belief import Belief, Cards, Weights
from equipoise.games.checkdown import CheckDown, half_pot, likely_half_pot
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import FOLD, Action, State

#: What the responder plays with its hand against a range.
Respond = Callable[[int, PublicState, Belief], Action]
#: The agent's policy.
Ask = Callable[[PublicState], Policy]
#: Which of some options, drawn by their weights.
Draw = Callable[[list[float]], int]

#: Actions that take a smaller share of the hand than this are drawn among each other.
_OWN_PATH = 0.2


class ImaginedHand:
    """One hand of a responder, who sits at `position` with `hand`, against an agent's range."""

    def __init__(
        self,
        checkdown: CheckDown,
        position: int,
        hand: int,
        number: int,
        boards: tuple[Cards, ...],
        draw: Draw,
    ) -> None:
        self.checkdown, self.rules = checkdown, checkdown.rules
        self.position, self.hand, self.number = position, hand, number
        #: The public cards of each round.
        self.boards, self.draw = boards, draw

    def value(self, respond: Respond, ask: Ask) -> float:
        """What the responder wins, in chips."""
        self.respond, self.ask = respond, ask
        state = State.start(self.rules)
        met = self.checkdown.against_hand(self.hand, ()).mass
        return self._goes_on(state, (), met / met.sum())

    def _goes_on(self, state: State, board: Cards, weights: Weights) -> float:
        """What is won from here on by all hands of the range together."""
        if state.to_act is None:
            if state.folded is not None:
                return state.payoffs()[self.position] * float(weights.sum())
            return half_pot(state) * self._margin(board, weights)
        total, seen = 0.0, self.boards[state.round]
        if seen != board:
            before = self._margin(board, weights)
            weights = self._dealt(board, seen, weights)
            raised = half_pot(state) - half_pot(State.start(self.rules))
            total += raised * (before - self._margin(seen, weights))
        public = PublicState(state, seen, self.number)
        if state.to_act != self.position:
            return total + self._answered(public, weights)
        action = self.respond(self.hand, public, Belief(self.rules, weights))
        return total + self._goes_on(state.apply(action), seen, weights)

    def _dealt(self, board: Cards, seen: Cards, weights: Weights) -> Weights:
        """The range after public cards."""
        held, count = self.rules.hole_cards, len(seen) - len(board)
        unseen = len(self.checkdown.deck) - held - len(board)
        rarer = comb(unseen, count) / comb(unseen - held, count)
        return weights * (self.checkdown.against_hand(self.hand, seen).mass * rarer)

    def _answered(self, public: PublicState, weights: Weights) -> float:
        """The agent acts."""
        state, board, _ = public
        policy = self.ask(public)
        branches = Belief(self.rules, weights).branches(policy)
        theirs = self.checkdown.against_hand(self.hand, board).margin
        masses: list[float] = branches.sum(axis=0).tolist()
        margins: list[float] = (theirs @ branches).tolist()
        total, rare = 0.0, []
        for column, action in enumerate(policy.actions):
            mass = masses[column]
            if not mass > 0:
                continue
            after = state.apply(action)
            if action == FOLD or after.to_act is None or mass >= _OWN_PATH:
                total += self._goes_on(after, board, branches[:, column])
            else:
                rare.append((column, after, mass))
        if not rare:
            return total
        # What all of them are worth if nobody bets any more is known.
        worth = [-likely_half_pot(after) * margins[column] for column, after, _ in rare]
        likely = [mass for _, _, mass in rare]
        chosen = self.draw(likely)
        column, after, mass = rare[chosen]
        scale = sum(likely) / mass
        total += sum(worth) - scale * worth[chosen]
        return total + self._goes_on(after, board, branches[:, column] * scale)

    def _margin(self, board: Cards, weights: Weights) -> float:
        """Weight of the range that is beaten, less what beats, mean over run-outs."""
        return -float(self.checkdown.against_hand(self.hand, board).margin @ weights)
