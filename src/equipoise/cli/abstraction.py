"""`equipoise abstraction`: make card abstractions, and look into them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cards.streets import STREETS
from equipoise.cli.output import Json, Overwrite, emit, listening, progress_bar
from equipoise.errors import EquipoiseError
from equipoise.run import about

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.abstraction.abstraction import Abstraction

#: Buckets that are listed unless all are asked for.
_MOST_LISTED = 24


def abstraction_command(
    what: Annotated[str, typer.Argument(help="build, show or refine.")],
    source: Annotated[
        str,
        typer.Argument(
            help="A recipe's name or .toml file; to show, also an abstraction's .safetensors file; "
            "to refine, a blueprint's."
        ),
    ],
    street: Annotated[
        str, typer.Option(help="Street whose buckets are listed: preflop, flop, turn or river.")
    ] = "preflop",
    examples: Annotated[int, typer.Option(help="Example hands of each bucket.")] = 3,
    every: Annotated[bool, typer.Option("--all", help="List all buckets, however many.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Picture of the buckets.")] = None,
    more: Annotated[
        str, typer.Option(help="Divisions of flop, turn and river that refine halves.")
    ] = "10,10,15",
    out: Annotated[
        Path | None, typer.Option(help="Write the abstraction, or the refined recipe, here.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Make the card abstraction of a recipe, show its buckets, or refine them.

    \b
    Example: equipoise abstraction build tartanian5 --out buckets.safetensors
    Example: equipoise abstraction show tartanian5 --street flop --plot buckets.png
    Example: equipoise abstraction show claudico --street flop --plot clusters.png
    Example: equipoise abstraction refine inot.run/blueprint.safetensors --out finer.toml

    What is made is kept in the cache folder, so that the same is made only once. Refining halves the
    buckets where a trained strategy loses most with a neighbour's strategy, and writes a recipe.
    """
    if what not in ("build", "show", "refine"):
        raise EquipoiseError(f"abstraction {what}: write `build`, `show` or `refine`")
    if street not in STREETS:
        raise EquipoiseError(f"--street {street}: choose from {', '.join(STREETS)}")
    if examples < 0:
        raise EquipoiseError(f"--examples {examples}: give 0 or more")
    _check_files(what, plot, out, overwrite)
    if what == "refine":
        _refine(source, more, out, json)
        return
    found = _open(what, source, json)
    if out is not None:
        found.save(out)
    if plot is not None:
        _draw(found, street, plot)
    data = _figures(found)
    if what == "show":
        number = STREETS.index(street)
        data |= {"street": street, "buckets": _buckets(found, number, examples)}
        if street == "flop":
            data |= _clusters(found)
    emit(data, json, lambda: _shown(data, every, plot, out))


def _check_files(what: str, plot: Path | None, out: Path | None, overwrite: bool) -> None:
    """Refuse before any work what could not be written after it."""
    from equipoise.cards.chart import PICTURES
    from equipoise.files import check_target

    if plot is not None:
        if what == "refine":
            raise EquipoiseError("--plot: a recipe has no picture, build or show its buckets")
        check_target(plot, overwrite=overwrite, suffixes=PICTURES, what="--plot")
    if out is not None:
        ending = ".toml" if what == "refine" else ".safetensors"
        check_target(out, overwrite=overwrite, suffixes=(ending,), what="--out")


def _open(what: str, source: str, json: bool) -> Abstraction:
    from equipoise.abstraction.abstraction import Abstraction
    from equipoise.abstraction.methods import make_abstraction
    from equipoise.solve.training.recipe import Recipe

    if source.endswith(".safetensors"):
        if what == "build":
            raise EquipoiseError(f"{source} is made already: build from a recipe")
        return Abstraction.load(source)
    recipe = Recipe.load(source)
    with progress_bar(recipe.name, quiet=json) as bar:
        made = make_abstraction(
            recipe.abstraction,
            listening(bar),
            about("features", listening(bar)),
        )
        made.lookup(about("features", listening(bar)))
    return made


def _refine(source: str, more: str, out: Path | None, json: bool) -> None:
    from equipoise.files import written
    from equipoise.solve.training.blueprint import Blueprint
    from equipoise.solve.training.refinement import refined_recipe

    try:
        flop, turn, river = (int(word) for word in more.split(","))
    except ValueError:
        raise EquipoiseError(f"--more {more}: give three numbers, such as 10,10,15") from None
    blueprint = Blueprint.load(source)
    with progress_bar(blueprint.name, quiet=json) as bar:
        recipe, losses = refined_recipe(blueprint, (flop, turn, river), listening(bar))
    text = recipe.to_toml()
    if out is not None:
        with written(out, "w") as file:
            file.write(text)
    data = {
        "recipe": recipe.to_dict(),
        "losses_bb": {found.street: found.losses_bb.tolist() for found in losses},
    }
    emit(data, json, lambda: f"recipe written to {out}" if out is not None else text)


