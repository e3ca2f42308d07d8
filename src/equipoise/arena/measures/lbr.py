"""Local best response: a lower bound on how much an agent can be beaten for (Lisý and Bowling 2017).

The local best response knows the agent's policy, and so tracks its exact range
(:mod:`equipoise.games.belief`). With its own hand it then looks one action ahead, as if after
that action both checked and called to the end:

    fold     minus what it has put in
    call     half the called pot, times its margin over the range
    raise    the agent's folds win what the agent has put in; its other hands, which are then its
             range, are played out for the raised pot

and takes the best. What it wins in a match is a lower bound, in expectation, on what a best response
would win: far from tight, and yet large against any agent that folds to the wrong bets.

The policy is all that it knows. What the agent draws in private, as what a bet is taken for, stays
private: the policy is the mixture over it, and the range follows from that. What it may do on each street
is its menu (:mod:`.responsemenu`); figures of different menus do not compare.

It is scored against the agent's whole range at every step (:mod:`.imagined`): on average what it would
win in a match, with a fraction of the luck. Deals and draws follow from the seed and the number of the
hand, so two agents can be compared on the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from random import Random
from time import perf_counter
from typing import Any

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.agents.registry import AgentSpec
from equipoise.arena.match import Player, check_settings
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.measures.imagined import ImaginedHand
from equipoise.arena.measures.parts import scores
from equipoise.arena.measures.responsemenu import ResponseMenu
from equipoise.arena.statistics import Estimate, estimate, pair_means, paired_difference, rate_text
from equipoise.cards.combos import hand_number
from equipoise.columnar import Columnar
from equipoise.errors import EquipoiseError
from equipoise.games.belief import Belief, Cards, free_hands
from equipoise.games.checkdown import CheckDown, half_pot
from equipoise.games.dealing import DealtCards, SeededDeals
from equipoise.games.hand import View, hand_seed
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, Action, Rules, State
from equipoise.run import Event, Listener


class LocalBestResponse(Agent):
    """Plays the local best response to one agent, whose policy has to be known."""

    name = "lbr"

    def __init__(self, target: Agent, rules: Rules, menu: str = "fcpa") -> None:
        super().__init__()
        self.target, self.menu = target, ResponseMenu.parse(menu, rules.rounds)
        self.checkdown = CheckDown(rules)
        self._hand = -1
        #: The target's range after each of its actions in this hand.
        self._tracked: dict[tuple[object, Cards], Belief] = {}
        if not State.start(rules).is_over:
            self.ask(PublicState(State.start(rules), (), 0))

    def act(self, view: View) -> Action:
        """The best action one step ahead."""
        public = PublicState(view.state, view.board, view.hand)
        return self.respond(hand_number(view.hole), public, self.range(*public))

    def respond(self, hand: int, public: PublicState, belief: Belief) -> Action:
        """The best action one step ahead of a hand against a range."""
        return _best(self.values(hand, public, belief))

    def policy(self, public: PublicState) -> Policy | None:
        """Certainty, hand by hand; None in hold'em, where it would take too long."""
        if self.checkdown.full_deck:
            return None
        facing = self.range(*public)
        actions = tuple(self.menu.actions(public.state))
        rows = np.zeros((self.checkdown.hands, len(actions)), dtype=np.float32)
        for hand in np.flatnonzero(free_hands(public.state.rules, public.board)).tolist():
            rows[hand, actions.index(self.respond(hand, public, facing))] = 1.0
        return Policy(actions, rows)

    def range(self, state: State, board: Cards, number: int) -> Belief:
        """The range of the player who is not to act, by the target's policy."""
        if number != self._hand:
            self._hand = number
            self._tracked.clear()
        rules = state.rules
        other = 1 - state.to_act if state.to_act is not None else 0
        belief = Belief.start(rules)
        now = State.start(rules)
        for played, actions in enumerate(state.history):
            seen = board[: sum(rules.board_cards[: played + 1])]
            belief = belief.see(seen)
            for action in actions:
                after = now.apply(action)
                if now.to_act == other:
                    key = (after.history, seen)
                    if key not in self._tracked:
                        policy = self.ask(PublicState(now, seen, number))
                        self._tracked[key] = belief.act(policy, action, who=_name(self.target))
                    belief = self._tracked[key]
                now = after
        return belief

    def ask(self, public: PublicState) -> Policy:
        """The target's policy."""
        policy = self.target.policy(public)
        if policy is None:
            raise EquipoiseError(
                f"{_name(self.target)} does not say its policy: a local best response needs the "
                "probabilities of every hand it could hold"
            )
        return policy

    def values(self, hand: int, public: PublicState, belief: Belief) -> dict[Action, float]:
        """What each action of the menu wins with a hand, in chips, if nobody bets after it."""
        state, board, number = public
        theirs, mass = self.checkdown.against_hand(hand, board)
        facing = belief.weights
        met = float(facing @ mass)
        if met <= 0:
            # The target cannot be here with any hand that this one leaves: nothing is to be won.
            return {CALL: 0.0}
        me = state.to_act
        assert me is not None
        dead = state.rules.dead / 2
        found = {}
        for option in self.menu.actions(state):
            if option == FOLD:
                found[option] = -(state.committed[me] + dead)
                continue
            after, stays, folded = state, facing, 0.0
            if option != CALL:
                after = state.apply(option)
                policy = self.ask(PublicState(after, board, number))
                if FOLD in policy.actions:
                    folds = belief.branch(policy.probabilities[:, policy.actions.index(FOLD)])
                    stays, folded = facing - folds, float(folds @ mass)
            won = folded * (state.committed[1 - me] + dead)
            found[option] = (won - half_pot(after) * float(stays @ theirs)) / met
        return found


