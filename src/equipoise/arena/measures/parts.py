"""Work on the hands of a measure, part after part, by one process or by several.

A *source* knows how to score any part, and starts once in every process that works. Results come in the
order of the parts, and are the same for any number of workers.
"""

from __future__ import annotations

import signal
from collections.abc import Generator, Sequence
from typing import Any, Protocol, TypeVar

from equipoise.workers import on_cluster, start_pool, worked

Part = TypeVar("Part", contravariant=True)
Score = TypeVar("Score", covariant=True)
_Part = TypeVar("_Part")
_Score = TypeVar("_Score")


class Source(Protocol[Part, Score]):
    """What a worker needs to score any part."""

    def start(self) -> None:
        """Begin: called once in each process."""

    def score(self, part: Part) -> Score:
        """The scores of one part."""


_here: Source[Any, Any] | None = None


def _enter(source: Source[Any, Any]) -> None:
    """Begin a worker's life: Ctrl-C is its parent's business."""
    global _here
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source.start()
    _here = source


def _work(part: Any) -> Any:
    assert _here is not None
    return _here.score(part)


def scores(
    source: Source[_Part, _Score], parts: Sequence[_Part], workers: int
) -> Generator[_Score, None, None]:
    """The scores of all parts, in their order."""
    if (workers == 1 or len(parts) < 2) and not on_cluster():
        source.start()
        yield from map(source.score, parts)
        return
    pool = start_pool(min(workers, len(parts)), _enter, source, may_fork=True)
    yield from worked(pool, _work, parts, "measure with --workers 1 to see")
