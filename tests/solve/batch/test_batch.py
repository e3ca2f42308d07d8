"""Batches: lists of spots, resuming, and reports that equal what one adds up by hand."""

import csv
import json
import os
import signal
import threading
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.artefact import fingerprint
from equipoise.cards.card import cards_text
from equipoise.cards.isomorphism import flops
from equipoise.errors import CardError, EquipoiseError, GameError, RangeError, SolverError
from equipoise.games.spot import Spot
from equipoise.run import Limit, Stop
from equipoise.solve.batch import run as batchrun
from equipoise.solve.batch.flopsubset import choose_flops, flop_features
from equipoise.solve.batch.jobs import Batch, SpotJob, on_board, read_boards
from equipoise.solve.batch.report import BatchReport
from equipoise.solve.batch.results import JobOutcome, Results, summary
from equipoise.solve.batch.run import run_batch
from equipoise.solve.spots.solution import Solution, solve_spot

RIVERS = [("Td9d6hQc2s", 3.0), ("Td9d6hQc3s", 1.0), ("AsKsQh7d2c", 2.5)]


def river(stack: int = 200) -> Spot:
    return Spot("Td9d6hQc2s", "99,JJ,AA,KJs,76s", "TT,KK,AQs,J8s", 100, stack, menu="50%,a")


@pytest.fixture
def rivers() -> Batch:
    return Batch.of_boards(RIVERS, river())


@pytest.fixture
def solved(monkeypatch) -> list[str]:
    """Names of the spots solved, in order."""
    names: list[str] = []

    def counted(spot, *args, **kwargs):
        names.append(spot.name)
        return solve_spot(spot, *args, **kwargs)

    monkeypatch.setattr(batchrun, "solve_spot", counted)
    return names


# ---------------------------------------------------------------------------------- lists


def test_boards_are_read_with_and_without_weights():
    text = "# flops\nTd9d6h 24\n\nAs Kd 2c: 0.5 # dry\n10h9h8h\n7c 7d 7h\t4\n"
    assert read_boards(text) == [
        ("Td9d6h", 24.0),
        ("AsKd2c", 0.5),
        ("Th9h8h", 1.0),
        ("7c7d7h", 4.0),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no board"),
        ("Td9d6h 24\nTd9d6x", "line 2"),
        ("Td9d", "2 cards"),
        ("Td9d6h: many", "'many'"),
        ("Td9d6h -3", "line 1"),
        ("Td9dTd", "twice"),
        ("24", "0 cards"),
    ],
)
def test_bad_boards_are_told_by_line(text, sentence):
    with pytest.raises(EquipoiseError, match=sentence):
        read_boards(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="TtAK9dhscx24 .:#\n\t-e0", max_size=40) | st.text(max_size=30))
def test_any_text_is_boards_or_an_error_of_ours(text):
    try:
        batch = Batch.of_boards(read_boards(text), river())
    except EquipoiseError:
        return
    assert all(job.weight > 0 for job in batch.jobs)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=60))
