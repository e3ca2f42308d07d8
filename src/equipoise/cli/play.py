"""`equipoise play`: sit down at a table in the terminal."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.match import rules_of
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from equipoise.games.rules import Rules

#: Whom a person meets who names nobody: the first that plays the game.
_OPPONENTS = ("bucket", "call")


def play_command(
    agent: Annotated[str, typer.Option(help="The opponent, or the TOML file of one.")] = "",
    game: Annotated[str, typer.Option(help="limit, nolimit or an ACPC game file.")] = "nolimit",
    limit: Annotated[bool, typer.Option("--limit", help="Short for --game limit.")] = False,
    hands: Annotated[int | None, typer.Option(help="Leave after this many hands.")] = None,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Play in the terminal, as is the default.")
    ] = True,
    tour: Annotated[bool, typer.Option("--tour", help="A guided tour instead of a game.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the cards; fresh if not given.")] = None,
) -> None:
    """Play heads-up hold'em against an agent, with the score kept; q leaves.

    \b
    Example: equipoise play --agent call
    Example: equipoise play --limit --agent bucket
    """
    if tour:
        _tour()
        return
    if hands is not None and hands < 1:
        raise EquipoiseError(f"--hands {hands}: play at least 1 hand")
    _play(rules_of("limit" if limit else game), agent, hands, seed)


def _play(rules: Rules, agent: str, hands: int | None, seed: int | None) -> None:
    from secrets import randbits

    from rich.console import Console

    from equipoise.agents.human import HumanAgent
    from equipoise.agents.registry import Recipe
    from equipoise.arena.cards import Dealer
    from equipoise.arena.duel import Duel

    recipe = Recipe.read(agent or _default_opponent(rules))
    seed = randbits(32) if seed is None else seed
    console = Console(highlight=False)
    human = HumanAgent(
        ask=lambda prompt: console.input(_coloured(prompt)),
        show=lambda line: console.print(_coloured(line)),
        opponent=recipe.name,
    )
    duel = Duel(rules, (human, recipe.make(rules)), seed)
    duel.reset()
    dealer = Dealer(rules, seed)
    console.print(f"{rules.name}, against {recipe.name}, seed {seed}")
    try:
        for hand in count() if hands is None else range(hands):
            duel.play(dealer.deal(hand), hand, hand & 1)
            while duel.faults:
                console.print(f"  {recipe.name} failed: {duel.faults.pop().reason}", markup=False)
    except KeyboardInterrupt:
        console.print()
    console.print(human.score(rules))


def _default_opponent(rules: Rules) -> str:
    from equipoise.agents.registry import entries

    known = entries()
    return next(name for name in _OPPONENTS if name in known and known[name].plays(rules))


def _coloured(line: str) -> str:
    """Red suits red; square brackets as they are."""
    text = line.replace("[", "\\[")
    for suit in "♥♦":
        text = text.replace(suit, f"[red]{suit}[/red]")
    return text


def _tour() -> None:
    """Cards, ranges and equity, with the command for each."""
    from rich.console import Console
    from rich.rule import Rule

    from equipoise.cards import chart
    from equipoise.cards.equity import equity
    from equipoise.cards.evaluator import hand_name
    from equipoise.cards.range import Range

    console = Console()

    def show(title: str, command: str) -> None:
        console.print(Rule(title))
        console.print(f"[dim]$ {command}[/dim]")

    show("What is this hand?", "equipoise eval AsKsQsJsTs9h2d")
    console.print(hand_name("AsKsQsJsTs9h2d"))

    show("Who is ahead?", "equipoise equity AsAh KK,AQs+ --board Td9d6h")
    result = equity(["AsAh", "KK,AQs+"], "Td9d6h")
    console.print(f"aces have {result.equity[0]:.2%} of the pot, exactly")

    show("What is in this range?", "equipoise range '22+,A2s+,KTs+,QJs'")
    hands = Range.parse("22+,A2s+,KTs+,QJs")
    console.print(chart.render(hands.to_matrix(), title=hands.summary()))

    console.print(Rule("What next"))
    console.print("equipoise --help lists the commands; every one has --help with an example.")
