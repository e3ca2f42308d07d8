"""Agents that play blueprints against bets that nobody foresaw, every decision looked at.

The opponent is `odd-sizes` (in limit, where there are none, `random`). A match is played in this
process or over the ACPC protocol, through sockets. Of each decision it is checked that

- there was one: an exception is counted, and ends the match;
- the rules allow it;
- it is not a fold, off the tree and where the guard watches, of a hand that has the price to call
  (of an agent without a guard all such folds are counted). Equity is counted here in
  another way than the guard does at the table: all hands at once, walked by strength.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from typing import Any

from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.guard import opponent_range, price
from equipoise.agents.registry import make_agent
from equipoise.arena.acpc.client import join
from equipoise.arena.acpc.dealer import AcpcDealer
from equipoise.arena.duel import Duel
from equipoise.cards.combos import combo_index
from equipoise.errors import ProtocolError
from equipoise.games.dealing import SeededDeals
from equipoise.games.hand import View
from equipoise.games.rules import FOLD, Action, Rules

#: Equities this close to the price may be counted either way.
_ROUNDING = 2e-9


@dataclass
class Findings:
    """What was seen."""

    agent: str
    #: `process` or `acpc`.
    over: str
    hands: int = 0
    decisions: int = 0
    #: Decisions at which the real chips were not those of the tree.
    off_tree: int = 0
    #: Folds there that were looked at.
    folds_off_tree: int = 0
    illegal: int = 0
    exceptions: int = 0
    folds_with_price: int = 0
    #: How often the guard weighed a range, and the seconds it took.
    guard_asked: int = 0
    guard_seconds: float = 0.0
    seconds: float = 0.0
    #: The first thing that went wrong.
    first: str = ""

    @property
    def clean(self) -> bool:
        """Nothing went wrong."""
        return self.illegal + self.exceptions + self.folds_with_price == 0

    def to_dict(self) -> dict[str, Any]:
        """The figures."""
        return asdict(self) | {"clean": self.clean}


class Watched(Agent):
    """An agent whose every decision is looked at."""

    def __init__(self, agent: BlueprintAgent, findings: Findings) -> None:
        super().__init__()
        self.agent, self.findings = agent, findings
        self.random = agent.random

    def reset(self, seed: int) -> None:
        """As the agent does."""
        self.agent.reset(seed)

    def begin(self, hand: int, position: int) -> None:
        """As the agent does."""
        self.agent.begin(hand, position)

    def act(self, view: View) -> Action:
        """The agent's action, after a look at it."""
        findings = self.findings
        findings.decisions += 1
        try:
            action = self.agent.act(view)
        except Exception as error:
            findings.exceptions += 1
            self._note(view, f"{type(error).__name__}: {error}")
            raise
        if not view.state.can(action):
            findings.illegal += 1
            self._note(view, f"played {action}")
        if self._off_tree(view):
            findings.off_tree += 1
            guard = self.agent.guard
            if action == FOLD and (guard.scope == "never" or guard.watches(view.state)):
                findings.folds_off_tree += 1
                share = self._equity(view)
                if share > price(view.state) + _ROUNDING:
                    findings.folds_with_price += 1
                    self._note(view, f"folded an equity of {share:.4f}")
        return action

    def _off_tree(self, view: View) -> bool:
        line = self.agent.line
        if line is None:
            return False
        place = line.stand(view.state, self.agent.seed, view.hand).place
        return line.off_tree(place, view.state)

    def _equity(self, view: View) -> float:
        """Equity of this hand against the opponent's translated range."""
        line = self.agent.line
        assert line is not None
        steps = line.stand(view.state, self.agent.seed, view.hand).opponent
        weights = opponent_range(self.agent.book, steps, view.board).weights
        checkdown = self.agent.guard.checkdown
        return checkdown.equity(combo_index(*view.hole), weights, view.board)

    def _note(self, view: View, what: str) -> None:
        if not self.findings.first:
            betting = view.state.betting_text()
            self.findings.first = f"hand {view.hand}, {betting!r}: {what}"


def play_odd_bets(
    agent: BlueprintAgent,
    rules: Rules,
    hands: int,
    seed: int = 0,
    *,
    name: str = "blueprint",
    acpc: bool = False,
) -> Findings:
    """Play `hands` hands against odd sizes and say what was seen."""
    findings = Findings(name, "acpc" if acpc else "process")
    watched = Watched(agent, findings)
    opponent = make_agent("random" if rules.limit else "odd-sizes", rules)
    asked, spent = agent.guard.asked, agent.guard.seconds
    if acpc:
        _over_sockets(watched, opponent, rules, hands, seed)
    else:
        _in_process(watched, opponent, rules, hands, seed)
    findings.guard_asked = agent.guard.asked - asked
    findings.guard_seconds = agent.guard.seconds - spent
    return findings


def _in_process(watched: Watched, opponent: Agent, rules: Rules, hands: int, seed: int) -> None:
    from time import perf_counter

    duel, cards = Duel(rules, (watched, opponent), seed), SeededDeals(rules, seed)
    duel.reset()
    began = perf_counter()
    for hand in range(hands):
        duel.play(cards.deal(hand), hand, hand & 1)
        watched.findings.hands += 1
        if watched.findings.exceptions:
            break
    watched.findings.seconds = perf_counter() - began


def _over_sockets(watched: Watched, opponent: Agent, rules: Rules, hands: int, seed: int) -> None:
    failures: list[Exception] = []

    def sit(player: Agent, port: int) -> None:
        try:
            join(player, rules, "127.0.0.1", port, seed=seed)
        except Exception as error:
            failures.append(error)

    with AcpcDealer(rules, hands=hands, seed=seed) as dealer:
        seats = [
            threading.Thread(target=sit, args=(player, port), daemon=True)
            for player, port in zip((watched, opponent), dealer.ports, strict=True)
        ]
        for seat in seats:
            seat.start()
        outcome = dealer.run()
        for seat in seats:
            seat.join(timeout=30)
    watched.findings.hands, watched.findings.seconds = outcome.hands, outcome.seconds
    if outcome.reason and not watched.findings.exceptions:
        raise ProtocolError(f"the match over sockets was not finished: {outcome.reason}")
    if failures and not watched.findings.exceptions:
        raise failures[0]
