"""Hand histories as poker sites write them, read by the parsers of pokerkit into PHH (extra `formats`).

A file is cut where a hand begins, each is parsed by itself, and what comes out is read like any PHH hand
(:mod:`.phh`): one reader and one set of checks for all. What a parser cannot read is damaged.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr
from io import StringIO
from typing import Any

from equipoise.arena.histories.phh import Section
from equipoise.errors import HistoryError

#: How hands of a site begin, by the name of its history and the parser that reads them.
SITES = {
    "pokerstars": (re.compile(r"\ufeff?PokerStars (Zoom )?(Hand|Game) #"), "PokerStarsParser"),
    "full-tilt": (re.compile(r"\ufeff?Full ?Tilt Poker Game #"), "FullTiltPokerParser"),
    "partypoker": (re.compile(r"\ufeff?#?\s*\*+ Hand History for Game"), "PartyPokerParser"),
    "absolute": (re.compile(r"\ufeff?Stage #\d"), "AbsolutePokerParser"),
    "ongame": (re.compile(r"\ufeff?\*+ History for hand"), "OngameNetworkParser"),
    "ipoker": (re.compile(r"\ufeff?GAME #\d"), "IPokerNetworkParser"),
}
#: Characters of a line of a hand.
_LONGEST_LINE = 400
#: Characters that a hand may have: many times what the longest needs.
_LONGEST = 1 << 16


def site_of(line: str) -> str | None:
    """The site whose hand a line begins; None if it begins none.

    >>> site_of("PokerStars Hand #1: Hold'em No Limit"), site_of("STATE:0:")
    ('pokerstars', None)
    """
    return next((name for name, (start, _) in SITES.items() if start.match(line)), None)


def sections(lines: Iterable[str], site: str) -> Iterator[Section | HistoryError]:
    """The hands of a site's file as PHH text; an error in place of what could not be read."""
    parse = _parser(site)
    for first, text in _hands(lines, site):
        try:
            yield Section(first, parse(text))
        except HistoryError as error:
            yield HistoryError(f"line {first}: {error}")


def _hands(lines: Iterable[str], site: str) -> Iterator[tuple[int, str]]:
    start, kept, length = 0, list[str](), 0
    for number, line in enumerate(lines, start=1):
        if SITES[site][0].match(line):
            if kept:
                yield start, "".join(kept)
            start, kept, length = number, [], 0
        length += len(line)
        if start and length <= _LONGEST:
            kept.append(line)
    if kept:
        yield start, "".join(kept)


def _parser(site: str) -> Any:
    try:
        import pokerkit.notation as notation
    except ImportError:
        raise HistoryError(
            f"histories of {site} are read by pokerkit: pip install 'equipoise[formats]'"
        ) from None
    reader = getattr(notation, SITES[site][1])()

    def parse(text: str) -> str:
        # On a long line of brackets the parsers' patterns would search for ever.
        if max(map(len, text.splitlines()), default=0) > _LONGEST_LINE:
            raise HistoryError(f"a line of over {_LONGEST_LINE} characters: no site writes such")
        # The parsers print what they stumble over.
        with warnings.catch_warnings(), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            try:
                found = list(reader(text.lstrip("\ufeff"), error_status=True))
                if len(found) == 1:
                    return str(found[0].dumps())
            except Exception as error:  # whatever a parser of foreign texts stumbles over
                told = " ".join(str(error).split())[:120] or type(error).__name__
                raise HistoryError(f"no hand that can be read ({told})") from None
        raise HistoryError("no hand that can be read: heads-up hold'em is")

    return parse
