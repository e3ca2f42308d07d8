"""The adaptive agent's document, done again.

With a log: every model of players, held out (:mod:`.prediction`), the document's figures 1 and 2
(:mod:`.openings`) and its failure (:mod:`.recklessness`). With hands: matches against players of temper
(:mod:`.tempers`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equipoise.arena.histories.played import read_decisions
from equipoise.bench.reproduce.adaptive import tempers
from equipoise.bench.reproduce.adaptive.openings import agents_first_bets, first_bets
from equipoise.bench.reproduce.adaptive.prediction import Stretch, Study
from equipoise.bench.reproduce.adaptive.recklessness import failure, fitted_models
from equipoise.errors import EquipoiseError
from equipoise.run import Listener


def run(
    seed: int = 0,
    quick: bool = False,
    progress: Listener | None = None,
    log: list[Path] | None = None,
    fit: Stretch | None = None,
    test: Stretch | None = None,
    hands: int = 0,
) -> dict[str, Any]:
    """What is asked for; with `quick` without the document's slow estimators and without trees."""
    if not log and not hands:
        raise EquipoiseError(
            "reproduce adaptive: give --log FILE, a log with all hole cards known, or --hands for matches"
        )
    told: dict[str, Any] = {"experiment": "adaptive", "seed": seed}
    if log:
        study = Study(read_decisions(log), fit, test, progress)
        told |= {
            "fitted_hands": list(study.stretches[0]),
            "held_out_hands": list(study.stretches[1]),
            "fitted_decisions": len(study.fitted),
            "held_out_decisions": len(study.held),
            "groups": list(study.groups),
            "models": study.models(quick, seed),
            **study.raises(),
            "calibration": study.calibration(),
            "first_bets": first_bets(study.decisions, study.group, study.groups)
            | agents_first_bets(),
            "failure": failure(fitted_models(study.fitted, study.fit_group)),
        }
    elif fit or test:
        raise EquipoiseError("--fit and --test are hands of a log: give --log FILE")
    if hands:
        told["matches"] = tempers.play_all(hands, seed, progress)
    return told
