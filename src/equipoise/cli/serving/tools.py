"""What the tools of `equipoise mcp` do, each in a process apart that is bounded in seconds and memory.

Every function is work for :mod:`equipoise.web.jobs`: it hears of progress, heeds a stop, and returns
plain data. Files are those of one folder; an agent is one of the list, never a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.errors import EquipoiseError, FileError
from equipoise.run import Listener, Stop
from equipoise.settings import brief

if TYPE_CHECKING:
    from equipoise.arena.remote.house import House
    from equipoise.games.spot import Spot

#: Agents that start programs or ask servers: not for a tool that anybody's text may call.
_OUTSIDE = ("program", "chat")
#: Hands of a position that are listed one by one.
_MOST_HANDS = 200


def bounded(listener: Listener, stop: Stop, memory_mb: int, name: str, args: dict[str, Any]) -> Any:
    """Do the work of a tool within so much memory."""
    _confine(memory_mb)
    return _WORK[name](listener, stop, **args)


@cache
def _confine(memory_mb: int) -> None:
    """Once a process: its memory is bounded, and what it prints is no part of the protocol."""
    os.dup2(2, 1)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory_mb << 20, memory_mb << 20))
    except (ImportError, OSError, ValueError):
        # Not a Unix, or less is allowed already.
        pass


def inside(folder: str | None, name: str) -> Path:
    """A file of the folder; whatever lies elsewhere is refused.

    >>> inside("/tmp", "../etc/passwd")
    Traceback (most recent call last):
        ...
    equipoise.errors.FileError: '../etc/passwd' lies outside the folder of these tools: ...
    """
    if folder is None:
        raise FileError("these tools were started without a folder: start them with --folder")
    root = Path(folder).resolve()
    try:
        path = (root / name).resolve()
        within = path.is_relative_to(root) and path != root and "\0" not in name
    except (OSError, ValueError, RuntimeError):
        within = False
    if not within:
        raise FileError(
            f"{brief(name)!r} lies outside the folder of these tools: name a file in it"
        )
    return path


def _equity(listener: Listener, stop: Stop, first: str, second: str, board: str) -> dict[str, Any]:
    from dataclasses import asdict

    from equipoise.cards.equity import equity

    return asdict(equity([first, second], board, threads=1, progress=listener))


def _range(listener: Listener, stop: Stop, text: str) -> dict[str, Any]:
    from equipoise.cards.range import Range

    hands = Range.parse(text)
    return {"text": str(hands), "combos": hands.combos, "summary": hands.summary()}


def _spot(text: str) -> Spot:
    from equipoise.games.spot import Spot

    return Spot.from_toml(text)


def _estimate(listener: Listener, stop: Stop, spot: str) -> dict[str, Any]:
    from equipoise.solve.spots.cost import spot_cost

    cost = spot_cost(_spot(spot))
    return {
        "summary": str(cost),
        "decisions": cost.total_decisions,
        "memory_mb": cost.memory_mb,
        "seconds_per_iteration": cost.seconds_per_iteration,
    }


def _solve(
    listener: Listener,
    stop: Stop,
    spot: str,
    target_pct_pot: float,
    seconds: float,
    memory_mb: int,
    save_as: str,
    folder: str | None,
) -> dict[str, Any]:
    from equipoise.files import check_target
    from equipoise.solve.spots.fitting import check_fits
    from equipoise.solve.spots.solution import solve_spot

    path = None
    if save_as:
        path = check_target(inside(folder, save_as), suffixes=(".solution",), what="save_as")
    asked = _spot(spot)
    # Half for the rows: tables and the answer need the rest.
    check_fits(asked, memory_mb << 19)
    solution = solve_spot(asked, target_pct_pot, seconds, listener=listener, stop=stop)
    root = solution.at()
    told = solution.to_dict() | {
        "actions": list(root.actions),
        "frequencies": [round(float(share), 4) for share in root.frequencies()],
    }
    if path is not None:
        solution.save(path, answer_only=True)
        told["saved_as"] = save_as
    return told


def _show(
    listener: Listener, stop: Stop, file: str, line: str, folder: str | None
) -> dict[str, Any]:
    from equipoise.solve.spots.solution import Solution

    path = inside(folder, file)
    if not path.is_file():
        raise FileError(f"there is no {brief(file)!r} in the folder: solve with save_as first")
    position = Solution.load(path).at(*([line] if line.strip() else []))
    told = position.to_dict()
    for name in ("oop", "ip"):
        side = told[name]
        rows = zip(side["hands"], side["reach"], side["ev_chips"], side["equity"], strict=True)
        kept = sorted((row for row in rows if row[1]), key=lambda row: -row[1])
        told[name] = {
            "hands_in_range": len(kept),
            "hands": [dict(zip(("hand", "reach", "ev_chips", "equity"), row, strict=True))
                      for row in kept[:_MOST_HANDS]],
        }  # fmt: skip
    strategy = told.pop("strategy", None)
    if strategy is not None and position.player is not None:
        names = position.to_dict()[position.player]["hands"]
        told["strategy"] = {
            hand: [row[place] for row in strategy] for place, hand in enumerate(names[:_MOST_HANDS])
        }
    return told


def _review(
    listener: Listener, stop: Stop, hand: str, player: str, reference: str, flop_seconds: float
) -> dict[str, Any]:
    from equipoise.arena.acpc.protocol import read_state_line
    from equipoise.arena.measures.review import review_hands
    from equipoise.games.rules import NOLIMIT_HOLDEM

    _house(reference)
    record = read_state_line(NOLIMIT_HOLDEM, hand.strip())
    found = review_hands(
        [record], player, reference, flop_seconds=flop_seconds, progress=listener, stop=stop
    )
    return found.to_dict()


@cache
def _house(agent: str) -> House:
    from equipoise.agents.registry import AgentSpec, entries
    from equipoise.arena.remote.house import House
    from equipoise.settings import did_you_mean

    known = [name for name in entries() if name not in _OUTSIDE]
    if agent not in known:
        raise EquipoiseError(f"no agent {brief(agent)!r}: {did_you_mean(agent, known)}")
    return House(AgentSpec.read(agent))


def _play(
    listener: Listener,
    stop: Stop,
    agent: str,
    seed: int,
    number: int,
    betting: str,
    answer: str,
) -> dict[str, Any]:
    """One step of a hand: the caller's answer if there is one, and the agent's."""
    from equipoise.agents.outside.telling import outcome, read_decision, situation, texts
    from equipoise.arena.remote.notation import RULES
    from equipoise.games.dealing import SeededDeals
    from equipoise.games.hand import Hand
    from equipoise.games.rules import State

    house, position = _house(agent), number % 2
    deal = SeededDeals(RULES, seed).deal(number)
    hand = Hand(State.from_betting_text(RULES, betting), deal, number)
    if answer:
        hand.play(read_decision(answer, hand.state))
    house.seat(0).play(hand, 1 - position, seed)
    if not hand.state.is_over:
        return situation(hand.view())
    told = outcome(hand.result(position))
    return told | {"agent_held": texts(deal.holes[1 - position])}


_WORK: dict[str, Callable[..., Any]] = {
    "equity": _equity,
    "range": _range,
    "spot_estimate": _estimate,
    "solve": _solve,
    "show": _show,
    "review": _review,
    "play": _play,
}
