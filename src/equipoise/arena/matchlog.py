"""The log of a match: readable by every tool that reads ACPC logs, and enough to go on from.

    # name/game/hands/seed random-call no-limit hold'em 50-100, stack 20000 2000 7
    # match {"a": "random", "b": "call", ...}
    STATE:0:r300c/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:300|-300:random|call
    SCORE:1200|-1200:random|call

Payoffs and names of a `STATE` line are in order of position, those of `SCORE` A's first. In hand n
A sits at position n mod 2. A fault is a comment before its hand: `# FAULT 17 0 reason`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from equipoise.arena.duel import PAYOFF_DECIMALS, Fault
from equipoise.errors import ArtefactError

_MATCH = "# match "
_FAULT = "# FAULT "


@dataclass(frozen=True, slots=True)
class Header:
    """What a match must have in common with a log to go on from it."""

    a: str
    b: str
    #: The game file's text.
    game: str
    seed: int
    duplicate: bool
    allin_equity: bool

    def lines(self, title: str, hands: int) -> str:
        """The comments a log begins with."""
        names = f"{self.a}-{self.b}"
        return (
            f"# name/game/hands/seed {names} {title} {hands} {self.seed}\n"
            f"{_MATCH}{json.dumps(asdict(self))}\n"
        )


class Past(NamedTuple):
    """What a log says was played."""

    #: A's chips, hand after hand.
    payoffs: list[float]
    faults: list[Fault]
    #: Bytes of the file up to the last whole sample.
    size: int


def chips_text(chips: float) -> str:
    """Chips as logs write them.

    >>> chips_text(50), chips_text(-12.5), chips_text(3.0)
    ('50', '-12.5', '3')
    """
    if isinstance(chips, int):
        return str(chips)
    text = f"{chips:.{PAYOFF_DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def fault_line(fault: Fault) -> str:
    """A fault as logs write it."""
    return f"{_FAULT}{fault.hand} {fault.seat} {fault.reason}\n"


def score_line(payoffs: Sequence[float], a: str, b: str) -> str:
    """The last line of a log."""
    total = round(sum(payoffs), PAYOFF_DECIMALS)
    return f"SCORE:{chips_text(total)}|{chips_text(-total)}:{a}|{b}\n"


def read_past(path: Path, header: Header, sample: int) -> Past:
    """What was played of the match with this header; `sample` hands belong together.

    A line cut short by a crash, and a pair of which one hand is missing, do not count.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ArtefactError(f"cannot read the log {path}: {error}") from None
    payoffs: list[float] = []
    faults: list[Fault] = []
    place = size = 0
    found = False
    for raw in data.splitlines(keepends=True):
        place += len(raw)
        line = raw.decode("utf-8", errors="replace")
        if not line.endswith("\n"):
            break
        if line.startswith(_MATCH):
            _check_header(path, header, line)
            found, size = True, place
        elif line.startswith(_FAULT):
            hand, seat, reason = line[len(_FAULT) :].rstrip("\n").split(" ", 2)
            faults.append(Fault(int(hand), int(seat), reason))
        elif line.startswith("STATE:"):
            payoffs.append(_payoff(path, line, len(payoffs)))
            if len(payoffs) % sample == 0:
                size = place
    if not found:
        raise ArtefactError(f"{path} is not the log of a match: choose another --log to begin anew")
    del payoffs[len(payoffs) // sample * sample :]
    return Past(payoffs, [fault for fault in faults if fault.hand < len(payoffs)], size)


def _check_header(path: Path, header: Header, line: str) -> None:
    try:
        told = json.loads(line[len(_MATCH) :])
    except ValueError:
        raise ArtefactError(f"{path}: its header is damaged: begin a new log") from None
    for key, value in asdict(header).items():
        if told.get(key) != value:
            raise ArtefactError(
                f"{path} is the log of another match: its {key} is {told.get(key)!r}, "
                f"not {value!r}; resume with the same settings, or choose another --log"
            )


def _payoff(path: Path, line: str, hand: int) -> float:
    try:
        _, number, _, _, chips, _ = line.split(":", 5)
        if int(number) != hand:
            raise ValueError
        return float(chips.split("|")[hand % 2])
    except (ValueError, IndexError):
        raise ArtefactError(f"{path}: hand {hand} is damaged or missing: begin a new log") from None
