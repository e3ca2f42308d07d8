"""Solved spots: values against enumeration, the LP and closed forms; walking, locks and files."""

from __future__ import annotations

import json
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from enumerator import Cards, Referee

from equipoise import artefact
from equipoise.cards.card import card_text, cards_text, parse_cards
from equipoise.cards.combos import COMBO_CARDS, combo_index, combo_text
from equipoise.cards.evaluator import evaluate
from equipoise.cards.range import Range
from equipoise.errors import (
    ArtefactError,
    CardError,
    EquipoiseError,
    GameError,
    IllegalActionError,
    SolverError,
    TooLargeError,
)
from equipoise.games.betting import Rake
from equipoise.games.notation.labels import action_label
from equipoise.games.policy import PublicState
from equipoise.games.rules import NOLIMIT_HOLDEM, State
from equipoise.games.spot import Spot
from equipoise.solve.solvers.cfr import Discounting
from equipoise.solve.solvers.linear_program import LinearProgram
from equipoise.solve.spots import export as exporting
from equipoise.solve.spots.equities import Showdowns
from equipoise.solve.spots.export import line_texts
from equipoise.solve.spots.solution import Solution, solve_spot
from equipoise.solve.spots.spotsolver import SpotSolver
from equipoise.solve.strategies.bestresponse import exploitability_of, response_value, value_of
from equipoise.solve.strategies.strategy import Strategy
from equipoise.solve.strategies.tabular import TabularStrategy

#: Clubs, diamonds and spades are alike: 48 rivers are played on far fewer boards.
ALIKE = Spot("Kh7h2h5h", "QQ", "JJ,AA:0.5", pot=100, stack=75, menu="50%,a", name="alike")
RIVER = Spot(
    "Td9d6hQc2s", "KJ,AQ,TT,55,A5s", "QJ,99,AT,KK:0.5,87s", pot=100, stack=200, menu="50%,a"
)
TURN = Spot(
    "Td9d6hQc",
    "KJs,AQs,TT,AdJd,8c7c",
    "QJs,99,ATs,KcKd:0.5",
    pot=100,
    stack=150,
    menu={"bets": "50%", "raises": "a", "river": {"oop": {"donks": "a"}}},
)


@cache
def solved(spot: Spot, iterations: int = 60, use_symmetry: bool = True) -> Solution:
    return solve_spot(spot, None, iterations=iterations, use_symmetry=use_symmetry)


def played(solution: Solution):
    """The strategy of a solution as the enumerator asks for it, through the public walk."""
    betting, start = solution.game.betting, len(solution.spot.board)
    texts = line_texts(betting)
    nodes = {betting.states[n].betting_text(): n for n in np.flatnonzero(betting.kind < 2)}
    known: dict[tuple[str, Cards], dict[int, np.ndarray]] = {}

    def play(player: int, hole: Cards, board: Cards, text: str):
        if (text, board) not in known:
            cards = iter(board[start:])
            words = [w for w in texts[nodes[text]].split(", ") if w]
            position = solution.at(*(card_text(next(cards)) if w == "/" else w for w in words))
            assert position.to_act == player
            assert set(position.board) == set(board)
            play = position.strategy().T
            known[text, board] = dict(zip(position.hands(player).tolist(), play, strict=True))
        mixture = known[text, board][combo_index(*hole)]
        return np.full(len(mixture), 1 / len(mixture)) if np.isnan(mixture[0]) else mixture

    return play


@pytest.mark.parametrize("rake", [Rake(), Rake(0.05, 6)])
@pytest.mark.parametrize(
    ("board", "line"),
    [
        (ALIKE.board, ""),
        # A bet that is on the menu, one that is not, a raise, a check; cards to come and none.
        (ALIKE.board, "check, bet 50"),
        (ALIKE.board, "bet 23"),
        ((*ALIKE.board, *parse_cards("3c")), "check, bet 31"),
        ((*ALIKE.board, *parse_cards("3c")), "bet 20, raise 45"),
        ((*ALIKE.board, *parse_cards("3c")), "check"),
    ],
)
def test_values_and_exploitability_agree_with_enumeration(rake, board, line):
    spot = Spot(board, ALIKE.oop_range, ALIKE.ip_range, 100, 75, ALIKE.menu, rake, line=line)
    solution = solved(spot, 15 if not line else 3)
    assert len(solution.game.deal.boards) < 30

    @cache
    def strength(hole: Cards, board: Cards) -> int:
        return evaluate(hole + board)

    ranges = tuple(
        {
            tuple(int(c) for c in COMBO_CARDS[combo]): weight
            for combo, weight in hands.without(spot.board)
        }
        for hands in (spot.oop_range, spot.ip_range)
    )
    begin = spot.origin
    referee = Referee(spot.rules, spot.menu, strength, tuple(rake), spot.board, ranges, begin=begin)
    play = played(solution)
    values = referee.values(play)
    root = solution.at()
    for player in (0, 1):
        owned = 50 + begin.committed[player]
        assert root.mean_ev(player) == pytest.approx(values[player] + owned, abs=1e-3)
    gains = [referee.best_response(player, play) - values[player] for player in (0, 1)]
    assert solution.exploitability_chips == pytest.approx(sum(gains) / 2, abs=1e-3)
    assert solution.exploitability_chips > 0.05
    assert solution.exploitability_pct_pot == pytest.approx(
        100 * solution.exploitability_chips / (100 + sum(begin.committed))
    )


