"""Agents against bets that nobody foresaw, every decision looked at.

The opponent is `odd-sizes` (in limit, where there are none, `random`). A match is played in this
process or over the ACPC protocol, through sockets. Of each decision it is checked that

- there was one: an exception is counted, and ends the match;
- the rules allow it;
- of an agent that plays a blueprint, it is not a fold, off the tree and where the guard watches, of a hand
  that has the price to call (of an agent without a guard all such folds are counted). Equity is counted
  here in another way than the guard does at the table: all hands at once, walked by strength.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.guard import opponent_range, price
from equipoise.agents.registry import make_agent
from equipoise.agents.searching.searchagent import SearchAgent, blueprint_player
from equipoise.arena.acpc.client import join
from equipoise.arena.acpc.dealer import AcpcDealer
from equipoise.arena.duel import Duel
from equipoise.cards.combos import combo_index
from equipoise.cards.streets import STREETS
from equipoise.errors import ProtocolError
from equipoise.games.dealing import SeededDeals
from equipoise.games.hand import HandResult, View
from equipoise.games.rules import FOLD, Action, Rules, State

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
    #: Seconds of the median and of the slowest decision of each street, and decisions that took longer
    #: than they may.
    median: dict[str, float] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)
    over_cap: int = 0
    #: Decisions that a search left to its blueprint.
    fallbacks: int = 0
    #: Memory of the process's own, without mapped files, before and after, in MB; 0 where the system does
    #: not tell.
    memory_mb: list[float] = field(default_factory=list)
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

    def __init__(self, agent: Agent, findings: Findings) -> None:
        super().__init__()
        self.agent, self.findings, self.learns = agent, findings, agent.learns
        #: What plays the blueprint, which may be the agent; None of an agent without one.
        self.plain: BlueprintAgent | None = blueprint_player(agent)
        #: Seconds of all decisions, by street.
        self.times: dict[str, list[float]] = {}
        caps = agent.caps if isinstance(agent, SearchAgent) else {}
        self._caps = {street: caps.get(number) for number, street in enumerate(STREETS)}
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
        began, street = perf_counter(), STREETS[view.state.round - view.state.rules.rounds]
        try:
            action = self.agent.act(view)
        except Exception as error:
            findings.exceptions += 1
            self._note(view, f"{type(error).__name__}: {error}")
            raise
        taken, cap = perf_counter() - began, self._caps[street]
        times = self.times.setdefault(street, [])
        times.append(taken)
        findings.over_cap += cap is not None and taken > cap
        findings.fallbacks = self.agent.fallbacks
        if not view.state.can(action):
            findings.illegal += 1
            self._note(view, f"played {action}")
        if self.plain is not None:
            self._look_at_folds(self.plain, view, action)
        return action

    def observe(self, result: HandResult) -> None:
        """As the agent does; what goes wrong there counts too."""
        try:
            self.agent.observe(result)
        except Exception as error:
            self.findings.exceptions += 1
            self._say(result.hand, result.state, f"{type(error).__name__}: {error}")
            raise

    def _look_at_folds(self, plain: BlueprintAgent, view: View, action: Action) -> None:
        """Off the tree: is it a fold of a hand that has the price?"""
        findings, guard = self.findings, plain.guard
        if not _off_tree(plain, view):
            return
        findings.off_tree += 1
        watched = guard.scope == "never" or guard.watches(view.state)
        if self.agent is plain and action == FOLD and watched:
            findings.folds_off_tree += 1
            share = _equity(plain, view)
            if share > price(view.state) + _ROUNDING:
                findings.folds_with_price += 1
                self._note(view, f"folded an equity of {share:.4f}")

    def _note(self, view: View, what: str) -> None:
        self._say(view.hand, view.state, what)

    def _say(self, hand: int, state: State, what: str) -> None:
        if not self.findings.first:
            self.findings.first = f"hand {hand}, {state.betting_text()!r}: {what}"


def _off_tree(plain: BlueprintAgent, view: View) -> bool:
    line = plain.line
    if line is None:
        return False
    place = line.stand(view.state, plain.seed, view.hand).place
    return line.off_tree(place, view.state)


def _equity(plain: BlueprintAgent, view: View) -> float:
    """Equity of this hand against the opponent's translated range."""
    line = plain.line
    assert line is not None
    steps = line.stand(view.state, plain.seed, view.hand).opponent
    weights = opponent_range(plain.book, steps, view.board).weights
    return plain.guard.checkdown.equity(combo_index(*view.hole), weights, view.board)


def play_odd_bets(
    agent: Agent,
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
    guard = None if watched.plain is None else watched.plain.guard
    asked, spent = (0, 0.0) if guard is None else (guard.asked, guard.seconds)
    findings.memory_mb.append(_memory_mb())
    if acpc:
        _over_sockets(watched, opponent, rules, hands, seed)
    else:
        _in_process(watched, opponent, rules, hands, seed)
    findings.median = {street: median(times) for street, times in watched.times.items()}
    findings.slowest = {street: max(times) for street, times in watched.times.items()}
    if guard is not None:
        findings.guard_asked = guard.asked - asked
        findings.guard_seconds = guard.seconds - spent
    findings.memory_mb.append(_memory_mb())
    return findings


def _memory_mb() -> float:
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            kilobytes = next(line.split()[1] for line in file if line.startswith("RssAnon:"))
    except (OSError, StopIteration):
        return 0.0
    return int(kilobytes) / 1024


def _in_process(watched: Watched, opponent: Agent, rules: Rules, hands: int, seed: int) -> None:
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
