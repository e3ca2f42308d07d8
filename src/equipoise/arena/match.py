"""Matches: two agents, many hands, one honest number.

In a *duplicate* match every deal is played twice, with seats swapped, and the pair is one sample of
A's win rate: most of the luck of the cards cancels. Without it every hand is a sample, and seats
alternate. Win rates are in mbb/hand, thousandths of a big blind (in limit hold'em, of a small bet,
which is the same); figures are A's.

The cards follow from the seed and the number of the deal, the agents' random choices from the seed,
the number of the hand and the seat. So the result is the same for any number of workers; agents
that learn are played in order by one. A fault (see :mod:`equipoise.arena.duel`) costs the hand's
action; the agent that reaches `max_faults` of them forfeits the match, which ends after that deal,
and the figures are of the hands played. An agent that never comes back is called away after
`seconds_per_action`, or after a minute if no limit is given, and that is a fault like any other.
"""

from __future__ import annotations

import copy
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import NamedTuple

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.agents.registry import AgentSpec
from equipoise.arena.duel import Duel
from equipoise.arena.matchlog import (
    Header,
    LogWriter,
    Past,
    fault_line,
    hand_text,
    note_lines,
    read_past,
    score_line,
)
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.policylog import policies_path, policy_line
from equipoise.arena.record import Fault
from equipoise.arena.statistics import estimate, pair_means, rate_text
from equipoise.errors import EquipoiseError, FileError
from equipoise.files import check_target
from equipoise.games.dealing import BLOCK, SeededDeals
from equipoise.games.hand import check_seed
from equipoise.games.notation import gamefile
from equipoise.games.rules import NOLIMIT_HOLDEM, Rules
from equipoise.run import Event, Listener
from equipoise.workers import check_workers, on_cluster, start_pool, worked

#: An agent, its name, or the path of its TOML file.
Player = Agent | str | Path

MAX_FAULTS = 10
#: Chunks that each worker should get, so that none waits long for another.
_CHUNKS_PER_WORKER = 8
_MOST_HANDS = 1 << 32


class Chunk(NamedTuple):
    """Consecutive deals, played."""

    #: A's chips, hand after hand.
    payoffs: list[float]
    #: The log's lines for each deal; empty if there is no log.
    lines: list[str]
    faults: list[Fault]
    #: Ctrl-C came.
    interrupted: bool
    #: Decisions of each seat that were answered more simply than meant.
    fallbacks: tuple[int, int] = (0, 0)
    #: Policies that were dear to find, as lines of the file beside the log.
    policies: str = ""


class _Players:
    """What a worker needs to play any part of a match."""

    def __init__(
        self,
        duel: Duel,
        names: tuple[str, str],
        *,
        duplicate: bool,
        logged: bool,
        max_faults: int,
    ) -> None:
        self.duel = duel
        self.deals = SeededDeals(duel.rules, duel.seed)
        self.names = names
        self.duplicate = duplicate
        self.logged = logged
        self.max_faults = max_faults

    def play(self, start: int, stop: int) -> Chunk:
        """Play the deals from `start` to `stop - 1`; Ctrl-C ends it after the last whole deal."""
        with self.duel.watched():
            return self._play(start, stop)

    def _play(self, start: int, stop: int) -> Chunk:
        duel, logged, names = self.duel, self.logged, self.names
        duel.faults.clear()
        payoffs: list[float] = []
        lines: list[str] = []
        limits = [self.max_faults, self.max_faults]
        counted = 0
        interrupted = False
        before = [agent.fallbacks for agent in duel.agents]
        noting = any(agent.notes is not None for agent in duel.agents)
        for agent in duel.agents:
            agent.kept = [] if logged else None
        try:
            for number, deal in enumerate(self.deals.deals(start, stop), start):
                turns: tuple[tuple[int, int], ...]
                if self.duplicate:
                    turns = ((2 * number, 0), (2 * number + 1, 1))
                else:
                    turns = ((number, number & 1),)
                won, text = [], ""
                for hand, first in turns:
                    state, payoff = duel.play(deal, hand, first)
                    won.append(-payoff if first else payoff)
                    if logged:
                        text += hand_text(hand, state, deal, payoff, names)
                if len(duel.faults) > counted:
                    new = duel.faults[counted:]
                    counted += len(new)
                    text = "".join(map(fault_line, new)) + text
                    for fault in new:
                        limits[fault.seat] -= 1
                payoffs += won
                if noting:
                    text = note_lines(duel.agents) + text
                if logged:
                    lines.append(text)
                if min(limits) <= 0:
                    break
        except KeyboardInterrupt:
            interrupted = True
        a, b = (agent.fallbacks - old for agent, old in zip(duel.agents, before, strict=True))
        policies = "".join(
            policy_line(public.hand, seat, public.state.betting_text(), policy)
            for seat, agent in enumerate(duel.agents)
            for public, policy in agent.kept or ()
        )
        for agent in duel.agents:
            agent.kept = None
        return Chunk(payoffs, lines, list(duel.faults), interrupted, (a, b), policies)


