"""How strong the flagship is: every figure by a command that anybody can type.

Local best responses with menus that others published, endgames, matches without their luck, the parts of the
search one by one (*ablation*), two hands that an earlier program folded, and thousands of hands of odd
sizes over sockets. What is done is kept: a figure is a file in the cache, named by its command and by the
blueprints that it plays, so a run that was stopped goes on where it was, and who changes a blueprint
measures anew. Hands are fixed beforehand; nothing is stopped because it looks good.

Opponents that do not ship trained are trained first, by their recipes, and kept as every blueprint is. A
quick run trains them for half a minute, to files of their own: rows say so, and a longer run trains anew.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from equipoise.agents.blueprint.files import find_blueprint, has_blueprint, make_blueprint_once
from equipoise.artefact import fingerprint
from equipoise.bench.reproduce.meetings import blueprint_stamp
from equipoise.cache import cache_folder
from equipoise.errors import EquipoiseError
from equipoise.files import written
from equipoise.run import Event, Listener
from equipoise.version import __version__

Data = dict[str, Any]

AGENT = "flagship"
#: Who is played against; those without a shipped blueprint are trained.
OPPONENTS = ("tartanian5", "tartanian4", "quick", "sampled")
#: Minutes for which they train.
TRAINED = {"tartanian4": 10.0, "sampled": 12.0}
#: What a responder may bet besides the agent's own sizes.
RESPONDER = "25,50,100,200,a"
#: The agent with parts of its search, and with another gadget.
VARIANTS: dict[str, Mapping[str, str]] = {
    "blueprint": {"search": "none"},
    "+ river": {"search": "river"},
    "+ turn": {"search": "turn"},
    "+ flop": {"search": "flop"},
    "every flop": {"search": "flop", "flops": "all"},
    "+ river, resolve": {"search": "river", "streets": "resolve"},
    "+ turn, resolve": {"search": "turn", "streets": "resolve"},
    "+ turn, unsafe": {"search": "turn", "gadget": "unsafe"},
}
#: The two hands that were folded: line, board, hand.
FOLDED = {
    "A4s": ("r300r1000r3000r9900r20000", "", "As4s"),
    "KT": ("r300r900c/r2250r3600r9000c/r15000r20000", "Kc8d4d5d", "KdTh"),
}


@dataclass(frozen=True)
class Effort:
    """Hands and endgames of the rows: some 24 CPU hours in all, by the seconds below.

    CPU seconds a hand, against local best responses: 7 on turn and river, 10 with 56 sizes on the river, 4 to
    fold and call, 2 on all streets, 270 with 56 sizes on the flop, each of which is a flop to solve; 1 for a
    meeting. An endgame of the turn takes 20, and more than a quarter of an hour with the responder's sizes,
    each of which leads to 48 rivers of its own on every line. What is dear has fewer hands than were asked
    for.
    """

    late: int = 1500
    fold_and_call: int = 2000
    all_streets: int = 4000
    river_sizes: int = 500
    flop_sizes: int = 24
    rivers: int = 200
    turns: int = 50
    #: With the responder's sizes; 0 leaves them out.
    wide_turns: int = 8
    meetings: int = 3000
    ablation: int = 300
    ablation_roots: int = 20
    odd: int = 10_000
    odd_searched: int = 500
    #: Minutes for which opponents train; None is `TRAINED`, and the blueprint is then that of their name.
    training: float | None = None


#: For a first look, meant for twenty minutes of two cores.
QUICK = Effort(
    late=4, fold_and_call=8, all_streets=8, river_sizes=4, flop_sizes=1, rivers=4, turns=2, wide_turns=0,
    meetings=12, ablation=2, ablation_roots=1, odd=1000, odd_searched=6, training=0.5,
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One figure: what is typed, and what it has to reach."""

    name: str
    #: Words of `equipoise`, without --json.
    words: tuple[str, ...]
    #: What has to be reached, in words, and whether it is.
    must: str = ""
    reached: Callable[[Data], bool] | None = None

    @property
    def command(self) -> str:
        """As it is typed."""
        return f"equipoise {shlex.join(self.words)} --json"


