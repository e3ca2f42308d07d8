"""The model of a player: how likely each hand is to fold, call or raise, and how much it raises.

One softmax for each cell, a street, facing a bet or not, and a group of players (:mod:`.features`). Groups
are the players who took a large part of the decisions that the model was fitted to, each on his own, and *the
field*, everybody else: a stranger is taken for one of the field. Running residuals of the player at hand
(:mod:`.memory`) enter as further terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.agents.adaptive.decisions import SIZE_CLASSES, Decisions
from equipoise.agents.adaptive.features import (
    FEATURES,
    KNOTS,
    PAYOFFS,
    RESIDUAL_TERMS,
    RESIDUALS,
    Features,
    Scale,
    extended,
    payoffs,
    residual_scores,
    residual_terms,
)
from equipoise.agents.adaptive.situation import Situation
from equipoise.agents.adaptive.softmax import log_probabilities, shares
from equipoise.errors import EquipoiseError

Floats = NDArray[np.float64]
Cell = tuple[int, bool, int]

_KIND = "player model"
#: Residuals of a stranger are cut to what players show.
_MOST_RESIDUAL = 0.3
#: No number of a model is larger: 1 / the least deviation that counts as one. Scores stay finite.
_MOST = 1e6
#: Groups of a file.
_MOST_GROUPS = 20
FIELD = 0
#: The least deviation of ln size.
LEAST_SIGMA = 0.05
#: φ of the parts of a model but its actions.
PARTS = {
    "cardless": FEATURES["cardless"],
    "sizes": FEATURES["classes"],
    "lognormal": FEATURES["lengths"],
}


def choices(facing: bool) -> tuple[int, ...]:
    """Actions in the order of a cell's softmax: the last one has the score 0."""
    return (2, 0, 1) if facing else (2, 1)


@dataclass(frozen=True)
class Scores:
    """What a cell's softmax was fitted to be."""

    scale: Scale
    #: φ by choice, then terms of residuals, if there are any: float64[φ, choices - 1].
    theta: Floats

    def at(self, facts: Floats, basis: Floats, residuals: Floats | None, equity: Floats) -> Floats:
        """Scores of all hands in one situation; `basis` is their Z, `facts` one row."""
        scale, theta = self.scale, self.theta
        u = scale.public(facts)
        wide = scale.wide(u)
        crossed = scale.crossed(basis)
        start, width, thin = wide.shape[1], basis.shape[1], crossed.shape[1]
        weights = theta[start : start + width].copy()
        place = start + width
        for k in range(u.shape[1]):
            weights[:thin] += u[0, k] * theta[place : place + thin]
            place += thin
        scores: Floats = wide @ theta[:start] + basis @ weights
        if scale.features.payoffs:
            scores += payoffs(facts, equity[:, None]) @ theta[place : place + PAYOFFS]
            place += PAYOFFS
        if residuals is not None and len(theta) > place:
            cut = np.clip(residuals, -_MOST_RESIDUAL, _MOST_RESIDUAL)
            scores += residual_scores(cut, facts, equity, theta[place:])
        return np.concatenate([scores, np.zeros((len(basis), 1))], axis=1)


@dataclass(frozen=True)
class ActionModel:
    """Fold, call or raise."""

    features: Features
    cells: dict[Cell, Scores]
    #: Terms of running residuals are part of it.
    adaptive: bool = False

    def logs(
        self, decisions: Decisions, group: NDArray[np.int64], residuals: Floats | None = None
    ) -> Floats:
        """ln P of fold, call and raise in every decision: float64[decisions, 3], −∞ where closed."""
        found = np.full((len(decisions), 3), -np.inf)
        facts = extended(decisions.facts, decisions.street, group)
        for key, rows in cell_rows(self.features, decisions, group):
            cell = self.cells[key]
            design = cell.scale.design(facts[rows], decisions.private[rows])
            if self.adaptive:
                terms = np.zeros((len(rows), RESIDUALS)) if residuals is None else residuals[rows]
                more = residual_terms(terms, facts[rows], decisions.private[rows, 0])
                design = np.concatenate([design, more], axis=1)
            order = choices(key[1])
            open_ = open_choices(key[1], decisions.can_raise[rows])
            found[rows[:, None], np.array(order)] = log_probabilities(design, cell.theta, open_)
        return found

    def chances(
        self,
        found: Situation,
        group: int,
        hands: Floats,
        basis: dict[Cell, Floats],
        residuals: Floats | None = None,
    ) -> Floats:
        """P of fold, call and raise of every hand in one situation: float64[hands, 3].

        `hands` are the private parts of the hands, `basis` keeps their Z from one situation on a board to
        the next.
        """
        key = self.features.cell(found.street, found.facing, group)
        cell = self.cells[key]
        if key not in basis:
            basis[key] = cell.scale.basis(hands)
        facts = np.array([[*found.facts, found.street, group]])
        scores = cell.at(facts, basis[key], residuals if self.adaptive else None, hands[:, 0])
        open_ = open_choices(found.facing, np.array([found.can_raise]))
        answer = np.zeros((len(hands), 3))
        answer[:, choices(found.facing)] = shares(scores, open_)
        return answer