@pytest.mark.parametrize("line", ["", "check, bet 70"])
def test_value_is_that_of_the_linear_program(line):
    spot = Spot(
        "Td9d6hQc2s", "KJs,AQs,55,A5s", "QJs,99,AhTh", pot=100, stack=200, menu="50%,a", line=line
    )
    referee = LinearProgram(spot.game())
    referee.advance(1)
    solution = solve_spot(spot, target_pct_pot=0.02)
    assert solution.reached
    assert solution.at().mean_ev("oop") == pytest.approx(referee.value(), abs=0.03)


@pytest.mark.parametrize(
    ("oop", "ip", "rake", "ev"),
    [
        # The nuts and nothing, against a hand between them: 50 · ½ · (1 + 50 / (50 + 50)).
        ("AsAh,QsJs", "TcTd", Rake(), (37.5, 12.5)),
        ("AsAh", "TcTd", Rake(), (50, 0)),
        ("AsAh", "TcTd", Rake(0.1, 4), (46, 0)),
        ("QsJs", "TcTd", Rake(), (0, 50)),
        ("QsJs", "TcTd", Rake(0.1, 4), (0, 46)),
        ("AsQc", "AhQd", Rake(), (25, 25)),
        ("AsQc", "AhQd", Rake(0.1, 4), (23, 23)),
    ],
)
def test_hands_that_always_win_lose_or_tie(oop, ip, rake, ev):
    spot = Spot("2c3d7h8sKh", oop, ip, pot=50, stack=50, menu="a", rake=rake)
    root = solve_spot(spot, target_pct_pot=0.02).at()
    assert (root.mean_ev(0), root.mean_ev(1)) == pytest.approx(ev, abs=0.05)


def test_checking_down_is_worth_equity_times_pot():
    spot = Spot(TURN.board, TURN.oop_range, TURN.ip_range, pot=100, stack=10, menu="")
    solution = solve_spot(spot, None, iterations=1)
    root = solution.at()
    for player in (0, 1):
        assert root.ev(player) == pytest.approx(100 * root.equity(player), abs=1e-3)
        assert root.mean_realisation(player) == pytest.approx(1)
    assert root.actions == ("check",)


def test_equities_agree_with_counting_every_river():
    showdowns = Showdowns(TURN.game())
    board, (mine, theirs) = TURN.board, showdowns.game.deal.boards[0].hands
    table = showdowns.table(0)
    assert showdowns.run_outs(0) == 44
    for i, j in [(0, 0), (5, 3), (10, 7), (len(mine) - 1, len(theirs) - 1)]:
        hands = [tuple(int(c) for c in hand) for hand in (mine[i], theirs[j])]
        if set(hands[0]) & set(hands[1]):
            continue
        left = set(range(52)) - {*board, *hands[0], *hands[1]}
        results = [
            np.sign(evaluate((*hands[0], *board, c)) - evaluate((*hands[1], *board, c)))
            for c in left
        ]
        assert table[i, j] == sum(results)


def test_values_are_consistent_along_a_line():
    solution = solved(TURN)
    for steps in [(), ("check",), ("bet", "call", "2h"), ("check", "check", "Kh", "check", "bet")]:
        position = solution.at(*steps)
        who = position.to_act
        assert position.mean_ev(0) + position.mean_ev(1) == pytest.approx(position.pot, abs=0.01)
        play, worth = position.strategy(), position.action_ev()
        assert np.nansum(play * worth, axis=0)[position.reach(who) > 1e-6] == pytest.approx(
            position.ev(who)[position.reach(who) > 1e-6], abs=0.01
        )
        if "fold" in position.actions:
            fold = worth[position.actions.index("fold")]
            assert fold[~np.isnan(fold)] == pytest.approx(0, abs=1e-3)
            call = worth[position.actions.index("call")]
            price = position.state.to_call
            expected = position.equity(who) * (position.pot + price) - price
            known = ~np.isnan(call)
            assert call[known] == pytest.approx(expected[known], abs=0.01)


def test_a_deal_is_worth_the_mean_of_its_cards():
    solution = solved(TURN)
    before = solution.at("check", "check")
    assert before.to_act is None
    assert before.street == "turn"
    hand = int(before.hands(0)[4])
    facing = before.range("ip")
    total = chips = 0.0
    for card in range(52):
        if card in before.board or card in COMBO_CARDS[hand]:
            continue
        after = solution.at("check", "check", card_text(card))
        mass = facing.without((*COMBO_CARDS[hand].tolist(), card)).combos
        place = int(np.searchsorted(after.hands(0), hand))
        chips += mass * after.ev(0)[place]
        total += mass
    place = int(np.searchsorted(before.hands(0), hand))
    assert before.ev(0)[place] == pytest.approx(chips / total, abs=0.01)


def test_merged_boards_show_the_card_that_was_dealt():
    merged, apart = solved(ALIKE, 10), solved(ALIKE, 10, use_symmetry=False)
    assert len(apart.game.deal.boards) == 49
    for card in ("3c", "3d", "3s", "Ad", "As", "9h"):
        for line in (("check", "check"), ("bet", "call")):
            here, there = merged.at(*line, card), apart.at(*line, card)
            assert here.board == there.board == (*ALIKE.board, *parse_cards(card))
            for player in (0, 1):
                assert np.array_equal(here.hands(player), there.hands(player))
                for figure in ("reach", "ev", "equity"):
                    mine, his = getattr(here, figure)(player), getattr(there, figure)(player)
                    assert mine == pytest.approx(his, abs=2e-3, nan_ok=True), (card, figure)
            assert here.strategy() == pytest.approx(there.strategy(), abs=2e-3, nan_ok=True)


