"""The readers of text: what is typed, what stands in files of text, and what comes over a wire."""

from __future__ import annotations

import gzip
import json
import socket
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise.agents import registry
from equipoise.agents.human import read_answer
from equipoise.agents.outside.telling import read_decision
from equipoise.agents.simple import CallAgent
from equipoise.arena import matchlog
from equipoise.arena.acpc import protocol as acpc
from equipoise.arena.acpc.client import play
from equipoise.arena.acpc.table import DealerTable
from equipoise.arena.acpc.wire import Wire
from equipoise.arena.histories.history import History, Problem
from equipoise.arena.histories.parquet import row
from equipoise.arena.histories.players import summarise
from equipoise.arena.remote import notation as wire
from equipoise.bench.fuzz import samples as sample
from equipoise.bench.fuzz.reader import Reader, from_file, from_text, refuse, same
from equipoise.cards.card import parse_card, parse_cards
from equipoise.cards.combos import parse_combo
from equipoise.cards.range import Range
from equipoise.games import catalogue
from equipoise.games.menu import BetMenu
from equipoise.games.notation import gamefile
from equipoise.games.notation.betsize import parse_sizes, sizes_text
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, Action, State
from equipoise.games.spot import Spot
from equipoise.solve.batch.boardtable import BoardTable
from equipoise.solve.batch.jobs import TEMPLATE, Batch, kept_template, on_board
from equipoise.solve.batch.report import BatchReport
from equipoise.solve.batch.results import Results
from equipoise.solve.exploitation.opponents import plain
from equipoise.solve.exploitation.opponents import read as read_opponent
from equipoise.solve.spots.fitting import check_fits
from equipoise.solve.spots.solution import Solution
from equipoise.solve.strategies.postprocessing import PostProcessing
from equipoise.solve.training.folder import RunFolder
from equipoise.solve.training.model import TrainingEstimate
from equipoise.solve.training.recipe import Recipe
from equipoise.web.study.solving import packed, unpacked

_SITUATIONS = (
    State.start(NOLIMIT_HOLDEM),
    State.start(LIMIT_HOLDEM),
    State.from_betting_text(NOLIMIT_HOLDEM, "cr300c/cr600"),
    State.from_betting_text(LIMIT_HOLDEM, "rrrc/c"),
)


def text_readers() -> list[Reader]:
    """All of them."""
    return [*_typed(), *_games(), *_settings(), *_histories(), *_runs()]


# ---------------------------------------------------------------------------------- typed


def _typed() -> list[Reader]:
    return [
        from_text("card", 4, parse_card, "As", "td", "10h", "2c"),
        from_text("cards", 5, parse_cards, "AsKd7h", "As Kd 7h 2c 9d", "2c,3d,4h", "TdTh"),
        from_text("hand", 4, parse_combo, "AsKd", "Th 9h", "2c2d"),
        from_text("range", 9, _range, *sample.RANGES),
        from_text("sizes", 6, _sizes, "50%,100%,a", "33.3%, 2.5x", "e", "3e200%,a", "*", "120c"),
        from_text("menu", 5, _menu, "50%,a; 60%,a", "33%,75%;3x|2.2x,a", "a", "e;a"),
        from_text(
            "post-processing", 3, PostProcessing.parse, "raw/threshold 0.05/purify", "fold 0.2"
        ),
        from_text(
            "typed answer",
            4,
            _typed_answer,
            "r 300",
            "f",
            "call",
            "all-in",
            "1,000",
            "raise to 250",
        ),
        from_text(
            "betting", 5, _betting, "cr300c/cr600f", "r20000c///", "cc/cc/cc/cc", "rrrc/rrrrc/"
        ),
        from_text("line", 2, lambda text: _solution().at(text), *sample.LINES),
        from_text("words for boards", 2, _words, "paired", "monotone A-high", "K", "Ks, connected"),
        from_text("link of a spot", 2, _link, *(packed(text) for text in sample.SPOTS)),
        from_text("game parameter", 3, _parameter, *_parameter_samples()),
    ]


def _range(text: str) -> None:
    read = Range.parse(text)
    same(Range.parse(str(read)), read, "a range")


def _sizes(text: str) -> None:
    read = parse_sizes(text)
    same(parse_sizes(sizes_text(read)), read, "sizes")


def _menu(text: str) -> None:
    bets, _, raises = text.partition(";")
    read = BetMenu.parse(bets, raises=raises.split("|"))
    same(BetMenu.from_dict(read.to_dict(4)), read, "a menu")


def _typed_answer(text: str) -> None:
    answers = [read_answer(state, text) for state in _SITUATIONS]
    if not any(isinstance(answer, Action) for answer in answers):
        refuse(str(answers[0]))
    for state, answer in zip(_SITUATIONS, answers, strict=True):
        if isinstance(answer, Action):
            state.apply(answer)