def test_any_file_is_boards_or_an_error_of_ours(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("boards") / "boards.txt"
    path.write_bytes(data)
    with pytest.raises(EquipoiseError):
        Batch.from_boards(path, river())


def test_a_board_replaces_that_of_the_template_and_nothing_else():
    template = river()
    moved = on_board(template, (0, 5, 10, 15, 20))
    assert cards_text(moved.board) == moved.name == "2c3d4h5s7c"
    kept = {k: v for k, v in moved.to_dict().items() if k not in ("name", "board")}
    assert kept == {k: v for k, v in template.to_dict().items() if k not in ("name", "board")}


def test_a_board_that_leaves_no_hand_is_passed_over_by_name():
    template = Spot("Td9d6hQc2s", "AsAh", "KK", pot=100, stack=200, menu="a")
    batch = Batch.of_boards([("As9d6hQc2s", 1.0), ("Td9d6hQc2s", 1.0)], template)
    assert [job.name for job in batch.jobs] == ["Td9d6hQc2s"]
    assert batch.passed[0].name == "As9d6hQc2s"
    assert "every hand holds a card" in batch.passed[0].reason
    with pytest.raises(EquipoiseError, match="no spot to solve"):
        Batch.of_boards([("As9d6hQc2s", 1.0)], template)


def test_boards_must_fit_the_template_and_come_once():
    with pytest.raises(CardError, match="starts on the river"):
        Batch.of_boards([("Td9d6h", 1.0)], river())
    with pytest.raises(CardError, match="twice"):
        Batch.of_boards([("Td9d6hQc2s", 1.0), ("9dTd6hQc2s", 1.0)], river())
    with pytest.raises(GameError, match="starts on the flop"):
        Batch.from_flops(river(), 5)


def test_a_folder_is_its_spots_and_a_bad_file_is_passed_over(tmp_path):
    (tmp_path / "good.toml").write_text(river().to_toml())
    (tmp_path / "bad.toml").write_text("board = 3")
    batch = Batch.from_folder(tmp_path)
    assert [job.name for job in batch.jobs] == ["good"]
    assert [passed.name for passed in batch.passed] == ["bad"]
    with pytest.raises(EquipoiseError, match="no such folder"):
        Batch.from_folder(tmp_path / "none")


# ---------------------------------------------------------------------------------- flops


@pytest.mark.parametrize("count", [1, 7, 25, 200])
def test_the_weights_of_a_subset_are_all_flops(count):
    subset = choose_flops(count)
    assert len(set(subset.flops)) == count
    assert sum(subset.weights) == 22_100
    assert min(subset.weights) > 0


def test_all_flops_weigh_their_multiplicity_and_have_no_error():
    subset = choose_flops()
    assert len(subset.flops) == 1755
    for flop, weight in list(zip(subset.flops, subset.weights, strict=True))[::97]:
        assert weight == flops().multiplicity(0, flops().index(flop))
    assert not any(subset.errors.values())


def test_a_subset_of_25_has_the_suits_and_pairs_of_all_flops():
    subset = choose_flops(25)
    for name in ("paired", "trips", "two_tone", "monotone"):
        assert subset.errors[name] == pytest.approx(0, abs=1e-12)
    assert max(abs(subset.errors[name]) for name in ("high_rank", "middle_rank", "low_rank")) < 0.2
    # 13 · 6 · 48 flops hold a pair, 13 · 4 three of a rank, 4 · 286 one suit.
    assert subset.means["paired"][0] == pytest.approx(3744 / 22100)
    assert subset.means["trips"][0] == pytest.approx(52 / 22100)
    assert subset.means["monotone"][0] == pytest.approx(4 * 286 / 22100)


def test_features_of_flops_seen_by_eye():
    def cards(text):
        return sorted(np.array([4 * "23456789TJQKA".index(r) + "cdhs".index(s)
                                for r, s in zip(text[::2], text[1::2], strict=True)],
                               dtype=np.uint8), reverse=True)  # fmt: skip

    rows = flop_features(np.array([cards("JsTs9h"), cards("As3d2c"), cards("KhKd7h")]))
    assert rows[0].tolist() == [9, 8, 7, 3, 0, 0, 1, 0, 2]
    assert rows[1].tolist() == [12, 1, 0, 1, 0, 0, 0, 0, 0]
    assert rows[2].tolist() == [11, 11, 5, 0, 1, 0, 1, 0, 0]


def test_flops_of_ranges_that_tell_suits_apart_are_refused():
    template = Spot("Td9d6h", "AsAh,KK", "QQ", pot=100, stack=200, menu="a")
    with pytest.raises(RangeError, match="tell suits apart"):
        Batch.from_flops(template, 5)


# ---------------------------------------------------------------------------------- running


def test_a_batch_resumes_and_solves_nothing_twice(rivers, tmp_path, solved):
    def stop_after_two(event):
        if event.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_batch(rivers, tmp_path, workers=1, listener=stop_after_two)
    assert solved == [name for name, _ in RIVERS[:2]]
    events = []
    outcomes = run_batch(rivers, tmp_path, workers=1, listener=events.append)
    assert solved == [name for name, _ in RIVERS]
    assert [outcome.resumed for outcome in outcomes] == [True, True, False]
    assert (events[0].done, events[0].resumed, events[-1].done) == (2, 2, 3)
    fresh = summary(solve_spot(rivers.jobs[0].spot, 0.5))
    told = dict(outcomes[0].result)
    assert told.pop("seconds") > 0
    assert told == {k: v for k, v in fresh.items() if k != "seconds"} | {"threads": told["threads"]}


def test_a_changed_target_or_spot_is_solved_anew(rivers, tmp_path, solved):
    run_batch(rivers, tmp_path, workers=1)
    run_batch(rivers, tmp_path, Limit(exploitability_pct_pot=0.2), workers=1)
    assert len(solved) == 6
    run_batch(Batch.of_boards(RIVERS, river(stack=150)), tmp_path, workers=1)
    assert len(solved) == 9
    reweighted = Batch.of_boards([(name, 1.0) for name, _ in RIVERS], river())
    run_batch(reweighted, tmp_path, workers=1)
    assert len(solved) == 9, "weights are of the report, not of the solve"


@pytest.mark.parametrize("damage", ["cut", "edit", "foreign", "empty"])
def test_a_damaged_result_is_solved_anew(rivers, tmp_path, solved, damage):
    first = run_batch(rivers, tmp_path, workers=1)
    path = Results(tmp_path).path(rivers.jobs[1])
    text = path.read_text()
    told = json.loads(text)
    told["result"]["ev_oop_chips"] += 1
    other = Results(tmp_path).path(rivers.jobs[0]).read_text()
    texts = {"cut": text[:-9], "edit": json.dumps(told), "foreign": other, "empty": ""}
    path.write_text(texts[damage])
    again = run_batch(rivers, tmp_path, workers=1)
    assert solved[3:] == [RIVERS[1][0]]
    assert again[1].result["ev_oop_chips"] == first[1].result["ev_oop_chips"]


def test_results_are_files_like_any_other_and_left_overs_are_swept(rivers, tmp_path):
    results = Results(tmp_path)
    results.make_folders()
    left = tmp_path / "results" / ".partial-1-00000000-killed.json"
    left.write_text("half")
    Results(tmp_path).make_folders()
    assert not left.exists()
    before = os.umask(0o022)
    try:
        results.write(rivers.jobs[0], {"told": 1})
    finally:
        os.umask(before)
    path = results.path(rivers.jobs[0])
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_a_spot_that_fails_is_told_and_the_others_are_solved(rivers, tmp_path, monkeypatch):
    def fails(spot, *args, **kwargs):
        if spot.name == RIVERS[1][0]:
            raise SolverError("out of luck")
        if spot.name == RIVERS[2][0]:
            raise MemoryError("out of memory")
        return solve_spot(spot, *args, **kwargs)

    monkeypatch.setattr(batchrun, "solve_spot", fails)
    outcomes = run_batch(rivers, tmp_path, workers=1)
    assert [outcome.error for outcome in outcomes] == [
        "",
        "out of luck",
        "MemoryError: out of memory",
    ]
    assert BatchReport(outcomes).means()["spots"] == 1
    monkeypatch.setattr(batchrun, "solve_spot", solve_spot)
    assert [o.resumed for o in run_batch(rivers, tmp_path, workers=1)] == [True, False, False]


def test_processes_give_the_same_answers_and_one_that_dies_takes_nobody_along(tmp_path):
    """A process dies at a spot; that spot alone fails, the others are solved by those that follow."""
    good = Batch.of_boards(RIVERS, river())
    jobs = (*good.jobs[:1], SpotJob("deadly", _Deadly()), *good.jobs[1:])  # type: ignore[arg-type]
    outcomes = run_batch(Batch(jobs), tmp_path / "many", workers=2)
    assert [bool(outcome.error) for outcome in outcomes] == [False, True, False, False]
    assert "process died" in outcomes[1].error
    alone = run_batch(good, tmp_path / "one", workers=1, threads=1)
    for mine, theirs in zip(alone, [o for o in outcomes if not o.error], strict=True):
        assert mine.result["lines"] == theirs.result["lines"]


class _Deadly(Spot):
    """A spot that kills the process that looks at it."""

    def __init__(self) -> None:
        super().__init__("Td9d6hQc2s", "AA", "KK", pot=100, stack=200, menu="a")

    def game(self, *args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_spot_over_its_share_of_memory_is_solved_alone(rivers, tmp_path, monkeypatch):
    crew = batchrun._Crew(Results(tmp_path), 2, 1)
    crew.results.make_folders()
    limits = []

    class Inline:
        """Runs what is submitted at once."""

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def submit(self, solve, job, results, threads, limit):
            limits.append((job.name, threads, limit))
            future = batchrun.Future()
            try:
                future.set_result(solve(job, results, threads, limit))
            except EquipoiseError as error:
                future.set_exception(error)
            return future

    monkeypatch.setattr(crew, "_pool", lambda workers: Inline())
    crew._share = 1000
    told = []
    crew.run(rivers.jobs, told.append)
    assert [(name, limit) for name, _, limit in limits] == [(n, 1000) for n, _ in RIVERS] + [
        (n, None) for n, _ in RIVERS
    ]
    assert all(outcome.result is not None for outcome in told)


def test_a_pool_that_is_broken_on_submit_is_a_failure_not_a_crash(rivers, tmp_path, monkeypatch):
    crew = batchrun._Crew(Results(tmp_path), 2, 1)

    class Broken:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def submit(self, *args):
            raise BrokenProcessPool("gone")

    monkeypatch.setattr(crew, "_pool", lambda workers: Broken())
    told = []
    crew.run(rivers.jobs, told.append)
    assert len(told) == 3
    assert all("process died" in outcome.error for outcome in told)


def test_solutions_are_kept_up_to_a_street(tmp_path, solved):
    turn = Spot("Td9d6hQc", "99,JJ,AA", "TT,KK", pot=100, stack=100, menu="a")
    batch = Batch.of_boards([("Td9d6hQc", 1.0)], turn)
    run_batch(batch, tmp_path, through="turn")
    kept = Results(tmp_path, through="turn").solution_path(batch.jobs[0])
    opened = Solution.load(kept)
    assert (opened.spot.board, opened.kept_streets) == (turn.board, 1)
    run_batch(batch, tmp_path, through="turn")
    assert len(solved) == 1
    kept.unlink()
    run_batch(batch, tmp_path, through="turn")
    assert len(solved) == 2
    with pytest.raises(SolverError, match="has no flop"):
        run_batch(batch, tmp_path, through="flop")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"exploitability_pct_pot": 0}, "never reached"),
        ({"exploitability_chips": 1.0}, "in % of the pot"),
        ({"exploitability_bb": 1.0}, "in % of the pot"),
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong, told, rivers, tmp_path):
    with pytest.raises(SolverError, match=told):
        run_batch(rivers, tmp_path, Limit(**wrong))


