"""`equipoise search`: what an agent thinks at a point of a hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.match import GameName, rules_of
from equipoise.cli.output import Json, Seed, check_number, check_positive, emit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.agents.agent import Agent
    from equipoise.games.rules import Rules, State
    from equipoise.search.resolver import Resolver, SearchSettings
    from equipoise.search.thought import Thought


def search_command(
    agent: Annotated[
        str, typer.Argument(help="An agent whose policy is known: name, file or FILE.py:CLASS.")
    ],
    history: Annotated[
        str, typer.Option(help='The betting so far, in ACPC\'s words: "r250c/cr400".')
    ] = "",
    board: Annotated[str, typer.Option(help="The public cards: Td9d6h.")] = "",
    hand: Annotated[str | None, typer.Option(help="Also say what this hand does: AhQd.")] = None,
    seat: Annotated[
        int | None, typer.Option(help="Whose thought: 0 or 1, by default who is to act.")
    ] = None,
    game: GameName = "nolimit",
    gadget: Annotated[
        str, typer.Option(help="resolve, maxmargin or unsafe: how safely to solve.")
    ] = "resolve",
    alternatives: Annotated[
        str, typer.Option(help="What the opponent has elsewhere: self-play or best-response.")
    ] = "self-play",
    flops: Annotated[
        str, typer.Option(help="Which flops are solved: off-tree, all, or none.")
    ] = "off-tree",
    iterations: Annotated[
        int | None, typer.Option(help="Of a solve; by default from the size of its tree.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Cut a solve short after this time.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say what an agent thinks at a point of a hand: ranges, tree, policy and values.

    From the turn on, and in large pots before the flop, what is left of the hand is solved with the
    true pot and the real bets, from the ranges with which the agent's strategy gets there; so is a flop, to
    its end, after a bet that the strategy does not have, or always with --flops all. Elsewhere the
    strategy itself is shown.

    \b
    Example: equipoise search quick --history "r250c/cr400c/c" --board Td9d6hQc --hand AhQd
    Example: equipoise search quick --history "r250c/r720" --board Td9d6h
    Example: equipoise search quick --history "r300r1000r3000r9900r20000" --hand As4s --json
    """
    from typing import get_args

    from equipoise.agents.registry import make_agent
    from equipoise.cli.stopping import INTERRUPTED, stopped_by_signals
    from equipoise.games.policy import PublicState
    from equipoise.search.gadgets import Kind
    from equipoise.search.resolver import SearchSettings
    from equipoise.search.thought import think
    from equipoise.search.trunk import Alternatives
    from equipoise.settings import choose

    check_number("--iterations", iterations, 1, 1_000_000)
    check_positive("--seconds", seconds)
    check_number("--seat", seat, 0, 1)
    rules = rules_of(game)
    state, cards = _situation(rules, history, board)
    held = None if hand is None else _held(hand, cards)
    player = make_agent(agent, rules)
    player.reset(seed)
    which = choose(flops, ("off-tree", "all", "none"), "--flops")
    settings = SearchSettings(
        first_street=2 if which == "none" else 1,
        flops="all" if which == "all" else "off-tree",
        gadget=choose(gadget, get_args(Kind), "--gadget"),  # type: ignore[arg-type]
        alternatives=choose(alternatives, get_args(Alternatives), "--alternatives"),  # type: ignore[arg-type]
        iterations=iterations,
        seconds=seconds,
    )
    acting = state.to_act or 0
    resolver = _resolver(player, acting if seat is None else seat, settings)
    with stopped_by_signals() as stop:
        thought = think(resolver, PublicState(state, cards, 0), stop)
    if thought is None:
        raise typer.Exit(INTERRUPTED)
    emit({"agent": agent} | thought.to_dict(held), json, lambda: _tables(agent, thought, held))


def _situation(rules: Rules, history: str, board: str) -> tuple[State, tuple[int, ...]]:
    """The betting and the cards that were named, if somebody is to act there."""
    from equipoise.cards.card import parse_cards
    from equipoise.errors import CardError, GameError
    from equipoise.games.rules import State

    state = State.from_betting_text(rules, history)
    if state.to_act is None:
        raise GameError(f"--history {history}: the hand is over: leave out its last action")
    cards = parse_cards(board) if board else ()
    needed = sum(rules.board_cards[: state.round + 1])
    if len(cards) != needed:
        raise CardError(f"--board {board or 'none'}: give {needed} cards after '{history}'")
    return state, cards


def _resolver(player: Agent, seat: int, settings: SearchSettings) -> Resolver:
    """What searches on from an agent; one that searches itself does so as it does at the table.

    Of an agent that plays a blueprint it goes on from that, before it is post-processed.
    """
    from dataclasses import replace

    from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
    from equipoise.agents.searching.searchagent import SearchAgent
    from equipoise.search.resolver import Resolver
    from equipoise.search.trunk import BlueprintTrunk

    if isinstance(player, SearchAgent):
        own = player.settings
        asked = replace(settings, budget=own.budget, streets=own.streets)
        if own.first_street > 1:
            asked = replace(asked, first_street=own.first_street)
        return Resolver(player.before_search, seat, asked, continuation=player.continuation)
    if isinstance(player, BlueprintAgent):
        mapping = None if player.line is None else player.line.tree.mapping
        return Resolver(BlueprintTrunk(player.blueprint, mapping), seat, settings)
    return Resolver(player.policy, seat, settings)


def _held(hand: str, board: tuple[int, ...]) -> int:
    """The hand that was named, if it can be held."""
    from equipoise.cards.card import cards_text
    from equipoise.cards.combos import COMBO_CARDS, parse_combo
    from equipoise.errors import CardError

    held = parse_combo(hand)
    if set(COMBO_CARDS[held].tolist()) & set(board):
        raise CardError(f"--hand {hand}: it holds a card of the board {cards_text(board)}")
    return held


def _tables(agent: str, thought: Thought, hand: int | None) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from equipoise.cards.card import cards_text
    from equipoise.cards.combos import combo_text

    state, board = thought.public.state, thought.public.board
    where = f"{cards_text(board)} after {state.betting_text()!r}"
    table = Table(title=f"{agent}: {where}", title_justify="left")
    table.add_column("")
    for words in thought.actions:
        table.add_column(words, justify="right")
    table.add_column("chips", justify="right")
    rows = {"range": thought.mix()}
    if hand is not None:
        rows[combo_text(hand)] = thought.mix(hand)
    for name, mix in rows.items():
        worth = ""
        if thought.values is not None and hand is not None and name != "range":
            worth = f"{thought.values[state.to_act or 0][hand]:+,.1f}"
        table.add_row(name, *(f"{chance:.1%}" for chance in mix), worth)
    solved = {
        "trunk": "nothing is solved here: this is the agent's own strategy",
        "preflop": "fold, call or all-in, solved at the real size",
        "flop": "solved to the end of the street, the opponent choosing how the hand goes on",
        "subgame": "solved to the end of the hand",
    }[thought.source]
    facts = Table(show_header=False, box=None)
    for name, text in (
        ("pot", f"{state.pot:,}, {state.to_call:,} to call"),
        ("stacks", " and ".join(f"{chips:,}" for chips in thought.stacks)),
        ("tree", solved),
        ("time", f"{thought.seconds:.2f} s, {thought.iterations} iterations"),
    ):
        facts.add_row(name, text)
    return Group(table, facts)
