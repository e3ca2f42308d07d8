"""`equipoise play`: sit down at a table in the terminal."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.match import rules_of
from equipoise.cli.output import check_number, check_seed, terminal
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.text import Text

    from equipoise.games.rules import Rules


def play_command(
    agent: Annotated[str, typer.Option(help="The opponent, its TOML file, or FILE.py:CLASS.")] = "",
    game: Annotated[str, typer.Option(help="limit, nolimit or an ACPC game file.")] = "nolimit",
    limit: Annotated[bool, typer.Option("--limit", help="Short for --game limit.")] = False,
    stack: Annotated[
        int | None, typer.Option(help="Stacks in big blinds, of no-limit; 200 if not given.")
    ] = None,
    hands: Annotated[int | None, typer.Option(help="Leave after this many hands.")] = None,
    tour: Annotated[bool, typer.Option("--tour", help="A guided tour instead of a game.")] = False,
    seed: Annotated[
        int | None, typer.Option(callback=check_seed, help="Seed of the cards; fresh if not given.")
    ] = None,
) -> None:
    """Play heads-up hold'em against an agent, with the score kept; q leaves.

    Who names no agent meets the best that is there, in limit Fell Omen 2.

    \b
    Example: equipoise play --agent call
    Example: equipoise play --limit --agent bucket
    Example: equipoise play --stack 60 --agent flagship
    """
    if tour:
        _tour()
        return
    if hands is not None and hands < 1:
        raise EquipoiseError(f"--hands {hands}: play at least 1 hand")
    rules = rules_of("limit" if limit else game)
    _play(rules if stack is None else _with_stack(rules, stack), agent, hands, seed)


def _with_stack(rules: Rules, stack: int) -> Rules:
    """The same game with other stacks, in big blinds."""
    from equipoise.games.rules import nolimit

    check_number("--stack", stack, 1, 1_000_000)
    if rules.limit:
        raise EquipoiseError("--stack is for no-limit games: limit is played without stacks")
    return nolimit(stack * rules.big_blind, min(rules.blinds), rules.big_blind)


def _play(rules: Rules, agent: str, hands: int | None, seed: int | None) -> None:
    from secrets import randbits

    from equipoise.agents.human import HumanAgent
    from equipoise.agents.opponents import best_opponent
    from equipoise.agents.registry import AgentSpec
    from equipoise.arena.duel import Duel
    from equipoise.games.dealing import SeededDeals

    console = terminal()
    if not agent:
        agent, why = best_opponent(rules)
        if why:
            console.print(why, soft_wrap=True)
    recipe = AgentSpec.read(agent)
    seed = randbits(32) if seed is None else seed
    human = HumanAgent(
        ask=lambda prompt: console.input(_coloured(prompt)),
        show=lambda line: console.print(_coloured(line)),
        opponent=recipe.name,
    )
    duel = Duel(rules, (human, recipe.make(rules)), seed)
    duel.reset()
    dealer = SeededDeals(rules, seed)
    console.print(f"{rules.name}, against {recipe.name}, seed {seed}", highlight=False)
    try:
        for hand in count() if hands is None else range(hands):
            duel.play(dealer.deal(hand), hand, hand & 1)
            while duel.faults:
                console.print(f"  {recipe.name} failed: {duel.faults.pop().reason}")
    except KeyboardInterrupt:
        console.print()
    console.print(human.score(rules), highlight=False)


def _coloured(line: str) -> Text:
    """A line with red suits red."""
    from rich.text import Text

    text = Text(line)
    text.highlight_words(("♥", "♦"), style="red")
    return text


def _tour() -> None:
    """Cards, ranges and equity, with the command for each."""
    from rich.rule import Rule
    from rich.text import Text

    from equipoise.cards import chart
    from equipoise.cards.equity import equity
    from equipoise.cards.handnames import hand_name
    from equipoise.cards.range import Range

    console = terminal()

    def show(title: str, command: str) -> None:
        console.print(Rule(title))
        console.print(Text(f"$ {command}", style="dim"))

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
