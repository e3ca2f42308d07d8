"""What was learnt of one opponent, and how it is kept.

**Residuals.** Of six kinds (:func:`residual_kinds`), before the flop and after it: folds and raises against
a bet, bets where there is none, less what the model without cards predicts there, summed over the player's n
decisions and shrunk, Σ / (n + :data:`SHRINK`). They need no hidden card, so every decision counts, and they
enter φ.

**Counts.** Actions by situation (street, price, raises) and by the rank of the hand, each decision spread
over the hands that may have been held as the belief has it, or laid on the one that was shown. They enter
as a Dirichlet prior would have them, from the model's probability to what was seen:

    P = (k · P_model + n_a) / (k + Σ n)

first by situations that are much alike, and with that for a model by the situation itself. Sizes of raises
are counted alike, by thirds of strength.

Both forget: when a count is full, every new decision takes away its share of the old ones. A player who
changes his ways is followed in so many decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.agents.adaptive.decisions import SIZE_CLASSES, Decisions
from equipoise.agents.adaptive.features import RESIDUALS
from equipoise.agents.adaptive.situation import Situation
from equipoise.errors import EquipoiseError

Floats = NDArray[np.float64]

#: Pseudo-decisions that pull residuals to nothing.
SHRINK = 50.0
#: Decisions that a residual and a row of counts remember.
HORIZON = 400.0
ROW_HORIZON = 60.0
#: No count is larger: full, one decision more, and rounding.
MOST_COUNT = HORIZON + 1.001
#: Pseudo-decisions of the model, of the coarse counts, and of the model of sizes.
MODEL_WEIGHT, COARSE_WEIGHT, SIZE_WEIGHT = 3.0, 3.0, 6.0
#: Ranks of hands at which the classes of counts part, and odds at which prices do.
RANK_BORDERS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94)
ODDS_BORDERS = (0.22, 0.3, 0.37, 0.44)
_RANKS, _PRICES = len(RANK_BORDERS) + 1, len(ODDS_BORDERS) + 1
_RAISES = 3
_KIND = "adaptive memory"
#: Opponents that a file keeps.
MOST_PLAYERS = 1000
LONGEST_NAME = 200
_MOST_HANDS = 1 << 53


def residual_kinds(street: int, facing: bool) -> tuple[tuple[int, int], ...]:
    """Residuals that a decision counts for, and the action of each.

    >>> residual_kinds(0, True), residual_kinds(3, False)
    (((0, 0), (1, 2)), ((5, 2),))
    """
    later = street > 0
    if facing:
        return ((2 * later, 0), (2 * later + 1, 2))
    return ((4 + later, 2),)


def running_residuals(decisions: Decisions, expected: Floats) -> Floats:
    """Residuals of who decides, from the hands before: float64[decisions, 6].

    `expected` are probabilities of fold, call and raise without cards.
    """
    sums, counts = (np.zeros((len(decisions.players), RESIDUALS)) for _ in range(2))
    found = np.zeros((len(decisions), RESIDUALS))
    surprise = -expected
    surprise[np.arange(len(decisions)), decisions.kind] += 1
    columns = (decisions.hand, decisions.player, decisions.street, decisions.facing)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    first = 0
    while first < len(rows):
        last = first
        while last < len(rows) and rows[last][0] == rows[first][0]:
            player = rows[last][1]
            found[last] = sums[player] / (counts[player] + SHRINK)
            last += 1
        for row in range(first, last):
            _, player, street, facing = rows[row]
            for kind, action in residual_kinds(street, facing):
                sums[player, kind] += surprise[row, action]
                counts[player, kind] += 1
        first = last
    return found


@dataclass
class Memory:
    """What was learnt of one opponent; a few kilobytes, however long he is met.

    >>> memory = Memory()
    >>> memory.surprise(0, True, 0, (0.2, 0.5, 0.3))
    >>> memory.residuals.round(4).tolist()[:2]
    [0.0157, -0.0059]
    """

    #: Sums and numbers of residuals.
    sums: Floats = field(default_factory=lambda: np.zeros(RESIDUALS))
    numbers: Floats = field(default_factory=lambda: np.zeros(RESIDUALS))
    #: Actions by [street, price or none, raises, rank, action], and without street and raises.
    fine: Floats = field(default_factory=lambda: np.zeros((4, _PRICES + 1, _RAISES, _RANKS, 3)))
    coarse: Floats = field(default_factory=lambda: np.zeros((2, _PRICES + 1, _RANKS, 3)))
    #: Sizes of raises by [before or after the flop, facing, strength, class].
    sizes: Floats = field(default_factory=lambda: np.zeros((2, 2, 3, SIZE_CLASSES)))
    #: Hands seen.
    hands: int = 0

    @property
    def residuals(self) -> Floats:
        """Shrunk means of residuals."""
        return np.asarray(self.sums / (self.numbers + SHRINK))

    def surprise(self, street: int, facing: bool, action: int, expected: tuple[float, ...]) -> None:
        """Count a decision for the residuals."""
        for kind, of in residual_kinds(street, facing):
            if self.numbers[kind] >= HORIZON:
                self.sums[kind] *= 1 - 1 / HORIZON
                self.numbers[kind] *= 1 - 1 / HORIZON
            self.sums[kind] += (action == of) - expected[of]
            self.numbers[kind] += 1

    def count(self, found: Situation, action: int, share: Floats) -> None:
        """Count an action; `share` says how likely each class of rank held the hand."""
        for table in (self._fine(found), self._coarse(found)):
            full = np.minimum(1.0, ROW_HORIZON / np.maximum(table.sum(axis=1) + share, 1e-9))
            table *= full[:, None]
            table[:, action] += share

    def count_size(self, found: Situation, size: int, strength: Floats) -> None:
        """Count the size of a raise; `strength` says how likely each third of strength raised it."""
        table = self.sizes[int(found.street > 0), int(found.facing)]
        table *= np.minimum(1.0, HORIZON / np.maximum(table.sum(axis=1) + strength, 1e-9))[:, None]
        table[:, size] += strength

    def blend(self, found: Situation, model: Floats, ranks: NDArray[np.int64]) -> Floats:
        """The model's probabilities of every hand, as far as counts have not overruled them."""
        share, added = np.ones(_RANKS), np.zeros((_RANKS, 3))
        for table, weight in (
            (self._coarse(found), MODEL_WEIGHT),
            (self._fine(found), COARSE_WEIGHT),
        ):
            total = weight + table.sum(axis=1)
            share, added = share * weight / total, (weight * added + table) / total[:, None]
        if not found.facing:
            added[:, 0] = 0
        if not found.can_raise:
            added[:, 2] = 0
        seen = share[ranks][:, None] * model + added[ranks]
        return np.asarray(seen / (seen @ np.ones(3))[:, None])

    def blend_sizes(self, found: Situation, model: Floats, strength: NDArray[np.int64]) -> Floats:
        """The same of sizes: `strength` is the third of each row."""
        seen = self.sizes[int(found.street > 0), int(found.facing)][strength]
        return np.asarray(
            (SIZE_WEIGHT * model + seen) / (SIZE_WEIGHT + seen.sum(axis=1, keepdims=True))
        )

    def _price(self, found: Situation) -> int:
        return (
            int(np.searchsorted(ODDS_BORDERS, found.facts[0], "right")) if found.facing else _PRICES
        )

    def _fine(self, found: Situation) -> Floats:
        raises = min(int(found.facts[2]), _RAISES - 1)
        part: Floats = self.fine[found.street, self._price(found), raises]
        return part

    def _coarse(self, found: Situation) -> Floats:
        part: Floats = self.coarse[int(found.street > 0), self._price(found)]
        return part