@dataclass(frozen=True)
class PlayerModel:
    """All that is known of players in general."""

    #: Names of the groups, the field first.
    groups: tuple[str, ...]
    actions: ActionModel
    #: The same without cards: what residuals are measured from.
    cardless: ActionModel
    #: Scores of the ten classes of raises.
    sizes: dict[Cell, Scores]
    #: Mean, deviation and bounds of ln size, and how often it is all-in.
    lognormal: dict[Cell, LogNormal]

    def group_of(self, name: str) -> int:
        """The group of a player; strangers are of the field."""
        return self.groups.index(name) if name in self.groups[1:] else FIELD

    def groups_of(self, decisions: Decisions) -> NDArray[np.int64]:
        """The group of who takes each decision."""
        return np.array([self.group_of(name) for name in decisions.players])[decisions.player]

    def size_chances(
        self,
        found: Situation,
        group: int,
        hands: Floats,
        basis: dict[Cell, Floats],
        mix: Floats | None = None,
    ) -> Floats:
        """P of each class of size of every hand that raises: float64[hands, 10].

        With a `mix`, float64[rows, hands], of mean hands in place of all: quicker, and near enough where
        hands of a row are alike.
        """
        key = (found.street, found.facing, group)
        cell = self.sizes[key]
        if key not in basis:
            basis[key] = cell.scale.basis(hands)
        facts = np.array([[*found.facts, found.street, group]])
        scores = cell.at(facts, basis[key] if mix is None else mix @ basis[key], None, hands[:, 0])
        return shares(scores, np.ones((1, SIZE_CLASSES), dtype=bool))

    def save(self, path: str | Path, told: dict[str, Any]) -> None:
        """Write the model, with what is told of how it was fitted."""
        arrays: dict[str, Floats] = {}
        for part, cells in self._parts().items():
            for (street, facing, group), cell in cells.items():
                stem = f"{part}.{street}.{int(facing)}.{group}"
                arrays |= {f"{stem}.{name}": array for name, array in _flat(cell).items()}
        artefact.write(
            path, _KIND,
            {"groups": list(self.groups), "features": self.actions.features.name,
             "adaptive": self.actions.adaptive, **told},
            arrays,
        )  # fmt: skip

    def _parts(self) -> dict[str, dict[Cell, Any]]:
        return {
            "actions": self.actions.cells,
            "cardless": self.cardless.cells,
            "sizes": self.sizes,
            "lognormal": self.lognormal,
        }

    @classmethod
    def load(cls, path: str | Path) -> PlayerModel:
        """Read a model; a damaged or foreign file is refused."""
        manifest, arrays = artefact.read(path, _KIND)
        with artefact.understanding(path, _KIND):
            told = manifest["configuration"]
            groups, adaptive = tuple(told["groups"]), told["adaptive"]
            named = all(isinstance(name, str) for name in groups)
            if not named or not 1 <= len(set(groups)) == len(groups) <= _MOST_GROUPS:
                raise EquipoiseError("groups without names of their own")
            if not isinstance(adaptive, bool):
                raise EquipoiseError(f"adaptive = {adaptive!s:.40}")
            features = FEATURES[told["features"]]
            read: dict[str, dict[Cell, Any]] = {}
            for part, which in (("actions", features), *PARTS.items()):
                own = range(len(groups)) if which.by_group else range(1)
                terms = RESIDUAL_TERMS if part == "actions" and adaptive else 0
                read[part] = {
                    (street, facing, group): _cell(part, arrays, which, (street, facing, group), terms)
                    for street in which.streets() for facing in (False, True) for group in own
                }  # fmt: skip
            return cls(groups, ActionModel(features, read["actions"], adaptive),
                       ActionModel(FEATURES["cardless"], read["cardless"]),
                       read["sizes"], read["lognormal"])  # fmt: skip


