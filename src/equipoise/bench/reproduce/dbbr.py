"""Deviation-based best responses at the table: what they win, what they risk, and how fast they learn.

Every opponent meets `dbbr`, and on the same deals the equilibrium that it starts from: what one wins more
than the other is an interval over pairs of duplicate hands. All-ins are paid by their equity in no-limit.

Against the equilibrium itself matches would take millions of hands; so the responses to what was counted of
it, after :data:`WATCHED` hands of each of several matches, are evaluated exactly in the abstraction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.agent import Agent
from equipoise.agents.exploiting.dbbr import DbbrAgent
from equipoise.agents.registry import make_agent
from equipoise.arena.match import play_match
from equipoise.arena.statistics import estimate, pair_means
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, Rules
from equipoise.run import Event, Listener

Data = dict[str, Any]

#: Whom it meets, by game.
OPPONENTS: dict[str, tuple[str, ...]] = {
    "limit": ("call", "all-in", "random", "bucket"),
    "nolimit": ("nit", "maniac", "station"),
}
RULES = {"limit": LIMIT_HOLDEM, "nolimit": NOLIMIT_HOLDEM}
HANDS, QUICK_HANDS = 10_000, 1_200
#: Matches in which the equilibrium is watched, and the hands after which it is answered.
RUNS, QUICK_RUNS = 20, 2
WATCHED = (1_000, 2_000)
#: Points of a curve.
POINTS = 200
#: More hands than any match has: who watches so long never responds.
_NEVER = 10_000_000


def run(
    seed: int,
    quick: bool,
    progress: Listener,
    hands: int | None = None,
    games: tuple[str, ...] = tuple(OPPONENTS),
) -> Data:
    """All matches, and what responses to the equilibrium cost."""
    count, runs = hands or (QUICK_HANDS if quick else HANDS), QUICK_RUNS if quick else RUNS
    meetings: list[Data] = []
    risks: list[Data] = []
    total = sum(len(OPPONENTS[game]) + 1 for game in games)
    for game in games:
        for name in OPPONENTS[game]:
            progress(Event(len(meetings) + len(risks), total, f"dbbr v {name}"))
            meetings.append(meeting(game, name, count, seed))
        progress(Event(len(meetings) + len(risks), total, f"dbbr v its equilibrium, {game}"))
        risks.append(risk(game, runs, seed))
    return {
        "experiment": "dbbr",
        "seed": seed,
        "hands": count,
        "runs": runs,
        "meetings": meetings,
        "risks": risks,
    }


def meeting(game: str, name: str, hands: int, seed: int) -> Data:
    """One opponent: dbbr, the equilibrium on the same deals, and the difference."""
    rules = RULES[game]
    opponent, played = make_agent(name, rules), []
    for agent in (DbbrAgent(rules), _equilibrium(rules)):
        played.append(_payoffs(agent, opponent, rules, hands, seed))
    more = pair_means(played[0] - played[1])
    unit = 1000 / rules.big_blind
    figures = [estimate(unit * sample) for sample in (*map(pair_means, played), more)]
    names = ("dbbr", "equilibrium", "difference")
    after = np.linspace(0, len(more), min(POINTS, len(more)) + 1).astype(int)
    ahead = np.concatenate([[0.0], np.cumsum(2 * more / rules.big_blind)])[after]
    told: Data = {"game": game, "opponent": name}
    for label, figure in zip(names, figures, strict=True):
        told[f"{label}_mbb"], told[f"{label}_ci95"] = figure.mean, figure.half_width
    told["wins_more"] = figures[2].interval[0] > 0
    told["curve"] = {"hands": (2 * after).tolist(), "ahead_bb": ahead.tolist()}
    return told


def risk(game: str, runs: int, seed: int) -> Data:
    """What responses to the equilibrium win from it, exactly in the abstraction: below 0 is lost."""
    rules, found = RULES[game], dict[int, list[float]]()
    agent, other = _equilibrium(rules), _equilibrium(rules)
    for number in range(runs):
        for hands in WATCHED:
            # The same deals from the start: a longer look at the same match.
            _payoffs(agent, other, rules, hands, seed + 1 + number)
            response = agent.response
            assert response is not None
            rows = response.rows(agent.seen)
            worth = response.worth(rows, response.equilibrium.numbers)
            found.setdefault(hands, []).append(1000 * worth / rules.big_blind)
    response = agent.response
    assert response is not None
    usual = response.equilibrium
    return {
        "game": game,
        "exploitability_mbb": 1000 * usual.exploitability() / rules.big_blind,
        "won_mbb": {str(hands): float(np.mean(sample)) for hands, sample in found.items()},
        "least_mbb": min(min(sample) for sample in found.values()),
        "mean_mbb": float(np.mean([*found.values()])),
    }


def _equilibrium(rules: Rules) -> DbbrAgent:
    """The equilibrium that dbbr starts from, which counts all the same."""
    return DbbrAgent(rules, watch=_NEVER)


def _payoffs(
    agent: Agent, opponent: Agent, rules: Rules, hands: int, seed: int
) -> NDArray[np.float64]:
    match = play_match(agent, opponent, rules, hands, seed, allin_equity=not rules.limit)
    if match.interrupted:
        raise KeyboardInterrupt
    return match.payoffs