def half(result: Data, key: str = "ci95_mbb") -> float:
    """Half of a 95 % interval: of one pair of hands nothing follows.

    >>> half({"ci95_mbb": 20.0}), half({"ci95_mbb": None})
    (20.0, inf)
    """
    return inf if result[key] is None else float(result[key])


class Plan:
    """All rows, for an agent whose blueprint may be a file."""

    def __init__(self, seed: int, effort: Effort, workers: int, blueprint: str = "") -> None:
        self.seed, self.effort, self.workers = seed, effort, workers
        self.blueprint = blueprint or AGENT

    @cached_property
    def folder(self) -> Path:
        """Where agents' files and figures are kept."""
        found = cache_folder() / "strength"
        found.mkdir(parents=True, exist_ok=True)
        return found

    def agent(self, variant: str = "+ flop") -> str:
        """The agent's name where it is as it ships, or a file that sets it otherwise."""
        if variant == "+ flop" and self.blueprint == AGENT:
            return AGENT
        settings = {"blueprint": self.blueprint, **VARIANTS[variant]}
        if self.blueprint != AGENT:
            settings["blueprint"] = str(find_blueprint(self.blueprint).resolve())
        name = variant.replace("+ ", "").replace(",", "").replace(" ", "-")
        path = self.folder / f"{AGENT}-{name}-{fingerprint(settings)[:8]}.toml"
        lines = ['agent = "search"', f'name = "{AGENT}-{name}"']
        text = (
            "\n".join([*lines, *(f'{key} = "{value}"' for key, value in settings.items())]) + "\n"
        )
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with written(path, "w") as file:
                file.write(text)
        return str(path)

    def opponent(self, name: str) -> str:
        """An opponent's name where its blueprint is here; in a quick run, else, a file that names another."""
        training = self.effort.training
        if training is None or has_blueprint(name):
            return name
        path = self.folder / f"{name}-{training:g}min.toml"
        run = self.folder / f"{name}-{training:g}min.run"
        text = f'agent = "{name}"\nname = "{path.stem}"\nblueprint = "{run}"\n'
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with written(path, "w") as file:
                file.write(text)
        return str(path)

    def train(self, name: str) -> None:
        """Let an opponent be there to be played."""
        training = self.effort.training
        if training is None:
            make_blueprint_once(name, TRAINED.get(name))
        elif not has_blueprint(name):
            make_blueprint_once(name, training, self.folder / f"{name}-{training:g}min.run")

    def _lbr(self, agent: str, menu: str, hands: int, *more: str) -> tuple[str, ...]:
        # A hand is one worker's, by one thread: a single one is solved by all cores together.
        seeded = self._seeded if hands > 1 else ("--seed", str(self.seed), "--workers", "1")
        told = ("--menu", menu, "--hands", str(hands), *seeded, *self._apart(hands))
        return ("lbr", agent, *told, *more)

    def _apart(self, hands: int) -> tuple[str, ...]:
        """A pair of hands is one worker's: where pairs are fewer than workers each has a hand."""
        return ("--no-duplicate",) * (hands < 2 * self.workers)

    @property
    def _seeded(self) -> tuple[str, ...]:
        return ("--seed", str(self.seed), "--workers", str(self.workers))

    def _endgames(self, agent: str, street: str, roots: int, *more: str) -> tuple[str, ...]:
        # A root is one worker's, by one thread: where there are too few, all cores solve it together.
        workers = self.workers if roots >= self.workers else 1
        seeded = ("--seed", str(self.seed), "--workers", str(workers))
        return ("endgames", agent, "--street", street, "--roots", str(roots), *seeded, *more)

    def _match(self, agent: str, other: str, hands: int) -> tuple[str, ...]:
        log = f"{fingerprint([agent, other, hands, self.seed, self.stamp])[:12]}.log"
        path = str(self.folder / log)
        return (
            *("match", agent, other, "--hands", str(hands), *self._seeded, *self._apart(hands)),
            *("--log", path, "--overwrite", "--aivat"),
        )

    @cached_property
    def stamp(self) -> str:
        """What tells one blueprint of the agent from another."""
        return blueprint_stamp(self.blueprint)

    def rows(self) -> Iterator[Row]:
        """Everything that is measured, the most telling first."""
        effort, agent = self.effort, self.agent()
        for name, (line, board, hand) in FOLDED.items():
            cards = ("--board", board) if board else ()
            yield Row(
                f"{name} is not folded",
                ("search", agent, "--history", line, *cards, "--hand", hand),
                "folds with at most .01",
                lambda told: told["hand"]["policy"][0] <= 0.01,
            )
        yield from self._responses(agent)
        yield from self._solved_streets(agent)
        for name in OPPONENTS:
            other = self.opponent(name)
            short = "" if other == name else f", which trained for {effort.training:g} minutes"
            yield Row(
                f"head to head, {name}{short}",
                self._match(agent, other, effort.meetings),
                "the 95 % interval above 0",
                lambda told: told["aivat_mbb_per_hand"] - half(told, "aivat_ci95_mbb") > 0,
            )
        plain = self.agent("blueprint")
        yield Row("head to head, its blueprint", self._match(agent, plain, effort.meetings))
        yield from self._ablation()

    def _solved_streets(self, agent: str) -> Iterator[Row]:
        effort, more = self.effort, ("--responder-sizes", RESPONDER)
        yield Row(
            "endgames, river",
            self._endgames(agent, "river", effort.rivers, *more),
            "at most 1 % of the pot on its own sizes, 3 % with the responder's",
            lambda told: told["exploitability_pct_pot"] <= 1 and told["off_tree_pct_pot"] <= 3,
        )
        yield Row(
            "endgames, turn",
            self._endgames(agent, "turn", effort.turns),
            "at most 2 % of the pot on its own sizes",
            lambda told: told["exploitability_pct_pot"] <= 2,
        )
        if effort.wide_turns:
            yield Row(
                "endgames, turn, with the responder's sizes",
                self._endgames(agent, "turn", effort.wide_turns, *more),
                "at most 5 % of the pot with the responder's sizes",
                lambda told: told["off_tree_pct_pot"] <= 5,
            )

    def _responses(self, agent: str) -> Iterator[Row]:
        effort, plain = self.effort, self.agent("blueprint")
        yield Row(
            "lbr on turn and river",
            self._lbr(agent, "c,c,fcpa,fcpa", effort.late),
            "mean at most 0, upper bound below +500",
            lambda told: told["mbb_per_hand"] <= 0 and told["mbb_per_hand"] + half(told) < 500,
        )
        yield Row(
            "lbr, fold and call",
            self._lbr(agent, "fc", effort.fold_and_call),
            "at most 0 within the interval",
            lambda told: told["mbb_per_hand"] - half(told) <= 0,
        )
        yield Row(
            "lbr on all streets, beside its blueprint",
            self._lbr(agent, "fcpa", effort.all_streets, "--against", plain),
            "at most +300, and below its blueprint's with 95 % confidence",
            lambda told: (
                told["mbb_per_hand"] <= 300
                and told["difference_mbb"] + half(told, "difference_ci95_mbb") < 0
            ),
        )
        yield Row(
            "lbr, 56 sizes on the river",
            self._lbr(agent, "c,c,c,56", effort.river_sizes),
            "at most 0 within the interval",
            lambda told: told["mbb_per_hand"] - half(told) <= 0,
        )
        yield Row(
            "lbr, 56 sizes on the flop",
            self._lbr(agent, "c,56,fc,fc", effort.flop_sizes),
            "below 847",
            lambda told: told["mbb_per_hand"] < 847,
        )

    def _ablation(self) -> Iterator[Row]:
        effort = self.effort
        for variant in VARIANTS:
            agent, hands = self.agent(variant), effort.ablation
            yield Row(f"{variant}: lbr late", self._lbr(agent, "c,c,fcpa,fcpa", hands))
            yield Row(f"{variant}: lbr all", self._lbr(agent, "fcpa", hands))
            roots = effort.ablation_roots
            yield Row(f"{variant}: river endgames", self._endgames(agent, "river", roots))
            yield Row(f"{variant}: v tartanian5", self._match(agent, "tartanian5", hands))


