"""Speed of cards: evaluation, equity, suit isomorphism, start-up, beside peers in one run."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.bench.figures import best_seconds, figure


def run(seed: int = 0) -> dict[str, Any]:
    """Measure everything; peers that are not installed are left out."""
    rng = np.random.default_rng(seed)
    figures = [*_evaluation(rng), *_equity(), *_isomorphism(rng), *_start()]
    return {"suite": "cards", "seed": seed, "figures": figures}


def _random_hands(count: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    return rng.random((count, 52), dtype=np.float32).argpartition(7, axis=1)[:, :7].astype(np.uint8)


def _evaluation(rng: np.random.Generator) -> list[dict[str, Any]]:
    from equipoise.cards.evaluator import evaluate_many

    hands = _random_hands(2_000_000, rng)
    evaluate_many(hands[:1000], threads=1)
    one = len(hands) / best_seconds(lambda: evaluate_many(hands, threads=1), 9)
    two = len(hands) / best_seconds(lambda: evaluate_many(hands, threads=2), 9)
    figures = [
        figure("seven-card hands in random order, one thread", one / 1e6, "M/s"),
        figure("the same, two threads over one", two / one, "×", at_least=1.7),
    ]
    for name, peer in _peers(hands[:20_000]):
        rate = 20_000 / best_seconds(peer, 3)
        figures.append(
            figure(f"evaluation, ours over {name} ({rate / 1e6:.2f} M/s)", one / rate, "×")
        )
    return figures


def _peers(hands: NDArray[np.uint8]) -> list[tuple[str, Callable[[], Any]]]:
    """The fastest call of each installed peer over `hands`."""
    from equipoise.cards.card import card_text

    peers: list[tuple[str, Callable[[], Any]]] = []
    try:
        from phevaluator.evaluator import evaluate_7cards as call

        rows = [[int(c) for c in hand] for hand in hands]
        peers.append(("phevaluator", lambda: [call(*row) for row in rows]))
    except ImportError:
        pass
    try:
        import eval7

        held = [[eval7.Card(card_text(int(c))) for c in hand] for hand in hands]
        peers.append(("eval7", lambda: [eval7.evaluate(cards) for cards in held]))
    except ImportError:
        pass
    try:
        from treys import Card, Evaluator

        judge = Evaluator()
        texts = [[Card.new(card_text(int(c))) for c in hand] for hand in hands]
        peers.append(("treys", lambda: [judge.evaluate(t[:2], t[2:]) for t in texts]))
    except ImportError:
        pass
    return peers


def _equity() -> list[dict[str, Any]]:
    from equipoise.cards.equity import equity

    def milliseconds(work: Callable[[], Any], repeats: int) -> float:
        work()
        return 1e3 * best_seconds(work, repeats)

    return [
        figure(
            "exact AhKh v QsQd, 1,712,304 boards, one thread",
            milliseconds(lambda: equity(["AhKh", "QsQd"], threads=1), 9),
            "ms",
            at_most=50,
        ),
        figure(
            "hand v random before the flop, from the table",
            milliseconds(lambda: equity(["AhKh", "random"]), 5),
            "ms",
        ),
        figure(
            "hand v random before the flop, a dead card, by enumeration",
            milliseconds(lambda: equity(["AhKh", "random"], dead="2c"), 1) / 1e3,
            "s",
            at_most=10,
        ),
        figure(
            "range v range on a flop, both 1,326, exact",
            milliseconds(lambda: equity(["random", "random"], "Td9d6h"), 3) / 1e3,
            "s",
            at_most=1,
        ),
    ]


def _isomorphism(rng: np.random.Generator) -> list[dict[str, Any]]:
    from equipoise.cards.isomorphism import deals

    hands = _random_hands(2_000_000, rng)
    deals().index_many(hands[:1000], threads=1)
    rate = len(hands) / best_seconds(lambda: deals().index_many(hands, threads=1), 5)
    return [figure("index of seven-card deals, one thread", rate / 1e6, "M/s", at_least=5)]


_TABLES = """
import time
import equipoise.cards.evaluator, equipoise.cards.isomorphism, equipoise.cards.preflop
import resource, numpy as np
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.perf_counter()
equipoise.cards.evaluator.evaluate((0, 5, 10, 15, 20, 25, 30))
equipoise.cards.isomorphism.deals().index((0, 5, 10, 15, 20, 25, 30))
equipoise.cards.preflop.table()
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def _start() -> list[dict[str, Any]]:
    """Warm start in fresh processes: tables ready, memory they take, and `--help`."""

    def call(*words: str) -> str:
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
        return done.stdout

    samples = [[float(x) for x in call("-c", _TABLES).split()] for _ in range(4)]
    scale = 1024 if sys.platform != "darwin" else 1
    helps = []
    for _ in range(5):
        began = time.perf_counter()
        call("-c", "import sys; sys.argv = ['equipoise', '--help']; "
             "from equipoise.cli import main; main()")  # fmt: skip
        helps.append(time.perf_counter() - began)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return [
        figure("tables ready, warm start", min(s for s, _ in samples), "s", at_most=1),
        figure("memory the tables add", min(m for _, m in samples) * scale / 1e6, "MB", at_most=50),
        figure("`equipoise --help`", min(helps), "s", at_most=0.3),
        figure("peak memory of this benchmark", resident * scale / 1e6, "MB"),
    ]