@pytest.mark.parametrize("workers", [1, 2])
def test_another_thread_stops_a_batch(workers, rivers, tmp_path):
    """What was begun is not told and not written; the same call goes on from there."""
    endless = Limit(seconds=600)
    stop, ended = Stop(), []

    def work():
        ended.append(run_batch(rivers, tmp_path, endless, workers=workers, stop=stop))

    other = threading.Thread(target=work)
    other.start()
    while not stop.watched:
        other.join(0.01)
    stop.set()
    other.join(60)
    assert ended == [[]]
    assert list((tmp_path / "results").iterdir()) == []


def test_answers_of_before_are_still_found(tmp_path):
    """Their names hold a hash of what they were solved to, in the words of the first version."""
    goal = {"target_pct_pot": 0.5, "seconds": 9.0, "iterations": None, "compressed": True}
    spot = {key: value for key, value in river().to_dict().items() if key != "name"}
    limit = Limit(seconds=9.0, exploitability_pct_pot=0.5)
    found = Results(tmp_path, limit, "16-bit").identity(river())
    assert found == fingerprint({"spot": spot, "goal": goal, "layout": 1})


def test_workers_and_threads_are_at_least_one(rivers, tmp_path):
    with pytest.raises(SolverError, match="workers"):
        run_batch(rivers, tmp_path, workers=0)


