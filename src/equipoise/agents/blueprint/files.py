"""Where blueprints are found: in the package, in the cache folder, or where they were trained.

A blueprint is asked for by its name or by a file. A name is looked for in this order:

    equipoise/blueprints/NAME.blueprint            those that ship
    CACHE/blueprints/NAME.blueprint
    CACHE/NAME.run/blueprint.safetensors           the folder of a training run
    ./NAME.run/blueprint.safetensors

and read once a process. Large ones are unpacked on first use, and mapped from the cache folder after.
"""

from __future__ import annotations

import shlex
from functools import lru_cache
from importlib.resources import files
from os.path import isdir, isfile
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.cache import TRAINED, cache_folder, tell_making
from equipoise.errors import ArtefactError, EquipoiseError
from equipoise.settings import brief, shown
from equipoise.solve.training.blueprint import Blueprint

if TYPE_CHECKING:
    from equipoise.solve.training.recipe import Recipe

SUFFIX = ".blueprint"
_TRAINED = "blueprint.safetensors"
#: As much of a path as a sentence quotes.
_SHOWN = 300


def places(name: str) -> list[Path]:
    """Where a blueprint of this name may be, in the order in which they are looked at."""
    cache = cache_folder()
    return [
        Path(str(files("equipoise"))) / "blueprints" / f"{name}{SUFFIX}",
        cache / TRAINED / f"{name}{SUFFIX}",
        cache / f"{name}.run" / _TRAINED,
        Path(f"{name}.run") / _TRAINED,
    ]


def _is_path(source: str | Path) -> bool:
    """Whether it names a file or a folder, and not a blueprint."""
    path = Path(source)
    return path.suffix in (SUFFIX, ".safetensors", ".run") or len(path.parts) > 1


def _file_at(path: Path) -> Path | None:
    """The file of a blueprint at a path; a run's folder stands for the file in it."""
    # These say no, and do not raise, of what no file can be called.
    if isdir(path) and isfile(path / _TRAINED):
        return path / _TRAINED
    return path if _is_path(path) and isfile(path) else None


def beside(file: Path, source: str) -> str:
    """What an agent's file means by a blueprint: one beside itself, or in the current folder.

    What is a name and no path is left as it is.
    """
    for place in (file.parent / source, Path(source)):
        found = _file_at(place) if _is_path(source) else None
        if found is not None:
            return str(found)
    if _is_path(source):
        raise ArtefactError(
            f"{file}: blueprint = {shown(source)}: no such blueprint beside this file or in the "
            "current folder: name a file, or the folder of a run"
        )
    return source


def find_blueprint(source: str | Path) -> Path:
    """The file of a blueprint, by name or path; a run's folder stands for the file in it."""
    path = Path(source)
    found = _file_at(path)
    if found is not None:
        return found
    if _is_path(path):
        told = brief(str(path), _SHOWN)
        raise ArtefactError(f"{told}: no such blueprint; name a file, or a folder of a run")
    for place in places(str(source)):
        if isfile(place):
            return place
    raise ArtefactError(_cure(str(source)))


def has_blueprint(source: str | Path) -> bool:
    """Whether a blueprint is there to be played."""
    try:
        find_blueprint(source)
    except ArtefactError:
        return False
    return True


def trained(source: str) -> str:
    """Whether a blueprint `ships`, is `here` where it was trained or named, or neither: `no`."""
    if not has_blueprint(source):
        return "no"
    return "ships" if find_blueprint(source) == places(source)[0] else "here"


def training_command(name: str) -> str:
    """How to train the blueprint of a recipe that ships, so that it is found by its name."""
    return f"equipoise train {name} --out {shlex.quote(str(cache_folder() / f'{name}.run'))}"


def load_blueprint(source: str | Path) -> Blueprint:
    """A blueprint by name or path, read once a process as long as its file stays the same."""
    path = find_blueprint(source)
    return _read(path, path.stat().st_mtime_ns)


def make_blueprint_once(
    name: str, minutes: float | None = None, folder: Path | None = None
) -> None:
    """Train the blueprint of a recipe that ships into the cache folder, unless it is here.

    It trains for as long as the recipe says, or for some `minutes`. In a `folder` of its own it is one
    beside the blueprint of that name, which nobody else takes for it.
    """
    from equipoise.solve.training.recipe import Recipe
    from equipoise.solve.training.run import TrainingRun, finish

    if has_blueprint(folder or name):
        return
    tell_making(f"the blueprint {name}, some minutes")
    # What an earlier attempt left behind was never finished.
    recipe = Recipe.shipped(name).limited(minutes=minutes)
    trained = TrainingRun(recipe, folder or cache_folder() / f"{name}.run").run(overwrite=True)
    if trained.interrupted:
        raise KeyboardInterrupt
    finish(trained, "full")


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> Blueprint:
    return Blueprint.load(path)


def training_time(recipe: Recipe) -> str:
    """How long a recipe trains, in words."""
    seconds = recipe.limit.seconds
    return f"about {seconds / 60:g} minutes" if seconds else "until its target is reached"


def _cure(name: str) -> str:
    """What to do about a blueprint that is not there, and what that costs."""
    from equipoise.solve.training.model import TrainingEstimate, gigabytes
    from equipoise.solve.training.recipe import Recipe, names

    if name not in names():
        shipped = ", ".join(names())
        return f"no blueprint {shown(name)}: name a file, or one of {shipped}"
    recipe = Recipe.shipped(name)
    lasts = training_time(recipe)
    try:
        memory = gigabytes(TrainingEstimate.of(recipe).memory_bytes)
    except EquipoiseError:
        memory = "much"
    return (
        f"the blueprint {name!r} is not here: train it with `{training_command(name)}` "
        f"({lasts}, {memory} of memory)"
    )
