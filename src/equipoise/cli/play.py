"""`equipoise play`: until there is a table to sit at, a guided tour of what works."""

from __future__ import annotations

import typer


def play_command() -> None:
    """A short guided tour: cards, ranges, equity and a solved game, with the command for each.

    Example: equipoise play
    """
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
    raise typer.Exit
