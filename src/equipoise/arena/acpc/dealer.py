"""A dealer of the Annual Computer Poker Competition: two seats on two TCP ports, one match.

The match runs as with the competition's own dealer: the same seed deals the same cards, both seats
are told of every change, comments and lines that answer nothing are passed over, and a bad action is
mended by rule (:func:`~equipoise.arena.acpc.protocol.read_answer`). A seat that overruns its time, goes away
or floods ends the match: what was played stays in the log, with the reason.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

from equipoise.arena.acpc.protocol import VERSION, is_comment, shorten
from equipoise.arena.acpc.table import DealerTable
from equipoise.arena.acpc.wire import GONE, LONGEST_WAIT, PATIENCE, Wire
from equipoise.arena.record import chips_text
from equipoise.columnar import Columnar
from equipoise.errors import GameError, ProtocolError
from equipoise.games.rules import Rules
from equipoise.settings import brief

#: Lines that answer nothing which a seat may send before one that does.
MOST_IDLE_LINES = 1000
_MOST_HANDS = 1 << 32


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long a seat may take, in seconds; the defaults are the competition's."""

    #: For one answer.
    response: float = 600.0
    #: For all its answers in one hand.
    hand: float = 600.0
    #: For all its answers in the match, on average a hand.
    per_hand: float = 7.0
    #: To connect and say its version, from when the dealer opens its ports.
    start: float = 600.0
    #: To say its version once connected; a connection that does not is dropped for the next.
    greeting: float = 10.0

    def __post_init__(self) -> None:
        times = (self.response, self.hand, self.per_hand, self.start, self.greeting)
        if not all(0 < seconds <= LONGEST_WAIT for seconds in times):
            raise GameError(f"a time limit is more than 0 seconds, and at most {LONGEST_WAIT:,.0f}")


@dataclass(frozen=True, slots=True)
class DealerResult(Columnar):
    """How a match went; as a table, one row a seat."""

    #: Hands that were finished.
    hands: int
    #: Chips won, by seat.
    score: tuple[float, float]
    #: Names, by seat.
    names: tuple[str, str]
    #: Wall time of play, without the wait for the players.
    seconds: float
    #: Why the match ended before its last hand; None if it did not.
    reason: str | None = None
    #: By seat, lines that answered nothing that was asked: out of turn, or about another state.
    stray_lines: tuple[int, int] = (0, 0)
    #: By seat, answers that were played otherwise than they were meant: sizes that were clipped,
    #: and calls in place of what was not allowed or not understood.
    mended_answers: tuple[int, int] = (0, 0)

    def columns(self) -> dict[str, list[Any]]:
        """What each seat did."""
        return {
            "name": list(self.names),
            "score_chips": list(self.score),
            "stray_lines": list(self.stray_lines),
            "mended_answers": list(self.mended_answers),
        }

    def caption(self) -> str:
        """How far the match came."""
        return f"{self.hands:,} hands" + (f", ended early: {self.reason}" if self.reason else "")

    def to_dict(self) -> dict[str, Any]:
        """The figures, as `equipoise dealer --json` prints them."""
        return {
            "hands": self.hands,
            "names": self.names,
            "score_chips": self.score,
            "hands_per_second": self.hands / self.seconds if self.seconds else 0.0,
            "ended_early": self.reason,
            "stray_lines": self.stray_lines,
            "mended_answers": self.mended_answers,
        }


class Sink(Protocol):
    """What a log is written to."""

    def write(self, text: str, /) -> object:
        """Add some lines."""