def test_renamed_suits_give_renamed_answers():
    renaming = list(permutations(range(4)))[17]

    def moved(card: int) -> int:
        return card - card % 4 + renaming[card % 4]

    def moved_range(hands: Range) -> Range:
        weights = np.zeros(1326)
        for combo, weight in hands:
            weights[combo_index(*(moved(int(c)) for c in COMBO_CARDS[combo]))] = weight
        return Range(weights)

    board = [moved(c) for c in TURN.board]
    other = Spot(
        board, moved_range(TURN.oop_range), moved_range(TURN.ip_range), 100, 150, TURN.menu
    )
    # Later, rounding decides ties between actions, and the paths to equilibrium part.
    first, second = solved(TURN, 2), solved(other, 2)
    for steps in [(), ("bet", "call", "Kh")]:
        renamed = [card_text(moved(parse_cards(w)[0])) if w[0].isupper() else w for w in steps]
        here, there = first.at(*steps), second.at(*renamed)
        for player in (0, 1):
            mine = dict(zip(here.hands(player).tolist(), here.ev(player), strict=True))
            his = dict(zip(there.hands(player).tolist(), there.ev(player), strict=True))
            assert len(mine) == len(his)
            for combo, ev in mine.items():
                image = combo_index(*(moved(int(c)) for c in COMBO_CARDS[combo]))
                assert his[image] == pytest.approx(ev, abs=1e-3, nan_ok=True)
    first, second = solved(TURN, 300), solved(other, 300)
    assert first.at().mean_ev(0) == pytest.approx(second.at().mean_ev(0), abs=0.01)


def test_threads_give_the_same_answer():
    one, two = solved(TURN, 300), solve_spot(TURN, None, iterations=300, threads=2)
    assert two.threads == 2
    for player in (0, 1):
        assert one.at().mean_ev(player) == pytest.approx(two.at().mean_ev(player), abs=1e-2)
    # Whatever the strategy, one thread and two make the same of it.
    for measure in (exploitability_of, value_of):
        mine = measure(one.tableau, two.plan)
        assert mine == pytest.approx(measure(two.tableau, two.plan), abs=1e-4)


def test_sixteen_bits_give_nearly_the_same_answer():
    spot = RIVER
    packed = solve_spot(spot, target_pct_pot=0.2, storage="16-bit")
    assert packed.storage == "16-bit"
    assert packed.reached
    exact = solve_spot(spot, target_pct_pot=0.2)
    assert packed.memory_bytes < 0.6 * exact.memory_bytes
    assert packed.at().mean_ev(0) == pytest.approx(exact.at().mean_ev(0), abs=0.4)


def test_exploitability_with_rake_counts_gains_only():
    spot = Spot(RIVER.board, RIVER.oop_range, RIVER.ip_range, 100, 200, "50%,a", Rake(0.1, 20))
    solver = SpotSolver(spot.game())
    solver.advance(300)
    # Half the sum of the best responses alone would be below zero by half the rake.
    assert 0 <= solver.exploitability() < 0.3
    free = SpotSolver(RIVER.game())
    free.advance(30)
    assert free.exploitability() == pytest.approx(
        exploitability_of(free.tableau, free.plan), abs=1e-4
    )


# ---------------------------------------------------------------------------------- walking


def test_walking_takes_prefixes_and_says_what_is_possible():
    solution = solved(RIVER)
    assert solution.at("check", "allin").line == ("check", "allin 200")
    assert solution.at("Check , BET").line == ("check", "bet 50")
    assert solution.at("check", "all-in", "call").to_act is None
    with pytest.raises(IllegalActionError, match="choose from check, bet 50, allin 200"):
        solution.at("bet 60")
    with pytest.raises(IllegalActionError, match="over"):
        solution.at("check", "check", "2c")
    with pytest.raises(IllegalActionError, match="a card is dealt: name one"):
        solved(TURN).at("check", "check", "check")
    with pytest.raises(CardError, match="on the board"):
        solved(TURN).at("check", "check", "Td")
    with pytest.raises(IllegalActionError, match="nobody decides"):
        solved(TURN).at("check", "check").strategy()
    with pytest.raises(EquipoiseError, match="'oop' or 'ip'"):
        solution.at().ev("button")


def test_hands_that_never_get_there_are_undefined():
    solution = solve_spot(RIVER, None, iterations=30)
    root = solution.at()
    solution.lock(root, {"check": 1.0}, "KJ")
    solution.solve_on(None, iterations=60)
    after = solution.at("bet")
    reach, hands = after.reach("oop"), after.hands("oop")
    never = np.array([combo_text(int(h))[::2] in ("KJ", "JK") for h in hands])
    assert never.any()
    assert (reach[never] == 0).all()
    assert np.isnan(after.ev("oop")[never]).all()
    assert not np.isnan(after.ev("oop")[reach > 1e-3]).any()
    raised = after.step("allin")
    assert np.isnan(raised.strategy()[:, raised.reach("oop") == 0]).all()
    assert not raised.range("oop") & Range.parse("KJ")


