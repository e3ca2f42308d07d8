"""A dealer of the Annual Computer Poker Competition: two seats on two TCP ports, one match.

The match runs as with the competition's own dealer: the same seed deals the same cards, both seats
are told of every change, comments and lines that answer nothing are passed over, and a bad action is
mended by rule (:func:`~equipoise.arena.acpc.read_answer`). A seat that overruns its time, goes away
or floods ends the match: what was played stays in the log, with the reason.
"""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass
from time import monotonic
from typing import TextIO

from equipoise.arena.acpc import VERSION, is_comment, shorten
from equipoise.arena.matchlog import chips_text
from equipoise.arena.table import Table
from equipoise.arena.wire import PATIENCE, Wire
from equipoise.errors import GameError, ProtocolError
from equipoise.games.rules import Rules

#: Lines that answer nothing which a seat may send before one that does.
MOST_IDLE_LINES = 1000


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
        if min(self.response, self.hand, self.per_hand, self.start, self.greeting) <= 0:
            raise GameError("a time limit is more than 0 seconds")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a match went."""

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


class Dealer:
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
        log: TextIO | None = None,
        transcript: TextIO | None = None,
    ) -> None:
        if hands < 1:
            raise GameError(f"hands = {hands}: a match has at least 1 hand")
        for name in names:
            if not name or set(name) & set(":|") or not name.isprintable():
                raise GameError(f"the name {name!r} cannot stand in a log: drop its : or |")
        self.hands = hands
        self.limits = limits or TimeLimits()
        self.table = Table(rules, seed, names)
        self._log = log
        self._transcript = transcript
        label = game or ("limit" if rules.limit else "nolimit")
        self._header = (
            f"# name/game/hands/seed 2p.{label}.h{hands}.r{seed} {label} {hands} {seed}\n"
            f"#--t_response {self.limits.response * 1000:.0f}\n"
            f"#--t_hand {self.limits.hand * 1000:.0f}\n"
            f"#--t_per_hand {self.limits.per_hand * 1000:.0f}\n"
        )
        self._wires: list[Wire] = []
        self._used_match = [0.0, 0.0]
        self._doors: list[socket.socket] = []
        try:
            for port in ports:
                self._doors.append(socket.create_server((host, port), backlog=8))
        except (OSError, OverflowError) as error:
            self.close()
            raise ProtocolError(
                f"cannot listen on {host}:{port} ({error}): choose another port, 0 for any"
            ) from None

    @property
    def ports(self) -> tuple[int, int]:
        """The ports of both seats, as opened."""
        first, second = (door.getsockname()[1] for door in self._doors)
        return first, second

    def __enter__(self) -> Dealer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ports and all connections."""
        for door in self._doors:
            door.close()
        for wire in self._wires:
            wire.close()

    def run(self) -> Outcome:
        """Wait for both players, then play; a failing player or Ctrl-C ends the match early."""
        for file in (self._log, self._transcript):
            if file:
                file.write(self._header)
        played, reason, began = 0, None, monotonic()
        try:
            # What the first showdown needs is loaded while the players come.
            self.table.look_ahead()
            self._seat_players()
            began = monotonic()
            self._note("STARTED at", "")
            for hand in range(self.hands):
                if hand:
                    self.table.next_hand()
                self._play_hand()
                played += 1
                if self._log:
                    self._log.write(self.table.log_line() + "\n")
            for wire in self._wires:
                wire.flush(self.limits.response)
        except ProtocolError as error:
            reason = str(error)
        except KeyboardInterrupt:
            reason = "interrupted"
        seconds = monotonic() - began
        self._note("FINISHED at", "")
        self._finish(played, reason)
        first, second = self.table.score
        return Outcome(played, (first, second), self.table.names, seconds, reason)

    def _finish(self, played: int, reason: str | None) -> None:
        names = self.table.names
        score = "|".join(chips_text(chips) for chips in self.table.score)
        for file in (self._log, self._transcript):
            if file:
                if reason:
                    file.write(f"# ended after {played} hands: {reason}\n")
                file.write(f"SCORE:{score}:{'|'.join(names)}\n")
                file.flush()
        for wire in self._wires:
            with contextlib.suppress(ProtocolError):
                wire.flush(0)
            wire.close()

    def _seat_players(self) -> None:
        deadline = monotonic() + self.limits.start
        for seat, door in enumerate(self._doors):
            self._wires.append(self._welcome(seat, door, deadline))

    def _welcome(self, seat: int, door: socket.socket, deadline: float) -> Wire:
        """The first to connect that says the right version: anybody else is sent away."""
        label = f"seat {seat + 1} ({self.table.names[seat]})"
        said = ""
        while (left := deadline - monotonic()) > 0:
            door.settimeout(left)
            try:
                connection, _ = door.accept()
            except TimeoutError:
                break
            except OSError as error:
                raise ProtocolError(f"{label}: cannot accept a player ({error})") from None
            wire = Wire(connection, label)
            try:
                line = wire.receive(min(self.limits.greeting, max(left, 0.001)))
                while is_comment(line):
                    line = wire.receive(self.limits.greeting)
            except ProtocolError as error:
                said = f"; the last to try: {error}"
                wire.close()
                continue
            if line.startswith("VERSION:2."):
                return wire
            said = f"; the last to try said {shorten(line)} and not {VERSION}"
            wire.close()
        raise ProtocolError(f"nobody took {label} in {self.limits.start:g} seconds{said}")

    def _play_hand(self) -> None:
        table, wires, limit = self.table, self._wires, self.limits.response
        used_hand = [0.0, 0.0]
        opening = True
        while (seat := table.seat_to_act) is not None:
            asked, other = wires[seat], wires[1 - seat]
            other.hold(table.line(1 - seat))
            asked.send(table.line(seat), limit)
            # From here to the answer two programs are at work: what could wait is done now.
            if self._transcript:
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
        if self._transcript:
            self._note_lines()

    def _answer(self, seat: int, used_hand: list[float], begun: float) -> None:
        """Wait for the seat's answer and play it, all its time limits kept."""
        wire = self._wires[seat]
        for _ in range(MOST_IDLE_LINES):
            line = wire.take()
            if line is None:
                line = self._await(seat, used_hand, begun)
            if self._transcript:
                self._note(f"FROM {seat + 1} at", line)
            if self.table.answer(line):
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
        if self._transcript:
            # A seat's line may hold anything: what could break the transcript's lines is replaced.
            printable = line if line.isprintable() else shorten(line)
            self._transcript.write(f"{what} {time.time():.6f} {printable}".rstrip() + "\n")