def _betting(text: str) -> None:
    rules = LIMIT_HOLDEM if len(text) % 4 == 0 else NOLIMIT_HOLDEM
    if text.startswith("rrr"):
        rules = LIMIT_HOLDEM
    state = State.from_betting_text(rules, text)
    same(State.from_betting_text(rules, state.betting_text()), state, "betting")


@cache
def _solution() -> Solution:
    return sample.solved()


@cache
def _boards_of_a_batch() -> BoardTable:
    with TemporaryDirectory() as name:
        for file, text in sample.batch_report().items():
            (Path(name) / file).write_bytes(text)
        return BoardTable(BatchReport.load(name))


def _words(text: str) -> None:
    _boards_of_a_batch().where(text)


def _link(text: str) -> None:
    spot = Spot.from_toml(unpacked(text))
    same(Spot.from_toml(unpacked(packed(spot.to_toml()))), spot, "a link")


def _parameter_samples() -> list[str]:
    return [
        f"{name}.{key}={'0.05,3' if key == 'rake' else parameter.default}"
        for name in catalogue.names()
        for key, parameter in catalogue.listing(name).parameters.items()
    ]


def _parameter(text: str) -> None:
    name, _, setting = text.partition(".")
    key, _, value = setting.partition("=")
    known = catalogue.listing(name).parameters
    if key not in known:
        refuse(f"{name} has no parameter {key!r}")
    known[key].read(value)


# ---------------------------------------------------------------------------------- games


def _games() -> list[Reader]:
    return [
        from_file("spot", 7, "spot.toml", _spot, *sample.SPOTS),
        from_file(
            "spot text", 4, "spot.toml", lambda path: _spot_text(path.read_bytes()), *sample.SPOTS
        ),
        from_file("boards", 4, "boards.txt", _boards, *sample.BOARDS),
        from_file("game file", 8, "fuzzed.game", _game_file, *sample.game_files()),
        from_file("opponent", 3, "opponent.json", _opponent, *_opponent_samples()),
    ]


def _spot(path: Path) -> None:
    spot = Spot.load(path)
    check_fits(spot, limit_bytes=10**9)


def _spot_text(data: bytes) -> None:
    spot = Spot.from_toml(data.decode("utf-8", "surrogateescape"))
    same(Spot.from_toml(spot.to_toml()), spot, "a spot")


def _boards(path: Path) -> None:
    Batch.from_boards(path, sample.river())


def _game_file(path: Path) -> None:
    rules = gamefile.load(path)
    same(gamefile.parse(gamefile.write(rules)), rules, "a game file")
    State.start(rules).legal()


def _opponent_samples() -> list[str]:
    game = catalogue.kuhn()
    return [
        json.dumps({"game": "kuhn", "strategy": [one._asdict() for one in plain(game, name)]})
        for name in ("raise", "uniform")
    ]


def _opponent(path: Path) -> None:
    read_opponent(catalogue.kuhn(), path)


# ---------------------------------------------------------------------------------- settings


def _settings() -> list[Reader]:
    return [
        from_file("recipe", 8, "recipe.toml", _recipe, *sample.recipes()),
        from_file("agent", 5, "agent.toml", _agent, *sample.AGENTS),
    ]


def _recipe(path: Path) -> None:
    recipe = Recipe.load(path)
    same(Recipe.from_toml(recipe.to_toml()).fingerprint, recipe.fingerprint, "a recipe")
    recipe.rules, recipe.menu  # noqa: B018 - both are read when first asked for
    if len(recipe.to_toml()) % 16 == 0:
        # What `train` says before it begins; counting a tree takes too long to do it every time.
        TrainingEstimate.of(recipe)


def _agent(path: Path) -> None:
    recipe = registry.AgentSpec.read(path)
    named = recipe.parameters.get("blueprint", recipe.entry.settings.get("blueprint"))
    if str(named) in sample.SHIPPED:
        # Would read megabytes that ship, and nothing of the input.
        return
    recipe.make(NOLIMIT_HOLDEM)


# ---------------------------------------------------------------------------------- histories


def _histories() -> list[Reader]:
    packed = [gzip.compress(text.encode(), mtime=0) for text in (sample.LOG, sample.PHHS)]
    return [
        from_text("MATCHSTATE", 6, _match_states, *sample.MATCH_STATES),
        from_text("answers", 5, _answers, *sample.ANSWERS),
        from_text("betting of the wire", 3, _wire_betting, "b200c/kb300c/", "b20000c///", "f"),
        from_text("answer of the wire", 4, _wire_answer, *_WIRE_ANSWERS),
        from_text("decision in JSON", 4, _decision, *_DECISIONS),
        Reader("dealer's lines", 3, lambda: [text.encode() for text in sample.DEALT], _client),
        from_file("log", 6, "fuzzed.log", _history, *sample.LOGS),
        from_file("transcript", 5, "fuzzed.log", _history, *sample.TRANSCRIPTS),
        from_file("PHH", 6, "fuzzed.phh", _history, *sample.PHHS.split("\n\n"), sample.PHHS),
        from_file("site", 4, "fuzzed.txt", _history, sample.SITE),
        from_file("packed history", 2, "fuzzed.log.gz", _history, *packed),
        from_file("match to resume", 4, "match.log", _past, *sample.match_logs()),
    ]