def kept_figure(plan: Plan, row: Row) -> Path:
    """Where the figure of a row is kept."""
    played = [plan.stamp, *(str(find_blueprint(o)) for o in OPPONENTS if o in row.words)]
    return plan.folder / f"{fingerprint([__version__, row.command, *played])[:16]}.json"


def measured(plan: Plan, row: Row) -> Data:
    """The figure of a row: as it is kept, or by its command."""
    path = kept_figure(plan, row)
    if path.exists():
        told: Data = json.loads(path.read_text(encoding="utf-8"))
        return told
    began = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "equipoise", *row.words, "--json"],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise EquipoiseError(f"`{row.command}` failed: {done.stderr.strip()[-300:]}")
    result = json.loads(done.stdout)
    if result.get("interrupted"):
        raise KeyboardInterrupt
    told = {
        "name": row.name,
        "command": row.command,
        "seconds": perf_counter() - began,
        "result": slim(result),
    }
    with written(path, "w") as file:
        file.write(json.dumps(told))
    return told


def slim(result: Data) -> Data:
    """What a row tells of a command's answer: figures and words, not ranges and trees.

    >>> slim({"pot": 3, "tree": {"nodes": []}, "hand": {"cards": "AsAh"}})
    {'pot': 3, 'hand': {'cards': 'AsAh'}}
    """
    return {
        key: value
        for key, value in result.items()
        if key == "hand" or not isinstance(value, dict | list) or len(str(value)) < 200
        if key not in ("tree", "ranges", "policy", "values")
    }