def test_frequencies_chart_and_tables():
    root = solved(RIVER).at()
    assert root.frequencies().sum() == pytest.approx(1)
    matrix = root.matrix()
    assert matrix.shape == (13, 13, 3)
    assert matrix[1, 3].sum() == pytest.approx(1)  # KJs is there with all its hands.
    assert root.table().row_count == 3
    assert root.hand_table(3).row_count == 3
    told = json.loads(json.dumps(root.to_dict()))
    assert told["actions"] == ["check", "bet 50", "allin 200"]
    assert len(told["oop"]["hands"]) == len(told["strategy"][0])
    assert "<svg" in root._repr_html_()


def test_plot_writes_a_picture(tmp_path):
    solved(RIVER).at("check").plot(tmp_path / "chart.png")
    assert (tmp_path / "chart.png").stat().st_size > 10_000


# ---------------------------------------------------------------------------------- mid-street


MIDDLE = Spot(RIVER.board, RIVER.oop_range, RIVER.ip_range, 100, 200, "50%,a", line="check, bet 70")


def test_a_spot_from_the_middle_of_a_street_is_walked_from_there():
    solution = solved(MIDDLE)
    root = solution.at()
    assert (root.line, root.player, root.pot) == ((), "oop", 170)
    assert root.actions == ("fold", "call", "raise 190", "allin 200")
    assert root.title == "Td9d6hQc2s, pot 170, check – bet 70: oop"
    assert root.to_dict()["before"] == ["check", "bet 70"]
    assert root.mean_ev("oop") + root.mean_ev("ip") == pytest.approx(170, abs=1e-3)
    assert np.nanmin(root.ev("oop")) > -0.5
    assert root.range("ip") == MIDDLE.ip_range.without(MIDDLE.board)
    after = solution.at("call")
    assert (after.line, after.pot, after.to_act) == (("call",), 240, None)
    with pytest.raises(
        IllegalActionError, match="after 'check, bet 70' it is oop's turn: choose from fold, call"
    ):
        solution.at("check")


def test_a_solve_from_the_middle_of_a_street_is_the_whole_one_locked_until_there():
    """With the line locked for all hands, both trees are one from there on."""
    whole = solve_spot(MIDDLE.__class__(**{**fields(MIDDLE), "line": ""}), None, iterations=1)
    whole.lock(whole.at(), {"check": 1.0})
    whole.lock(whole.at("check"), {"bet 50": 1.0})
    part = Spot(**{**fields(MIDDLE), "line": "check, bet"})
    assert part.line == "check, bet 50"
    whole.solve_on(0.02)
    inside, begun = whole.at("check", "bet 50"), solve_spot(part, 0.02).at()
    assert inside.actions == begun.actions
    for player in (0, 1):
        assert np.array_equal(inside.hands(player), begun.hands(player))
        assert np.allclose(inside.reach(player), begun.reach(player))
        assert inside.equity(player) == pytest.approx(begun.equity(player))
        assert inside.mean_ev(player) == pytest.approx(begun.mean_ev(player), abs=0.06)
    # The same strategy is worth the same, hand by hand, and as exploitable.
    solution = begun.answer
    kept = solution.solver.plan.copy()
    for board, node in solution.index.decisions():
        text = solution.game.betting.states[node].betting_text()
        same = next(n for n, s in enumerate(whole.game.betting.states) if s.betting_text() == text)
        block = whole.rows(same, board)
        solution.index.block(solution.solver.plan, board, node)[:] = block
    solution.forget()
    for player in (0, 1):
        assert inside.ev(player) == pytest.approx(solution.at().ev(player), abs=1e-3)
    assert solution.solver.exploitability() == pytest.approx(whole.exploitability_chips, abs=1e-3)
    solution.solver.plan[:] = kept


def fields(spot: Spot) -> dict:
    return {name: getattr(spot, name) for name in spot.__dataclass_fields__}


@pytest.mark.parametrize("how", [{}, {"answer_only": True}, {"through": "turn"}])
def test_a_spot_from_the_middle_of_a_street_is_saved_and_opened(tmp_path, how):
    spot = Spot(**{**fields(TURN), "line": "check, bet 60"})
    solution = solve_spot(spot, None, iterations=5)
    solution.save(tmp_path / "middle.solution", **how)
    opened = Solution.load(tmp_path / "middle.solution")
    assert opened.spot == spot
    assert opened.spot.line == "check, bet 60"
    assert opened.exploitability_pct_pot == solution.exploitability_pct_pot
    here, there = solution.at("call"), opened.at("call")
    assert here.title == there.title
    assert here.ev("oop") == pytest.approx(there.ev("oop"), abs=0.1, nan_ok=True)
    river = opened.at("call", "2h")
    assert river.pot == 220
    assert river.title.startswith("Td9d6hQc2h, pot 220, check – bet 60 – call – 2h")
    assert river.line == ("call", "2h")
    other = solve_spot(TURN, None, iterations=5)
    assert other.game.fingerprint() != solution.game.fingerprint()


def test_exports_count_lines_from_where_the_spot_begins(tmp_path):
    solved(MIDDLE).export(tmp_path / "all.json")
    told = json.loads((tmp_path / "all.json").read_text())
    assert [(d["line"], d["pot"], d["player"]) for d in told["decisions"]] == [
        ("", 170, "oop"),
        ("raise 190, allin 200", 490, "oop"),
        ("raise 190", 360, "ip"),
        ("allin 200", 370, "ip"),
    ]
    assert Spot.from_toml(told["spot_toml"]) == MIDDLE