_WIRE_ANSWERS = (
    '{"action": "b200", "client_pos": 0, "hole_cards": ["Ac", "9d"], "board": [], "token": "x"}',
    '{"action": "b200c/kb200f", "client_pos": 0, "hole_cards": ["Kd", "2h"], "board": ["Th", "9s", "4s"],'
    ' "bot_hole_cards": ["Kh", "7h"], "winnings": -200, "session_num_hands": 19, "session_total": 8850}',
)
_DECISIONS = ('{"action": "raise", "amount": 300}', '{"action": "fold"}', '{"action": "all-in"}')


def _wire_betting(text: str) -> None:
    state = wire.read_betting(text)
    same(wire.read_betting(wire.betting_text(state)), state, "betting of the wire")


def _wire_answer(text: str) -> None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        refuse("no JSON")
        return
    wire.read_answer(data)


def _decision(text: str) -> None:
    for state in _SITUATIONS:
        read_decision(text, state)


def _match_states(text: str) -> None:
    rules = LIMIT_HOLDEM if text.startswith("LIMIT") else NOLIMIT_HOLDEM
    follower = acpc.Follower(rules)
    for line in text.removeprefix("LIMIT").split("\n"):
        if not acpc.is_comment(line):
            told = follower.read(line)
            same(acpc.Follower(rules).read(told.line()), told, "a line")


def _answers(text: str) -> None:
    """Answers to a table that deals on: those that answer nothing are passed over."""
    table = DealerTable(NOLIMIT_HOLDEM, 0)
    answered = False
    for line in text.split("\n"):
        answered |= table.answer(line)
        if table.seat_to_act is None:
            table.next_hand()
        elif line[:1] in ("f", "c", "r"):
            answered |= table.answer(f"{table.line(table.seat_to_act)}:{line}")
    if not answered:
        refuse("no line answers what was asked")


def _client(data: bytes, folder: Path) -> None:
    here, there = socket.socketpair()
    try:
        there.sendall(data[:50_000])
        there.shutdown(socket.SHUT_WR)
        play(CallAgent(), NOLIMIT_HOLDEM, Wire(here, "the dealer"), timeout=1.0)
    finally:
        here.close()
        there.close()


def _history(path: Path) -> None:
    problems: list[Problem] = []
    history = History.open(path)
    hands = list(history.hands(problems.append))
    history.verify(problems.append)
    for hand in hands:
        hand.text()
        row(hand)
    for player in summarise(hands):
        player.to_dict()
    if problems:
        refuse(problems[0].text)


def _past(path: Path) -> None:
    matchlog.read_past(path, _header(), 2)


@cache
def _header() -> matchlog.Header:
    line = sample.match_logs()[0].split("\n")[1]
    return matchlog.Header(**json.loads(line.removeprefix("# match ")))


# ---------------------------------------------------------------------------------- runs


def _runs() -> list[Reader]:
    return [
        Reader("batch result", 2, lambda: [sample.batch_result()], _batch_result),
        _report_reader("spots.csv"),
        _report_reader("lines.csv"),
        from_file("batch template", 2, TEMPLATE, _template, *sample.SPOTS),
        from_file(
            "curve",
            3,
            "curve.csv",
            lambda path: RunFolder(path.parent).read_curve(),
            *sample.CURVES,
        ),
    ]


def _batch_result(data: bytes, folder: Path) -> None:
    results = Results(folder)
    job = Batch.of_boards([("Td9d6hQc2s", 1.0)], sample.river()).jobs[0]
    path = results.path(job)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    if results.read(job) is None:
        refuse("missing, damaged or another's")


def _report_reader(name: str) -> Reader:
    return Reader(
        f"batch {name}", 2, lambda: [sample.batch_report()[name]], partial(_batch_report, name)
    )


def _batch_report(name: str, data: bytes, folder: Path) -> None:
    """A report that is accepted can be averaged, and sorted at every line."""
    for other, text in sample.batch_report().items():
        (folder / other).write_bytes(data if other == name else text)
    report = BatchReport.load(folder)
    report.means()
    for line in report.line_names():
        table = BoardTable(report, line)
        for column in ("board", "equity_oop", table.actions[0]):
            table.by(column).means()


def _template(path: Path) -> None:
    template = kept_template(path.parent)
    assert template is not None
    on_board(template, parse_cards("As7d2c"))