# ---------------------------------------------------------------------------------- report


def test_the_lines_of_a_spot_add_up():
    solution = solve_spot(river(), 0.1)
    told = summary(solution)
    assert [line["line"] for line in told["lines"]] == ["root", "check", "bet 50", "allin 200"]
    root = told["lines"][0]
    assert root["reach"] == 1
    for line in told["lines"]:
        assert sum(a["frequency"] for a in line["actions"]) == pytest.approx(1)
        mean = sum(a["frequency"] * a["ev_chips"] for a in line["actions"])
        assert mean == pytest.approx(line[f"ev_{line['player']}_chips"], abs=1e-4)
    for action, line in zip(root["actions"], told["lines"][1:], strict=True):
        assert line["reach"] == pytest.approx(action["frequency"])
    shares = sum(line["reach"] * line["ev_ip_chips"] for line in told["lines"][1:])
    assert shares == pytest.approx(told["ev_ip_chips"], abs=1e-4)


def test_means_are_what_one_adds_up_by_hand(rivers, tmp_path):
    outcomes = run_batch(rivers, tmp_path, workers=1)
    means = BatchReport(outcomes).means()
    weights = np.array([3.0, 1.0, 2.5])
    evs = np.array([outcome.result["ev_oop_chips"] for outcome in outcomes])
    assert means["weight"] == 6.5
    assert means["ev_oop_chips"] == pytest.approx(weights @ evs / 6.5)
    checks = np.array([o.result["lines"][0]["actions"][0]["frequency"] for o in outcomes])
    assert means["lines"][0]["actions"][0]["frequency"] == pytest.approx(weights @ checks / 6.5)
    # After a check, a board counts as often as it is checked.
    after = [o.result["lines"][1] for o in outcomes]
    often = weights * [line["reach"] for line in after]
    bets = np.array([line["actions"][1]["frequency"] for line in after])
    worth = np.array([line["actions"][1]["ev_chips"] or 0 for line in after])
    line = means["lines"][1]
    assert line["line"] == "check"
    assert line["reach"] == pytest.approx(often.sum() / 6.5)
    assert line["actions"][1]["frequency"] == pytest.approx(often @ bets / often.sum())
    assert line["actions"][1]["ev_chips"] == pytest.approx(
        (often * bets) @ worth / (often @ bets), rel=1e-9
    )
    mean = sum(a["frequency"] * a["ev_chips"] for a in line["actions"] if a["frequency"] > 0)
    assert mean == pytest.approx(line["ev_ip_chips"], abs=1e-3)