def _figures(found: Abstraction) -> dict[str, Any]:
    streets = []
    for number, name in enumerate(STREETS):
        totals = found.totals(number)
        masses, means = totals.masses, totals.means
        within = float(((totals.spreads**2) * masses).sum())
        overall = float((masses * (means - (masses * means).sum()) ** 2).sum()) + within
        streets.append(
            {
                "street": name,
                "buckets": found.counts[number],
                "smallest_mass": float(masses[masses > 0].min()),
                "largest_mass": float(masses.max()),
                "equity_spread": within**0.5,
                "explained": 1 - within / overall,
            }
        )
    return {
        "name": found.name,
        "fingerprint": found.fingerprint,
        "made_by": dict(found.made_by),
        "perfect_recall": found.perfect_recall,
        "streets": streets,
    }


def _buckets(found: Abstraction, number: int, examples: int) -> list[dict[str, Any]]:
    from equipoise.abstraction.report import describe

    return [
        {
            "bucket": one.bucket,
            "parent": one.parent,
            "mass": one.mass,
            "equity": one.equity,
            "spread": one.spread,
            "examples": list(one.examples),
        }
        for one in describe(found, number, examples)
    ]


def _draw(found: Abstraction, street: str, plot: Path) -> None:
    """A picture of the buckets, on the flop of the public clusters where there are any."""
    from equipoise.abstraction.clusterreport import draw_clusters
    from equipoise.abstraction.report import draw

    clustered = street == "flop" and found.definitions[1].kind == "clustered"
    (draw_clusters if clustered else draw)(found, plot)


def _clusters(found: Abstraction) -> dict[str, Any]:
    """Public clusters of flops, where there are any."""
    from equipoise.abstraction.clusterreport import describe_clusters

    told = describe_clusters(found)
    if not told:
        return {}
    return {"public_clusters": [{**asdict(one), "why": one.why} for one in told]}


def _shown(
    data: dict[str, Any], every: bool, plot: Path | None, out: Path | None
) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    recall = "past buckets remembered" if data["perfect_recall"] else "past buckets forgotten"
    streets = Table(title=f"{data['name']} ({recall})")
    for column in ("street", "buckets", "smallest", "largest", "spread of equity", "explained"):
        streets.add_column(column, justify="left" if column == "street" else "right")
    for one in data["streets"]:
        streets.add_row(
            one["street"],
            f"{one['buckets']:,}",
            f"{one['smallest_mass']:.2%}",
            f"{one['largest_mass']:.2%}",
            f"{one['equity_spread']:.3f}",
            f"{one['explained']:.1%}",
        )
    parts: list[RenderableType] = [streets]
    if "public_clusters" in data:
        parts.append(_listed_clusters(data["public_clusters"]))
    if "buckets" in data:
        parts.append(_listed(data, every))
    for path, told in ((out, "abstraction"), (plot, "picture")):
        if path is not None:
            parts.append(f"{told} written to {path}")
    return Group(*parts)


def _listed_clusters(clusters: list[dict[str, Any]]) -> RenderableType:
    from rich.table import Table

    table = Table(title="public clusters of flops")
    for column in ("cluster", "share", "flops", "radius"):
        table.add_column(column, justify="right")
    table.add_column("what they share")
    table.add_column("for example, from the middle outwards")
    for one in clusters:
        table.add_row(
            str(one["cluster"] + 1),
            f"{one['mass']:.2%}",
            str(one["flops"]),
            f"{one['radius']:.2f}",
            one["why"],
            " ".join(one["examples"]),
        )
    return table


def _listed(data: dict[str, Any], every: bool) -> RenderableType:
    from rich.table import Table

    buckets = data["buckets"] if every else data["buckets"][:_MOST_LISTED]
    table = Table(title=data["street"])
    for column in ("bucket", "after", "share", "equity", "spread"):
        table.add_column(column, justify="right")
    table.add_column("for example")
    for one in buckets:
        table.add_row(
            str(one["bucket"] + 1),
            "" if one["parent"] is None else str(one["parent"] + 1),
            f"{one['mass']:.2%}",
            f"{one['equity']:.3f}",
            f"{one['spread']:.3f}",
            ", ".join(one["examples"]),
        )
    left = len(data["buckets"]) - len(buckets)
    if left:
        table.caption = f"{left:,} more: add --all"
    return table