def _best(values: dict[Action, float]) -> Action:
    """The action that wins most; of equal ones the first, so that a fold comes before a call."""
    return max(values, key=values.__getitem__)


def _name(agent: Agent) -> str:
    return agent.name or type(agent).__name__


@dataclass(frozen=True)
class LbrResult(Columnar):
    """How much the local best response won; figures are its own."""

    agent: str
    menu: str
    match: MatchResult
    #: The same against another agent, on the same deals, if it was asked for.
    other: LbrResult | None = None

    @property
    def difference(self) -> Estimate | None:
        """How much more it won from this agent than from the other, in mbb/hand."""
        if self.other is None:
            return None
        return paired_difference(self.match.samples_mbb, self.other.match.samples_mbb)

    def columns(self) -> dict[str, Any]:
        """One row a hand."""
        more = {} if self.other is None else {"against_chips": self.other.match.payoffs}
        return self.match.columns() | more

    def caption(self) -> str:
        """What the response won."""
        return self.match.caption()

    def to_dict(self) -> dict[str, Any]:
        """The figures, as `equipoise lbr --json` prints them."""
        match = self.match
        figures = {
            "agent": self.agent,
            "game": match.rules.name,
            "menu": self.menu,
            "hands": match.hands,
            "pairs": match.pairs,
            "mbb_per_hand": match.mbb_per_hand,
            "ci95_mbb": match.ci95_mbb,
            "std_mbb": match.std_mbb,
            "hands_per_second": match.hands_per_second,
            "seed": match.seed,
            "interrupted": match.interrupted,
        }
        if self.other is None or self.difference is None:
            return figures
        return figures | {
            "against": self.other.agent,
            "against_mbb_per_hand": self.other.match.mbb_per_hand,
            "against_ci95_mbb": self.other.match.ci95_mbb,
            "difference_mbb": self.difference.mean,
            "difference_ci95_mbb": self.difference.half_width,
        }


#: Deals that a worker takes at a time, at most, and the least parts for each: a search may take a minute
#: for a deal, and nobody should wait for one who has half of them left.
_PART, _PARTS_EACH = 32, 8


