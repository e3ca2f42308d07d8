"""A blueprint at the table: mixtures, translation, the guard, and two hands of Claudico's."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tinyblueprint import halves, random_rows, tiny
from tinyrecipe import TINY

from equipoise.abstraction.bets.line import AbstractLine, draw
from equipoise.abstraction.bets.translation import mapping
from equipoise.agents.blueprint import files
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.book import Book
from equipoise.agents.blueprint.guard import (
    SCOPES,
    opponent_range,
    price,
)
from equipoise.arena.match import play_match
from equipoise.arena.measures.aivat import aivat
from equipoise.arena.measures.lbr import local_best_response
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import (
    COMBO_CARDS,
    COMBO_CLASS,
    blocked,
    class_text,
    combo_text,
)
from equipoise.cards.equity import equity
from equipoise.cards.range import Range
from equipoise.errors import ArtefactError, EquipoiseError, GameError
from equipoise.games.betting import Betting
from equipoise.games.hand import View
from equipoise.games.menu import BetMenu
from equipoise.games.policy import PublicState
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    Kind,
    State,
    nolimit,
    one_bet_limit,
    raise_to,
)
from equipoise.solve.strategies.postprocessing import PostProcessing
from equipoise.solve.strategies.strategy import Strategy
from equipoise.solve.training.forms import FORMS
from equipoise.solve.training.recipe import Recipe

FLOP = parse_cards("Td 8d 4c")
#: Bets that the tiny tree of pots and all-ins does not have, on three streets.
LINES = ("r251", "r300r777", "cr433c/r700", "r300r901c/cr2000", "r212c/r400c/cr733r1833")


@pytest.fixture(scope="module")
def blueprint():
    return tiny()


def agent_of(blueprint, **settings) -> BlueprintAgent:
    return BlueprintAgent(NOLIMIT_HOLDEM, blueprint, **settings)


def after(betting: str, rules=NOLIMIT_HOLDEM) -> State:
    return State.from_betting_text(rules, betting)


def board_of(state: State):
    return parse_cards("Td 8d 4c 2d Js")[: (0, 3, 4, 5)[state.round]]


class Grid:
    """Draws that lie evenly in [0, 1)."""

    def __init__(self, count: int):
        self.count, self.next = count, 0

    def random(self) -> float:
        self.next += 1
        return (self.next - 0.5) / self.count


# ------------------------------------------------------------------------------------- mixtures


@pytest.mark.parametrize("post", ["raw", "purify", "threshold 0.15", "fold 0.2", "raw/purify"])
@pytest.mark.parametrize("form", list(FORMS))
def test_a_column_is_what_the_whole_table_says(post, form):
    made = tiny(form=form)
    book = Book(made, PostProcessing.parse(post))
    for node in np.flatnonzero(made.betting.kind < 2)[::97].tolist():
        table, street = book.table(node), made.betting.round_of(node)
        assert np.allclose(table.sum(axis=0), 1)
        for column in range(0, table.shape[1], 13):
            assert book.mix(node, column, street) == table[:, column].tolist()
        assert np.allclose(made.rows(node), book.raw(node), atol=1e-6)


def test_columns_of_one_hand_and_of_all_are_the_same():
    book = Book(tiny(limit=True, classes=3), PostProcessing())
    for size in (0, 3, 4, 5):
        board = parse_cards("Td 8d 4c 2d Js")[:size]
        columns = book.columns(board)[-1]
        assert ((columns < 0) == blocked(board)).all()
        for combo in np.flatnonzero(columns >= 0)[::150].tolist():
            assert book.column(COMBO_CARDS[combo].tolist(), board) == columns[combo]
    flops = {int(book.columns(parse_cards(flop))[-1].max()) // 2 for flop in
             ("AsKsQs", "2c3d4h", "7c7d2s", "Td8d4c", "JhJs9c", "5d6d7d")}  # fmt: skip
    assert len(flops) > 1


@pytest.mark.parametrize("betting", ["", *LINES])
@pytest.mark.parametrize("post", ["raw", "threshold 0.3"])
def test_an_agent_draws_from_its_policy(blueprint, betting, post):
    # One line only: what several make of a bet is told by the mixture.
    agent = agent_of(blueprint, postprocess=post, translation="pseudo-harmonic-deterministic")
    state = after(betting)
    board = board_of(state)
    policy = agent.policy(PublicState(state, board, 5))
    count = 400
    for combo in np.flatnonzero(~blocked(board))[::400].tolist():
        agent.random = Grid(count)
        hole = tuple(COMBO_CARDS[combo].tolist())
        view = View(state, state.to_act, hole, board, 5)
        played = Counter(agent.act(view) for _ in range(count))
        assert set(played) <= set(policy.actions)
        for action, chance in zip(policy.actions, policy.probabilities[combo], strict=True):
            assert abs(played[action] / count - chance) <= 1.01 / count, (combo_text(combo), action)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_policies_are_legal_whatever_is_bet(seed):
    agent = agent_of(
        _shared(), back_onto_tree=seed % 2 == 0, guard="always" if seed % 4 == 0 else "never"
    )
    rng = Random(seed)
    state = State.start(NOLIMIT_HOLDEM)
    while not state.is_over:
        legal = state.legal()
        policy = agent.policy(PublicState(state, board_of(state), seed))
        assert all(state.can(action) for action in policy.actions)
        assert len(set(policy.actions)) == len(policy.actions)
        assert np.allclose(
            policy.probabilities[~blocked(board_of(state))].sum(axis=1), 1, atol=1e-5
        )
        options = [CALL, *([raise_to(rng.randint(legal.raise_min, legal.raise_max))] * 2
                           if legal.raise_min else [])]  # fmt: skip
        small = raise_to(min(legal.raise_min + rng.randint(0, 50), legal.raise_max))
        state = state.apply(rng.choice([*options, small] if legal.raise_min else options))


_made = {}


def _shared():
    return _made.setdefault("tiny", tiny())


def test_limit_with_flop_classes_plays_its_policy():
    agent = BlueprintAgent(LIMIT_HOLDEM, tiny(limit=True, classes=3), postprocess="purify")
    result = play_match(agent, "random", LIMIT_HOLDEM, 200, 3)
    assert not result.faults
    state = after("rrc/cr", LIMIT_HOLDEM)
    policy = agent.policy(PublicState(state, FLOP, 0))
    assert set(np.unique(policy.probabilities)) == {0.0, 1.0}


# ---------------------------------------------------------------------------------- translation


def test_draws_depend_on_seed_hand_and_betting_only(blueprint):
    state, hands = after("r260"), range(60)
    first, second = agent_of(blueprint).line, agent_of(blueprint).line
    asked = [first.stand(state, 8, hand).place for hand in hands]
    for hand in reversed(hands):
        assert second.stand(state, 8, hand).place == asked[hand]
    assert len(set(asked)) == 2
    assert asked != [second.stand(state, 9, hand).place for hand in hands]


def test_bets_are_taken_for_sizes_as_often_as_the_mapping_says(blueprint):
    agent = agent_of(blueprint)
    start, bet = State.start(NOLIMIT_HOLDEM), raise_to(260)
    weights = dict(agent.line.tree.taken_for(0, start, bet))
    assert len(weights) == 2
    hands = 4000
    found = Counter(agent.line.stand(start.apply(bet), 1, hand).place for hand in range(hands))
    for place, chance in weights.items():
        assert abs(found[place] / hands - chance) < 4 * (chance * (1 - chance) / hands) ** 0.5
    assert 0.45 < np.mean([draw(1, hand, "") for hand in range(2000)]) < 0.55


def test_own_bets_are_sized_on_the_real_pot_or_back_onto_the_tree(blueprint):
    state = after("r250r777")  # taken for 300 and 900, or for a call
    for back in (False, True):
        agent = agent_of(blueprint, back_onto_tree=back, translation="arithmetic-deterministic")
        standing = agent.line.stand(state, 0, 0)
        assert agent.line.betting.states[standing.place].committed == (900, 300)
        raises = [action.amount for action in agent.policy(PublicState(state, (), 0)).actions
                  if action.kind == Kind.RAISE]  # fmt: skip
        assert raises == ([2700, 20000] if back else [777 + 2 * 777, 20000])
        after_raise = state.apply(raise_to(raises[0])).apply(CALL)
        place = agent.line.stand(after_raise, 0, 0).place
        assert agent.line.betting.states[place].committed == (2700, 2700)
        assert agent.line.off_tree(place, after_raise) != back


def test_a_raise_taken_for_a_call_is_called(blueprint):
    agent = agent_of(blueprint, translation="arithmetic-deterministic", guard="never")
    state = after("r300c/r600r910")  # a raise of a sixth of the pot is taken for a call
    assert agent.line.tree.turn(agent.line.stand(state, 0, 0).place, state) is False
    policy = agent.policy(PublicState(state, FLOP, 0))
    assert policy.actions == (CALL,)
    assert agent.act(View(state, 0, (0, 1), FLOP, 0)) == CALL


# -------------------------------------------------------------------------------------- guard


def test_the_range_is_the_product_of_the_blueprints_own_chances(blueprint):
    agent, state = agent_of(blueprint), after("r251c/cr700")
    standing = agent.line.stand(state, 0, 3)
    weights = opponent_range(agent.book, standing.opponent, FLOP).weights
    assert len(standing.opponent) == 2
    expected = np.zeros(1326)
    for combo in np.flatnonzero(~blocked(FLOP)).tolist():
        chance = 1.0
        for node, child, street in standing.opponent:
            bucket = halves().buckets(FLOP[: 3 * street])[combo]
            chance *= blueprint.probabilities(node, int(bucket))[
                child - blueprint.betting.first[node]
            ]
        expected[combo] = chance
    assert np.allclose(weights, expected, atol=1e-5)


@pytest.mark.parametrize("betting", LINES)
def test_no_hand_with_the_price_is_folded_off_the_tree(blueprint, betting):
    state = after(betting)
    board = board_of(state)
    plain, guarded = (
        agent_of(blueprint, guard=guard, translation="pseudo-harmonic-deterministic")
        for guard in ("never", "always")
    )
    open_policy = plain.policy(PublicState(state, board, 1))
    policy = guarded.policy(PublicState(state, board, 1))
    if FOLD not in open_policy.actions:
        return
    standing = guarded.line.stand(state, 0, 1)
    # Weights in whole parts: those of a class are then equal to the last bit, and quickly counted.
    belief = opponent_range(guarded.book, standing.opponent, board)
    weights = np.round(belief.weights * 2**30) / 2**30
    fold = policy.actions.index(FOLD)
    saved = 0
    for combo in np.flatnonzero(~blocked(board))[::60].tolist():
        share = equity([COMBO_CARDS[combo].tolist(), weights], board).equity[0]
        folded = float(policy.probabilities[combo, fold])
        open_folded = float(open_policy.probabilities[combo, fold])
        if abs(share - price(state)) > 1e-6:
            assert folded == (0 if share >= price(state) else open_folded)
        saved += folded < open_folded
    assert saved
    assert guarded.guard.asked == 1
    assert guarded.guard.seconds > 0


def test_a_guard_of_closing_calls_leaves_other_folds_alone(blueprint):
    agents = {scope: agent_of(blueprint, guard=scope) for scope in SCOPES}
    for betting, same in (("r251r20000", "always"), ("r300r777", "never")):
        public = PublicState(after(betting), (), 1)
        found = {scope: agent.policy(public).probabilities for scope, agent in agents.items()}
        assert np.array_equal(found["closing"], found[same])
        assert not np.array_equal(found["always"], found["never"])


def a4s_rows(betting, node, columns):
    """The big blind raises what it can and gives up to the last all-in, the button has it."""
    table, state = np.zeros((int(betting.count[node]), columns)), betting.states[node]
    actions = [betting.actions[child] for child in betting.children(node)]
    if state.round:
        return random_rows(betting, node, columns)
    if state.to_act == 0 and state.committed[1] == 20_000:
        table[actions.index(FOLD)] = 1
    elif state.to_act == 1 and state.committed[0] == 8100:
        strong = Range.parse("66+,AJs+,AJo+,KQs").weights > 0
        for column in range(columns):
            held = bool(strong[int(np.flatnonzero(column == COMBO_CLASS)[0])])
            table[actions.index(raise_to(20_000)) if held else 0, column] = 1
    else:
        raises = [action.kind == Kind.RAISE for action in actions]
        table[raises.index(True) if any(raises) else actions.index(CALL)] = 1
    return table


def test_a4s_is_not_folded_after_half_the_stack():
    # The raise to 3,400 is taken for one to 2,700: the agent has put in 10,200 and believes 8,100.
    made = tiny(rows=a4s_rows)
    hand, real = parse_cards("As4s"), after("r300r900r3400r10200r20000")
    on_tree = after("r300r900r2700r8100r20000")
    answers = {}
    for guard in SCOPES:
        agent = agent_of(made, translation="pseudo-harmonic-deterministic", guard=guard)
        assert agent.act(View(after("r300r900r3400"), 0, hand, (), 0)) == raise_to(10_200)
        assert agent.blueprint.betting.states[agent.line.stand(real, 0, 0).place].committed == (
            8100,
            20_000,
        )
        answers[guard] = agent.act(View(real, 0, hand, (), 0))
        # On the tree nobody is asked, and a hand without the price is folded off it too.
        assert agent.act(View(on_tree, 0, hand, (), 0)) == FOLD
        assert agent.act(View(real, 0, parse_cards("7c2d"), (), 0)) == FOLD
    assert answers == {"always": CALL, "closing": CALL, "never": FOLD}
    assert 0.24 < price(real) < 0.25


def kt_rows(betting, node, columns):
    """Both come to the turn for a pot bet; there the big blind bets half and folds to all-in."""
    table = np.zeros((int(betting.count[node]), columns))
    actions = [betting.actions[child] for child in betting.children(node)]
    kinds = [action.kind for action in actions]
    state = betting.states[node]
    if state.to_act == 1:
        return random_rows(betting, node, columns)
    if state.round == 2 and Kind.FOLD in kinds:
        table[kinds.index(Kind.FOLD)] = 1
    else:
        table[kinds.index(Kind.RAISE) if Kind.RAISE in kinds else kinds.index(Kind.CALL)] = 1
    return table


def test_kt_with_a_pair_and_a_flush_draw_is_not_folded_on_the_turn():
    menu = {
        "preflop": {"bets": "100%", "raises": "100%", "max_raises": 2},
        "flop": {"bets": "100%", "raises": "100%", "max_raises": 2},
        "turn": {"bets": "50%", "raises": "a", "max_raises": 2},
        "river": {"bets": "a"},
    }
    made = tiny(menu, kt_rows)
    hand, turn = parse_cards("KdTc"), (*FLOP, *parse_cards("2d"))
    raised = after("r300r900c/r2700r7780")
    agent = agent_of(made)
    down = [
        n for n in range(4000) if agent.line.stand(raised, 0, n).place != _taken_up(agent, raised)
    ]
    assert 0.02 < len(down) / 4000 < 0.045
    answers = {}
    for guard in SCOPES:
        agent = agent_of(made, guard=guard)
        assert agent.act(View(raised, 0, hand, FLOP, down[0])) == CALL
        bet = agent.act(View(after("r300r900c/r2700r7780c/"), 0, hand, turn, down[0]))
        assert bet == raise_to(7780 + 7780)
        all_in = after("r300r900c/r2700r7780c/r15560r20000")
        believed = agent.blueprint.betting.states[agent.line.stand(all_in, 0, down[0]).place]
        assert believed.committed == (5400, 20_000)
        answers[guard] = agent.act(View(all_in, 0, hand, turn, down[0]))
    assert answers == {"always": CALL, "closing": CALL, "never": FOLD}


def _taken_up(agent: BlueprintAgent, raised: State) -> int:
    """Where a flop raise leads that is taken for a raise."""
    return next(
        place
        for place in (agent.line.stand(raised, 0, n).place for n in range(100))
        if agent.line.tree.turn(place, raised)
    )


# -------------------------------------------------------------------------- the arena's methods


def test_aivat_and_local_best_responses_apply(blueprint, tmp_path):
    agent = agent_of(blueprint)
    match = play_match(agent, "random", NOLIMIT_HOLDEM, 16, 2, log=tmp_path / "log")
    assert not match.faults
    assert aivat(match, agent, "random").estimate.mean is not None
    assert local_best_response(agent, hands=2, menu="56", seed=1).match.hands == 2


def test_the_same_seed_plays_the_same_match(blueprint):
    results = [
        play_match(player, "random", NOLIMIT_HOLDEM, 60, 4)
        for player in (
            agent_of(blueprint),
            copy.deepcopy(agent_of(blueprint)),
            pickle.loads(pickle.dumps(agent_of(blueprint))),
        )
    ]
    assert len({result.payoffs.tobytes() for result in results}) == 1
    mirror = play_match(agent_of(blueprint, postprocess="purify"), "call", NOLIMIT_HOLDEM, 20, 4)
    assert not mirror.faults


def test_other_rules_are_refused(blueprint):
    with pytest.raises(GameError, match=r"blinds of 50 and 100 and stacks of 20000: play it"):
        BlueprintAgent(nolimit(stack=5000), blueprint)
    with pytest.raises(GameError, match="no translation"):
        agent_of(blueprint, translation="harmonic")
    with pytest.raises(EquipoiseError, match="no post-processing"):
        agent_of(blueprint, postprocess="purity")
    with pytest.raises(GameError, match="guard = 'on': choose from always, closing, never"):
        agent_of(blueprint, guard="on")
    with pytest.raises(GameError, match="the hand is over"):
        agent_of(blueprint).policy(PublicState(after("f"), (), 0))


def test_lines_are_for_no_limit():
    with pytest.raises(GameError, match="need no translation"):
        AbstractLine(Betting.build(one_bet_limit(), BetMenu.full()), mapping("arithmetic"))


def test_class_names_stand_for_columns():
    assert class_text(int(halves().buckets()[-1])) == "AA"


@pytest.mark.usefixtures("undrawn")
def test_a_blueprint_is_trained_once_when_it_is_first_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path)
    recipe = Recipe.from_toml(TINY)
    monkeypatch.setattr(Recipe, "shipped", lambda name: recipe)
    with pytest.raises(ArtefactError, match="no blueprint 'tiny'"):
        BlueprintAgent(recipe.rules, "tiny")
    # A run that was killed is begun anew.
    (tmp_path / "tiny.run").mkdir()
    (tmp_path / "tiny.run" / "recipe.toml").write_text(recipe.to_toml())
    agent = BlueprintAgent(recipe.rules, "tiny", train=True)
    made = tmp_path / "tiny.run" / "blueprint.safetensors"
    assert agent.blueprint.form == "full"
    changed = made.stat().st_mtime_ns
    assert BlueprintAgent(recipe.rules, "tiny", train=True).blueprint is agent.blueprint
    assert made.stat().st_mtime_ns == changed


@pytest.mark.parametrize("form", list(FORMS))
def test_a_blueprint_is_a_strategy(form: str) -> None:
    made = tiny(form=form)
    assert isinstance(made, Strategy)
    agent = BlueprintAgent(made.recipe.rules, made)
    for text, board in (("", ""), ("c", ""), ("cc/", "Ks7d2c"), ("cc/cc/", "Ks7d2c9h")):
        state = State.from_betting_text(made.recipe.rules, text)
        public = PublicState(state, parse_cards(board), 0)
        mine, played = made.policy(public), agent.policy(public)
        assert mine.actions == played.actions
        free = ~blocked(public.board)
        np.testing.assert_allclose(mine.probabilities[free], played.probabilities[free], atol=1e-6)
        # One column and the whole decision are the same to the last bit.
        node = made.nodes[state.history]
        for column in (0, made.rows(node).shape[1] - 1):
            assert made.mix(node, column) == made.rows(node)[:, column].tolist()
    off = State.start(made.recipe.rules).apply(raise_to(333))
    with pytest.raises(GameError, match="translates bets"):
        made.policy(PublicState(off, (), 0))