# ---------------------------------------------------------------------------------- locks


def test_a_player_who_always_folds_is_bet_into():
    solution = solve_spot(RIVER, None, iterations=50)
    before = solution.at().mean_ev("oop")
    for action in ("bet", "allin"):
        solution.lock(solution.at(action), {"fold": 1.0})
    assert solution.exploitability_chips > 1
    solution.solve_on(0.05)
    assert solution.reached
    root = solution.at()
    assert root.mean_ev("oop") == pytest.approx(100, abs=0.1)
    assert root.mean_ev("oop") > before + 10
    assert root.frequencies()[0] < 0.2
    assert (solution.at("bet").strategy()[0] == 1).all()
    assert "restricted game" in solution.at().table().caption
    assert solution.to_dict()["exploitability_of"] == "restricted game"
    solution.unlock()
    solution.solve_on(0.1)
    assert solution.at().mean_ev("oop") == pytest.approx(before, abs=0.5)
    assert "exploitability_of" not in solution.to_dict()


def test_locks_of_some_hands_hold_exactly_and_best_responses_obey_them():
    solution = solve_spot(RIVER, target_pct_pot=0.1)
    value = solution.at().mean_ev("ip")
    position = solution.at("bet 50")
    solution.lock(position, [0.25, 0.5, 0.25, 0], "QJ")
    solution.lock(position, {"call": 1.0}, "99")
    solution.solve_on(0.1)
    after = solution.at("bet 50")
    names = [combo_text(int(h)) for h in after.hands("ip")]
    play = dict(zip(names, after.strategy().T.tolist(), strict=True))
    assert play["QdJs"] == [0.25, 0.5, 0.25, 0]
    assert play["9s9h"] == [0, 1, 0, 0]
    free = [p for name, p in play.items() if name[::2] not in ("QJ", "99")]
    assert len({tuple(np.round(p, 3)) for p in free}) > 1
    assert solution.at().mean_ev("ip") < value + 0.1
    # A best response that broke the lock would gain more than the one that keeps it.
    bound = response_value(solution.solver.tableau, 1, solution.plan)
    solution.solver.tableau.lock({})
    assert response_value(solution.solver.tableau, 1, solution.plan) > bound + 0.05


def test_locks_that_cannot_be_are_refused():
    solution = solve_spot(ALIKE, None, iterations=5)
    root = solution.at()
    with pytest.raises(SolverError, match="tells suits apart"):
        solution.lock(root, {"check": 1.0}, "QcQd")
    solution.lock(root, {"check": 1.0}, "QcQd,QsQc,QsQd")
    with pytest.raises(SolverError, match="sum to 1"):
        solution.lock(root, [0.5] * len(root.actions))
    with pytest.raises(SolverError, match="no action 'fold'"):
        solution.lock(root, {"fold": 1.0})
    with pytest.raises(SolverError, match="shape"):
        solution.lock(root, [[1.0, 0.0]])
    with pytest.raises(SolverError, match="none of these hands"):
        solution.lock(root, {"check": 1.0}, "AA")
    with pytest.raises(SolverError, match="another solution"):
        solution.lock(solved(RIVER).at(), {"check": 1.0})
    with pytest.raises(SolverError, match="nothing is locked"):
        solution.unlock(solution.at("check"))
    packed = solve_spot(RIVER, None, iterations=5, storage="16-bit")
    with pytest.raises(SolverError, match="32-bit"):
        packed.lock(packed.at(), {"check": 1.0})


def test_a_lock_after_a_merged_card_holds_on_its_equals():
    solution = solve_spot(ALIKE, None, iterations=20)
    solution.lock(solution.at("check", "check", "3c"), {"check": 1.0})
    solution.solve_on(None, iterations=30)
    for card in ("3c", "3d", "3s"):
        play = solution.at("check", "check", card).strategy()
        assert np.nanmin(play[0]) == 1


# ---------------------------------------------------------------------------------- files


@pytest.mark.parametrize("storage", ["32-bit", "16-bit"])
def test_a_solve_goes_on_where_it_was_saved(tmp_path, storage):
    path = tmp_path / "spot.solution"
    first = solve_spot(TURN, None, iterations=10, storage=storage)
    first.save(path)
    opened = Solution.load(path)
    assert opened.spot == TURN
    assert opened.iterations == 10
    assert opened.exploitability_chips == first.exploitability_chips
    first.solve_on(None, iterations=20)
    opened.solve_on(None, iterations=20)
    assert np.array_equal(first.plan, opened.plan)
    assert opened.seconds > 0


def test_locks_and_weights_survive_a_file(tmp_path):
    rng = np.random.default_rng(3)
    weights = RIVER.oop_range.weights * rng.random(1326).astype(np.float32)
    spot = Spot(RIVER.board, Range(weights), RIVER.ip_range, 100, 200, "50%,a")
    solution = solve_spot(spot, None, iterations=20)
    solution.lock(solution.at("bet"), {"fold": 0.5, "call": 0.5}, "QJ")
    solution.solve_on(None, iterations=40)
    solution.save(tmp_path / "locked")
    opened = Solution.load(tmp_path / "locked")
    assert opened.at("bet").strategy() == pytest.approx(
        solution.at("bet").strategy(), abs=1e-12, nan_ok=True
    )
    assert opened.to_dict() == pytest.approx(solution.to_dict())
    assert opened.to_dict()["locked_decisions"] == 1


