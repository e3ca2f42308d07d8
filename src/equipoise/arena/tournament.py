"""Tournaments: everybody plays everybody, and two ways to say who is best.

By *total bankroll* agents are ranked by their mean win rate against all the others: who takes most
from the weak wins. By *instant run-off*, as in the ACPC, the agent with the lowest total against
those still in is dropped, again and again: who cannot be beaten wins.

Every match is dealt from a seed of its own, drawn from the tournament's; it is stated, so that a
match can be played again by itself. Matches are independent, so the variances of their means add.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.agents.registry import AgentSpec
from equipoise.arena.match import Player, check_settings, play_match
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.statistics import t_quantile
from equipoise.columnar import Columnar, columns_of
from equipoise.errors import EquipoiseError, FileError
from equipoise.files import check_target
from equipoise.games.hand import check_seed
from equipoise.games.rules import NOLIMIT_HOLDEM, Rules
from equipoise.run import Event, Listener


@dataclass(frozen=True)
class Tournament(Columnar):
    """The matches of a tournament; a match that was not played is missing."""

    names: tuple[str, ...]
    rules: Rules
    seed: int
    #: Matches by the numbers of the players, the lower first.
    matches: Mapping[tuple[int, int], MatchResult]
    #: Stopped by Ctrl-C before its end.
    interrupted: bool = False

    def rate(self, i: int, j: int) -> tuple[float, float] | None:
        """Player i's win rate against j in mbb/hand and half of its 95 % interval."""
        match = self.matches.get((min(i, j), max(i, j)))
        if match is None or not match.hands:
            return None
        mean = match.mbb_per_hand
        return (mean if i < j else 0.0 - mean), match.ci95_mbb

    def triplet(self, i: int, j: int) -> tuple[int, int, int] | None:
        """Pairs that player i won, lost and drew against j, by the sum of their two hands."""
        match = self.matches.get((min(i, j), max(i, j)))
        if match is None:
            return None
        won, lost, drawn = match.triplet
        return (won, lost, drawn) if i < j else (lost, won, drawn)

    def total(self, i: int, among: Sequence[int] | None = None) -> tuple[float, float]:
        """Player i's mean win rate against the others in mbb/hand, and half of its interval."""
        others = range(len(self.names)) if among is None else among
        means: list[float] = []
        variance = 0.0
        freedom = 0
        for j in others:
            match = self.matches.get((min(i, j), max(i, j)))
            if j == i or match is None or not match.hands:
                continue
            found = match.estimate
            means.append(found.mean if i < j else 0.0 - found.mean)
            variance += found.standard_error**2
            freedom += found.count - 1
        if not means:
            return 0.0, float("nan")
        error = sqrt(variance) / len(means)
        half = t_quantile(freedom) * error if freedom > 0 else float("nan")
        return sum(means) / len(means), half

    def by_bankroll(self) -> list[int]:
        """Players by their total, the best first."""
        return sorted(range(len(self.names)), key=lambda i: -self.total(i)[0])

    def by_runoff(self) -> list[int]:
        """Players by instant run-off, the winner first.

        Of several with the lowest total among those still in, the one with the lower total against
        all goes first, then the one named last.
        """
        left = list(range(len(self.names)))
        dropped: list[int] = []
        while left:
            out = min(left, key=lambda i: (self.total(i, left)[0], self.total(i)[0], -i))
            left.remove(out)
            dropped.append(out)
        return dropped[::-1]

    def columns(self) -> dict[str, list[Any]]:
        """One row a match."""
        keys = ("a", "b", "hands", "pairs", "mbb_per_hand", "ci95_mbb", "std_mbb", "seed")
        told = (match.to_dict() for match in self.matches.values())
        return columns_of({key: match[key] for key in keys} for match in told)

    def caption(self) -> str:
        """The players, the best first."""
        return f"{self.rules.name}: " + ", ".join(self.names[i] for i in self.by_bankroll())

    def to_dict(self) -> dict[str, Any]:
        """The tables, as `equipoise tournament --json` prints them."""
        return {
            "players": list(self.names),
            "game": self.rules.name,
            "seed": self.seed,
            "matches": [match.to_dict() for match in self.matches.values()],
            "bankroll": [self._ranked(i) for i in self.by_bankroll()],
            "runoff": [self.names[i] for i in self.by_runoff()],
            "interrupted": self.interrupted,
        }

    def _ranked(self, i: int) -> dict[str, Any]:
        mean, half = self.total(i)
        return {"player": self.names[i], "mbb_per_hand": mean, "ci95_mbb": half}