@dataclass(frozen=True)
class LogNormal:
    """ln of a raise in pots after the call ~ N(φ·θ, σ²), cut to what players raise; all-ins apart."""

    scale: Scale
    theta: Floats
    #: σ, least and greatest mean, share of all-ins.
    shape: Floats

    def mean(self, facts: Floats, private: Floats) -> Floats:
        """The mean of ln size of each row."""
        _, least, most, _ = self.shape
        return np.clip(self.scale.design(facts, private) @ self.theta, least, most)


def cell_rows(
    features: Features, decisions: Decisions, group: NDArray[np.int64]
) -> list[tuple[Cell, NDArray[np.int64]]]:
    """Rows of the decisions of each cell that has any."""
    street = decisions.street if features.by_street else np.zeros_like(decisions.street)
    own = group if features.by_group else np.zeros_like(group)
    keys = np.stack([street, decisions.facing, own], axis=1)
    found = []
    for key in np.unique(keys, axis=0):
        rows = np.flatnonzero((keys == key).all(axis=1))
        found.append(((int(key[0]), bool(key[1]), int(key[2])), rows))
    return found


def open_choices(facing: bool, can_raise: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which choices of a cell are open."""
    open_ = np.ones((len(can_raise), len(choices(facing))), dtype=bool)
    open_[:, 0] = can_raise
    return open_


#: The models that ship, by φ.
SHIPPED = {"full": "players.model", "seed": "seed.model"}


def shipped_file(features: str = "full") -> Path:
    """Where a model that ships is."""
    return Path(__file__).with_name(SHIPPED[features])


@cache
def shipped(features: str = "full") -> PlayerModel:
    """A model that ships: `full`, or `seed` with the document's φ, fitted to the same hands."""
    return PlayerModel.load(shipped_file(features))


_SCALE = ("public_mean", "public_unit", "private_mean", "private_unit", "knots")


def _flat(cell: Scores | LogNormal) -> dict[str, Floats]:
    arrays = {name: getattr(cell.scale, name) for name in _SCALE} | {"theta": cell.theta}
    return arrays | ({"shape": cell.shape} if isinstance(cell, LogNormal) else {})


def _cell(
    part: str, arrays: dict[str, NDArray[Any]], features: Features, key: Cell, terms: int
) -> Scores | LogNormal:
    """One cell of a file; `terms` are those that residuals add to φ."""
    street, facing, group = key
    stem = f"{part}.{street}.{int(facing)}.{group}"

    def numbers(name: str, *shape: int) -> Floats:
        array = arrays[f"{stem}.{name}"]
        if array.shape != shape or array.dtype != np.float64:
            raise EquipoiseError(f"{stem}.{name} is {array.dtype}{list(array.shape)}")
        if not (np.abs(array) <= _MOST).all():
            raise EquipoiseError(f"{stem}.{name} holds numbers that no fit finds")
        return array

    u, z = len(features.public), len(features.private)
    scale = Scale(
        features, features.by_street and street == 0,
        *(numbers(name, size) for name, size in zip(
            _SCALE, (u, u, z, z, len(KNOTS) * features.hinges), strict=True)),
    )  # fmt: skip
    if part == "lognormal":
        shape = numbers("shape", 4)
        if not (shape[0] >= LEAST_SIGMA and shape[1] <= shape[2] and 0 <= shape[3] <= 1):
            raise EquipoiseError(f"{stem}.shape is none of a log-normal")
        return LogNormal(scale, numbers("theta", scale.width), shape)
    count = SIZE_CLASSES if part == "sizes" else len(choices(facing))
    return Scores(scale, numbers("theta", scale.width + terms, count - 1))
