"""The arena: hands a second, hands over sockets, and results that must come out exactly."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from equipoise.arena.acpc.dealer import AcpcDealer
from equipoise.arena.match import play_match
from equipoise.bench.figures import figure
from equipoise.errors import ProtocolError
from equipoise.games.rules import NOLIMIT_HOLDEM, one_bet_limit

SUITE = ("random", "all-in", "call", "fold", "bucket", "bayes", "votes")


def run(seed: int = 0) -> dict[str, Any]:
    """Measure everything."""
    figures = [*_matches(seed), *_exact(seed), *_sockets(seed), *_one_bet(seed)]
    return {"suite": "arena", "seed": seed, "figures": figures}


def _matches(seed: int) -> list[dict[str, Any]]:
    """Wall time of the whole command, start-up taken off; logs are written."""

    def seconds(hands: int, workers: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "match.log"
            began = time.perf_counter()
            play_match("random", "call", NOLIMIT_HOLDEM, hands, seed, workers=workers, log=log)
            return time.perf_counter() - began

    # Enough hands that some are shown down, for which kernels are loaded.
    seconds(200, 1)
    one = min(seconds(200_000, 1) - seconds(2, 1) for _ in range(2))
    million = seconds(1_000_000, 2)
    return [
        figure(
            "random v call, no-limit, one worker, logged", 200_000 / one, "hands/s", at_least=10_000
        ),
        figure("1,000,000 duplicate hands, two workers, logged", million, "s", at_most=60),
    ]


def _exact(seed: int) -> list[dict[str, Any]]:
    lost = play_match("fold", "all-in", NOLIMIT_HOLDEM, 2000, seed).mbb_per_hand
    tie = play_match("call", "call", NOLIMIT_HOLDEM, 2000, seed).mbb_per_hand
    return [
        figure("fold v all-in in duplicate: off −750 by", abs(lost + 750), "mbb/hand", at_most=0),
        figure("call v itself in duplicate", abs(tie), "mbb/hand", at_most=0),
    ]


def _sockets(seed: int, hands: int = 5000) -> list[dict[str, Any]]:
    """Two agents in processes of their own at a dealer in this one; the best of three matches."""
    command = "from equipoise.cli import main; main()"

    def seconds() -> float:
        with AcpcDealer(NOLIMIT_HOLDEM, hands=hands, seed=seed) as dealer:
            clients = [
                subprocess.Popen(
                    [sys.executable, "-c", command, "acpc", "call", "127.0.0.1", str(port)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                for port in dealer.ports
            ]
            outcome = dealer.run()
            for client in clients:
                client.wait(timeout=30)
        if outcome.reason:
            raise ProtocolError(f"the match over sockets was not finished: {outcome.reason}")
        return outcome.seconds

    best = min(seconds() for _ in range(3))
    return [figure("hands over sockets, call v call", hands / best, "hands/s", at_least=1000)]


def _one_bet(seed: int) -> list[dict[str, Any]]:
    """Nobody's interval against `regret` lies above 0 in the one-bet game."""
    figures = []
    for name in SUITE:
        result = play_match(name, "regret", one_bet_limit(), 20_000, seed)
        figures.append(
            figure(
                f"one-bet limit, {name} v regret: win rate less its 95 % interval "
                f"({result.mbb_per_hand:+z.0f} ± {result.ci95_mbb:.0f})",
                result.mbb_per_hand - result.ci95_mbb,
                "mbb/hand",
                at_most=0,
            )
        )
    return figures