def test_a_line_that_is_never_taken_counts_for_nothing():
    def outcome(name, reach, frequencies):
        actions = [
            {"action": action, "frequency": f, "ev_chips": None if f is None else 10.0}
            for action, f in zip(("check", "bet 50"), frequencies, strict=True)
        ]
        line = {"line": "check", "player": "ip", "pot": 100, "reach": reach, "actions": actions}
        worth = {"ev_oop_chips": 40.0, "ev_ip_chips": 60.0, "equity_oop": 0.5}
        result = {
            **dict.fromkeys(("iterations", "seconds", "nodes", "memory_mb"), 1),
            **worth, "reached": True, "exploitability_pct_pot": 0.1, "pot": 100,
            "lines": [line | worth],
        }  # fmt: skip
        return JobOutcome(SpotJob(name, river(), 2.0), result)

    report = BatchReport([outcome("a", 0.5, (0.25, 0.75)), outcome("b", 0.0, (None, None))])
    (line,) = report.means()["lines"]
    assert line["reach"] == 0.25
    assert [action["frequency"] for action in line["actions"]] == [0.25, 0.75]


@pytest.mark.parametrize("copies", [1, 20])
def test_the_report_is_written(rivers, tmp_path, copies):
    outcomes = run_batch(rivers, tmp_path, workers=1)
    many = [
        JobOutcome(SpotJob(f"{o.job.name} {n}", o.job.spot, o.job.weight), o.result)
        for n in range(copies)
        for o in outcomes
    ]
    report = BatchReport(many)
    assert report.to_polars().rows(named=True) == report.lines
    assert report.to_numpy()["frequency"].tolist() == [row["frequency"] for row in report.lines]
    assert report._repr_html_().startswith("<table><caption>")
    files = report.save(tmp_path / "report")
    with open(files["lines_csv"], newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == len(report.lines)
    assert float(rows[0]["frequency"]) == pytest.approx(report.lines[0]["frequency"], rel=1e-8)
    assert json.loads((tmp_path / "report" / "means.json").read_text()) == report.means()
    with open(files["picture"], "rb") as opened:
        assert opened.read(8) == b"\x89PNG\r\n\x1a\n"
    drawn = report.figure().axes
    assert [axes.get_title() for axes in drawn] == ["oop, first to act", "ip, after check"]


def test_parquet_holds_the_same_rows(rivers, tmp_path):
    import polars

    report = BatchReport(run_batch(rivers, tmp_path, workers=1))
    files = report.save(tmp_path / "report")
    assert polars.read_parquet(files["spots_parquet"]).to_dicts() == report.spots
    assert polars.read_parquet(files["lines_parquet"]).to_dicts() == report.lines


def test_nothing_solved_is_nothing_to_report(rivers):
    with pytest.raises(EquipoiseError, match="nothing to report"):
        BatchReport([JobOutcome(job, None, "no") for job in rivers.jobs])
