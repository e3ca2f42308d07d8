"""A program in any language as an agent: one JSON object a line, in and out on its standard streams.

    agent = "program"
    command = ["./mybot", "--fast"]
    seconds = 2.0

It is started when it is first needed, in the folder of the TOML file, and told, each on a line,

    {"type": "match", "game": {...}, "seed": 7}
    {"type": "hand", "hand": 0, "position": 1}
    {"type": "act", ...}                             what :mod:`equipoise.agents.outside.telling` says
    {"type": "result", ...}

It answers `act`, and nothing else, with one line. Its standard error is ours, for its author to read.

A program that is silent for too long, dies, or says something that is no answer has made a fault, which
the arena counts as it counts those of any agent: the player folds to a bet and checks where there is
none. The program is then ended, and a new one is started for the next decision, told of match and hand
as the first was, so that no late answer is taken for the next one. An answer that is understood but
illegal is a fault as well, and the program lives on.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import weakref
from time import monotonic
from typing import Annotated, Any

from equipoise.agents.agent import Agent
from equipoise.agents.outside.telling import (
    LONGEST_ANSWER,
    game_told,
    outcome,
    read_decision,
    situation,
)
from equipoise.errors import EquipoiseError, ProtocolError
from equipoise.games.hand import HandResult, View
from equipoise.games.rules import NOLIMIT_HOLDEM, Action, Rules
from equipoise.settings import Within, brief

#: Seconds in which a program that is not needed any more may end by itself.
_GRACE = 2.0

Seconds = Annotated[float, Within("number", 0.01, 3600)]


class ProgramAgent(Agent):
    """Asks a program."""

    name = "program"
    waits = True

    def __init__(
        self,
        command: tuple[str, ...] = (),
        seconds: Seconds = 10.0,
        folder: str = "",
        learns: bool = True,
        rules: Rules = NOLIMIT_HOLDEM,
    ) -> None:
        super().__init__()
        if not command or not all(command) or any("\0" in word for word in command):
            raise EquipoiseError('command is empty: name a program, as ["./mybot"]')
        self.command, self.folder = tuple(command), folder
        self.seconds, self.learns, self.rules = float(seconds), learns, rules
        self._running: _Running | None = None
        self._seed = 0
        self._hand = (0, 0)

    def __getstate__(self) -> dict[str, Any]:
        # A copy, and a worker, has a program of its own.
        return self.__dict__ | {"_running": None}

    def reset(self, seed: int) -> None:
        """A new match: a new program."""
        super().reset(seed)
        self._seed = seed
        self.close()

    def begin(self, hand: int, position: int) -> None:
        """Tell of the hand, if anybody listens."""
        self._hand = hand, position
        if self._listening is not None:
            self._tell(self._listening, self._hand_told())

    def act(self, view: View) -> Action:
        """Ask, and wait."""
        running = self._listening or self._start()
        try:
            self._tell(running, situation(view))
            return read_decision(running.answer(self.seconds), view.state)
        except BaseException:
            # Also the arena's clock: an answer that comes later would be taken for the next one.
            self._kill()
            raise

    def observe(self, result: HandResult) -> None:
        """Tell how the hand ended, if anybody listens."""
        if self._listening is not None:
            self._tell(self._listening, outcome(result))

    def close(self) -> None:
        """End the program: it may read to the end of its input first."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def _kill(self) -> None:
        if self._running is not None:
            self._running.kill()
        self.close()

    @property
    def _listening(self) -> _Running | None:
        """The program, if it was started by this process: a fork has none of its own yet."""
        running = self._running
        return running if running is not None and running.owner == os.getpid() else None

    def _start(self) -> _Running:
        self._running = running = _Running(self.command, self.folder)
        self._tell(running, {"type": "match", "game": game_told(self.rules), "seed": self._seed})
        self._tell(running, self._hand_told())
        return running

    def _hand_told(self) -> dict[str, Any]:
        return {"type": "hand", "hand": self._hand[0], "position": self._hand[1]}

    def _tell(self, running: _Running, told: dict[str, Any]) -> None:
        try:
            running.tell(json.dumps(told), self.seconds)
        except ProtocolError:
            self._kill()
            raise


class _Running:
    """A program that runs, and both ends of its streams."""

    def __init__(self, command: tuple[str, ...], folder: str) -> None:
        self.owner = os.getpid()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=folder or None,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ProtocolError(f"{brief(' '.join(command))} cannot be started: {reason}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        for stream in (self._in, self._out):
            os.set_blocking(stream.fileno(), False)
        self._rest = b""
        self._end = weakref.finalize(self, _end, self._process, self.owner)

    def end(self) -> None:
        """End it, with whatever it started."""
        self._end()

    def kill(self) -> None:
        """End it at once."""
        if self.owner == os.getpid():
            _kill(self._process)

    def tell(self, line: str, seconds: float) -> None:
        """Write a line; a program that does not read makes a fault of it."""
        left, until = f"{line}\n".encode(), monotonic() + seconds
        while left:
            try:
                left = left[self._in.write(left) or 0 :]
            except OSError:
                raise ProtocolError(self._death()) from None
            if left:
                self._wait(self._in, selectors.EVENT_WRITE, until, seconds, "does not read")

    def answer(self, seconds: float) -> str:
        """The next line, waited for so long."""
        until = monotonic() + seconds
        while b"\n" not in self._rest:
            if len(self._rest) > LONGEST_ANSWER:
                raise ProtocolError("it writes without end: answer with one short line")
            self._wait(self._out, selectors.EVENT_READ, until, seconds, "gave no answer")
            more = self._out.read(LONGEST_ANSWER)
            if more == b"":
                raise ProtocolError(self._death())
            self._rest += more or b""
        line, _, self._rest = self._rest.partition(b"\n")
        if self._rest:
            raise ProtocolError(f"it wrote more than one line: {brief(repr(self._rest))}")
        return line.decode("utf-8", "replace")

    def _wait(self, stream: Any, event: int, until: float, seconds: float, told: str) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(stream, event)
            if not selector.select(max(until - monotonic(), 0)):
                raise ProtocolError(f"the program {told} within {seconds:g} s")

    def _death(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1)
            how = f"by signal {-code}" if code < 0 else f"with code {code}"
            return f"the program ended {how}"
        return "the program closed its streams"


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a program and its children, unless it is another process's."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    if os.getpid() != owner:
        return
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        process.wait(_GRACE)
    _kill(process)
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        process.wait(_GRACE)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
