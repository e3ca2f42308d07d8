"""Fitting a model of players to the decisions of a log.

The *proper* fit is penalised maximum likelihood, cell by cell, by Newton's method. The document's own is a
two-step estimator with beliefs (:mod:`.twostep`). Where φ takes the winning probability against any hand, and
not against a range, step 1 has nothing to do; what is left is the *ascent* of :mod:`.softmax`, five passes in
random order with α = .001, by the log-likelihood or *literally* by the probability.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.decisions import ALL_IN, SIZE_CLASSES, Decisions
from equipoise.agents.adaptive.features import FEATURES, Features, Scale, extended, residual_terms
from equipoise.agents.adaptive.memory import running_residuals
from equipoise.agents.adaptive.model import (
    FIELD,
    LEAST_SIGMA,
    PARTS,
    ActionModel,
    Cell,
    LogNormal,
    PlayerModel,
    Scores,
    cell_rows,
    choices,
    open_choices,
)
from equipoise.agents.adaptive.softmax import ascend, fit
from equipoise.errors import EquipoiseError
from equipoise.run import Event, Listener

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_Any = TypeVar("_Any")

ESTIMATORS = ("newton", "ascent", "literal")
#: The document's own, with beliefs; the second by the probability itself.
TWO_STEP = ("two-step", "two-step-literal")
#: Ridges of actions, of classes of size and of ln sizes: in decisions.
RIDGE, CLASS_RIDGE, LENGTH_RIDGE = 2.0, 20.0, 100.0
#: Share of all decisions, and number, from which a player is a group of his own.
OWN_SHARE, OWN_DECISIONS = 0.2, 2000
#: Fewer decisions than this do not make a cell: those of other groups, then of other streets, help out.
LEAST = 40
PASSES, RATE = 5, 0.001
_STEPS = 4


def fit_players(
    decisions: Decisions,
    features: Features = FEATURES["full"],
    estimator: str = "newton",
    seed: int = 0,
    progress: Listener | None = None,
) -> PlayerModel:
    """The model of the players of a log."""
    groups, group = grouped(decisions)
    known = decisions.known
    if int(known.sum()) < LEAST:
        raise EquipoiseError(
            f"{int(known.sum())} decisions with known cards: a model needs logs that show hole cards"
        )

    def tell(step: int) -> None:
        if progress is not None:
            progress(Event(step, _STEPS))

    cardless = fit_actions(decisions, group, FEATURES["cardless"])
    tell(1)
    expected = np.exp(cardless.logs(decisions, group))
    residuals = running_residuals(decisions, expected)
    shown, own = decisions.where(known), group[known]
    actions = fit_actions(shown, own, features, residuals[known], estimator, seed)
    tell(2)
    raises = shown.kind == 2
    raised, who = shown.where(raises), own[raises]
    sizes = fit_sizes(raised, who)
    tell(3)
    lengths = fit_lengths(raised, who)
    tell(4)
    every = range(len(groups))
    return PlayerModel(
        groups,
        ActionModel(features, _completed(features, actions.cells, every), actions.adaptive),
        ActionModel(cardless.features, _completed(cardless.features, cardless.cells, every)),
        _completed(PARTS["sizes"], sizes, every),
        _completed(PARTS["lognormal"], lengths, every),
    )


def grouped(decisions: Decisions) -> tuple[tuple[str, ...], Rows]:
    """Names of the groups, the field first, and the group of every decision."""
    counts = np.bincount(decisions.player, minlength=len(decisions.players))
    own = [
        number for number in np.argsort(-counts).tolist()
        if counts[number] >= max(OWN_DECISIONS, OWN_SHARE * len(decisions))
    ]  # fmt: skip
    if counts.sum() - counts[own].sum() < OWN_DECISIONS:
        # There is no field to speak of: everybody is it.
        own = []
    number_of = np.zeros(len(decisions.players), dtype=np.int64)
    number_of[own] = np.arange(1, len(own) + 1)
    return ("field", *(decisions.players[one] for one in own)), number_of[decisions.player]


def fit_actions(
    decisions: Decisions,
    group: Rows,
    features: Features,
    residuals: Floats | None = None,
    estimator: str = "newton",
    seed: int = 0,
) -> ActionModel:
    """Fold, call or raise, with terms of residuals if they are given."""
    adaptive = residuals is not None and estimator == "newton"
    cells: dict[Cell, Scores] = {}
    facts = extended(decisions.facts, decisions.street, group)
    for key, rows in _well_filled(features, decisions, group):
        private = decisions.private[rows]
        scale = Scale.of(features, key[0] if features.by_street else 1, facts[rows], private)
        design = scale.design(facts[rows], private)
        if adaptive and residuals is not None:
            terms = residual_terms(residuals[rows], facts[rows], private[:, 0])
            design = np.concatenate([design, terms], axis=1)
        order = choices(key[1])
        chosen = np.array([order.index(kind) for kind in decisions.kind[rows].tolist()])
        open_ = open_choices(key[1], decisions.can_raise[rows])
        cells[key] = Scores(scale, _estimated(design, chosen, open_, estimator, seed))
    return ActionModel(features, cells, adaptive)


def _estimated(
    design: Floats, chosen: Rows, open_: NDArray[np.bool_], estimator: str, seed: int
) -> Floats:
    if estimator == "newton":
        return fit(design, chosen, open_, RIDGE)
    if estimator not in ESTIMATORS:
        raise EquipoiseError(f"estimator = {estimator!r}: choose {', '.join(ESTIMATORS)}")
    random = np.random.default_rng(seed)
    theta = np.zeros((design.shape[1], open_.shape[1] - 1))
    for _ in range(PASSES):
        order = random.permutation(len(design))
        literal = estimator == "literal"
        theta = ascend(design, chosen, open_, order, rate=RATE, literal=literal, theta=theta)
    return theta


def fit_sizes(raised: Decisions, group: Rows) -> dict[Cell, Scores]:
    """Classes of size of raises."""
    features, cells = PARTS["sizes"], {}
    facts = extended(raised.facts, raised.street, group)
    for key, rows in _well_filled(features, raised, group):
        scale = Scale.of(features, key[0], facts[rows], raised.private[rows])
        design = scale.design(facts[rows], raised.private[rows])
        open_ = np.ones((len(rows), SIZE_CLASSES), dtype=bool)
        cells[key] = Scores(scale, fit(design, raised.size_class[rows], open_, CLASS_RIDGE))
    return cells


def fit_lengths(
    raised: Decisions, group: Rows, features: Features = PARTS["lognormal"]
) -> dict[Cell, LogNormal]:
    """ln size of raises, by least squares with a ridge; σ is of the cell, and at least .05."""
    cells = {}
    facts = extended(raised.facts, raised.street, group)
    for key, rows in _well_filled(features, raised, group):
        scale = Scale.of(
            features, key[0] if features.by_street else 1, facts[rows], raised.private[rows]
        )
        design, length = scale.design(facts[rows], raised.private[rows]), raised.log_size[rows]
        shrink = np.full(design.shape[1], LENGTH_RIDGE)
        shrink[0] = 1e-6
        theta = np.linalg.solve(design.T @ design + np.diag(shrink), design.T @ length)
        off = length - design @ theta
        sigma = max(LEAST_SIGMA, float(np.sqrt((off**2).mean())))
        all_in = (float((raised.size_class[rows] == ALL_IN).sum()) + 1) / (len(rows) + 2)
        shape = np.array([sigma, length.min(), length.max(), all_in])
        cells[key] = LogNormal(scale, np.asarray(theta, dtype=np.float64), shape)
    return cells


def length_logs(
    raised: Decisions, group: Rows, cells: dict[Cell, LogNormal], features: Features
) -> Floats:
    """ln N(ln size; μ, σ²) of every raise, all-ins included."""
    found = np.empty(len(raised))
    facts = extended(raised.facts, raised.street, group)
    for key, rows in cell_rows(features, raised, group):
        cell = cells[key]
        sigma = cell.shape[0]
        off = (raised.log_size[rows] - cell.mean(facts[rows], raised.private[rows])) / sigma
        found[rows] = -0.5 * np.log(2 * np.pi * sigma**2) - 0.5 * off**2
    return found


def _well_filled(
    features: Features, decisions: Decisions, group: Rows
) -> Iterable[tuple[Cell, Rows]]:
    """Rows to fit each cell to; where a cell has too few, those of like cells."""
    found = dict(cell_rows(features, decisions, group))
    own = range(int(group.max()) + 1) if features.by_group else range(1)
    for street in features.streets():
        for facing in (False, True):
            for number in own:
                rows = found.get((street, facing, number), np.zeros(0, dtype=np.int64))
                if len(rows) < LEAST:
                    same = (decisions.street == street) | (not features.by_street)
                    rows = np.flatnonzero((decisions.facing == facing) & same)
                if len(rows) < LEAST:
                    rows = np.flatnonzero(decisions.facing == facing)
                if len(rows) < LEAST:
                    raise EquipoiseError(
                        "too few decisions for a model: give some hundred hands more"
                    )
                yield (street, facing, number), rows


def _completed(features: Features, cells: dict[Cell, _Any], groups: range) -> dict[Cell, _Any]:
    """Cells of every group: those that no decision was seen of are the field's."""
    if not features.by_group:
        return cells
    return {
        (street, facing, group): cells.get((street, facing, group), cells[street, facing, FIELD])
        for street in features.streets() for facing in (False, True) for group in groups
    }  # fmt: skip
