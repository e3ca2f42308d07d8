"""The folder of a training run: its files, whose it is, and what may be done with it.

    recipe.toml               the recipe, with the limits it was run with
    abstraction.safetensors   the buckets
    checkpoint.safetensors    the solver, as it was a while ago or at the end
    best.safetensors          the best average strategy so far
    curve.csv, curve.png      exploitability against iterations and time
    blueprint.safetensors     the trained strategy (:mod:`.blueprint`)
    sanity.txt                what is odd about it (:mod:`.sanity`)

A folder belongs to one run, and to one process at a time. Another run there is gone on with if that is
asked for, replaced if that is, and refused otherwise; a folder that holds anything else is never
written into.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from equipoise.errors import ArtefactError, EquipoiseError, RecipeError
from equipoise.files import LOCK_NAME, locked, written
from equipoise.run import Event
from equipoise.settings import brief, did_you_mean
from equipoise.solve.curve import plot_curves
from equipoise.solve.training.recipe import Recipe

#: Runs that a sentence names.
_NAMED = 4


@dataclass(frozen=True)
class Point:
    """One look at a run."""

    iteration: int
    #: Seconds of training: iterations, looks and checkpoints, those before a resume included.
    seconds: float
    #: Exploitability in big blinds a hand, on the tables of training; None if it cannot be told.
    exploitability_bb: float | None
    #: The same on tables of boards that training did not see.
    judged_bb: float | None = None

    @property
    def best_bb(self) -> float | None:
        """The more honest of the two figures that there is."""
        return self.judged_bb if self.judged_bb is not None else self.exploitability_bb

    @classmethod
    def of(cls, event: Event, big_blind: float) -> Point:
        """The look of which an event told."""
        figures = (event.exploitability_chips, event.judged_chips)
        own, judged = (None if chips is None else chips / big_blind for chips in figures)
        return cls(event.done, event.seconds, own, judged)

    def event(self, big_blind: float) -> Event:
        """The event that told of it."""
        figures = (self.exploitability_bb, self.judged_bb)
        own, judged = (None if bb is None else bb * big_blind for bb in figures)
        return Event(
            self.iteration, seconds=self.seconds, exploitability_chips=own, judged_chips=judged
        )


class RunFolder:
    """The files of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.recipe = self.path / "recipe.toml"
        self.abstraction = self.path / "abstraction.safetensors"
        self.checkpoint = self.path / "checkpoint.safetensors"
        self.best = self.path / "best.safetensors"
        self.curve = self.path / "curve.csv"
        self.picture = self.path / "curve.png"
        self.blueprint = self.path / "blueprint.safetensors"
        self.sanity = self.path / "sanity.txt"
        self._holders = 0

    @property
    def results(self) -> tuple[Path, ...]:
        """What a run has to show for its time; what others are made from comes last."""
        return (
            self.sanity,
            self.blueprint,
            self.picture,
            self.best,
            self.checkpoint,
            self.curve,
            self.abstraction,
        )

    @property
    def holds_run(self) -> bool:
        """Whether a run was begun here."""
        return self.recipe.is_file()

    # ------------------------------------------------------------------------------ whose it is

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the folder, which is made if need be, to this process; it may hold it twice."""
        with ExitStack() as stack:
            if self._holders == 0:
                self._make()
                stack.enter_context(locked(self.path, "training run"))
            self._holders += 1
            try:
                yield
            finally:
                self._holders -= 1

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ArtefactError(f"cannot make the folder {self.path}: {why}") from None

    def check(self, recipe: Recipe, *, resume: bool = False, overwrite: bool = False) -> None:
        """Refuse a folder in which this run may not be; nothing is changed."""
        if resume and overwrite:
            raise RecipeError("--resume goes on with a run and --overwrite replaces it: choose one")
        if "\0" in str(self.path):
            raise RecipeError(f"--out {str(self.path)!r}: give the name of a folder")
        try:
            self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise RecipeError(
                f"--out {brief(str(self.path))}: {error.strerror}, choose another folder"
            ) from None
        if self.holds_run:
            self._check_run(recipe, resume, overwrite)
        elif resume:
            raise RecipeError(f"{self.path} holds no run to go on with: {self._other_runs()}")
        elif not self._is_free():
            raise RecipeError(f"{self.path} is in use: choose another folder with --out")

    def _check_run(self, recipe: Recipe, resume: bool, overwrite: bool) -> None:
        began = any(path.exists() for path in self.results)
        try:
            kept: Recipe | None = Recipe.load(self.recipe)
        except EquipoiseError:
            # Of a run that is to be replaced nothing need be understood.
            if not (overwrite and began):
                raise
            return
        assert kept is not None
        if not began and self.recipe.read_text("utf-8") != kept.to_toml():
            raise RecipeError(
                f"{self.recipe} was written by hand, and a run would replace it: choose another "
                "folder with --out"
            )
        if overwrite:
            return
        if kept.fingerprint != recipe.fingerprint:
            raise RecipeError(
                f"{self.path} holds a run of {kept.name} that was made otherwise: choose another "
                "folder with --out, or replace it with --overwrite"
            )
        if began and not resume and (self.checkpoint.exists() or self.blueprint.exists()):
            raise RecipeError(
                f"{self.path} holds a run of {kept.name}: go on with --resume, replace it with "
                "--overwrite, or choose another folder with --out"
            )

    def _is_free(self) -> bool:
        """Whether nothing is there but what a process that was killed left."""
        if not self.path.exists():
            return True
        return self.path.is_dir() and all(
            entry.name == LOCK_NAME or entry.name.startswith(".partial-")
            for entry in self.path.iterdir()
        )

    def _other_runs(self) -> str:
        """Where the run may be that was meant."""
        start = "leave --resume out to start one"
        try:
            runs = sorted(
                folder.name
                for folder in self.path.absolute().parent.iterdir()
                if RunFolder(folder).holds_run
            )
        except OSError:
            return start
        if not runs:
            return start
        beside = "" if self.path.parent == Path() else f"{self.path.parent}/"
        cure = did_you_mean(self.path.name, runs, "runs beside it are", beside, cutoff=0.4)
        return f"{cure} (or {start})"

    def prepare(self, recipe: Recipe, *, resume: bool = False, overwrite: bool = False) -> None:
        """Begin a run or go on with it: whoever holds the folder calls this first."""
        self.check(recipe, resume=resume, overwrite=overwrite)
        if overwrite and self.holds_run:
            for path in self.results:
                path.unlink(missing_ok=True)
        self.write(self.recipe, recipe.to_toml())

    # -------------------------------------------------------------------------------- its files

    def write(self, path: Path, text: str) -> None:
        """Write a text file, whole or not at all."""
        with written(path, "w") as file:
            file.write(text)

    def write_curve(self, points: list[Point]) -> None:
        """The curve as CSV."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("iteration", "seconds", "exploitability_bb", "judged_bb"))
        for point in points:
            shown = ("" if value is None else repr(value) for value in
                     (point.exploitability_bb, point.judged_bb))  # fmt: skip
            table.writerow((point.iteration, repr(point.seconds), *shown))
        self.write(self.curve, text.getvalue())

    def read_curve(self) -> list[Point]:
        """The curve as far as it is kept."""

        def number(text: str) -> float:
            if not math.isfinite(value := float(text)):
                raise ValueError(f"{text} is no figure")
            return value

        def figure(text: str) -> float | None:
            return number(text) if text else None

        try:
            with self.curve.open(encoding="utf-8", newline="") as file:
                return [
                    Point(
                        int(row["iteration"]),
                        number(row["seconds"]),
                        figure(row["exploitability_bb"]),
                        figure(row["judged_bb"]),
                    )
                    for row in csv.DictReader(file)
                ]
        except FileNotFoundError:
            return []
        except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
            raise ArtefactError(
                f"{self.curve}: damaged ({error}): start anew with --overwrite or another --out"
            ) from None

    def draw(self, title: str, points: list[Point], unit_chips: float) -> None:
        """The curve as a picture."""
        curves: dict[str, list[Event]] = {"training tables": [], "other boards": []}
        for point in points:
            figures = (point.exploitability_bb, point.judged_bb)
            for events, figure in zip(curves.values(), figures, strict=True):
                if figure is not None:
                    events.append(
                        Event(
                            point.iteration,
                            seconds=point.seconds,
                            exploitability_chips=unit_chips * figure,
                        )
                    )
        shown = {name: events for name, events in curves.items() if events}
        if shown:
            plot_curves(shown, title, self.picture)
