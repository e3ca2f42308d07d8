"""Large pots before the flop, solved at their real size."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_COUNT, parse_combo
from equipoise.cards.range import Range
from equipoise.errors import GameError, RangeError
from equipoise.games.hand import all_in_share
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, State, raise_to
from equipoise.search.preflop import is_large, pots_behind, preflop_game, solve_preflop

#: The line in which a hand with the price to call was folded.
LINE = "r300r1000r3000r9900r20000"


def played(text: str) -> State:
    return State.from_betting_text(NOLIMIT_HOLDEM, text)


def test_when_a_pot_is_large() -> None:
    assert pots_behind(played("r300r1000r3000r9900")) == pytest.approx(10100 / 19800)
    assert is_large(played("r300r1000r3000r9900"))
    assert not is_large(played("r300r1000r3000"))
    assert not is_large(played(""))
    assert not is_large(played("r20000c///"))


def test_a_caller_wins_his_equity() -> None:
    """One hand against another: what each is worth is exact arithmetic."""
    state = played(LINE)
    ranges = (Range.parse("As4s"), Range.parse("9h9d"))
    solved = solve_preflop(state, ranges, iterations=20)
    share = all_in_share(parse_cards("As4s"), parse_cards("9h9d"), ())
    hand, other = parse_combo("As4s"), parse_combo("9h9d")
    assert share == pytest.approx(0.33, abs=0.02)
    # 10,100 to call into 29,900: called, for a third is more than a quarter.
    policy = solved.policy()
    assert policy.actions == (FOLD, CALL)
    assert policy.probabilities[hand, 0] <= 0.01
    assert solved.values(0)[hand] == pytest.approx(20000 * (2 * share - 1), rel=0.01)
    assert solved.values(1)[other] == pytest.approx(-20000 * (2 * share - 1), rel=0.01)


def test_the_hand_that_was_folded_is_called() -> None:
    state = played(LINE)
    # Who goes all-in over four bets: big pairs, ace-king, some smaller pairs.
    jams = Range.parse("77+,AKs,AKo,AQs,A5s")
    calls = Range.parse("22+,A2s+,AJo+,KQs")
    solved = solve_preflop(state, (calls, jams))
    assert solved.policy().probabilities[parse_combo("As4s"), 0] <= 0.01
    assert solved.policy().probabilities[parse_combo("AsAh"), 0] <= 1e-4


def test_a_raise_before_the_last_may_be_called_or_jammed() -> None:
    state = played("r300r1000r3000r9900")
    game = preflop_game(state)
    labels = {game.betting.label(child) for child in game.betting.children(0)}
    assert labels == {"fold", "call", "allin 20000"}
    solved = solve_preflop(state, (Range.parse("22+,ATs+,AQo+"), Range.parse("99+,AQs+,AKo")), me=0)
    rows = solved.policy().probabilities
    assert rows.sum(axis=1) == pytest.approx(np.ones(COMBO_COUNT), abs=1e-5)
    assert rows[parse_combo("AsAh"), 0] < 0.01
    assert solved.solver.exploitability() < 0.01 * state.pot
    after = state.apply(max(solved.policy().actions))
    assert solved.knows(after)
    assert solved.policy(after).actions == (FOLD, CALL)


def test_the_answer_to_a_raise_is_solved_from_before_it() -> None:
    """He may fold, call, raise as he did or go all-in; what he holds then follows from the solve."""
    before = played("r300r1000r3000")
    raised = raise_to(9900)
    full = np.ones(COMBO_COUNT)
    solved = solve_preflop(before, (full, full), raised=raised, iterations=300)
    labels = {solved.game.betting.label(child) for child in solved.game.betting.children(0)}
    assert labels == {"fold", "call", "raise 9900", "allin 20000"}
    assert solved.state == before.apply(raised)
    assert solved.policy().actions[:2] == (FOLD, CALL)
    mine, his = solved.ranges()[1], solved.ranges()[0]
    assert mine == pytest.approx(full)
    # He raises with some hands, and what my hands are worth is counted against these.
    assert 0 < his.sum() < 0.9 * COMBO_COUNT
    values = solved.values(1)
    assert values[parse_combo("AsAh")] > values[parse_combo("7s2d")] >= -3000 - 1
    whole = solve_preflop(before, (full, full), iterations=300)
    with pytest.raises(GameError, match="not in the tree"):
        whole.policy(before.apply(raised))


def test_what_is_refused() -> None:
    with pytest.raises(GameError, match="where somebody acts"):
        preflop_game(played("cc/"))
    with pytest.raises(RangeError, match="no hand"):
        solve_preflop(played(LINE), (np.zeros(COMBO_COUNT), np.ones(COMBO_COUNT)))
    solved = solve_preflop(played(LINE), (Range.full(), Range.full()), iterations=2)
    with pytest.raises(GameError, match="not in the tree"):
        solved.policy(played("r300"))