class AcpcDealer:
    """Opens its ports when made; :meth:`run` waits for the players and plays the match."""

    def __init__(
        self,
        rules: Rules,
        hands: int,
        seed: int,
        *,
        ports: tuple[int, int] = (0, 0),
        host: str = "127.0.0.1",
        names: tuple[str, str] = ("p1", "p2"),
        limits: TimeLimits | None = None,
        game: str = "",
        log: Sink | None = None,
        transcript: Sink | None = None,
    ) -> None:
        if not 1 <= hands < _MOST_HANDS:
            raise GameError(
                f"hands = {brief(hands)}: a match has at least 1 hand, and under {_MOST_HANDS:,}"
            )
        for name in names:
            if not name or set(name) & set(":|") or not name.isprintable():
                raise GameError(f"the name {name!r} cannot stand in a log: drop its : or |")
        self.hands = hands
        self.limits = limits or TimeLimits()
        self.table = DealerTable(rules, seed, names)
        #: Where hands are logged, and where every line is: None is nowhere. Set before the match.
        self.log = log
        self.transcript = transcript
        label = game if game.isprintable() else ""
        label = label or ("limit" if rules.limit else "nolimit")
        self._header = (
            f"# name/game/hands/seed 2p.{label}.h{hands}.r{seed} {label} {hands} {seed}\n"
            f"#--t_response {self.limits.response * 1000:.0f}\n"
            f"#--t_hand {self.limits.hand * 1000:.0f}\n"
            f"#--t_per_hand {self.limits.per_hand * 1000:.0f}\n"
        )
        self._wires: list[Wire] = []
        self._used_match = [0.0, 0.0]
        self._strays = [0, 0]
        #: Of each seat, stray lines and mended answers that the log has a remark on.
        self._remarked = [(0, 0), (0, 0)]
        self._doors: list[socket.socket] = []
        try:
            for port in ports:
                self._doors.append(socket.create_server((host, port), backlog=8))
        except (OSError, OverflowError, TypeError, ValueError) as error:
            # Not all names that can be no host's are an OSError.
            self.close()
            raise ProtocolError(
                f"cannot listen on {host}:{port} ({error}): choose another port, 0 for any"
            ) from None
        first, second = (door.getsockname()[1] for door in self._doors)
        #: The ports of both seats, as opened.
        self.ports: tuple[int, int] = (first, second)

    def __enter__(self) -> AcpcDealer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ports and all connections."""
        for door in self._doors:
            door.close()
        for wire in self._wires:
            wire.close()

    def run(self) -> DealerResult:
        """Wait for both players, then play; a failing player or Ctrl-C ends the match early."""
        for file in (self.log, self.transcript):
            if file:
                file.write(self._header)
        played, reason, began = 0, None, monotonic()
        try:
            self._seat_players()
            began = monotonic()
            self._note("STARTED at", "")
            for hand in range(self.hands):
                if hand:
                    self.table.next_hand()
                self._play_hand()
                played += 1
                if self.log:
                    self.log.write(f"{self._remarks()}{self.table.log_line()}\n")
            for wire in self._wires:
                wire.flush(self.limits.response)
        except ProtocolError as error:
            reason = str(error)
        except KeyboardInterrupt:
            reason = "interrupted"
        seconds = monotonic() - began
        self._note("FINISHED at", "")
        self._finish(played, reason)
        (first, second), (one, two) = self.table.score, self.table.mended
        strays = (self._strays[0], self._strays[1])
        names = self.table.names
        return DealerResult(played, (first, second), names, seconds, reason, strays, (one, two))

    def _remarks(self) -> str:
        """Comments on what the seats did wrong since the last ones."""
        text = ""
        for seat, name in enumerate(self.table.names):
            now = self._strays[seat], self.table.mended[seat]
            strays, mended = (new - old for new, old in zip(now, self._remarked[seat], strict=True))
            self._remarked[seat] = now
            if strays or mended:
                text += (
                    f"# hand {self.table.hand.number}, seat {seat + 1} ({name}): {strays} lines that "
                    f"answer nothing, {mended} answers mended\n"
                )
        return text

    def _finish(self, played: int, reason: str | None) -> None:
        # Who still waits at a door need wait no longer.
        for door in self._doors:
            door.close()
        for seat, wire in enumerate(self._wires):
            with contextlib.suppress(ProtocolError):
                wire.flush(0)
            self._strays[seat] += sum(not is_comment(line) for line in wire.rest())
            wire.close()
        names = self.table.names
        score = "|".join(chips_text(chips) for chips in self.table.score)
        for file in (self.log, self.transcript):
            if file:
                if file is self.log:
                    file.write(self._remarks())
                if reason:
                    file.write(f"# ended after {played} hands: {reason}\n")
                file.write(f"SCORE:{score}:{'|'.join(names)}\n")

    def _seat_players(self) -> None:
        """Wait for both players, whoever comes first; one that leaves meanwhile ends the match."""
        deadline = monotonic() + self.limits.start
        doors = {door.fileno(): seat for seat, door in enumerate(self._doors)}
        seated: dict[int, Wire] = {}
        said = ["", ""]
        watch = select.poll()
        for door in self._doors:
            door.setblocking(False)
            watch.register(door, select.POLLIN)
        while len(seated) < 2:
            left = deadline - monotonic()
            if left <= 0:
                seat = next(seat for seat in (0, 1) if seat not in seated)
                raise ProtocolError(
                    f"nobody took {self._label(seat)} in {self.limits.start:g} seconds{said[seat]}"
                )
            for number, _ in watch.poll(1000 * left + 1):
                if number not in doors:
                    gone = next(wire for wire in self._wires if wire.fileno() == number)
                    raise ProtocolError(f"{gone.peer} closed the connection before the match")
                seat = doors[number]
                welcomed = self._welcome(seat, deadline)
                if isinstance(welcomed, str):
                    said[seat] = welcomed or said[seat]
                    continue
                seated[seat] = welcomed
                self._wires = [seated[taken] for taken in sorted(seated)]
                watch.unregister(self._doors[seat])
                watch.register(welcomed, GONE)
        # Who is gone is noticed at once, whosever turn it is.
        for wire, other in (self._wires, self._wires[::-1]):
            wire.watch(other)

    def _label(self, seat: int) -> str:
        return f"seat {seat + 1} ({self.table.names[seat]})"

    def _welcome(self, seat: int, deadline: float) -> Wire | str:
        """The next at the door of a seat, who is to say the right version before anything else.

        Anybody else is sent away: what is to be told of them. Comments win nobody time.
        """
        try:
            connection, _ = self._doors[seat].accept()
        except BlockingIOError:
            return ""
        except OSError as error:
            raise ProtocolError(f"{self._label(seat)}: cannot accept a player ({error})") from None
        wire = Wire(connection, self._label(seat))
        deadline = min(deadline, monotonic() + self.limits.greeting)
        line = ""
        try:
            while is_comment(line):
                line = wire.receive(max(deadline - monotonic(), 0.001))
                if is_comment(line) and monotonic() > deadline:
                    raise ProtocolError(f"{wire.peer} sent no version, but comments")
        except ProtocolError as error:
            wire.close()
            return f"; the last to try: {error}"
        if line.startswith("VERSION:2."):
            return wire
        wire.close()
        return f"; the last to try said {shorten(line)} and not {VERSION}"

    def _play_hand(self) -> None:
        table, wires, limit = self.table, self._wires, self.limits.response
        used_hand = [0.0, 0.0]
        opening = True
        while (seat := table.seat_to_act) is not None:
            asked, other = wires[seat], wires[1 - seat]
            other.hold(table.line(1 - seat))
            asked.send(table.line(seat), limit)
            # From here to the answer two programs are at work: what could wait is done now.
            if self.transcript:
                self._note_lines()
            if opening:
                # The other seat reads how the last hand ended while this one thinks.
                opening = False
                other.flush(limit)
                table.look_ahead()
            begun = monotonic()
            # A line that asks for nothing goes out with the one that does, unless the answer takes
            # longer than a moment: that saves the other seat a needless waking.
            if not asked.ready():
                waited = monotonic()
                other.flush(limit)
                # Should the other seat be slow to take it, that is not this one's time.
                begun += monotonic() - waited
            self._answer(seat, used_hand, begun)
        # The end of a hand goes out with the beginning of the next, which somebody is asked about.
        for seat in (0, 1):
            wires[seat].hold(table.line(seat))
            if opening:
                wires[seat].flush(limit)
        if self.transcript:
            self._note_lines()

    def _answer(self, seat: int, used_hand: list[float], begun: float) -> None:
        """Wait for the seat's answer and play it, all its time limits kept."""
        wire = self._wires[seat]
        for _ in range(MOST_IDLE_LINES):
            line = wire.take()
            if line is None:
                line = self._await(seat, used_hand, begun)
            if self.transcript:
                self._note(f"FROM {seat + 1} at", line)
            if not self.table.answer(line):
                self._strays[seat] += not is_comment(line)
            else:
                took = monotonic() - begun
                used_hand[seat] += took
                self._used_match[seat] += took
                return
        raise ProtocolError(f"{wire.peer} sent {MOST_IDLE_LINES} lines that answer nothing")

    def _await(self, seat: int, used_hand: list[float], begun: float) -> str:
        """The seat's next line, if it comes within what is left of its time."""
        limits, wire = self.limits, self._wires[seat]
        hand_left = limits.hand - used_hand[seat]
        match_left = limits.per_hand * self.hands - self._used_match[seat]
        allowed = min(limits.response, hand_left, match_left)
        try:
            return wire.receive(allowed - (monotonic() - begun))
        except ProtocolError:
            # A socket's own wait may end a little early.
            if monotonic() - begun < allowed - PATIENCE:
                raise
        if allowed == limits.response:
            rule = f"{limits.response:g} seconds for an answer"
        elif allowed == hand_left:
            rule = f"{limits.hand:g} seconds for a hand"
        else:
            rule = f"{limits.per_hand:g} seconds a hand on average"
        raise ProtocolError(f"{wire.peer} overran its {rule}")

    def _note_lines(self) -> None:
        for seat in (0, 1):
            self._note(f"TO {seat + 1} at", self.table.line(seat))

    def _note(self, what: str, line: str) -> None:
        if self.transcript:
            # A seat's line may hold anything: what could break the transcript's lines is replaced.
            printable = line if line.isprintable() else shorten(line)
            self.transcript.write(f"{what} {time.time():.6f} {printable}".rstrip() + "\n")