#: A river on which two hands have nothing, and one of them holds a card of the hands that call: both ranges.
BLOCKERS = {
    "board": "JsTs4sKcQh",
    "history": "r850c/cc/cc/",
    "oop": "22-33:0.5,55-88:0.5,99:0.25,A2s-A9s:0.5,A9o:0.25,K2s-K9s:0.5,Q2s-Q9s:0.5,J7s-J9s:0.5,"
    "T7s-T9s:0.5,95s-98s:0.5,84s-87s:0.5,73s-76s:0.5,62s-65s:0.5,52s-54s:0.5,42s-43s:0.5,32s,32o:0.75,"
    "As9s,As8s,As7s,As6s,As5s,As3s,As2s",
    "ip": "22-33:0.5,55-99:0.5,44:0.25,A2s-A9s:0.25,K2s-K9s:0.5,K9o:0.25,Q2s-Q9s:0.5,J7s-J9s:0.5,"
    "T7s-T9s:0.5,96s-98s:0.5,85s-87s:0.5,74s-76s:0.5,63s-65s:0.5,53s-54s:0.5,As9s:0.125,As8s:0.125,"
    "As7s:0.125,As6s:0.125,As5s:0.125,As3s:0.125,As2s:0.125,Ks9s,Ks8s,Ks7s,Ks6s,Ks5s,Ks3s,Ks2s",
}


