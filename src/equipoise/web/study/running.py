"""A solve that somebody started on the study page: how far it is, paused or stopped, whoever looks at it.

*Paused* it can be gone on with; *stopped* it is done with. Both end the job, which saves what there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from equipoise.games.spot import Spot
from equipoise.web.jobs import Job
from equipoise.web.study.solving import LockWords


@dataclass
class Running:
    """One solve, and its curve."""

    job: Job
    spot: Spot
    target: float
    locks: Sequence[LockWords] = ()
    #: Iterations and exploitability, in % of the pot.
    points: list[tuple[int, float]] = field(default_factory=list)
    #: Whether it was stopped, not paused.
    stopped: bool = False

    def pause(self) -> None:
        """End it for now."""
        self.job.cancel()

    def stop(self) -> None:
        """End it for good."""
        self.stopped = True
        self.job.cancel()

    def follow(self) -> str:
        """How far it is, in words; the curve is brought there. A solve looks at itself now and then only."""
        for look in self.job.looks[len(self.points) :]:
            assert look.exploitability_chips is not None
            self.points.append((look.done, 100 * look.exploitability_chips / self.spot.origin.pot))
        event, state = self.job.event, self.job.state
        if state == "failed":
            return self.job.error
        if event is not None:
            words = f"{event.done} iterations"
            if self.points:
                words += f", exploitability {self.points[-1][1]:.3f} % of pot"
        elif state == "waiting":
            words = "waiting for another solve …"
        else:
            words = "laying out …" if state == "running" else "not begun"
        if self.job.cancelling:
            return f"{'stopping' if self.stopped else 'pausing'}: {words}"
        if state == "cancelled":
            return f"{'stopped' if self.stopped else 'paused'}: {words}"
        return words
