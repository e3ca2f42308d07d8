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
is its menu (:mod:`.responsemenu`); figures of different menus do not compare. All-ins are paid by equity
where the rules allow it: the same on average, with less luck.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.agents.registry import AgentSpec
from equipoise.arena.match import Player, play_match
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.measures.aivat import AivatResult, aivat
from equipoise.arena.measures.responsemenu import ResponseMenu
from equipoise.cards.combos import hand_number
from equipoise.columnar import Columnar
from equipoise.errors import EquipoiseError
from equipoise.games.belief import Belief, Cards, free_hands
from equipoise.games.checkdown import CheckDown, half_pot
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, Action, Rules, State
from equipoise.run import Listener


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
            self._ask(State.start(rules), (), 0)

    def act(self, view: View) -> Action:
        """The best action one step ahead."""
        public = PublicState(view.state, view.board, view.hand)
        return _best(self.values(hand_number(view.hole), public, self.range(*public)))

    def policy(self, public: PublicState) -> Policy | None:
        """Certainty, hand by hand; None in hold'em, where it would take too long."""
        if self.checkdown.full_deck:
            return None
        facing = self.range(*public)
        actions = tuple(self.menu.actions(public.state))
        rows = np.zeros((self.checkdown.hands, len(actions)), dtype=np.float32)
        for hand in np.flatnonzero(free_hands(public.state.rules, public.board)).tolist():
            rows[hand, actions.index(_best(self.values(hand, public, facing)))] = 1.0
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
                        policy = self._ask(now, seen, number)
                        self._tracked[key] = belief.act(policy, action, who=_name(self.target))
                    belief = self._tracked[key]
                now = after
        return belief

    def _ask(self, state: State, board: Cards, number: int) -> Policy:
        policy = self.target.policy(PublicState(state, board, number))
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
                policy = self._ask(after, board, number)
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
    #: The same without luck, if it was asked for.
    without_luck: AivatResult | None

    def columns(self) -> dict[str, Any]:
        """One row a hand of the match, or of the match without luck."""
        return (self.without_luck or self.match).columns()

    def caption(self) -> str:
        """What the response won."""
        return (self.without_luck or self.match).caption()

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
        return figures | (self.without_luck.to_dict() if self.without_luck is not None else {})


def local_best_response(
    agent: Player,
    rules: Rules = NOLIMIT_HOLDEM,
    hands: int = 60_000,
    menu: str = "fcpa",
    seed: int = 0,
    *,
    duplicate: bool = True,
    workers: int = 1,
    without_luck: bool = False,
    progress: Listener | None = None,
) -> LbrResult:
    """Play the local best response against an agent.

    With the hands of the default the interval of a no-limit figure is a few hundred mbb.

    >>> local_best_response("fold", hands=20, menu="fcpa").match.mbb_per_hand
    750.0
    """
    target = agent if isinstance(agent, Agent) else AgentSpec.read(agent).make(rules)
    name = _name(target) if isinstance(agent, Agent) else AgentSpec.read(agent).name
    response = LocalBestResponse(target, rules, menu)
    with TemporaryDirectory() as folder:
        match = play_match(
            response,
            target,
            rules,
            hands,
            seed,
            duplicate=duplicate,
            workers=workers,
            log=Path(folder) / "lbr.log" if without_luck else None,
            allin_equity=response.checkdown.full_deck,
            max_faults=1,
            progress=progress,
        )
        if match.faults:
            fault = match.faults[0]
            who = "the local best response" if fault.seat == 0 else name
            raise EquipoiseError(f"{who} failed in hand {fault.hand}: {fault.reason}")
        luckless = None
        if without_luck:
            luckless = aivat(match, response, target, workers=workers, progress=progress)
    return LbrResult(name, str(response.menu), match, luckless)