def match_seeds(seed: int, count: int) -> list[int]:
    """A seed for each match, all different.

    >>> len(set(match_seeds(1, 1000)))
    1000
    """
    check_seed(seed)
    drawn: dict[int, None] = {}
    source = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, 0x7075726E))))
    while len(drawn) < count:
        drawn[int(source.integers(0, 1 << 32))] = None
    return list(drawn)


def play_tournament(
    players: Sequence[Player],
    rules: Rules = NOLIMIT_HOLDEM,
    hands: int = 1000,
    seed: int = 0,
    *,
    logs: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Listener | None = None,
    **settings: Any,
) -> Tournament:
    """Everybody plays `hands` hands against everybody; `settings` are those of a match.

    `logs` is a directory for the logs of all matches; with `resume` matches go on from there, and
    logs that are there are replaced only with `overwrite`.

    >>> result = play_tournament(["fold", "call", "all-in"], hands=20)
    >>> result.rate(0, 2)[0], result.rate(2, 0)[0]
    (-750.0, 750.0)
    """
    names = _names(players)
    told = {key: settings[key] for key in settings if key in ("duplicate", "workers", "max_faults")}
    check_settings(hands, seed, **told)
    for player in players:
        # Who cannot sit down should not be found out after hours of play.
        if not isinstance(player, Agent):
            AgentSpec.read(player).make(rules)
    meetings = list(combinations(range(len(players)), 2))
    paths = _log_paths(logs, names, meetings, resume, overwrite)
    matches: dict[tuple[int, int], MatchResult] = {}
    for number, ((i, j), own_seed) in enumerate(
        zip(meetings, match_seeds(seed, len(meetings)), strict=True)
    ):
        title = f"{names[i]} v {names[j]}"

        def report(event: Event, number: int = number, title: str = title) -> None:
            if progress is not None:
                done, total = number * hands + event.done, len(meetings) * hands
                progress(Event(done, total, f"{title}: {event.what}"))

        result = play_match(
            players[i],
            players[j],
            rules,
            hands,
            own_seed,
            log=paths.get((i, j)),
            # A match that had not begun has no log yet.
            resume=resume and paths[i, j].exists(),
            overwrite=overwrite,
            progress=report,
            **settings,
        )
        if result.hands:
            matches[i, j] = result
        if result.interrupted:
            return Tournament(names, rules, seed, matches, interrupted=True)
    return Tournament(names, rules, seed, matches)


def _log_paths(
    logs: str | Path | None,
    names: Sequence[str],
    meetings: Sequence[tuple[int, int]],
    resume: bool,
    overwrite: bool,
) -> dict[tuple[int, int], Path]:
    """Where each match is logged; the directory is made, and nothing stands in the way there."""
    if logs is None:
        if resume:
            raise EquipoiseError("there is nothing to resume from: give the directory of --logs")
        return {}
    if resume and overwrite:
        raise EquipoiseError("logs are either gone on from or replaced: drop --overwrite")
    directory = Path(logs)
    # Whatever a player is called, its logs are in this directory and nobody else's.
    plain = [quote(name, safe="").replace(".", "%2E") for name in names]
    paths = {(i, j): directory / f"{plain[i]}.{plain[j]}.log" for i, j in meetings}
    if resume and not any(os.path.exists(path) for path in paths.values()):
        raise FileError(
            f"{directory} has no logs of these players: check its name, or drop --resume"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else error
        raise FileError(f"cannot make the directory {str(directory)!r}: {told}") from None
    for path in paths.values():
        check_target(path, overwrite=overwrite or resume, what="--logs")
    return paths


def _names(players: Sequence[Player]) -> tuple[str, ...]:
    if len(players) < 2:
        raise EquipoiseError("a tournament needs at least two players: name more")
    names = tuple(
        (player.name or type(player).__name__)
        if isinstance(player, Agent)
        else AgentSpec.read(player).name
        for player in players
    )
    for name in names:
        if names.count(name) > 1:
            raise EquipoiseError(
                f"two players are called {name!r}: give one another `name` in a TOML file"
            )
    return names