def test_a_cut_file_keeps_its_street_and_solves_the_rest_on_demand(tmp_path):
    whole = solve_spot(TURN, target_pct_pot=0.1)
    whole.save(tmp_path / "cut", through="turn")
    whole.save(tmp_path / "whole")
    assert (tmp_path / "cut").stat().st_size < 0.2 * (tmp_path / "whole").stat().st_size
    cut = Solution.load(tmp_path / "cut")
    for steps in [(), ("check",), ("check", "bet"), ("check", "bet", "call")]:
        here, there = cut.at(*steps), whole.at(*steps)
        for player in (0, 1):
            assert here.ev(player) == pytest.approx(there.ev(player), abs=1e-3, nan_ok=True)
    for steps in [("check", "check", "Kh"), ("check", "bet", "call", "7d"), ("bet", "call", "2h")]:
        here, there = cut.at(*steps), whole.at(*steps)
        assert here.answer is not cut
        assert here.line == there.line
        assert here.actions == there.actions
        assert (here.pot, here.board, here.to_act) == (there.pot, there.board, there.to_act)
        for player in (0, 1):
            assert here.reach(player)[here.reach(player) > 0] == pytest.approx(
                there.range(player).weights[here.hands(player)[here.reach(player) > 0]], rel=1e-4
            )
    # The line that is played: there both have converged.
    for player in (0, 1):
        assert here.mean_ev(player) == pytest.approx(there.mean_ev(player), abs=0.005 * here.pot)
    # Calling a bet on the turn brings the donk sizes of the river, in the re-solved street too.
    assert cut.at("check", "bet", "call", "7d").actions == ("check", "allin 100")
    assert cut.at("check", "check", "Kh").answer is cut.at("check", "check", "Kh").answer
    with pytest.raises(SolverError, match="only the answer"):
        cut.solve_on(0.01)
    with pytest.raises(SolverError, match="cut at one of turn"):
        cut.save(tmp_path / "again", through="river")


def test_an_answer_in_sixteen_bits(tmp_path):
    whole = solved(TURN)
    whole.save(tmp_path / "answer", answer_only=True)
    answer = Solution.load(tmp_path / "answer")
    for steps in [(), ("bet", "call", "Kh")]:
        here, there = answer.at(*steps), whole.at(*steps)
        assert here.strategy() == pytest.approx(there.strategy(), abs=1e-4, nan_ok=True)
        assert here.mean_ev(0) == pytest.approx(there.mean_ev(0), abs=0.02)


def test_damaged_foreign_and_other_files_are_refused(tmp_path):
    solution = solved(RIVER)
    good = tmp_path / "good"
    solution.save(good)
    data = good.read_bytes()
    bad = tmp_path / "bad"
    for broken in (
        data[:-100],
        data[:300],
        data[:-50] + b"\xff" * 50,
        b"",
        b"board = 3",
        b"\0" * 99,
    ):
        bad.write_bytes(broken)
        with pytest.raises(ArtefactError):
            Solution.load(bad)
    with pytest.raises(ArtefactError, match="no such file"):
        Solution.load(tmp_path / "nowhere")
    solution.solver.save(bad)
    with pytest.raises(ArtefactError, match="holds a solver, not a solution"):
        Solution.load(bad)
    manifest, arrays = artefact.read(good, "solution")
    assert "Td" in manifest["configuration"]["spot"]
    facts = {k: v for k, v in manifest.items() if k in (
        "version", "solver", "streets", "iterations", "seconds", "exploitability_chips",
        "target_pct_pot", "locks")}  # fmt: skip
    for change in ({"layout": 99}, {"game_fingerprint": "0"}):
        artefact.write(bad, "solution", manifest["configuration"] | change, arrays, **facts)
        with pytest.raises(ArtefactError, match=f"written by version {facts['version']}"):
            Solution.load(bad)
    artefact.write(bad, "solution", manifest["configuration"], {"plan": arrays["plan"]}, **facts)
    with pytest.raises(ArtefactError, match="regrets is missing"):
        Solution.load(bad)


def test_files_that_say_nothing_of_steps_are_gone_on_with_as_they_were_begun(tmp_path):
    path = tmp_path / "before.solution"
    solve_spot(RIVER, None, iterations=20).save(path)
    manifest, arrays = artefact.read(path, "solution")
    facts = {k: v for k, v in manifest.items() if k not in ("configuration", "checksum", "kind")}
    faded = facts["solver"]["settings"]["discounting"]
    del faded["step"], faded["alpha_ramp"]
    artefact.write(path, "solution", manifest["configuration"], arrays, **facts)
    assert Solution.load(path).solver.discounting == Discounting(**faded)


TINY = Spot("Td9d6hQc", "AhAs,KhKs", "QhQs,JhJs", pot=100, stack=100, menu="a")
#: Values that no field of a file may have; None and lists are some fields' own.
NONSENSE = (
    "banana", -1, 2**70, 0.5, float("nan"), float("inf"), True, {}, {"a": 1}, [[]], [1, 2], [None],
    [[10**9, 0]], [[0, 10**9]], [[0.5, 0.5]], ["xy"],
)  # fmt: skip


def _places(told, path=()):
    """Every place in nested tables."""
    for key, value in told.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from _places(value, (*path, key))


