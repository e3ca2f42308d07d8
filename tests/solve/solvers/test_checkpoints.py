"""Checkpoints and strategies that were signed but make no sense: one sentence, whatever is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equipoise import artefact
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.catalogue import kuhn
from equipoise.solve.registry import SOLVERS
from equipoise.solve.sampling.mccfr import CardGame, CardSampling
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.tableau import Tableau

KUHN = kuhn()
OWN = ("equipoise", "format", "configuration", "fingerprint", "checksum")
#: What is done to a manifest: where, and the value that comes there; ... takes it away.
NONSENSE: list[tuple[tuple[str, ...], Any]] = [
    (("configuration",), -3),
    (("configuration",), "text"),
    (("configuration", "solver"), ...),
    (("configuration", "game_fingerprint"), ...),
    (("configuration", "precision"), ...),
    (("configuration", "precision"), ""),
    (("configuration", "precision"), "int8"),
    (("configuration", "precision"), [[[]]]),
    (("configuration", "settings"), ...),
    (("configuration", "settings"), 5),
    (("configuration", "settings"), {"unheard": 1}),
    (("iteration",), ...),
    (("iteration",), {}),
    (("iteration",), 1e999),
    (("scalars",), ...),
    (("scalars",), 3),
    (("scalars",), {"unheard": 1}),
]


def sign(path: Path, manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write an artefact again, with a checksum of what it is now."""
    facts = {key: value for key, value in manifest.items() if key not in OWN}
    artefact.write(path, manifest["equipoise"], manifest["configuration"], arrays, **facts)


def change(manifest: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    *way, last = place
    for key in way:
        manifest = manifest[key]
    if value is ...:
        del manifest[last]
    else:
        manifest[last] = value


@pytest.mark.parametrize("name", ["dcfr", "egt", "fp", "external"])
@pytest.mark.parametrize(("place", "value"), NONSENSE)
def test_a_checkpoint_that_makes_no_sense_is_refused(tmp_path, name, place, value):
    path, kind = tmp_path / "checkpoint", SOLVERS[name]
    kind(KUHN).save(path)
    manifest, arrays = artefact.read(path, "solver")
    change(manifest, place, value)
    sign(path, manifest, arrays)
    with pytest.raises(ArtefactError, match="checkpoint"):
        kind.load(path, KUHN)


@pytest.mark.parametrize("discounting", [0.5, "dcfr", {"alpha": 1, "unheard": 2}])
def test_a_schedule_that_is_none_is_refused(tmp_path, discounting):
    path = tmp_path / "checkpoint"
    SOLVERS["cfr+"](KUHN).save(path)
    manifest, arrays = artefact.read(path, "solver")
    manifest["configuration"]["settings"]["discounting"] = discounting
    sign(path, manifest, arrays)
    with pytest.raises(ArtefactError, match="of this version"):
        SOLVERS["cfr+"].load(path, KUHN)


@pytest.mark.parametrize("other", [np.float32, np.int8, np.uint64])
def test_numbers_of_another_type_are_refused(tmp_path, other):
    path = tmp_path / "checkpoint"
    SOLVERS["dcfr"](KUHN).save(path)
    manifest, arrays = artefact.read(path, "solver")
    sign(path, manifest, {name: array.astype(other) for name, array in arrays.items()})
    with pytest.raises(ArtefactError, match="of another size or type"):
        SOLVERS["dcfr"].load(path, KUHN)


@pytest.mark.parametrize(
    ("place", "value"),
    [case for case in NONSENSE if not set(case[0]) & {"solver", "precision", "scalars"}],
)
def test_a_sampled_checkpoint_that_makes_no_sense_is_refused(tmp_path, place, value):
    path, game = tmp_path / "checkpoint", CardGame.of(KUHN)
    CardSampling(game).save(path)
    manifest, arrays = artefact.read(path, "card solver")
    change(manifest, place, value)
    sign(path, manifest, arrays)
    with pytest.raises(ArtefactError, match="of this version"):
        CardSampling.load(path, game)


@pytest.mark.parametrize("configuration", [5, "text", [], {}, {"fingerprint": []}])
def test_a_strategy_of_nothing_is_refused(tmp_path, configuration):
    path = tmp_path / "strategy"
    TabularStrategy.uniform(KUHN).save(path)
    manifest, arrays = artefact.read(path, "strategy")
    manifest["configuration"] = configuration
    sign(path, manifest, arrays)
    with pytest.raises(ArtefactError, match="strategy"):
        TabularStrategy.load(path, KUHN)


@pytest.mark.parametrize("rows", [{}, {"rows": np.zeros(3)}, {"rows": np.float64(1)}])
def test_a_strategy_of_other_rows_is_refused(tmp_path, rows):
    path = tmp_path / "strategy"
    told = {"game": KUHN.name, "fingerprint": KUHN.fingerprint()}
    artefact.write(path, "strategy", told, rows)
    with pytest.raises(ArtefactError, match="not a strategy of this version"):
        TabularStrategy.load(path, KUHN)


@pytest.mark.parametrize("precision", ["float16", "int8", "", 7])
def test_a_precision_that_kernels_do_not_have_is_refused(precision):
    with pytest.raises(SolverError, match="choose float32 or float64"):
        Tableau(KUHN, precision)
