"""The log of a match: readable by every tool that reads ACPC logs, and enough to go on from.

    # name/game/hands/seed random-call no-limit hold'em 50-100, stack 20000 2000 7
    # match {"a": "random", "b": "call", ...}
    STATE:0:r300c/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:300|-300:random|call
    SCORE:1200|-1200:random|call

Payoffs and names of a `STATE` line are in order of position, those of `SCORE` A's first. In hand n
A sits at position n mod 2. A fault is a comment before its hand, `# FAULT 17 0 reason`, and so is what
an agent wants kept, `# NOTE 0 text`.

What a log says is not believed: the cards of every hand follow from the seed, and what it paid from
the cards and the betting. Who goes on from a log has each hand played again first.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from equipoise.agents.agent import Agent
from equipoise.arena.record import Fault, chips_text, state_line
from equipoise.errors import ArtefactError, EquipoiseError, FileError
from equipoise.games.dealing import DealtCards, SeededDeals
from equipoise.games.hand import PAYOFF_DECIMALS, Hand
from equipoise.games.notation import gamefile
from equipoise.games.rules import State
from equipoise.numerals import read_whole
from equipoise.settings import brief

_MATCH = "# match "
_FAULT = "# FAULT "
_NOTE = "# NOTE "


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


def fault_line(fault: Fault) -> str:
    """A fault as logs write it."""
    return f"{_FAULT}{fault.hand} {fault.seat} {fault.reason}\n"


def note_lines(agents: Sequence[Agent]) -> str:
    """What agents want kept of the hands since they were last asked, as logs write it."""
    told = ""
    for seat, agent in enumerate(agents):
        if agent.notes:
            told += "".join(f"{_NOTE}{seat} {' '.join(note.split())}\n" for note in agent.notes)
            agent.notes.clear()
    return told


def score_line(payoffs: Sequence[float], a: str, b: str) -> str:
    """The last line of a log."""
    total = round(sum(payoffs), PAYOFF_DECIMALS)
    return f"SCORE:{chips_text(total)}|{chips_text(-total)}:{a}|{b}\n"


def hand_text(
    hand: int, state: State, deal: DealtCards, payoff: float, names: Sequence[str]
) -> str:
    """A finished hand as logs write it; `payoff` is position 0's, names are A's and B's."""
    first = hand & 1
    board = deal.boards[state.round + state.rounds_to_deal]
    seated = (names[first], names[1 - first])
    return f"{state_line(hand, state, deal.holes, board, (payoff, -payoff), seated)}\n"


class LogWriter:
    """A log that is being written: it holds whole deals, whatever happens."""

    def __init__(self, path: Path, size: int = 0, header: str = "", cure: str = "") -> None:
        """Begin a new log with its header, or go on with an old one after `size` bytes.

        `cure` says what to do with a log that could not be written to its end.
        """
        self.path = path
        self._cure = cure
        self._size = size
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
            self._file = FileIO(descriptor, "wb")
            if path.is_file():
                if not _is_ours(descriptor):
                    self._file.close()
                    raise FileError(f"another match writes to {path}: wait for it")
                self._file.truncate(size)
                self._file.seek(size)
        except OSError as error:
            raise FileError(f"cannot write the log {path}: {error.strerror}") from None
        if header and not size:
            self.write(header)

    def write(self, text: str) -> None:
        """Add some deals, or nothing at all."""
        left = memoryview(text.encode("utf-8"))
        added = len(left)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._cut()
            cure = self._cure if self._size and self._cure else "choose another place"
            raise FileError(f"cannot write the log {self.path}: {error.strerror}: {cure}") from None
        self._size += added

    def _cut(self) -> None:
        """Drop a deal that was written in part, and a file that has not even its header."""
        with contextlib.suppress(OSError):
            self._file.truncate(self._size)
        self._file.close()
        if not self._size and self.path.is_file():
            with contextlib.suppress(OSError):
                self.path.unlink()

    def close(self) -> None:
        """End writing; what was written is on the disk then."""
        if not self._file.closed:
            with contextlib.suppress(OSError):
                # A device has nothing to sync.
                os.fsync(self._file.fileno())
            self._file.close()


