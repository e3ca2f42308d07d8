"""A strategy of few bet sizes in the game with all of them, against a player who walks the hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.abstraction.bets.line import AbstractTree, size_in_pots
from equipoise.abstraction.bets.translation import MAPPINGS, Mapping
from equipoise.bench.reproduce.translation import CLAIRVOYANCE_STACKS, EXPECTED, Setting, _caller
from equipoise.errors import GameError, SolverError
from equipoise.games.betting import Betting
from equipoise.games.catalogue import clairvoyance, kuhn, kuhn_nolimit, leduc, leduc_nolimit
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.nodes import DEAL
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, State, nolimit, raise_to
from equipoise.solve.solvers.linear_program import LinearProgram
from equipoise.solve.strategies.bestresponse import response_value, value_of
from equipoise.solve.strategies.extension import extended
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.tableau import Tableau

every = pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=list(MAPPINGS))


def random_strategy(game: Game, seed: int, zeros: float = 0.2) -> TabularStrategy:
    """Any strategy, with actions that are never played."""
    strategy = TabularStrategy.uniform(game)
    rng = np.random.default_rng(seed)
    rows = rng.random(strategy.index.size) * (rng.random(strategy.index.size) > zeros)
    return TabularStrategy(game, rows + 1e-6, strategy.index)


def walked_value(
    strategy: TabularStrategy, game: Game, mapping: Mapping, me: int, his: TabularStrategy
) -> float:
    """Chips a hand of a player who translates, every deal and every line one after another.

    The player holds one abstract place, which a bet of the opponent moves by chance.
    """
    tree = AbstractTree(strategy.game.betting, mapping)
    betting, boards = game.betting, game.deal.boards
    mine_at, his_at = cache(strategy.rows), cache(his.rows)

    def at(b: int, node: int, place: int, states: tuple[int, int]) -> float:
        kind = int(betting.kind[node])
        if kind == DEAL:
            total = 0.0
            for c, board in enumerate(boards):
                if board.parent == b:
                    # Leduc's ranks stay where they are when a card comes.
                    there = tree.caught_up(place, board.round)
                    total += at(c, int(betting.next_root[node]), there, states)
            return total
        if kind not in (0, 1):
            board = boards[b]
            assert board.mass is not None
            assert board.signed is not None
            even, swing = betting.even[node, 0], betting.swing[node]
            gain = board.mass[states] * even + board.signed[states] * swing
            return float(gain) if me == 0 else -float(gain)
        state = betting.states[node]
        children = {betting.actions[child]: child for child in betting.children(node)}
        if kind != me:
            chances = his_at(node, b)[:, states[1 - me]]
            return sum(
                float(chance) * part * at(b, child, there, states)
                for chance, (action, child) in zip(chances, children.items(), strict=True)
                for there, part in tree.taken_for(place, state, action)
            )
        if not tree.turn(place, state):
            return at(b, children[CALL], place, states)
        chances = mine_at(place, b)[:, states[me]]
        return sum(
            float(chance) * at(b, children[tree.carried(place, way, state)], way, states)
            for chance, way in zip(chances, tree.betting.children(place), strict=True)
            if chance > 0
        )

    return sum(at(0, 0, 0, (i, j)) for i in range(3) for j in range(3))


SMALL = (
    Setting("kuhn", 2, "100%,a", pot_chips=4, max_raises=None),
    Setting("kuhn", 3, "40%,a", pot_chips=4, max_raises=1),
    Setting("leduc", 2, "100%,a", pot_chips=2, max_raises=None),
    Setting("leduc", 2, "75%", pot_chips=2, max_raises=2),
)


@pytest.mark.parametrize("setting", SMALL, ids=str)
@pytest.mark.parametrize("name", ["pseudo-harmonic", "arithmetic-deterministic"])
def test_the_mixture_earns_what_the_walker_earns(setting: Setting, name: str) -> None:
    abstract, whole = setting.game(setting.menu), setting.game(None)
    tableau = Tableau(whole)
    for me in (0, 1):
        mine, his = random_strategy(abstract, 3 + me), random_strategy(whole, 7)
        played = extended(mine, whole, MAPPINGS[name])
        rows = played.numbers.copy()
        for b, node in played.index.decisions():
            if int(whole.betting.kind[node]) != me:
                played.index.block(rows, b, node)[:] = his.rows(node, b)
        value = value_of(tableau, rows) * (1 if me == 0 else -1)
        walked = walked_value(mine, whole, MAPPINGS[name], me, his)
        assert value == pytest.approx(walked, abs=1e-9)


@every
@pytest.mark.parametrize(
    "game", [kuhn_nolimit(stack=4), leduc_nolimit(stack=4)], ids=lambda game: game.name
)
def test_with_all_bets_in_the_menu_nothing_changes(game: Game, mapping: Mapping) -> None:
    strategy = random_strategy(game, 1, zeros=0)
    assert extended(strategy, game, mapping).distance(strategy) < 1e-12


@every
def test_the_caller_in_the_clairvoyance_game(mapping: Mapping) -> None:
    for number, stack in enumerate(CLAIRVOYANCE_STACKS):
        if stack > 20:
            continue
        whole = clairvoyance(stack, step=0.1)
        played = extended(_caller(clairvoyance(stack, menu="100%,a")), whole, mapping)
        taken = response_value(Tableau(whole), 0, played.numbers) / whole.unit_chips
        lost = taken - stack / (2 * (1 + stack))
        assert lost == pytest.approx(EXPECTED[mapping.name][number], abs=0.0051)


def test_a_caller_who_maps_pseudo_harmonically_cannot_be_exploited() -> None:
    whole = clairvoyance(7, step=0.05)
    caller = _caller(clairvoyance(7, menu="50%,100%,a"))
    played = extended(caller, whole, MAPPINGS["pseudo-harmonic"])
    for node in whole.betting.of_kind(0, 1).tolist():
        state = whole.betting.states[node]
        size = state.to_call / (state.pot - state.to_call)
        assert played.rows(node)[1, 0] == pytest.approx(1 / (1 + size))


@cache
def solved(menu: str | None) -> LinearProgram:
    solver = LinearProgram(SMALL[2].game(menu))
    solver.step()
    return solver


@every
def test_losses_are_never_negative(mapping: Mapping) -> None:
    solver, referee = solved("100%,a"), solved(None)
    rows = extended(solver.average_strategy(), referee.game, mapping).numbers
    assert response_value(referee.tableau, 0, rows) >= referee.value() - 1e-9
    assert response_value(referee.tableau, 1, rows) >= -referee.value() - 1e-9


@cache
def holdem(menu: str = "50%,100%,a", mapping: str = "pseudo-harmonic") -> AbstractTree:
    rules = nolimit(stack=2000)
    return AbstractTree(
        Betting.build(rules, BetMenu.parse(menu, raises="100%,a")), MAPPINGS[mapping]
    )


def test_sizes_count_from_the_call() -> None:
    state = State.start(NOLIMIT_HOLDEM)
    assert size_in_pots(state, CALL) == 0
    assert size_in_pots(state, raise_to(300)) == 1
    facing = state.apply(raise_to(300))
    assert size_in_pots(facing, raise_to(900)) == 1


def test_an_all_in_is_an_all_in() -> None:
    tree = holdem()
    state = State.start(tree.betting.rules)
    ((place, chance),) = tree.taken_for(0, state, raise_to(2000))
    assert chance == 1
    assert tree.betting.actions[place] == raise_to(2000)


def test_a_small_raise_may_be_a_limp_and_an_odd_one_lies_between() -> None:
    tree = holdem("100%,a")
    state = State.start(tree.betting.rules)
    found = {
        tree.betting.actions[place]: chance
        for place, chance in tree.taken_for(0, state, raise_to(200))
    }
    # Half a pot between a call and the pot: 1/2 / 1 / (3/2).
    assert found == pytest.approx({CALL: 1 / 3, raise_to(300): 2 / 3})


def test_a_bet_taken_for_a_check_that_ends_the_round_is_called() -> None:
    tree = holdem("100%,a", "arithmetic-deterministic")
    limped = State.start(tree.betting.rules).apply(CALL)
    ((place, _),) = tree.taken_for(0, State.start(tree.betting.rules), CALL)
    assert tree.turn(place, limped)
    # The big blind's raise of half a pot is taken for a check: the abstract flop is next.
    ((over, _),) = tree.taken_for(place, limped, raise_to(200))
    assert int(tree.betting.kind[over]) == DEAL
    raised = limped.apply(raise_to(200))
    assert not tree.turn(over, raised)
    flop = raised.apply(CALL)
    assert flop.round == 1
    there = tree.caught_up(over, 1)
    assert tree.turn(there, flop)
    # The real pot is 400, the abstract one 200: a pot bet is carried by its size in pots.
    bet = next(c for c in tree.betting.children(there) if tree.betting.label(c) == "bet 200")
    assert tree.carried(there, bet, flop) == raise_to(600)


def test_folds_and_calls_are_carried_as_they_are() -> None:
    tree = holdem()
    state = State.start(tree.betting.rules).apply(raise_to(250))
    ((place, _), *_) = tree.taken_for(0, State.start(tree.betting.rules), raise_to(250))
    actions = {tree.betting.actions[c]: c for c in tree.betting.children(place)}
    assert tree.carried(place, actions[FOLD], state) == FOLD
    assert tree.carried(place, actions[CALL], state) == CALL
    assert tree.carried(place, actions[raise_to(2000)], state) == raise_to(2000)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), name=st.sampled_from(list(MAPPINGS)))
def test_any_hand_can_be_followed(data: st.DataObject, name: str) -> None:
    """Whatever the opponent bets, what is carried back is legal and the chances add up."""
    tree = holdem(mapping=name)
    me = data.draw(st.integers(0, 1))
    state, place = State.start(tree.betting.rules), 0
    while not state.is_over:
        place = tree.caught_up(place, state.round)
        legal = state.legal()
        if state.to_act == me:
            if tree.turn(place, state):
                way = data.draw(st.sampled_from(list(tree.betting.children(place))))
                action = tree.carried(place, way, state)
                place = way
            else:
                action = CALL
        else:
            amounts = st.integers(legal.raise_min, legal.raise_max).map(raise_to)
            options = [st.just(CALL)] + [amounts] * 2 * bool(legal.raise_min)
            action = data.draw(st.one_of(*options))
            found = tree.taken_for(place, state, action)
            assert sum(chance for _, chance in found) == pytest.approx(1)
            place = data.draw(st.sampled_from([there for there, _ in found]))
        assert state.can(action)
        state = state.apply(action)


def test_games_that_differ_in_more_than_bets_are_refused() -> None:
    strategy = TabularStrategy.uniform(kuhn_nolimit(stack=5, menu="a"))
    for other in (kuhn_nolimit(stack=6), leduc_nolimit(stack=5)):
        with pytest.raises(SolverError, match="same cards and stacks"):
            extended(strategy, other, MAPPINGS["arithmetic"])
    coarse = TabularStrategy.uniform(kuhn_nolimit(stack=9, menu="100%,a"))
    with pytest.raises(SolverError, match="has no raise to 3 where"):
        extended(coarse, kuhn_nolimit(stack=9, menu="50%,a"), MAPPINGS["arithmetic"])


def test_limit_games_need_no_translation() -> None:
    for game in (kuhn(), leduc()):
        with pytest.raises(GameError, match="use no-limit rules"):
            extended(TabularStrategy.uniform(game), game, MAPPINGS["arithmetic"])


def test_a_bet_left_open_is_called_when_the_round_goes_on() -> None:
    setting = Setting("leduc", 3, "100%,a", pot_chips=4, max_raises=1)
    tree = AbstractTree(setting.game("100%,a").betting, MAPPINGS["arithmetic-deterministic"])
    start = State.start(tree.betting.rules)
    # A quarter of the pot is taken for a check, so the other player may bet the pot; but the real
    # round has had its one bet, and he can only call.
    ((place, _),) = tree.taken_for(0, start, raise_to(3))
    assert tree.betting.states[place].betting_text() == "c"
    facing = start.apply(raise_to(3))
    way = next(c for c in tree.betting.children(place) if tree.betting.label(c) == "bet 4")
    assert tree.carried(place, way, facing) == CALL
    there = tree.caught_up(way, 1)
    assert tree.betting.states[there].betting_text() == "cr6c/"
    assert tree.turn(there, facing.apply(CALL))
