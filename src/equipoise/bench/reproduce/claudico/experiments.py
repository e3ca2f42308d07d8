"""Claudico: its endgames, its two folded hands, its matches, and the theory that its article names.

Parts that need the blueprint are left out, with the cure, where it is not here. Matches are as long as
some minutes allow (:class:`.matches.Effort`), or have `--hands` each: their intervals say how much they tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equipoise.abstraction.lookup import bench_lookup
from equipoise.agents.blueprint.files import find_blueprint, load_blueprint
from equipoise.bench.reproduce.claudico import (
    counting,
    endgames,
    matches,
    merging,
    regions,
    riverregions,
)
from equipoise.bench.reproduce.claudico import hands as folded
from equipoise.bench.reproduce.claudico.orderings import solve_regions
from equipoise.bench.reproduce.claudico.significance import significance
from equipoise.errors import ArtefactError
from equipoise.run import Event, Listener

Data = dict[str, Any]


def run(
    seed: int,
    quick: bool,
    progress: Listener,
    hands: int | None = None,
    blueprints: Mapping[str, str] | None = None,
    workers: int = 1,
    without_luck: bool = False,
) -> Data:
    """All parts; `hands` of each match, by what a hand costs unless told."""
    source = (blueprints or {}).get("claudico", "claudico")
    if source != "claudico":
        find_blueprint(source)
    told: Data = {
        "experiment": "claudico",
        "seed": seed,
        "buckets": endgames.bucket_curves(quick, progress),
        "exact": endgames.exact_rivers(quick, progress),
        "bluffs": endgames.bluffs_by_buckets(quick),
        "match": significance(),
        "regions": region_rows(),
    }
    progress(Event(0, what="regions on real rivers"))
    told["river_regions"] = riverregions.river_rows(quick)
    progress(Event(0, what="Rhode Island counted"))
    told["rhode_island"] = counting.counts()
    progress(Event(0, what="what merges cost"))
    told["merges"] = merging.merge_costs(quick)
    told["five_cards"] = merging.bound_rows()
    try:
        find_blueprint(source)
    except ArtefactError as error:
        return told | {"missing": {"claudico": str(error)}}
    progress(Event(0, what="look-ups"))
    told["lookup_cpu_ns"] = bench_lookup(load_blueprint(source).abstraction.lookup())
    progress(Event(0, what="hands that were folded"))
    told["hands"] = folded.replays(source)
    effort = matches.QUICK if quick else matches.FULL
    if hands is not None:
        effort = matches.Effort(*[hands] * len(effort))
    told["effort"] = effort._asdict()
    told["limps"] = matches.limps(source, effort.plain, seed, progress)
    told["matches"] = matches.play_all(
        source, effort, seed, workers, progress, luckless=without_luck
    )
    return told


def region_rows() -> list[Data]:
    """Qualitative models: closed forms for even hands, and three other distributions."""
    even, rows = regions.UNIFORM, []
    pots = (1.0, 2.0, 4.0)
    cases = [
        (f"even hands, pot {pot:g}", pot, even, even, -regions.uniform_regions(pot).b / 2)
        for pot in pots
    ]
    cases += [
        (f"half-street, pot {pot:g}", pot, even, even, pot * regions.half_street_regions(pot).b / 2)
        for pot in pots
    ]
    cases += [(f"instance {n}", *given) for n, given in enumerate(regions.INSTANCES, start=1)]
    for name, pot, own, other, wanted in cases:
        half = name.startswith("half-street")
        found, ordering = solve_regions(pot, own, other, half)
        checked = regions.check_regions(pot, own, other, found, half)
        rows.append(
            {
                "case": name,
                "ordering": ordering,
                "borders": found._asdict(),
                "value": checked.value,
                "wanted_value": wanted,
                "epsilon": float(checked.epsilon),
            }
        )
    return rows
