"""Agents that play blueprints: decisions a second, start-up, and matches against odd sizes.

Those whose blueprint is there are measured; the others are named.
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter
from typing import Any

from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.files import has_blueprint, load_blueprint
from equipoise.agents.registry import AGENTS
from equipoise.agents.searching.searchagent import plain_settings
from equipoise.arena.match import play_match
from equipoise.bench.figures import figure
from equipoise.bench.oddbets import Findings, play_odd_bets
from equipoise.games.hand import View
from equipoise.games.rules import Action, Rules

#: Hands of the match that is timed, and of the match against odd sizes.
MATCH_HANDS = 20_000
ODD_HANDS = 10_000
#: Hands before those that are measured.
WARM_UP_HANDS = 100

_START = (
    "from equipoise.agents.registry import AgentSpec; "
    "from equipoise.games.hand import View; from equipoise.games.rules import Rules, State; "
    "rules = {rules!r}; agent = AgentSpec.read({name!r}).make(rules); "
    "agent.act(View(State.start(rules), 1, (51, 50), (), 0))"
)


class Counted(BlueprintAgent):
    """Counts its decisions."""

    decisions = 0

    def act(self, view: View) -> Action:
        """As ever, and one more."""
        self.decisions += 1
        return super().act(view)


def names() -> tuple[list[str], list[str]]:
    """Agents of the package that play a blueprint: those whose blueprint is there, and the rest."""
    wanted = {name: entry.settings.get("blueprint") for name, entry in AGENTS.items()}
    there = [name for name, source in wanted.items() if source and has_blueprint(source)]
    return there, [name for name, source in wanted.items() if source and name not in there]


def rules_of(name: str) -> Rules:
    """The game that an agent of the package plays."""
    return load_blueprint(AGENTS[name].settings["blueprint"]).recipe.rules


def run(seed: int = 0) -> dict[str, Any]:
    """Measure every agent that is there."""
    there, missing = names()
    figures: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []
    for name in there:
        rules, settings = rules_of(name), plain_settings(AGENTS[name].settings)
        figures += [
            figure(f"{name}: decisions in a match with itself, one core",
                   decisions_per_second(settings, rules, seed), "decisions/s", at_least=20_000),
            figure(f"{name}: start-up, warm", start_seconds(name, rules), "s", at_most=2),
        ]  # fmt: skip
        # Kernels are loaded in a few hands that nobody looks at.
        play_odd_bets(BlueprintAgent(rules, **settings), rules, WARM_UP_HANDS, seed, name=name)
        for acpc in (False, True):
            agent = BlueprintAgent(rules, **settings)
            seen = play_odd_bets(agent, rules, ODD_HANDS, seed, name=name, acpc=acpc)
            findings.append(seen.to_dict())
            figures.append(odd_figure(name, agent, seen))
            if seen.guard_asked:
                figures.append(
                    figure(f"{name}: the guard, when asked ({seen.guard_asked:,} times)",
                           1000 * seen.guard_seconds / seen.guard_asked, "ms")
                )  # fmt: skip
    return {
        "suite": "agents",
        "seed": seed,
        "figures": figures,
        "odd_bets": findings,
        "missing": missing,
    }


def odd_figure(name: str, agent: BlueprintAgent, seen: Findings) -> dict[str, Any]:
    """What went wrong against odd sizes; a fold with the price only where a guard should see to it."""
    guarded = agent.guard.scope != "never"
    what = "illegal actions, exceptions and folds with the price" if guarded else (
        "illegal actions and exceptions"
    )  # fmt: skip
    wrong = seen.illegal + seen.exceptions + (seen.folds_with_price if guarded else 0)
    told = f"{name}: {what} in {seen.hands:,} hands of odd sizes, {seen.over}"
    return figure(told, wrong, "", at_most=0)


def decisions_per_second(settings: dict[str, Any], rules: Rules, seed: int = 0) -> float:
    """Decisions of both seats in a match of an agent with itself, by the wall: the best of two."""
    best = 0.0
    warm = [Counted(rules, **settings) for _ in range(2)]
    play_match(warm[0], warm[1], rules, WARM_UP_HANDS, seed)
    for number in range(2):
        players = [Counted(rules, **settings) for _ in range(2)]
        result = play_match(players[0], players[1], rules, MATCH_HANDS, seed + number)
        best = max(best, sum(player.decisions for player in players) / result.seconds)
    return best


def start_seconds(name: str, rules: Rules) -> float:
    """Seconds of a new process, from its start to the first decision, once tables are made: best of three."""
    code, best = _START.format(name=name, rules=rules), float("inf")
    for _ in range(4):
        began = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        best = min(best, perf_counter() - began)
    return best