_ARRAYS = ("sums", "numbers", "fine", "coarse", "sizes")


def rank_classes(rank: Floats) -> NDArray[np.int64]:
    """Class of counts of each rank."""
    return np.searchsorted(RANK_BORDERS, rank, side="right")


def save(path: str | Path, players: dict[str, Memory]) -> None:
    """Keep what was learnt, by name; of too many the ones least met are left out."""
    kept = sorted(players, key=lambda name: -players[name].hands)[:MOST_PLAYERS]
    arrays = {
        f"{number}.{name}": getattr(players[player], name)
        for number, player in enumerate(kept)
        for name in _ARRAYS
    }
    hands = [players[player].hands for player in kept]
    artefact.write(path, _KIND, {"players": kept, "hands": hands}, arrays)


def load(path: str | Path) -> dict[str, Memory]:
    """What was learnt of everyone; a damaged or foreign file is refused."""
    manifest, arrays = artefact.read(path, _KIND)
    found = {}
    with artefact.understanding(path, _KIND):
        told = manifest["configuration"]
        names, hands = list(told["players"]), list(told["hands"])
        if not len(set(names)) == len(names) == len(hands) <= MOST_PLAYERS:
            raise EquipoiseError(f"{len(names)} players")
        for number, name in enumerate(names):
            if not isinstance(name, str) or len(name) > LONGEST_NAME:
                raise EquipoiseError(f"the name of player {number}")
            met = hands[number]
            if type(met) is not int or not 0 <= met < _MOST_HANDS:
                raise EquipoiseError(f"the hands of player {number}")
            memory = Memory(hands=met)
            for key in _ARRAYS:
                array, own = arrays[f"{number}.{key}"], getattr(memory, key)
                bad = array.shape != own.shape or array.dtype != own.dtype
                least = -MOST_COUNT if key == "sums" else 0.0
                if bad or not ((array >= least) & (array <= MOST_COUNT)).all():
                    raise EquipoiseError(f"the {key} of player {number}")
                setattr(memory, key, array.copy())
            found[name] = memory
    return found
