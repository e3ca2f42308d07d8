"""Files of hands that were played: recognised by what they contain, read hand by hand, verified.

Four kinds are known, each plain or compressed by gzip: logs of the ACPC (`STATE` lines), transcripts
of its dealer (`TO` and `FROM` lines), PHH (TOML) and the texts of poker sites (:mod:`.sites`). A log does
not say which game it is of, unless it is one of our matches: the game is then the competition's limit or
no-limit hold'em, whichever its raises look like.

A line that cannot be read is *damaged*; a hand that can be read but contradicts itself (betting
against the rules, payoffs that do not follow from the cards) is a *mismatch*. Both are errors, unless
the caller asks to be told instead and to go on.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from equipoise.arena.acpc import transcript
from equipoise.arena.acpc.protocol import is_comment, read_state_line, shorten
from equipoise.arena.histories import phh, sites
from equipoise.arena.histories.parquet import hands_frame, row
from equipoise.arena.matchlog import read_header
from equipoise.arena.record import HandRecord, chips_text
from equipoise.columnar import Columnar, columns_of, html_table
from equipoise.errors import EquipoiseError, GameError, HistoryError, IllegalActionError
from equipoise.games.notation import gamefile
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, Rules
from equipoise.numerals import read_decimal

if TYPE_CHECKING:
    from polars import DataFrame

#: Lines that are looked at to find out what a file is.
_HEAD = 2000
#: Hands that a notebook shows.
_SHOWN = 10
#: The longest line that is read: anything above is damage.
_LONGEST = 1 << 20

_PHH_LINE = re.compile(r"\s*(\[\s*[\"']?\d+[\"']?\s*\]|[a-z_]+\s*=).*", re.DOTALL)
_SIZED_RAISE = re.compile(r"STATE:[^:]*:[^:]*r\d")
_PLAIN_RAISE = re.compile(r"STATE:[^:]*:[^:]*r")


class Problem(NamedTuple):
    """Something wrong with a file."""

    line: int
    #: One sentence, which begins with the line.
    text: str
    #: The line could not be read at all; otherwise it contradicts itself.
    damaged: bool


@dataclass(frozen=True)
class History(Columnar):
    """A file of hands.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "match.log"
    >>> _ = path.write_text("STATE:2:f:Ah8s|2h4c:50|-50:p1|p2\\n")
    >>> history = History.open(path)
    >>> history.kind, [hand.payoffs for hand in history.hands()]
    ('acpc', [(50, -50)])
    """

    path: Path
    #: `acpc`, `transcript`, `phh`, or the name of a site.
    kind: str
    #: The game of a log; each hand of a PHH file brings its own.
    rules: Rules | None
    #: All-ins are paid by equity in this log.
    allin_equity: bool = False
    #: Hands 2n and 2n + 1 are one deal, played from both seats.
    duplicate: bool = False

    @classmethod
    def open(cls, path: str | Path, rules: Rules | None = None) -> History:
        """Find out what a file is; `rules` overrides what a log seems to be."""
        path = Path(path)
        head = _head(path)
        kind = _kind(head)
        if kind is None:
            raise HistoryError(
                f"{path} is no hand history: ACPC logs have lines STATE:…, PHH files are TOML, sites' "
                "begin each hand with their name"
            )
        if kind == "phh" or kind in sites.SITES:
            return cls(path, kind, rules)
        told = next(filter(None, map(read_header, head)), {})
        if rules is None:
            rules = _stated_game(told) or _likely_game(head)
        equity, duplicate = (told.get(key) is True for key in ("allin_equity", "duplicate"))
        return cls(path, kind, rules, equity, duplicate)

    def columns(self) -> dict[str, list[Any]]:
        """One row a hand, as :mod:`.parquet` describes it; the first problem is an error."""
        return columns_of(map(row, self.hands()))

    def to_polars(self) -> DataFrame:
        """The table as a Polars frame; a column has its type even if it holds nothing."""
        return hands_frame(self.hands())

    def _repr_html_(self) -> str:
        # Histories may have millions of hands: no more are read than are shown.
        first = columns_of(map(row, islice(self.hands(), _SHOWN)))
        return html_table(f"{self.path}: {self.kind}, the first hands", first)

    def hands(self, report: Callable[[Problem], None] | None = None) -> Iterator[HandRecord]:
        """The hands in order.

        Without `report` the first problem is raised as an error; with it, every problem is
        reported and its hand left out. Only damage is noticed here: see :meth:`verify`.
        """
        report = report or _raise
        if self.kind == "phh" or self.kind in sites.SITES:
            yield from self._phh_hands(report)
        elif self.kind == "acpc":
            yield from self._log_hands(report)
        else:
            assert self.rules is not None

            def mismatch(line: int, text: str) -> None:
                report(Problem(line, f"line {line}: {text}", damaged=False))

            try:
                yield from transcript.replay(_lines(self.path), self.rules, mismatch)
            except HistoryError as error:
                report(Problem(_line_of(error), str(error), damaged=True))

    def verify(self, report: Callable[[Problem], None]) -> int:
        """Replay everything and report all that is wrong; how many hands are right."""
        right = 0
        totals: dict[str, float] = {}
        scores = list[tuple[int, str]]()
        for hand in self.hands(report):
            faults = hand.faults()
            for fault in faults:
                report(Problem(hand.line, f"line {hand.line}: {fault}", damaged=False))
            right += not faults
            if self.kind == "acpc" and hand.stated is not None:
                for name, chips in zip(hand.players, hand.stated, strict=True):
                    totals[name] = totals.get(name, 0) + chips
        if self.kind == "acpc":
            scores = [
                (number, line.rstrip())
                for number, line in enumerate(_lines(self.path), start=1)
                if line.startswith("SCORE:")
            ]
        if len(scores) == 1:
            self._check_score(*scores[0], totals, report)
        return right

    def _check_score(
        self,
        number: int,
        line: str,
        totals: dict[str, float],
        report: Callable[[Problem], None],
    ) -> None:
        """The score must be the sum of the payoffs, to the rounding of equities."""
        _, chips, names = [*line.split(":"), "", ""][:3]
        for name, text in zip(names.split("|"), chips.split("|"), strict=False):
            stated = read_decimal(text)
            if stated is None:
                told = f"line {number}: {shorten(line)} is no score"
                report(Problem(number, told, damaged=True))
                return
            total = round(totals.get(name, 0), 3)
            if abs(total - stated) > 0.01:
                report(
                    Problem(
                        number,
                        f"line {number}: the score of {name} is {text} where the hands give "
                        f"{chips_text(total)}",
                        damaged=False,
                    )
                )

    def _log_hands(self, report: Callable[[Problem], None]) -> Iterator[HandRecord]:
        assert self.rules is not None
        for number, full in enumerate(_lines(self.path), start=1):
            line = full.rstrip("\r\n")
            if is_comment(line) or line.startswith("SCORE:"):
                continue
            try:
                hand = read_state_line(self.rules, line, number)
            except EquipoiseError as error:
                report(_problem(number, error))
                continue
            yield replace(hand, allin_equity=True) if self.allin_equity else hand

    def _phh_hands(self, report: Callable[[Problem], None]) -> Iterator[HandRecord]:
        lines = _lines(self.path)
        found = (
            sites.sections(lines, self.kind) if self.kind in sites.SITES else phh.sections(lines)
        )
        for section in found:
            if isinstance(section, HistoryError):
                report(Problem(_line_of(section), str(section), damaged=True))
                continue
            try:
                hand = phh.read_hand(section.text, section.line)
            except EquipoiseError as error:
                report(_problem(section.line, error))
                continue
            yield hand


def _problem(line: int, error: EquipoiseError) -> Problem:
    return Problem(line, str(error), damaged=not isinstance(error, IllegalActionError))


def _raise(problem: Problem) -> None:
    raise HistoryError(f"{problem.text}; --skip-damaged leaves such hands out")


def _line_of(error: HistoryError) -> int:
    found = re.match(r"line (\d{1,18})", str(error))
    return int(found.group(1)) if found else 0


def _lines(path: Path) -> Iterator[str]:
    """Lines of a file, unpacked if it is packed; bytes that are no text become marks."""
    number = 0
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            while line := file.readline(_LONGEST):
                number += 1
                yield line.decode("utf-8", "replace")
    except ValueError as error:
        # A path that no file can have.
        raise HistoryError(f"cannot read {str(path)!r}: {error}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise HistoryError(
            f"{path} is damaged after line {number} ({error}): get a whole copy"
        ) from None
    except OSError as error:
        raise HistoryError(f"cannot read {path}: {error.strerror or error}") from None


def _head(path: Path) -> list[str]:
    """The lines by which a file is known: not all of them, and not without bound."""
    head, size = [], 0
    for line in islice(_lines(path), _HEAD):
        head.append(line)
        size += len(line)
        if size > _LONGEST:
            break
    return head


def _kind(head: Iterable[str]) -> str | None:
    for line in head:
        if line.startswith(("STATE:", "SCORE:")):
            return "acpc"
        if line.startswith(("STARTED at ", "TO 1 at ", "TO 2 at ")):
            return "transcript"
        if site := sites.site_of(line):
            return site
        if _PHH_LINE.match(line):
            return "phh"
    return None


def _stated_game(told: Mapping[str, object]) -> Rules | None:
    """The game that the header of a match's log states, if it can be read."""
    game = told.get("game")
    try:
        return gamefile.parse(game) if isinstance(game, str) else None
    except GameError:
        # The hands still tell limit from no-limit.
        return None


def _likely_game(head: list[str]) -> Rules:
    """The game of a log that does not say: limit or no-limit hold'em, as its raises look."""
    if any(_SIZED_RAISE.match(line) for line in head):
        return NOLIMIT_HOLDEM
    titles = chain.from_iterable(
        line.lower().split() for line in head if line.startswith("# name/game")
    )
    if any(word.startswith("holdem.limit") or word == "limit" for word in titles):
        return LIMIT_HOLDEM
    limit = any(_PLAIN_RAISE.match(line) for line in head)
    return LIMIT_HOLDEM if limit else NOLIMIT_HOLDEM
