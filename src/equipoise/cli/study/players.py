"""`equipoise train adaptive`: fit the model of players that the adaptive agent plays with."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

from equipoise.cli.output import check_number, emit, listening, progress_bar
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Where the model goes by default.
DEFAULT = Path("adaptive.model")


def train_players(
    logs: list[Path],
    hands: int | None,
    features: str,
    estimator: str,
    out: Path | None,
    *,
    seed: int,
    overwrite: bool,
    json: bool,
) -> None:
    """Fit a model to logs, or to the few hands that ship, and write it."""
    from equipoise.agents.adaptive.decisions import Decisions
    from equipoise.agents.adaptive.features import FEATURES
    from equipoise.agents.adaptive.fitting import ESTIMATORS, TWO_STEP, fit_players
    from equipoise.agents.adaptive.twostep import fit_two_step
    from equipoise.arena.histories.played import read_hands, shipped_log
    from equipoise.artefact import fingerprint
    from equipoise.files import check_target
    from equipoise.settings import choose

    check_number("--hands", hands, 1, 1_000_000_000)
    choose(estimator, (*ESTIMATORS, *TWO_STEP), "--estimator", EquipoiseError)
    usable = ("seed", "odds", "context", "full", "payoff")
    chosen = FEATURES[choose(features, usable, "--features", EquipoiseError)]
    if estimator in TWO_STEP and features != "seed":
        raise EquipoiseError(
            f"--estimator {estimator}: its φ is the document's: add --features seed"
        )
    path = check_target(out or DEFAULT, overwrite=overwrite, what="--out")
    began = process_time()
    with progress_bar("adaptive", quiet=json) as bar:
        if logs:
            played = read_hands(logs, hands)
        else:
            with shipped_log() as fixture:
                played = read_hands([fixture], hands)
        decisions = Decisions.of(played)
        if estimator in TWO_STEP:
            literal = estimator == TWO_STEP[1]
            learner = fit_two_step(played, literal=literal, seed=seed, progress=listening(bar))
            model = learner.completed(fit_players(decisions, chosen, seed=seed))
            mean = learner.mean_log(played)
        else:
            model = fit_players(decisions, chosen, estimator, seed, listening(bar))
            known = decisions.known
            logs_of = model.actions.logs(decisions.where(known), model.groups_of(decisions)[known])
            kinds = decisions.kind[known]
            mean = float(logs_of[range(len(kinds)), kinds].mean())
    told = {
        "hands": int(decisions.hand.max()) + 1,
        "decisions": len(decisions),
        "players": len(decisions.players),
        "estimator": estimator,
        "seed": seed,
        "data": fingerprint([decisions.kind.tolist(), decisions.facts.sum(), decisions.players]),
    }
    model.save(path, told)
    data: dict[str, Any] = told | {
        "features": features,
        "groups": list(model.groups),
        "nats_a_decision": mean,
        "seconds": round(process_time() - began, 2),
        "model": str(path),
        "model_bytes": path.stat().st_size,
    }
    emit(data, json, lambda: _shown(data))


def _shown(data: dict[str, Any]) -> RenderableType:
    from rich.table import Table

    table = Table(title="equipoise train adaptive", show_header=False)
    for key, value in data.items():
        table.add_row(
            key.replace("_", " "), f"{value:,.4f}" if isinstance(value, float) else str(value)
        )
    return table