def blockers(iterations: int = 2000) -> Data:
    """How often 3s2c and 3c2c go all-in where both have nothing, solved as a search solves it.

    The spade is what matters: it leaves the opponent fewer flushes to call with.
    """
    from equipoise.cards.card import parse_cards
    from equipoise.cards.combos import parse_combo
    from equipoise.cards.range import Range
    from equipoise.games.menu import BetMenu
    from equipoise.games.rules import NOLIMIT_HOLDEM, State
    from equipoise.search.solved import solve_subgame
    from equipoise.search.subgame import Subgame

    began = perf_counter()
    state = State.from_betting_text(NOLIMIT_HOLDEM, BLOCKERS["history"])
    ranges = (Range.parse(BLOCKERS["oop"]), Range.parse(BLOCKERS["ip"]))
    subgame = Subgame(state, parse_cards(BLOCKERS["board"]), ranges, BetMenu.parse("a", ""))
    policy = solve_subgame(subgame, iterations=iterations).policy(state)
    jams = {hand: float(policy.probabilities[parse_combo(hand), -1]) for hand in ("3s2c", "3c2c")}
    return {
        "name": "3s2c bluffs before 3c2c",
        "command": "equipoise reproduce strength --json",
        "seconds": perf_counter() - began,
        "result": {f"{hand}_all_in": chance for hand, chance in jams.items()},
        "must": "3s2c goes all-in more often than 3c2c",
        "reached": jams["3s2c"] > jams["3c2c"],
    }


def odd_sizes(plan: Plan, searched: bool, variant: str = "", hands: int = 0) -> Data:
    """Hands of odd sizes over sockets, every decision looked at; kept as the other figures are.

    With a `variant` they are played in this process, for the seconds of its decisions.
    """
    from equipoise.agents.registry import make_agent
    from equipoise.bench.oddbets import play_odd_bets
    from equipoise.games.rules import NOLIMIT_HOLDEM

    hands = hands or (plan.effort.odd_searched if searched else plan.effort.odd)
    source = plan.agent(variant or ("+ flop" if searched else "blueprint"))
    words = ("odd-sizes", variant, source, str(hands), str(plan.seed))
    path = plan.folder / f"{fingerprint([__version__, plan.stamp, words])[:16]}.json"
    if path.exists():
        told: Data = json.loads(path.read_text(encoding="utf-8"))
        return told
    agent = make_agent(source, NOLIMIT_HOLDEM)
    seen = play_odd_bets(agent, NOLIMIT_HOLDEM, hands, plan.seed, name=AGENT, acpc=not variant)
    told = {
        "name": f"{variant}: seconds a decision"
        if variant
        else f"odd sizes over ACPC, {'with' if searched else 'without'} search",
        "command": "equipoise reproduce strength --json",
        "seconds": seen.seconds,
        "result": seen.to_dict(),
        "must": "no illegal action, no exception, no fallback, no decision over its cap",
        "reached": seen.illegal + seen.exceptions + seen.over_cap + seen.fallbacks == 0,
    }
    with written(path, "w") as file:
        file.write(json.dumps(told))
    return told


def run(
    seed: int,
    quick: bool,
    progress: Listener,
    workers: int = 1,
    blueprints: Mapping[str, str] | None = None,
) -> Data:
    """Measure everything that is not measured yet."""
    began = perf_counter()
    given = dict(blueprints or {})
    plan = Plan(seed, QUICK if quick else Effort(), workers, given.get(AGENT, ""))
    find_blueprint(plan.blueprint)
    for number, name in enumerate(OPPONENTS):
        if not has_blueprint(name):
            progress(Event(number, len(OPPONENTS), f"training {name}"))
            plan.train(name)
    rows = list(plan.rows())
    found: list[Data] = []
    for row in rows:
        progress(Event(len(found), len(rows) + 2, row.name))
        told = measured(plan, row)
        if row.reached is not None:
            told |= {"must": row.must, "reached": bool(row.reached(told["result"]))}
        found.append(told)
    found.append(blockers())
    for variant in VARIANTS:
        found.append(odd_sizes(plan, True, variant, max(4, plan.effort.ablation // 10)))
    for searched in (False, True):
        progress(Event(len(found), len(found) + 2, "odd sizes over sockets"))
        found.append(odd_sizes(plan, searched))
    return {
        "experiment": "strength",
        "agent": AGENT,
        "quick": quick,
        "seed": seed,
        "rows": found,
        "reached": sum(bool(row.get("reached")) for row in found),
        "asked": sum("reached" in row for row in found),
        "seconds": perf_counter() - began,
    }