def _changed(told, path, value):
    """The same nested tables with one place replaced, or left out if there is nothing instead."""
    told = dict(told)
    if len(path) > 1:
        told[path[0]] = _changed(told[path[0]], path[1:], value)
    elif value is _changed:
        del told[path[0]]
    else:
        told[path[0]] = value
    return told


def _kind(value):
    return float if type(value) is int else type(value)


#: What makes no difference to a solve, or may well have been so.
HARMLESS = {
    ("version",), ("seconds",), ("iterations",), ("exploitability_chips",), ("target_pct_pot",),
    ("locks",), ("solver", "settings", "alternating"), ("solver", "settings", "compressed"),
    ("configuration", "use_symmetry"), ("solver", "settings", "discounting", "clipped"),
    ("solver", "settings", "discounting", "predictive"),
}  # fmt: skip


@pytest.mark.parametrize("sort", ["whole", "locked", "cut", "answer"])
def test_signed_nonsense_is_refused(tmp_path, sort):
    """A file whose checksum is right and whose content is not, is refused like a damaged one."""
    solution = solve_spot(TINY, None, iterations=3)
    if sort == "locked":
        solution.lock(solution.at(), {"check": 1.0})
    good, bad = tmp_path / "good", tmp_path / "bad"
    solution.save(good, "turn" if sort == "cut" else None, answer_only=sort == "answer")
    told, arrays = artefact.read(good, "solution")
    for key in ("equipoise", "format", "fingerprint", "checksum"):
        told.pop(key)

    def refused(told, arrays):
        artefact.write(bad, "solution", told["configuration"], arrays, **{
            key: value for key, value in told.items() if key != "configuration"})  # fmt: skip
        try:
            Solution.load(bad).to_dict()
        except ArtefactError:
            return True
        return False

    assert not refused(told, arrays)
    for path in _places(told):
        before = told
        for key in path:
            before = before[key]
        for value in (_changed, *NONSENSE):
            fine = value is not _changed and (path in HARMLESS or _kind(value) is _kind(before))
            if value is _changed and path == ("configuration",):
                continue
            assert refused(_changed(told, path, value), arrays) or fine, (path, value)
    for name, array in arrays.items():
        assert refused(told, {key: arrays[key] for key in arrays if key != name})
        spoilt = [
            array[:-1],
            array.reshape(-1, 1),
            array.astype(np.complex64).real.astype(np.int64),
        ]
        if array.dtype.kind == "f":
            spoilt += [np.full_like(array, np.nan), np.full_like(array, np.inf)]
        for other in spoilt:
            assert refused(told, {**arrays, name: other}), (name, other.dtype, other.shape)


def test_saving_a_cut_refuses_locks_after_it(tmp_path):
    solution = solve_spot(TURN, None, iterations=5)
    solution.lock(solution.at("check", "check", "Kh"), {"check": 1.0})
    with pytest.raises(SolverError, match="locked after the cut"):
        solution.save(tmp_path / "cut", through="turn")


# ---------------------------------------------------------------------------------- exports