@dataclass
class _Deals:
    """What a worker needs to score any deals against some agents."""

    responses: Sequence[LocalBestResponse]
    rules: Rules
    seed: int
    duplicate: bool

    def start(self) -> None:
        for response in self.responses:
            # The seed of seat 1, where an agent sits in a match.
            response.target.reset(2 * self.seed + 1)
        self.deals = SeededDeals(self.rules, self.seed)

    def score(self, part: range) -> list[list[float]]:
        """What each response wins, hand after hand."""
        won: list[list[float]] = [[] for _ in self.responses]
        for number, deal in zip(part, self.deals.deals(part.start, part.stop), strict=True):
            hands = [(2 * number, 0), (2 * number + 1, 1)]
            if not self.duplicate:
                hands = [(number, number % 2)]
            # Hands of a deal in a row, agent by agent: its boards are then asked about together.
            for response, chips in zip(self.responses, won, strict=True):
                chips += [self._hand(response, deal, *hand) for hand in hands]
        return won

    def _hand(
        self, response: LocalBestResponse, deal: DealtCards, number: int, position: int
    ) -> float:
        target = response.target
        held = hand_number(deal.holes[position])
        random = Random(hand_seed(self.seed, number, 1))

        def draw(weights: list[float]) -> int:
            return random.choices(range(len(weights)), weights)[0]

        hand = ImaginedHand(response.checkdown, position, held, number, deal.boards, draw)
        try:
            target.begin(number, 1 - position)
            return hand.value(response.respond, response.ask)
        except Exception as error:
            raise EquipoiseError(f"{_name(target)} failed in hand {number}: {error}") from error


def local_best_response(
    agent: Player,
    rules: Rules = NOLIMIT_HOLDEM,
    hands: int = 60_000,
    menu: str = "fcpa",
    seed: int = 0,
    *,
    duplicate: bool = True,
    workers: int = 1,
    against: Player | None = None,
    progress: Listener | None = None,
) -> LbrResult:
    """What the local best response wins from an agent, and from another on the same deals.

    >>> local_best_response("fold", hands=20, menu="fcpa").match.mbb_per_hand
    750.0
    """
    check_settings(hands, seed, duplicate, workers)
    names, responses = [], []
    for player in (agent,) if against is None else (agent, against):
        recipe = None if isinstance(player, Agent) else AgentSpec.read(player)
        target = player if isinstance(player, Agent) else AgentSpec.read(player).make(rules)
        names.append(_name(target) if recipe is None else recipe.name)
        responses.append(LocalBestResponse(target, rules, menu))
    step = 2 if duplicate else 1
    deals = hands // step
    size = min(_PART, -(-deals // (workers * _PARTS_EACH))) if workers > 1 else _PART
    parts = [range(first, min(first + size, deals)) for first in range(0, deals, size)]
    won: list[list[float]] = [[] for _ in responses]
    watched, start = estimate([]), perf_counter()
    source = _Deals(responses, rules, seed, duplicate)
    with closing(scores(source, parts, workers)) as found, suppress(KeyboardInterrupt):
        for part in found:
            for chips, more in zip(won, part, strict=True):
                chips += more
            samples = np.array(part[0]) * (1000 / rules.big_blind)
            watched = watched.merged(estimate(pair_means(samples) if duplicate else samples))
            if progress is not None:
                now = rate_text(watched.mean, watched.half_width)
                progress(Event(len(won[0]), hands, f"{now} mbb/hand"))
    seconds = perf_counter() - start
    results = [
        LbrResult(
            name,
            str(response.menu),
            MatchResult(
                a=response.name,
                b=name,
                rules=rules,
                seed=seed,
                duplicate=duplicate,
                payoffs=np.array(chips, dtype=np.float64),
                faults=(),
                forfeited_by=None,
                interrupted=len(chips) < hands,
                hands_now=len(chips),
                seconds=seconds,
                log=None,
            ),
        )
        for name, response, chips in zip(names, responses, won, strict=True)
    ]
    return results[0] if against is None else replace(results[0], other=results[1])
