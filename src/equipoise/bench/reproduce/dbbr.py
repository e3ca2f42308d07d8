"""Deviation-based best responses at the table: what they win, what they risk, and how fast they learn.

Every opponent meets `dbbr`, and on the same deals the equilibrium that it starts from: what one wins more
than the other is an interval over pairs of duplicate hands. All-ins are paid by their equity in no-limit.
How far responses fall behind, and when that is made up for, is told of each (:func:`dip`).

Against the equilibrium itself matches would take millions of hands; so the responses to what was counted of
it, after :data:`WATCHED` hands of each of several matches, are evaluated exactly in the abstraction.

What is done is kept: a meeting, or a match with the equilibrium, is a file in the cache, named by its
settings and the blueprint, and a run that was stopped goes on with the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.exploiting.dbbr import EQUILIBRIA, DbbrAgent
from equipoise.agents.registry import make_agent
from equipoise.arena.match import play_match
from equipoise.arena.statistics import estimate, pair_means
from equipoise.artefact import fingerprint
from equipoise.bench.reproduce.meetings import blueprint_stamp
from equipoise.cache import cache_folder
from equipoise.files import written
from equipoise.games.hand import HandResult
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, Rules
from equipoise.run import Event, Listener
from equipoise.version import __version__

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
    total, done = sum(len(OPPONENTS[game]) + runs for game in games), 0
    for game in games:
        for name in OPPONENTS[game]:
            progress(Event(done, total, f"dbbr v {name}"))
            row = _kept(meeting, game, name, count, seed)
            meetings.append(row | {"dip": dip(row["curve"])})
            done += 1
        found = []
        for number in range(runs):
            progress(Event(done, total, f"dbbr v its equilibrium, {game}"))
            found.append(_kept(watched, game, seed + 1 + number))
            done += 1
        risks.append(risk(game, found))
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
    for make in (DbbrAgent, _equilibrium):
        # One after the other: rows of no-limit are large.
        played.append(_payoffs(make(rules), opponent, rules, hands, seed))
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


def dip(curve: Data) -> Data | None:
    """How far responses fell behind what was won when they began, and when that was made up for.

    None where the match ended before responses began. `recovered_hands` is the first hand after the
    lowest point at which nothing is lost any more, None if the match ended before.

    >>> dip({"hands": [0, 1000, 1050, 1100, 1150], "ahead_bb": [0.0, 0.0, -3.0, -5.0, 2.0]})
    {'began_hands': 1000, 'lost_bb': 5.0, 'lowest_hands': 1100, 'recovered_hands': 1150}
    """
    hands, ahead = np.array(curve["hands"]), np.array(curve["ahead_bb"])
    after = np.flatnonzero(hands >= DbbrAgent.standard()["watch"])
    if len(after) < 2:
        return None
    began, lowest = after[0], after[np.argmin(ahead[after])]
    again = lowest + np.flatnonzero(ahead[lowest:] >= ahead[began])
    return {
        "began_hands": int(hands[began]),
        "lost_bb": float(ahead[began] - ahead[lowest]),
        "lowest_hands": int(hands[lowest]),
        "recovered_hands": int(hands[again[0]]) if len(again) else None,
    }


class _Watcher(DbbrAgent):
    """The equilibrium, which counts, and tells what its responses would win from the equilibrium."""

    def _begin_match(self) -> None:
        super()._begin_match()
        #: mbb/hand that responses win after so many hands.
        self.won_mbb: dict[str, float] = {}

    def observe(self, result: HandResult) -> None:
        """Count, and answer what was counted when it is time."""
        super().observe(result)
        if self.played in WATCHED:
            assert self.response is not None
            rows, usual = self.response.rows(self.seen), self.response.equilibrium.numbers
            worth = self.response.worth(rows, usual)
            self.won_mbb[str(self.played)] = 1000 * worth / self.blueprint.recipe.rules.big_blind


def watched(game: str, seed: int) -> Data:
    """What responses to the equilibrium win from it in one match, exactly in the abstraction, by hands."""
    agent, other = _pair(game)
    _payoffs(agent, other, RULES[game], max(WATCHED), seed)
    assert agent.response is not None
    exploitability = agent.response.equilibrium.exploitability()
    unit = 1000 / RULES[game].big_blind
    return {"won_mbb": agent.won_mbb, "exploitability_mbb": unit * exploitability}


@lru_cache(maxsize=1)
def _pair(game: str) -> tuple[_Watcher, Agent]:
    """The equilibrium that counts, and the equilibrium that is counted."""
    rules = RULES[game]
    other = BlueprintAgent(rules, EQUILIBRIA[rules.limit], postprocess="raw")
    return _Watcher(rules, watch=_NEVER), other


def risk(game: str, runs: list[Data]) -> Data:
    """What responses to the equilibrium win from it over several matches: below 0 is lost."""
    won = {hands: [run["won_mbb"][hands] for run in runs] for hands in map(str, WATCHED)}
    return {
        "game": game,
        "exploitability_mbb": runs[0]["exploitability_mbb"],
        "won_mbb": {hands: float(np.mean(sample)) for hands, sample in won.items()},
        "least_mbb": min(map(min, won.values())),
        "mean_mbb": float(np.mean([*won.values()])),
        "runs_mbb": won,
    }


def _kept(measure: Callable[..., Data], game: str, *told: Any) -> Data:
    """What was measured before, or is measured now and kept."""
    stamp = blueprint_stamp(EQUILIBRIA[RULES[game].limit])
    key = [__version__, measure.__name__, game, told, stamp, DbbrAgent.standard()]
    folder = cache_folder() / "dbbr"
    path = folder / f"{fingerprint(key)[:16]}.json"
    if path.exists():
        kept: Data = json.loads(path.read_text(encoding="utf-8"))
        return kept
    found = measure(game, *told)
    folder.mkdir(parents=True, exist_ok=True)
    with written(path, "w") as file:
        json.dump(found, file)
    return found


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