def test_export_to_json_is_what_positions_say(tmp_path):
    solution = solved(ALIKE, 40)
    path = tmp_path / "all.json"
    lines = solution.export(path)
    told = json.loads(path.read_text())
    assert sum(len(d["hands"]) for d in told["decisions"]) == lines
    assert Spot.from_toml(told["spot_toml"]) == ALIKE
    rivers = {(d["board"], d["copies"]) for d in told["decisions"] if d["street"] == "river"}
    assert sum(copies for _, copies in rivers) == 48
    for decision in told["decisions"][:: max(1, len(told["decisions"]) // 12)]:
        card = decision["board"][8:]
        words = [card if w == "/" else w for w in decision["line"].split(", ") if w]
        position = solution.at(*words)
        assert cards_text(position.board) == decision["board"]
        assert list(position.actions) == decision["actions"]
        assert position.player == decision["player"]
        assert position.pot == decision["pot"]
        order = np.argsort([combo_index(*parse_cards(hand)) for hand in decision["hands"]])
        for name, mine in (
            ("reach", position.reach(position.player)),
            ("equity", position.equity(position.player)),
            ("ev_chips", position.ev(position.player)),
        ):
            there = np.array(decision[name], dtype=float)[order]
            assert there == pytest.approx(mine, abs=1e-5, nan_ok=True)
        there = np.array(decision["strategy"], dtype=float)[:, order]
        assert there == pytest.approx(position.strategy(), abs=1e-5, nan_ok=True)


def test_export_to_csv_and_parquet_round_trips(tmp_path):
    polars = pytest.importorskip("polars")
    solution = solved(TURN)
    lines = solution.export(tmp_path / "cut.csv", through="turn")
    frame = polars.read_csv(tmp_path / "cut.csv")
    assert frame.height == lines
    assert set(frame["street"]) == {"turn"}
    assert solution.export(tmp_path / "cut.parquet", through="turn") == lines
    same = polars.read_parquet(tmp_path / "cut.parquet")
    assert same.columns == frame.columns
    root = solution.at()
    first = same.filter(polars.col("line") == "")
    assert first["hand"].to_list() == [combo_text(int(h)) for h in root.hands(0)]
    assert first["ev_chips"].to_numpy() == pytest.approx(root.ev(0), abs=1e-3)
    assert first["p1"].to_numpy() == pytest.approx(root.strategy()[0], abs=1e-5)
    assert first["actions"][0] == "check;bet 50"
    assert first["p3"].null_count() == first.height
    assert (
        solution.export(tmp_path / "all.parquet")
        == polars.read_parquet(tmp_path / "all.parquet").height
    )


def test_exports_that_cannot_be_are_refused(tmp_path, monkeypatch):
    with pytest.raises(EquipoiseError, match=r"\.csv, \.parquet or \.json"):
        solved(TURN).export(tmp_path / "all.xlsx")
    with pytest.raises(EquipoiseError, match="no folder"):
        solved(TURN).export(tmp_path / "nowhere" / "all.csv")
    with pytest.raises(SolverError, match="cut at one of turn, river"):
        solved(TURN).export(tmp_path / "all.csv", through="flop")
    monkeypatch.setattr(exporting, "MOST_LINES", 10)
    with pytest.raises(TooLargeError, match="cut it at an earlier street"):
        solved(TURN).export(tmp_path / "all.json")


def test_an_interrupted_run_keeps_its_figures():
    solution = Solution.unsolved(RIVER)

    def stop(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solution.solve_on(0.0, listener=stop)
    assert solution.iterations > 0
    assert solution.exploitability_chips > 0


def test_what_does_not_fit_is_refused_before_it_is_built(monkeypatch):
    monkeypatch.setattr("equipoise.solve.spots.fitting.available_bytes", lambda: 1000)
    with pytest.raises(TooLargeError, match="drop"):
        solve_spot(RIVER)


@pytest.mark.parametrize("spot", [RIVER, ALIKE, TURN])
def test_a_solution_is_a_strategy(spot: Spot) -> None:
    solution = solved(spot)
    assert isinstance(solution, Strategy)
    assert solution.exploitability() == pytest.approx(solution.exploitability_chips, abs=1e-4)
    best = [solution.best_response(player) for player in ("oop", "ip")]
    gains = best[0].value + best[1].value
    assert gains / 2 == pytest.approx(solution.exploitability_chips, abs=1e-3)
    start = TabularStrategy(solution.game, solution.plan)
    for player, found in enumerate(best):
        assert (1 - 2 * player) * found.strategy.value() == pytest.approx(found.value, abs=1e-3)
        assert (1 - 2 * player) * start.value() <= found.value + 1e-4


def test_a_best_response_under_locks() -> None:
    solution = solve_spot(RIVER, None, iterations=60)
    root = solution.at()
    solution.lock(root, {"bet 50": 1}, hands="TT")
    solution.lock(root.step("check"), [1, 0, 0])
    for player in (0, 1):
        found = solution.best_response(player)
        assert isinstance(found.strategy, TabularStrategy)
        played = (1 - 2 * player) * found.strategy.value()
        assert played == pytest.approx(found.value, abs=1e-3)
    fixed = solution.best_response(0).strategy
    hands = solution.game.deal.boards[0].hands[0]
    tens = [i for i, hand in enumerate(hands.tolist()) if all(card // 4 == 8 for card in hand)]
    assert tens
    assert (fixed.rows(0, 0)[1, tens] == 1).all()


@pytest.mark.parametrize("spot", [RIVER, ALIKE, TURN])
def test_policies_are_what_a_walk_shows(spot: Spot) -> None:
    solution = solved(spot)
    rules = solution.betting.rules
    lines = [((), "")]
    if spot is not RIVER:
        lines += [(("7s",), "cc/"), (("8c",), "cc/c"), (("8d",), "cc/c")]
    for cards, text in [*lines, ((), "c")]:
        state = State.from_betting_text(rules, text)
        board = (*spot.board, *parse_cards("".join(cards)))
        policy = solution.policy(PublicState(state, board, 0))
        steps = ["check"] * (len(text.replace("/", "")))
        place = solution.at(*steps[:2], *cards, *steps[2:])
        play = place.strategy()
        who = place.decider()
        assert [action_label(state, action) for action in policy.actions] == list(place.actions)
        for hand, column in zip(place.hands(who), play.T, strict=True):
            if not np.isnan(column).any():
                np.testing.assert_allclose(policy.probabilities[hand], column, atol=1e-6)
    with pytest.raises(GameError, match="begin with"):
        solution.policy(PublicState(State.start(rules), (), 0))
    with pytest.raises(GameError, match="rules of that spot"):
        solution.policy(PublicState(State.start(NOLIMIT_HOLDEM), spot.board, 0))


def test_values_after_a_checkpoint_are_those_of_the_last_strategy(tmp_path):
    spot = Spot("Td9d6hQc", "22+,A2s+,KTs+", "TT+,AQs+,QJs", pot=100, stack=200, menu="75%")
    solution = Solution.unsolved(spot, 1)
    file = tmp_path / "kept.solution"
    solution.solve_on(None, iterations=30, checkpoint=file, checkpoint_seconds=1e-9)
    assert file.exists(), "it was saved on the way"
    solution.save(tmp_path / "end.solution")
    told = [solution.at().mean_ev(name) for name in ("oop", "ip")]
    seen = [Solution.look(tmp_path / "end.solution").at().mean_ev(n) for n in ("oop", "ip")]
    solution.forget()
    true = [solution.at().mean_ev(name) for name in ("oop", "ip")]
    assert told == pytest.approx(true, abs=1e-4)
    assert seen == pytest.approx(true, abs=1e-4)