_here: _Players | None = None
_playing = _stopped = False


def _enter(players: _Players) -> None:
    """Begin a worker's life: Ctrl-C ends what it plays, and it plays no more."""
    global _here
    signal.signal(signal.SIGINT, _interrupt)
    players.duel.reset()
    _here = players


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _stopped
    _stopped = True
    if _playing:
        raise KeyboardInterrupt


def _work(bounds: tuple[int, int]) -> Chunk:
    global _playing
    assert _here is not None
    if _stopped:
        return Chunk([], [], [], interrupted=True)
    _playing = True
    try:
        return _here.play(*bounds)
    finally:
        _playing = False


class _Record:
    """What was played so far, chunk after chunk."""

    def __init__(self, past: Past, sample: int, max_faults: int) -> None:
        self.payoffs = list(past.payoffs)
        self.faults: list[Fault] = []
        self.fallbacks = (0, 0)
        #: Seat that forfeited the match.
        self.loser: int | None = None
        self._sample = sample
        self._left = [max_faults, max_faults]
        self._watched = estimate([])
        self._watch(self.payoffs)
        self._count(past.faults)

    def _count(self, faults: list[Fault]) -> int | None:
        """Count faults; the hand in which one of them was one too many."""
        for fault in faults:
            self.faults.append(fault)
            self._left[fault.seat] -= 1
            if self._left[fault.seat] <= 0:
                self.loser = fault.seat
                return fault.hand
        return None

    def add(self, chunk: Chunk) -> str:
        """Add a chunk, as far as the match goes; what the log has to say of it."""
        ended = self._count(chunk.faults)
        (a, b), (more, also) = self.fallbacks, chunk.fallbacks
        self.fallbacks = a + more, b + also
        deals = len(chunk.payoffs) // self._sample
        if ended is not None:
            deals = (ended - len(self.payoffs)) // self._sample + 1
        played = chunk.payoffs[: deals * self._sample]
        self.payoffs += played
        self._watch(played)
        return "".join(chunk.lines[:deals])

    def note(self, unit_chips: float) -> str:
        """The figure to watch while a match is played."""
        now = self._watched
        rate = 1000 / unit_chips
        return f"{rate_text(rate * now.mean, rate * now.half_width)} mbb/hand"

    def _watch(self, payoffs: list[float]) -> None:
        """Keep mean and deviation up to date without going through all hands again."""
        samples = pair_means(payoffs) if self._sample == 2 else np.array(payoffs, dtype=np.float64)
        self._watched = self._watched.merged(estimate(samples))


