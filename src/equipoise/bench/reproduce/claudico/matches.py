"""Matches of Claudico's parts: endgames against none, thresholds, large bets in and out; its limps.

All are duplicate matches over the same deals, in big blinds a hundred hands as the competition was
judged, with the interval and the level at which a result is significant, two-sided. What endgames are
worth against another agent is the difference between two such matches, pair by pair, or, with far less
luck, what they add at the rivers that are met (:mod:`.riverplay`).

What is done is kept: a figure is a file in the cache, named by players, their blueprints, hands and seed, and
a match that was stopped goes on from its log. Opponents whose blueprint is not here are named with the
cure.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.files import find_blueprint
from equipoise.agents.registry import AGENTS, make_agent
from equipoise.arena.match import play_match
from equipoise.arena.measures.aivat import aivat
from equipoise.arena.measures.opening import opening_chart, opening_earnings
from equipoise.arena.statistics import paired_difference
from equipoise.artefact import fingerprint
from equipoise.bench.reproduce.claudico.riverplay import added_by_endgames
from equipoise.bench.reproduce.meetings import blueprint_stamp
from equipoise.cache import cache_folder
from equipoise.errors import ArtefactError, EquipoiseError
from equipoise.files import written
from equipoise.games.rules import NOLIMIT_HOLDEM
from equipoise.run import Event, Listener
from equipoise.version import __version__

Data = dict[str, Any]

#: Settings of Claudico by name.
SETTINGS: dict[str, Data] = {
    "none": {"endgame": "none"},
    "exact": {"endgame": "exact"},
    "exact, no gadget": {"endgame": "exact", "gadget": "none"},
    "lp": {"endgame": "lp"},
    "exact, no large bets": {"endgame": "exact", "large_bets": False},
    "lp, no large bets": {"endgame": "lp", "large_bets": False},
    "none, no thresholds": {"endgame": "none", "postprocess": "raw"},
    "none, purified": {"endgame": "none", "postprocess": "purify"},
}
OPPONENTS = ("tartanian5", "tartanian4", "sampled")
#: Who meets whom: settings of Claudico, or other agents of the list.
MEETINGS = (
    ("none", "none, no thresholds"),
    ("none", "none, purified"),
    ("exact", "none"),
    ("lp", "none"),
    ("exact", "lp"),
    ("exact", "exact, no large bets"),
    ("lp", "lp, no large bets"),
    *((setting, other) for other in OPPONENTS for setting in ("none", "lp", "exact")),
)
#: Who solves rivers, over whom that is told, and against whom: computed at the rivers that are met.
RIVERS: tuple[tuple[str, str, str], ...] = (
    *((setting, "none", "none") for setting in ("exact", "exact, no gadget", "lp")),
    *((how, f"{how}, no large bets", f"{how}, no large bets") for how in ("exact", "lp")),
    *((how, "none", other) for other in OPPONENTS for how in ("exact", "exact, no gadget", "lp")),
)


class Effort(NamedTuple):
    """Hands of a match, by what its slower player does, and hands that lead to rivers."""

    plain: int
    exact: int
    program: int
    to_exact_rivers: int
    to_program_rivers: int

    def of_match(self, *players: str) -> int:
        """Hands of a match."""
        return next(
            count
            for name, count in (("lp", self.program), ("exact", self.exact), ("", self.plain))
            if any(player.startswith(name) for player in players)
        )

    def to_rivers(self, solver: str) -> int:
        """Hands that lead to rivers which somebody solves."""
        return self.to_program_rivers if solver.startswith("lp") else self.to_exact_rivers


#: In all some six minutes of processor time, of which a hand takes 0.1 to 0.3 ms without endgames, 7 to 18
#: with exact ones and 50 to 100 with linear programs, a river on every line 0.1 and 0.5 to 1 s.
FULL, QUICK = Effort(20_000, 1_000, 100, 400, 40), Effort(1_000, 20, 20, 20, 20)


class Keeper:
    """Figures that are measured once: files in the cache, named by all that they depend on."""

    def __init__(self, blueprint: str) -> None:
        self.blueprint = blueprint
        self.folder = cache_folder() / "claudico"
        self.folder.mkdir(parents=True, exist_ok=True)

    def stamp(self, name: str) -> list[object]:
        """What a player depends on: its settings, those that ship among them, and its blueprint."""
        settings = SETTINGS.get(name)
        source = name if settings is None else self.blueprint
        ships = AGENTS[name if settings is None else "claudico"].parameters()
        return [name, ships | (settings or {}), blueprint_stamp(source)]

    def player(self, name: str) -> Agent:
        """A setting of Claudico, or another agent."""
        if name in SETTINGS:
            return make_agent("claudico", blueprint=self.blueprint, **SETTINGS[name])
        return make_agent(name)

    def kept(self, key: list[object], measure: Callable[[Path], Data]) -> Data:
        """A figure as it is kept, or measured, with a log that outlives a stop."""
        name = fingerprint([__version__, *key])
        path, log = self.folder / f"{name}.json", self.folder / f"{name}.log"
        if path.exists():
            told: Data = json.loads(path.read_text(encoding="utf-8"))
            return told
        told = measure(log)
        with written(path, "w") as file:
            file.write(json.dumps(told))
        for left in self.folder.glob(f"{log.name}*"):
            left.unlink(missing_ok=True)
        return told


def significance_of(mean: float, half_width: float) -> float:
    """Level at which a mean differs from 0, two-sided, from its 95 % interval.

    >>> round(significance_of(1.96, 1.96), 3)
    0.95
    """
    if half_width <= 0:
        return 0.0 if mean == 0 else 1.0
    z = abs(mean) / half_width * NormalDist().inv_cdf(0.975)
    return 2 * NormalDist().cdf(z) - 1


def _figures(mean_mbb: float, half_width_mbb: float, prefix: str = "") -> Data:
    return {
        f"{prefix}bb_per_100": mean_mbb / 10,
        f"{prefix}ci95_bb_per_100": half_width_mbb / 10,
        f"{prefix}significant_at": significance_of(mean_mbb, half_width_mbb),
    }


def meet(
    keeper: Keeper, first: str, second: str, hands: int, seed: int, workers: int, luckless: bool
) -> Data:
    """One match, kept."""

    def measure(log: Path) -> Data:
        players = keeper.player(first), keeper.player(second)
        result = play_match(
            *(*players, NOLIMIT_HOLDEM, hands, seed),
            workers=workers,
            log=log,
            resume=log.exists(),
            allin_equity=True,
        )
        if result.interrupted:
            raise KeyboardInterrupt
        if result.faults:
            fault = result.faults[0]
            raise EquipoiseError(f"{first} v {second}, hand {fault.hand}: {fault.reason}")
        told = {
            "a": first,
            "b": second,
            "hands": result.hands,
            **_figures(result.mbb_per_hand, result.ci95_mbb),
            "fallbacks": list(result.fallbacks),
            "samples_mbb": np.round(result.samples_mbb, 3).tolist(),
        }
        if luckless:
            found = aivat(result, *players, workers=workers).estimate
            told |= _figures(found.mean, found.half_width, "aivat_")
        return told

    key = [keeper.stamp(first), keeper.stamp(second), hands, seed, luckless]
    return keeper.kept(["match", *key], measure)


def play_all(
    blueprint: str,
    effort: Effort,
    seed: int,
    workers: int,
    progress: Listener,
    *,
    luckless: bool = False,
) -> Data:
    """Every meeting whose players are here, and who is not; what endgames add, pair by pair."""
    keeper = Keeper(blueprint)
    rows: list[Data] = []
    missing: dict[str, str] = {}
    known: dict[tuple[str, str], list[float]] = {}
    for number, (first, second) in enumerate(MEETINGS):
        if second not in SETTINGS:
            try:
                find_blueprint(second)
            except ArtefactError as error:
                missing[second] = str(error)
                continue
        wanted = effort.of_match(first, second)
        progress(Event(number, len(MEETINGS), f"{first} v {second}, {wanted:,} hands"))
        row = dict(meet(keeper, first, second, wanted, seed, workers, luckless))
        known[first, second] = row.pop("samples_mbb")
        rows.append(row)
    added = []
    for (first, second), samples in known.items():
        if first == "none" or second in SETTINGS:
            continue
        # The same deals without endgames: the first of a longer match.
        others = known["none", second][: len(samples)]
        found = paired_difference(np.array(samples), np.array(others))
        row = {"endgame": first, "against": second, "hands": effort.of_match(first, second)}
        added.append(row | _figures(found.mean, found.half_width))
    return {
        "meetings": rows,
        "endgames_add": added,
        "rivers": _rivers(keeper, effort, seed, progress),
        "missing": missing,
    }


def _rivers(keeper: Keeper, effort: Effort, seed: int, progress: Listener) -> list[Data]:
    """What endgames, their gadget and their large bets add, exactly at the rivers met."""
    rows = []
    for names in RIVERS:
        hands = effort.to_rivers(names[0])
        try:
            stamps = [keeper.stamp(name) for name in names]
        except ArtefactError:
            continue

        def measure(log: Path, names: tuple[str, str, str] = names, hands: int = hands) -> Data:
            solving, plain, opponent = (keeper.player(name) for name in names)
            found = added_by_endgames(plain, solving, opponent, hands, seed, progress=progress)
            mean, half = found.pop("mbb_per_hand"), found.pop("ci95_mbb")
            told = dict(zip(("endgame", "over", "against"), names, strict=True))
            return told | found | _figures(mean, half)

        rows.append(keeper.kept(["rivers", *stamps, hands, seed], measure))
    return rows


def limps(blueprint: str, hands: int, seed: int, progress: Listener) -> Data:
    """How often Claudico folds, limps and raises on the button, and what each of them earns there."""
    keeper = Keeper(blueprint)
    shares = opening_chart(keeper.player("none"), NOLIMIT_HOLDEM, "claudico").shares
    earned = []
    for other in ("none", "tartanian5"):
        try:
            stamps = [keeper.stamp("none"), keeper.stamp(other)]
        except ArtefactError:
            continue
        progress(Event(0, what=f"limps against {other}"))

        def measure(log: Path, other: str = other) -> Data:
            players = keeper.player("none"), keeper.player(other)
            told = opening_earnings(*players, NOLIMIT_HOLDEM, hands, seed).to_dict()
            return told | {"opponent": "claudico" if other == "none" else other}

        earned.append(keeper.kept(["limps", *stamps, hands, seed], measure))
    return {"ours": shares, "document": {"limp": 0.1}, "earned": earned}
