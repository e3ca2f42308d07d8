"""What came of a match: payoffs, faults, and the win rate with its error."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.arena.record import Fault
from equipoise.arena.statistics import Estimate, estimate, pair_means, rate_text
from equipoise.columnar import Columnar
from equipoise.games.rules import Rules


@dataclass(frozen=True)
class MatchResult(Columnar):
    """What came of a match; figures are A's."""

    a: str
    b: str
    rules: Rules
    seed: int
    duplicate: bool
    #: A's chips in each hand, in order.
    payoffs: NDArray[np.float64] = field(repr=False)
    #: What went wrong, in order.
    faults: tuple[Fault, ...]
    #: Name of the agent that forfeited the match by too many faults.
    forfeited_by: str | None
    #: Stopped by Ctrl-C before its end.
    interrupted: bool
    #: Hands played by this call (a resumed match holds more) in so many seconds.
    hands_now: int
    seconds: float
    log: Path | None
    #: Decisions of A and B in this call that were answered more simply than meant, as by a blueprint in
    #: place of a search that did not suffice.
    fallbacks: tuple[int, int] = (0, 0)

    @property
    def hands(self) -> int:
        """Hands played."""
        return len(self.payoffs)

    @property
    def pairs(self) -> int:
        """Duplicate pairs played; 0 without duplicate."""
        return self.hands // 2 if self.duplicate else 0

    @property
    def samples_mbb(self) -> NDArray[np.float64]:
        """Independent samples of A's win rate: one a pair, or one a hand without duplicate."""
        rates = self.payoffs * (1000 / self.rules.big_blind)
        return pair_means(rates) if self.duplicate else rates

    @property
    def estimate(self) -> Estimate:
        """A's win rate in mbb/hand, with its error."""
        return estimate(self.samples_mbb)

    @property
    def mbb_per_hand(self) -> float:
        """A's mean win rate."""
        return self.estimate.mean

    @property
    def ci95_mbb(self) -> float:
        """Half of the 95 % interval."""
        return self.estimate.half_width

    @property
    def std_mbb(self) -> float:
        """Standard deviation of a hand: that of a pair's mean, times √2."""
        return self.estimate.deviation * (sqrt(2) if self.duplicate else 1)

    @property
    def hands_per_second(self) -> float:
        """Speed of this call."""
        return self.hands_now / self.seconds if self.seconds > 0 else 0.0

    @property
    def triplet(self) -> tuple[int, int, int]:
        """Pairs that A won, lost and drew: by the sum of a pair's two hands, as it is paid.

        Without duplicate it is hands won, lost, drawn.
        """
        samples = self.samples_mbb
        won, lost = int((samples > 0).sum()), int((samples < 0).sum())
        return won, lost, len(samples) - won - lost

    def columns(self) -> dict[str, Any]:
        """One row a hand: its number, the seat where A sat and the chips that A won."""
        numbers = np.arange(self.hands)
        return {"hand": numbers, "a_position": numbers % 2, "payoff_chips": self.payoffs}

    def caption(self) -> str:
        """A's win rate."""
        rate = rate_text(self.mbb_per_hand, self.ci95_mbb, 1)
        return f"{self.a} v {self.b}: {rate} mbb/hand, {self.hands:,} hands"

    def to_dict(self) -> dict[str, Any]:
        """The figures, as `equipoise match --json` prints them."""
        return {
            "a": self.a,
            "b": self.b,
            "game": self.rules.name,
            "hands": self.hands,
            "pairs": self.pairs,
            "mbb_per_hand": self.mbb_per_hand,
            "ci95_mbb": self.ci95_mbb,
            "std_mbb": self.std_mbb,
            "triplet": list(self.triplet),
            "hands_per_second": self.hands_per_second,
            "seed": self.seed,
            "log": None if self.log is None else str(self.log),
            "faults": [sum(fault.seat == seat for fault in self.faults) for seat in (0, 1)],
            "fallbacks": list(self.fallbacks),
            "forfeited_by": self.forfeited_by,
            "interrupted": self.interrupted,
        }