def play_match(
    a: Player,
    b: Player,
    rules: Rules = NOLIMIT_HOLDEM,
    hands: int = 1000,
    seed: int = 0,
    *,
    duplicate: bool = True,
    workers: int = 1,
    log: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    allin_equity: bool = False,
    seconds_per_action: float | None = None,
    max_faults: int = MAX_FAULTS,
    reveal: bool = False,
    progress: Listener | None = None,
) -> MatchResult:
    """Play `hands` hands in all between A and B.

    `log` keeps every hand in a file, from which the match goes on with `resume`; a log that is there
    is replaced only with `overwrite`. `reveal` shows agents all cards after each hand. Ctrl-C ends
    the match and keeps what was played.

    >>> play_match("fold", "all-in", hands=200).mbb_per_hand
    -750.0
    """
    check_settings(hands, seed, duplicate, workers, max_faults)
    path = check_log(log, resume, overwrite)
    agents, names = _seated(a, b, rules)
    labels = (names[0], names[1] if names[0] != names[1] else f"{names[1]}-2")
    header = Header(*labels, gamefile.write(rules), seed, duplicate, allin_equity)
    sample = 2 if duplicate else 1
    past = Past([], [], 0)
    if resume and path is not None:
        past = read_past(path, header, sample)
        _check_past(past, path, hands, any(agent.learns for agent in agents))
    duel = Duel(
        rules,
        agents,
        seed,
        seconds_per_action=seconds_per_action,
        allin_equity=allin_equity,
        reveal=reveal,
    )
    players = _Players(
        duel, labels, duplicate=duplicate, logged=path is not None, max_faults=max_faults
    )
    duel.reset()
    # The first deal loads the evaluator, which is no part of playing.
    players.deals.deal(0)
    record = _Record(past, sample, max_faults)

    def tell() -> None:
        if progress is not None:
            progress(Event(len(record.payoffs), hands, record.note(rules.big_blind)))

    start = perf_counter()
    with _log(path, past, header.lines(rules.name, hands)) as write:
        if record.loser is None:
            chunks = _chunks(players, len(record.payoffs) // sample, hands // sample, workers)
            with _policies(path, past) as keep:
                _play_all(chunks, record, write, keep, tell)
        write(score_line(record.payoffs, *labels))
    played = len(record.payoffs)
    return MatchResult(
        a=names[0],
        b=names[1],
        rules=rules,
        seed=seed,
        duplicate=duplicate,
        payoffs=np.array(record.payoffs, dtype=np.float64),
        faults=tuple(record.faults),
        fallbacks=record.fallbacks,
        forfeited_by=None if record.loser is None else labels[record.loser],
        interrupted=record.loser is None and played < hands,
        hands_now=played - len(past.payoffs),
        seconds=perf_counter() - start,
        log=path,
    )


@contextmanager
def _log(path: Path | None, past: Past, lines: str) -> Iterator[Callable[[str], object]]:
    """How to add to a match's log; where there is none, nothing is kept."""
    if path is None:
        yield lambda text: None
        return
    cure = "make room and go on with --resume"
    with closing(LogWriter(path, past.size, lines, cure)) as writer:
        yield writer.write


@contextmanager
def _policies(path: Path | None, past: Past) -> Iterator[Callable[[str], object]]:
    """How to keep policies beside a match's log; the file is there once there are any."""
    writer: LogWriter | None = None
    target = None if path is None else policies_path(path)

    def keep(text: str) -> None:
        nonlocal writer
        if target is None or not text:
            return
        if writer is None:
            writer = LogWriter(target, target.stat().st_size if target.exists() else 0)
        writer.write(text)

    if target is not None and not past.size:
        target.unlink(missing_ok=True)
    try:
        yield keep
    finally:
        if writer is not None:
            writer.close()


def _play_all(
    chunks: Generator[Chunk, None, None],
    record: _Record,
    write: Callable[[str], object],
    keep: Callable[[str], object],
    tell: Callable[[], None],
) -> None:
    """Play a match to its end, to a forfeit or to Ctrl-C, and keep what was played."""
    with closing(chunks), suppress(KeyboardInterrupt):
        for chunk in chunks:
            write(record.add(chunk))
            keep(chunk.policies)
            tell()
            if chunk.interrupted or record.loser is not None:
                return


def check_settings(
    hands: int, seed: int, duplicate: bool = True, workers: int = 1, max_faults: int = MAX_FAULTS
) -> None:
    """Refuse settings with which no match can be played."""
    if not 1 <= hands < _MOST_HANDS:
        raise EquipoiseError(
            f"hands = {hands}: play at least 1 hand, and fewer than {_MOST_HANDS:,}"
        )
    if duplicate and hands % 2:
        raise EquipoiseError(
            f"{hands} hands are no whole number of duplicate pairs: play {hands + 1}, or choose "
            "--no-duplicate"
        )
    check_seed(seed)
    check_workers(workers)
    if max_faults < 1:
        raise EquipoiseError(f"max_faults = {max_faults}: a match ends at the first fault or later")


def check_log(log: str | Path | None, resume: bool, overwrite: bool) -> Path | None:
    """The path of a log that can be written, or gone on from; a sentence if it cannot."""
    if log is None:
        if resume:
            raise EquipoiseError(
                "there is nothing to resume from: give the log of the match as well"
            )
        return None
    if resume and overwrite:
        raise EquipoiseError("a log is either gone on from or replaced: drop --overwrite")
    path = check_target(log, overwrite=overwrite or resume, what="--log")
    if resume and not path.exists():
        raise FileError(f"there is no log {path} to resume from: check its name, or drop --resume")
    return path


def _seated(a: Player, b: Player, rules: Rules) -> tuple[tuple[Agent, Agent], tuple[str, str]]:
    """Both agents and their names; an agent against itself sits down twice."""
    agents, names = [], []
    for player in (a, b):
        if isinstance(player, Agent):
            agents.append(player)
            names.append(player.name or type(player).__name__)
        else:
            recipe = AgentSpec.read(player)
            agents.append(recipe.make(rules))
            names.append(recipe.name)
    if agents[0] is agents[1]:
        agents[1] = copy.deepcopy(agents[0])
    return (agents[0], agents[1]), (names[0], names[1])


def _check_past(past: Past, path: Path, hands: int, learner: bool) -> None:
    if len(past.payoffs) > hands:
        raise EquipoiseError(
            f"{path} already holds {len(past.payoffs)} hands: ask for at least as many"
        )
    if learner and past.payoffs:
        raise EquipoiseError(
            "an agent that learns cannot resume a match, for what it learnt is not in the log: "
            "play from the start"
        )


def _chunks(players: _Players, first: int, last: int, workers: int) -> Generator[Chunk, None, None]:
    """The deals from `first` to `last - 1`, played, in order; by one worker where somebody learns."""
    if any(agent.learns for agent in players.duel.agents):
        workers = 1
    deals = last - first
    size = min(BLOCK, max(1, -(-deals // (workers * _CHUNKS_PER_WORKER)))) if workers > 1 else BLOCK
    # Chunks end where blocks do, so that few blocks are dealt twice.
    edges = sorted({first, last, *range(first // size * size + size, last, size)})
    bounds = list(pairwise(edges))
    if (workers == 1 or len(bounds) < 2) and not on_cluster():
        for pair in bounds:
            yield players.play(*pair)
        return
    pool = start_pool(min(workers, len(bounds)), _enter, players, may_fork=True)
    yield from worked(pool, _work, bounds, "play with --workers 1 to see")
