"""Who meets whom in the experiments with blueprints, and what comes of it.

A contender is an agent of the list, perhaps with another blueprint file or set otherwise. All
meetings of an experiment are played over the same deals: differences between two contenders against
the same opponent are paired, deal by deal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.files import find_blueprint, load_blueprint
from equipoise.agents.registry import AGENTS, make_agent
from equipoise.agents.searching.searchagent import plain_settings
from equipoise.arena.match import play_match
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.measures.aivat import aivat
from equipoise.arena.statistics import paired_difference
from equipoise.errors import ArtefactError, EquipoiseError
from equipoise.games.rules import Rules

#: Told (what is done, steps done, steps in all).
Data = dict[str, Any]


def blueprint_stamp(source: str) -> str:
    """What tells one blueprint from another of its name."""
    path = find_blueprint(source)
    return f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}"


@dataclass(frozen=True)
class Contender:
    """A player of an experiment."""

    name: str
    #: Settings of a :class:`BlueprintAgent`; none for the other agents of the list.
    settings: Mapping[str, Any] = field(default_factory=dict)

    def make(self, rules: Rules) -> Agent:
        """The agent."""
        if self.settings:
            return BlueprintAgent(rules, **self.settings)
        return make_agent(self.name, rules)

    @property
    def facts(self) -> Data:
        """What the blueprint's file says about its training."""
        blueprint = load_blueprint(self.settings["blueprint"])
        counts = "-".join(map(str, blueprint.abstraction.counts))
        return {"buckets": counts, "form": blueprint.form, **blueprint.facts}


class Stable:
    """Contenders whose blueprints are there; `given` names other files for some."""

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self.given = dict(given or {})
        for source in self.given.values():
            find_blueprint(source)
        #: Blueprints that were wanted and are not there, each with its cure.
        self.missing: dict[str, str] = {}

    def find(self, name: str, label: str = "", **settings: Any) -> Contender | None:
        """The agent that plays the blueprint `name`, set as the list says or otherwise."""
        source = self.given.get(name, name)
        try:
            find_blueprint(source)
        except ArtefactError as error:
            self.missing[name] = str(error)
            return None
        listed = plain_settings(AGENTS[name].settings) if name in AGENTS else {}
        return Contender(label or name, {**listed, "blueprint": source, **settings})

    def first(self, names: Iterable[str]) -> str | None:
        """The first blueprint of several that is there."""
        return next((name for name in names if self.find(name) is not None), None)


@dataclass(frozen=True)
class Terms:
    """How meetings are played."""

    rules: Rules
    hands: int
    seed: int
    workers: int = 1
    #: All-in pots are paid by equity.
    allin_equity: bool = False
    #: Luck is taken out afterwards as well.
    without_luck: bool = False


def meet(a: Contender, b: Contender, terms: Terms) -> tuple[Data, MatchResult]:
    """A duplicate match; figures are A's, in thousandths of a big blind a hand."""
    rules = terms.rules
    players = a.make(rules), b.make(rules)
    with TemporaryDirectory() as folder:
        result = play_match(
            players[0],
            players[1],
            rules,
            terms.hands,
            terms.seed,
            workers=terms.workers,
            allin_equity=terms.allin_equity,
            log=Path(folder) / "match.log" if terms.without_luck else None,
        )
        if result.faults:
            fault = result.faults[0]
            raise EquipoiseError(f"{a.name} v {b.name}, hand {fault.hand}: {fault.reason}")
        told: Data = {
            "a": a.name,
            "b": b.name,
            "hands": result.hands,
            "mbb_per_hand": result.mbb_per_hand,
            "ci95_mbb": result.ci95_mbb,
        }
        if terms.without_luck:
            luckless = aivat(result, players[0], players[1], workers=terms.workers)
            told |= {
                "luckless_mbb": luckless.estimate.mean,
                "luckless_ci95_mbb": luckless.estimate.half_width,
            }
    return told, result


def best_figure(row: Data) -> tuple[float, float]:
    """Mean and half interval of a meeting: without luck where that was taken out."""
    if "luckless_mbb" in row:
        return row["luckless_mbb"], row["luckless_ci95_mbb"]
    return row["mbb_per_hand"], row["ci95_mbb"]


def difference(first: MatchResult, second: MatchResult) -> Data:
    """What the first A won more than the second from the same opponent, over the same deals."""
    told = paired_difference(first.samples_mbb, second.samples_mbb)
    return {"mbb_per_hand": told.mean, "ci95_mbb": told.half_width}


def verdict(row: Data) -> str:
    """Whether A won, lost, or neither beyond doubt.

    >>> verdict({"mbb_per_hand": 50.0, "ci95_mbb": 20.0})
    'wins'
    """
    mean, half = best_figure(row)
    return "wins" if mean - half > 0 else "loses" if mean + half < 0 else "open"
