"""Kept solves: by street, shared by the seats where they are the same, and answering as fresh ones do."""

from __future__ import annotations

from functools import partial

import numpy as np

from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_COUNT
from equipoise.games.policy import Policy, PublicState, same_for_all
from equipoise.games.rules import CALL, NOLIMIT_HOLDEM, State, raise_to
from equipoise.search import resolver as resolver_module
from equipoise.search.flop import solve_flop
from equipoise.search.menus import menu_for
from equipoise.search.resolver import Resolver, SearchSettings
from equipoise.search.rollouts import drawn_runouts, flop_values
from equipoise.search.solves import Solves

TURN = parse_cards("Td9d6hQc")
RIVER = (*TURN, *parse_cards("2s"))
#: Few ways for a flop to go on.
RUNOUTS = drawn_runouts(TURN[:3])[:1]
#: Bets that no small tree has.
FOREIGN = (211, 233, 277, 311, 377, 433)


def trunk(public: PublicState) -> Policy:
    """Raises with high hands more often, and never folds."""
    legal = public.state.legal()
    if not legal.raise_min or public.state.raises:
        return same_for_all(public.state, {CALL: 1.0})
    strong = np.linspace(0.1, 0.9, COMBO_COUNT, dtype=np.float32)
    return Policy((CALL, raise_to(legal.raise_min)), np.stack([1 - strong, strong], axis=1))


def settings(**more: object) -> SearchSettings:
    told: dict[str, object] = {
        "iterations": 20, "streets": "unsafe", "menu": lambda state: menu_for(state, 12),
    }  # fmt: skip
    return SearchSettings(**(told | more))  # type: ignore[arg-type]


def seats(chosen: SearchSettings) -> tuple[Resolver, Resolver]:
    solves = Solves(chosen.kept)
    return Resolver(trunk, 0, chosen, solves=solves), Resolver(trunk, 1, chosen, solves=solves)


def at(text: str, board: tuple[int, ...] = RIVER) -> PublicState:
    return PublicState(State.from_betting_text(NOLIMIT_HOLDEM, text), board, 0)


def same(first: Policy, second: Policy) -> bool:
    return first.actions == second.actions and np.array_equal(
        first.probabilities, second.probabilities
    )


def test_what_both_seats_begin_without_a_gadget_is_solved_once() -> None:
    first, second = seats(settings())
    lines = (at("cc/cc/c", TURN), at("cc/cc/cc/c"), at("cc/cc/cc/cr400r900"))
    for asked in (at("cc/cc/", TURN), at("cc/cc/cc/"), at("cc/cc/cc/cr400")):
        first.policy(asked)
    for asked in lines:
        assert same(second.policy(asked), Resolver(trunk, 1, settings()).policy(asked))
    for asked in lines[:2]:
        assert second.solved(asked) is first.solved(asked)


def test_what_guards_one_seat_is_not_the_others() -> None:
    first, second = seats(settings(streets="resolve"))
    asked = at("cc/cc/", TURN)
    assert first.solved(asked) is not second.solved(asked)
    first, second = seats(settings(first_street=3))
    # A bet off the tree guards the seat that it meets, and nobody in the seat that made it.
    asked = at("cc/cc/cc/cr277")
    guarded, free = first.solved(asked), second.solved(asked)
    assert (guarded.solver.gadget.kind, free.solver.gadget.kind) == ("resolve", "unsafe")


def test_many_bets_on_a_river_leave_its_turn_where_it_is() -> None:
    resolver = Resolver(trunk, 0, settings(kept=1))
    turn = resolver.solved(at("cc/cc/", TURN))
    answers = [resolver.policy(at(f"cc/cc/cc/cr{bet}")) for bet in FOREIGN]
    assert resolver.solved(at("cc/cc/", TURN)) is turn
    assert len(resolver.solves) <= 1 + 4
    # Those that had to go are solved again, and say the same.
    for bet, before in zip(FOREIGN, answers, strict=True):
        assert same(resolver.policy(at(f"cc/cc/cc/cr{bet}")), before)
    fresh = Resolver(trunk, 0, settings()).policy(at(f"cc/cc/cc/cr{FOREIGN[-1]}"))
    assert same(fresh, answers[-1])
    resolver.forget()
    assert len(resolver.solves) == 0


def test_what_a_clock_cut_short_is_not_shared() -> None:
    asked = at("cc/cc/cc/")
    hurried = settings(first_street=3, iterations=100_000, seconds=0.01)
    first, second = seats(hurried)
    cut = first.solved(asked)
    assert cut.stopped
    assert first.solved(asked) is cut
    assert second.solved(asked) is not cut


def test_bets_that_a_flop_does_not_have_share_his_alternatives(monkeypatch) -> None:
    asked_for: list[State] = []

    def counted(source, state, *more, **named):
        asked_for.append(state)
        return flop_values(source, state, *more, **named, runouts=RUNOUTS)

    monkeypatch.setattr(resolver_module, "flop_values", counted)
    monkeypatch.setattr(resolver_module, "solve_flop", partial(solve_flop, runouts=RUNOUTS))
    chosen = settings(first_street=1, iterations=4, menu=menu_for)
    resolver = Resolver(trunk, 1, chosen)
    bets = [at(f"cc/r{bet}", TURN[:3]) for bet in (333, 777)]
    answers = [resolver.policy(asked) for asked in bets]
    assert len(asked_for) == 1
    assert same(Resolver(trunk, 1, chosen).policy(bets[1]), answers[1])
    assert len(asked_for) == 2
