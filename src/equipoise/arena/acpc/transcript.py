"""A dealer's transcript: every line it sent (TO) and got (FROM), and the match played again from it.

    # name/game/hands/seed 2p.limit.h1000.r0 holdem.limit.2p.reverse_blinds.game 1000 0
    STARTED at 1341695999.222081
    TO 1 at 1341695999.222281 MATCHSTATE:0:0::5d5c|
    FROM 2 at 1341695999.222410 MATCHSTATE:1:0::|9hQd:c

Replaying deals from the seed in the first comment, plays the answers by rule, and compares each line
sent with the one our own table sends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from equipoise.arena.acpc.deck import SEEDS
from equipoise.arena.acpc.protocol import is_comment, shorten
from equipoise.arena.acpc.table import DealerTable
from equipoise.arena.record import HandRecord, chips_text
from equipoise.errors import HistoryError
from equipoise.games.rules import Rules
from equipoise.numerals import read_whole

_EVENT = re.compile(r"(TO|FROM) ([12]) at \d+\.\d+ (.*)")
_HEADER = re.compile(r"# name/game/hands/seed .* \d+ (\d+)")


def replay(
    lines: Iterable[str], rules: Rules, mismatch: Callable[[int, str], None]
) -> Iterator[HandRecord]:
    """Play a transcript again and yield its hands; `mismatch(line, sentence)` is told of every
    line that our dealer would not have sent.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> text = '''# name/game/hands/seed demo nolimit 1 0
    ... STARTED at 0.0
    ... TO 1 at 0.1 MATCHSTATE:0:0::5d5c|
    ... TO 2 at 0.2 MATCHSTATE:1:0::|9hQd
    ... FROM 2 at 0.3 MATCHSTATE:1:0::|9hQd:f
    ... TO 1 at 0.4 MATCHSTATE:0:0:f:5d5c|
    ... TO 2 at 0.5 MATCHSTATE:1:0:f:|QdQh'''
    >>> [hand.payoffs for hand in replay(text.splitlines(), NOLIMIT_HOLDEM, print)]
    7 sent to seat 2: 'MATCHSTATE:1:0:f:|QdQh' where 'MATCHSTATE:1:0:f:|9hQd' was due
    [(50, -50)]
    """
    table: DealerTable | None = None
    told: set[int] = set()
    for number, full in enumerate(lines, start=1):
        line = full.rstrip("\r\n")
        if table is None and (header := _HEADER.fullmatch(line)):
            seed = read_whole(header.group(1))
            if seed is None or seed >= SEEDS:
                raise HistoryError(f"line {number}: a seed is a number from 0 to {SEEDS - 1}")
            table = DealerTable(rules, seed)
        if table is not None and line.startswith("SCORE:"):
            _check_score(line, table, number, mismatch)
        if is_comment(line) or line.startswith(("STARTED", "FINISHED", "SCORE:")):
            continue
        event = _EVENT.fullmatch(line)
        if event is None:
            raise HistoryError(
                f"line {number}: {shorten(line)}: a transcript has lines TO or FROM, a seat, a time"
            )
        if table is None:
            raise HistoryError(
                f"line {number}: no seed is known: begin with "
                "'# name/game/hands/seed NAME GAME HANDS SEED'"
            )
        seat, said = int(event.group(2)) - 1, event.group(3)
        if event.group(1) == "FROM":
            if seat == table.seat_to_act and table.answer(said):
                told.clear()
            continue
        if table.seat_to_act is None and told == {0, 1}:
            table.next_hand()
            told.clear()
        due = table.line(seat)
        if said != due:
            mismatch(
                number, f"sent to seat {seat + 1}: {shorten(said)} where {shorten(due)} was due"
            )
        told.add(seat)
        if table.seat_to_act is None and told == {0, 1}:
            yield _hand(table, number)


def _check_score(
    line: str, table: DealerTable, number: int, mismatch: Callable[[int, str], None]
) -> None:
    due = "|".join(chips_text(chips) for chips in table.score)
    if line.split(":")[1] != due:
        mismatch(number, f"{shorten(line)} where the hands give {due}")


def _hand(table: DealerTable, line: int) -> HandRecord:
    hand = table.hand
    names = table.names if hand.number % 2 == 0 else table.names[::-1]
    return HandRecord(hand.number, hand.state, hand.deal.holes, hand.board, names, line=line)