def _is_ours(descriptor: int) -> bool:
    """Whether no other process writes to an open log; from then on none may."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        # Where there are no locks, users have to know.
        return True
    return True


def read_past(path: Path, header: Header, sample: int) -> Past:
    """What was played of the match with this header; `sample` hands belong together.

    A line cut short by a crash, and a pair of which one hand is missing, do not count.
    """
    try:
        # Anything else than a file might have no end.
        data = path.read_bytes() if path.is_file() else b""
    except OSError as error:
        raise ArtefactError(f"cannot read the log {path}: {error.strerror}") from None
    if not data and path.is_file():
        # Begun, and stopped before the first word.
        return Past([], [], 0)
    replay: _Replay | None = None
    payoffs: list[float] = []
    faults: list[Fault] = []
    place = size = 0
    for number, raw in enumerate(data.splitlines(keepends=True), start=1):
        place += len(raw)
        line = raw.decode("utf-8", errors="replace")
        if not line.endswith("\n"):
            break
        if line.startswith(_MATCH):
            _check_header(path, header, line)
            replay, size = replay or _Replay(header), place
        elif replay is None:
            continue
        elif line.startswith(_FAULT):
            faults.append(_fault(f"{path}, line {number}", line))
        elif line.startswith("STATE:"):
            payoffs.append(replay.payoff(f"{path}, line {number}", line, len(payoffs)))
            if len(payoffs) % sample == 0:
                size = place
    if replay is None:
        raise ArtefactError(f"{path} is not the log of a match: choose another --log to begin anew")
    del payoffs[len(payoffs) // sample * sample :]
    return Past(payoffs, [fault for fault in faults if fault.hand < len(payoffs)], size)


class _Replay:
    """Plays the hands of a log again, in order."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.rules = gamefile.parse(header.game)
        self._deals = SeededDeals(self.rules, header.seed)

    def payoff(self, where: str, line: str, hand: int) -> float:
        """A's chips in a hand, if the line is the one that was written when it was played."""
        header = self.header
        words = line.split(":", 3)
        if len(words) < 4 or words[1] != str(hand):
            raise ArtefactError(f"{where}: hand {hand} is damaged or missing: begin a new log")
        try:
            state = State.from_betting_text(self.rules, words[2])
        except EquipoiseError as error:
            raise ArtefactError(
                f"{where}: hand {hand} is damaged, {brief(str(error), 200)}"
            ) from None
        if not state.is_over:
            raise ArtefactError(f"{where}: hand {hand} is not over: begin a new log")
        deal = self._deals.deal(hand // 2 if header.duplicate else hand)
        won = Hand(state, deal, hand, header.allin_equity).payoffs()[0]
        due = hand_text(hand, state, deal, won, (header.a, header.b))
        if line != due:
            raise ArtefactError(
                f"{where}: hand {hand} says {brief(line.strip(), 200)!r} where its deal and betting "
                f"give {due.strip()!r}: begin a new log"
            )
        return -won if hand & 1 else won


def _fault(where: str, line: str) -> Fault:
    hand, seat, reason = (*line[len(_FAULT) :].rstrip("\n").split(" ", 2), "", "", "")[:3]
    number = read_whole(hand)
    if number is None or seat not in ("0", "1"):
        raise ArtefactError(
            f"{where}: {brief(line.strip())!r} is no fault: write {_FAULT}HAND SEAT REASON"
        )
    return Fault(number, int(seat), reason)


def read_header(line: str) -> dict[str, object] | None:
    """The settings in a log's line `# match ...`; None if it is another line, or damaged."""
    if not line.startswith(_MATCH):
        return None
    try:
        told = json.loads(line[len(_MATCH) :])
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _check_header(path: Path, header: Header, line: str) -> None:
    told = read_header(line)
    if told is None:
        raise ArtefactError(f"{path}: its header is damaged: begin a new log")
    for key, value in asdict(header).items():
        if told.get(key) != value:
            found, wanted = _told(key, told.get(key)), _told(key, value)
            raise ArtefactError(
                f"{path} is the log of another match: its {key} is {found}, not {wanted}; resume "
                "with the same settings, or choose another --log"
            )


def _told(key: str, value: object) -> str:
    """A setting as a sentence tells it; a game by its name."""
    if key == "game" and isinstance(value, str):
        names = (line.partition("=")[2] for line in value.splitlines() if "name" in line)
        value = next(names, value).strip()
    return brief(repr(value))
