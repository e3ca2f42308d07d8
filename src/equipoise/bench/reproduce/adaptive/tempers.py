"""Matches against players of temper: what the adaptive agent wins more than an equilibrium, and how fast.

Against each opponent `adaptive` and the flagship's blueprint, the flagship with `search = "none"`, play the
same deals, duplicate, early all-ins paid by equity; the difference is paired, deal by deal. *Curves* are win
rates of stretches of a match, against hands seen. A turn of `turncoat` is looked at more closely in several
shorter matches, each from no knowledge of the opponent, whose stretches are put together.

What is played is kept: a match is a log in the cache, named by who plays it and by what they were trained to,
and one that is whole is read and not played again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.model import shipped_file
from equipoise.agents.blueprint.files import find_blueprint
from equipoise.arena.match import play_match
from equipoise.arena.matchlog import Header, read_past
from equipoise.arena.statistics import Estimate, estimate, pair_means, paired_difference
from equipoise.artefact import fingerprint
from equipoise.cache import cache_folder
from equipoise.errors import EquipoiseError
from equipoise.files import written
from equipoise.games.notation import gamefile
from equipoise.games.rules import NOLIMIT_HOLDEM
from equipoise.run import Event, Listener
from equipoise.version import __version__

Data = dict[str, Any]
Floats = NDArray[np.float64]

OPPONENTS = ("all-in", "call", "nit", "random", "maniac", "station", "turncoat")
#: Both players of an experiment, as TOML; the second is what the first is compared with.
PLAYERS = {
    "adaptive": 'agent = "adaptive"\n',
    "flagship-none": 'agent = "search"\nname = "flagship-none"\nblueprint = "flagship"\nsearch = "none"\n'
    'translation = "pseudo-harmonic"\n',
}
#: Stretches of a match, and of each of the shorter matches in which somebody turns.
STRETCHES, TURNED_STRETCHES = 20, 20
#: Shorter matches; together they are as long as a match.
REPEATS = 10
#: Ways to turn: the first temper, and the other.
TURNS = (("nit", "maniac"), ("maniac", "nit"))
#: Stretches must have this many hands, or they say nothing.
_LEAST_HANDS = 2 * STRETCHES * REPEATS


def play_all(hands: int, seed: int, progress: Listener | None = None) -> Data:
    """Every match, the curves, the turns, and the match of the two players."""
    if hands < _LEAST_HANDS or hands % (2 * STRETCHES * REPEATS):
        raise EquipoiseError(f"--hands {hands}: give a multiple of {_LEAST_HANDS}, such as 10000")
    table = Table(hands, seed, progress)
    rows = [table.meeting(opponent) for opponent in OPPONENTS]
    return {
        "hands": hands,
        "rows": rows,
        "turns": [table.turn(*turn) for turn in TURNS],
        "against_flagship": rate(table.payoffs("adaptive", "flagship-none", hands, seed)),
    }


@dataclass(frozen=True)
class Table:
    """Where matches are played, and kept."""

    hands: int
    seed: int
    progress: Listener | None = None

    @cached_property
    def folder(self) -> Path:
        """Where logs and agents' files are."""
        found = cache_folder() / "adaptive"
        found.mkdir(parents=True, exist_ok=True)
        return found

    @cached_property
    def stamp(self) -> str:
        """What both players were trained to."""
        files = (shipped_file("full"), find_blueprint("flagship"))
        return "".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)

    def player(self, name: str, text: str = "") -> str:
        """A player's name, or the file of one that is set otherwise."""
        text = text or PLAYERS.get(name, "")
        if not text or name == "adaptive":
            return name
        path = self.folder / f"{name}-{fingerprint(text)[:8]}.toml"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with written(path, "w") as file:
                file.write(text)
        return str(path)

    def log(self, *match: Any) -> Path:
        """Where a match is kept."""
        return self.folder / f"{fingerprint([__version__, self.stamp, *match])[:16]}.log"

    def payoffs(self, a: str, b: str, hands: int, seed: int, text: str = "") -> Floats:
        """A's chips hand by hand; `text` sets the opponent otherwise than by its name."""
        path = self.log(a, b, text, hands, seed)
        header = Header(a, b, gamefile.write(NOLIMIT_HOLDEM), seed, True, True)
        if path.exists():
            past = read_past(path, header, 2)
            if len(past.payoffs) == hands and not past.faults:
                return np.array(past.payoffs)
        played = play_match(
            self.player(a), self.player(b, text), NOLIMIT_HOLDEM, hands, seed, log=path,
            overwrite=True, allin_equity=True, progress=self._told(f"{a} v {b}"),
        )  # fmt: skip
        if played.interrupted:
            raise KeyboardInterrupt
        if played.faults:
            raise EquipoiseError(
                f"{a} v {b}, hand {played.faults[0].hand}: {played.faults[0].reason}"
            )
        return played.payoffs

    def _told(self, what: str) -> Listener | None:
        if self.progress is None:
            return None
        listener = self.progress
        return lambda event: listener(Event(event.done, event.total, f"{what} {event.what}"))

    def meeting(self, opponent: str) -> Data:
        """Both players against one opponent, over the same deals."""
        text = turncoat("nit", "maniac", self.hands // 2) if opponent == "turncoat" else ""
        won = {name: self.payoffs(name, opponent, self.hands, self.seed, text) for name in PLAYERS}
        first, second = (pair_means(_mbb(payoffs)) for payoffs in won.values())
        return {
            "opponent": opponent,
            **{name: rate(payoffs) for name, payoffs in won.items()},
            "difference": _figures(paired_difference(first, second)),
            "curves": {name: curve(payoffs, STRETCHES) for name, payoffs in won.items()},
        }

    def turn(self, first: str, then: str) -> Data:
        """What becomes of the win rate when an opponent turns, over several matches."""
        hands = self.hands // REPEATS
        text = turncoat(first, then, hands // 2)
        played = [
            self.payoffs("adaptive", "turncoat", hands, self.seed + number, text)
            for number in range(1, REPEATS + 1)
        ]
        return {
            "first": first,
            "then": then,
            "matches": REPEATS,
            "turns_at": hands // 2,
            "curve": curve(np.stack(played), TURNED_STRETCHES),
        }


def turncoat(first: str, then: str, turns_at: int) -> str:
    """The file of a `turncoat` that turns at a hand."""
    return f'agent = "turncoat"\nfirst = "{first}"\nthen = "{then}"\nturns_at = {turns_at}\n'


def rate(payoffs: Floats) -> Data:
    """Win rate of duplicate hands."""
    return _figures(estimate(pair_means(_mbb(payoffs))))


def curve(payoffs: Floats, stretches: int) -> list[Data]:
    """Win rates of the stretches of a match, or of several: one row a stretch, with the hands seen by then.

    >>> curve(np.array([100.0, 0, 300, 100]), 2)[1]["hands_seen"]
    4
    """
    every = np.atleast_2d(payoffs)
    size = every.shape[1] // stretches
    return [
        {
            "hands_seen": (number + 1) * size,
            **rate(every[:, number * size : (number + 1) * size].ravel()),
        }
        for number in range(stretches)
    ]


def _mbb(payoffs: Floats) -> Floats:
    return payoffs * (1000 / NOLIMIT_HOLDEM.big_blind)


def _figures(found: Estimate) -> Data:
    return {"mbb_per_hand": found.mean, "ci95_mbb": found.half_width}
