"""Dealer and client over loopback: honest matches, and every way in which a peer can misbehave."""

import contextlib
import io
import socket
import threading
import time
from random import Random

import pytest

from equipoise.agents.agent import Agent
from equipoise.arena.acpc.client import join, play
from equipoise.arena.acpc.dealer import MOST_IDLE_LINES, AcpcDealer, TimeLimits
from equipoise.arena.acpc.protocol import LONGEST_LINE, read_state_line
from equipoise.arena.acpc.table import DealerTable
from equipoise.arena.acpc.transcript import replay
from equipoise.arena.acpc.wire import Wire
from equipoise.errors import EquipoiseError, FileError, GameError, ProtocolError
from equipoise.games.rules import CALL, FOLD, LIMIT_HOLDEM, NOLIMIT_HOLDEM, nolimit, raise_to

QUICK = TimeLimits(response=0.4, hand=0.8, per_hand=0.4, start=2.0, greeting=0.3)


class Wild(Agent):
    """Any legal action; notes what it is told."""

    def __init__(self):
        super().__init__()
        self.began, self.results, self.seeds = [], [], []

    def reset(self, seed):
        super().reset(seed)
        self.seeds.append(seed)

    def begin(self, hand, position):
        self.began.append((hand, position))

    def act(self, view):
        assert view.position == view.state.to_act
        assert len(view.hole) == 2
        legal = view.state.legal()
        options = [CALL] * 2 + [FOLD] * legal.fold
        if legal.raise_min:
            options.append(raise_to(self.random.randint(legal.raise_min, legal.raise_max)))
        return self.random.choice(options)

    def observe(self, result):
        self.results.append(result)


def in_thread(function, *args, **kwargs):
    """Run a function aside; `.join()` it and read `.outcome`."""

    def run():
        try:
            thread.outcome = function(*args, **kwargs)
        except Exception as error:
            thread.outcome = error

    thread = threading.Thread(target=run, daemon=True)
    thread.outcome = None
    thread.start()
    return thread


def honest(rules, port, seed=0, agent=None):
    return in_thread(join, agent or Wild(), rules, "127.0.0.1", port, seed=seed, timeout=5.0)


@pytest.mark.parametrize("rules", [LIMIT_HOLDEM, NOLIMIT_HOLDEM], ids=["limit", "nolimit"])
def test_a_match_between_honest_players(rules):
    log, transcript = io.StringIO(), io.StringIO()
    agents = Wild(), Wild()
    with AcpcDealer(rules, 60, 5, log=log, transcript=transcript, names=("ann", "bob")) as dealer:
        players = [honest(rules, port, 7 + seat, agents[seat])
                   for seat, port in enumerate(dealer.ports)]  # fmt: skip
        outcome = dealer.run()
        for player in players:
            player.join(5)
    assert outcome.reason is None
    assert outcome.hands == 60
    assert [player.outcome.chips for player in players] == list(outcome.score)
    assert sum(outcome.score) == 0
    for seat, agent in enumerate(agents):
        assert agent.seeds == [7 + seat]
        assert agent.began == [(hand, (hand + seat) % 2) for hand in range(60)]
        assert [result.hand for result in agent.results] == list(range(60))
        assert sum(result.payoff for result in agent.results) == outcome.score[seat]
        for result in agent.results:
            assert (result.opponent is not None) == result.state.is_showdown

    lines = log.getvalue().splitlines()
    states = [line for line in lines if line.startswith("STATE:")]
    assert len(states) == 60
    totals = {"ann": 0.0, "bob": 0.0}
    for number, line in enumerate(states):
        hand = read_state_line(rules, line, number)
        assert hand.faults() == []
        assert hand.players == (("ann", "bob") if number % 2 == 0 else ("bob", "ann"))
        for name, chips in zip(hand.players, hand.stated, strict=True):
            totals[name] += chips
    assert lines[-1] == f"SCORE:{totals['ann']:.0f}|{totals['bob']:.0f}:ann|bob"
    assert lines[0].endswith(" 60 5")

    wrong = []
    replayed = list(
        replay(transcript.getvalue().splitlines(), rules, lambda *what: wrong.append(what))
    )
    assert wrong == []
    assert [hand.payoffs for hand in replayed] == [
        read_state_line(rules, line).stated for line in states
    ]


def test_the_same_seeds_play_the_same_match():
    logs = []
    for _ in range(2):
        log = io.StringIO()
        with AcpcDealer(NOLIMIT_HOLDEM, 20, 3, log=log) as dealer:
            for port in dealer.ports:
                honest(NOLIMIT_HOLDEM, port, 1)
            dealer.run()
        logs.append(log.getvalue())
    assert logs[0] == logs[1]


@pytest.mark.parametrize("pause", [0.0, 0.004], ids=["at once", "after a moment"])
def test_every_byte_sent_is_what_the_table_says(pause):
    """Lines are sent together where they can be, but all of them, and in order."""
    table, due = DealerTable(NOLIMIT_HOLDEM, 9), [b"", b""]
    words = ["c", "r300", "c", "c", "c", "r600", "f", "r20000", "c", "f", "junk"]
    hands = 12

    def tell():
        for seat in (0, 1):
            due[seat] += table.line(seat).encode() + b"\r\n"

    played, counts = [], [0, 0]
    for hand in range(hands):
        if hand:
            table.next_hand()
        tell()
        while (seat := table.seat_to_act) is not None:
            word = words[(7 * hand + 3 * seat + counts[seat]) % len(words)]
            counts[seat] += 1
            played.append((table.line(seat), word))
            assert table.answer(f"{table.line(seat)}:{word}")
            tell()
    answers = dict(played)

    def answer(peer):
        data = b""
        while more := peer.recv(4096):
            data += more
            line = data.decode().split("\r\n")[-2]
            if data.endswith(b"\r\n") and line in answers:
                time.sleep(pause)
                peer.sendall(f"{line}:{answers[line]}\r\n".encode())
        return data

    with AcpcDealer(NOLIMIT_HOLDEM, hands, 9) as dealer:
        peers = [seated(port) for port in dealer.ports]
        threads = [in_thread(answer, peer) for peer in peers]
        outcome = dealer.run()
        for thread, peer in zip(threads, peers, strict=True):
            thread.join(5)
            peer.close()
    assert outcome.reason is None
    assert outcome.score == tuple(table.score)
    assert [thread.outcome for thread in threads] == due


def test_a_game_without_decisions_is_dealt_to_its_end():
    rules = nolimit(50)
    log = io.StringIO()
    with AcpcDealer(rules, 40, 2, log=log) as dealer:
        players = [honest(rules, port) for port in dealer.ports]
        outcome = dealer.run()
        for player in players:
            player.join(5)
    assert outcome.hands == 40
    assert [player.outcome.chips for player in players] == list(outcome.score)
    assert set(map(abs, outcome.score)) != {0}
    assert sum(line.startswith("STATE:") for line in log.getvalue().splitlines()) == 40


def test_results_count_the_same_whether_the_agent_watches_or_not():
    class Blind(Wild):
        observe = Agent.observe

    scores = []
    for first in (Wild(), Blind()):
        with AcpcDealer(NOLIMIT_HOLDEM, 30, 4) as dealer:
            players = [honest(NOLIMIT_HOLDEM, port, agent=agent)
                       for port, agent in zip(dealer.ports, (first, Wild()), strict=True)]  # fmt: skip
            outcome = dealer.run()
            for player in players:
                player.join(5)
        assert [player.outcome.chips for player in players] == list(outcome.score)
        assert [player.outcome.hands for player in players] == [30, 30]
        scores.append(outcome.score)
    assert scores[0] == scores[1] != (0, 0)


def test_the_other_seat_hears_the_last_state_when_a_seat_goes():
    with AcpcDealer(NOLIMIT_HOLDEM, 3, 0, limits=QUICK) as dealer:
        stays, goes = (seated(port) for port in dealer.ports)
        match = in_thread(dealer.run)
        goes.sendall(asked(goes) + b":c\r\n")
        goes.shutdown(socket.SHUT_WR)
        data = b""
        while more := stays.recv(4096):
            data += more
            if data.endswith((b":c:5d5c|\r\n", b":cc/:5d5c|/8dAs8s\r\n")):
                stays.sendall(data.splitlines()[-1] + b":c\r\n")
        match.join(5)
        stays.close()
        goes.close()
    # It is noticed while this seat thinks, or when the turn comes round.
    lines = [b"c:5d5c|", b"cc/:5d5c|/8dAs8s", b"cc/c:5d5c|/8dAs8s"]
    assert data.endswith(tuple(b"MATCHSTATE:0:0:" + line + b"\r\n" for line in lines))
    assert "seat 2 (p2) closed the connection" in match.outcome.reason


@pytest.mark.parametrize("most", [1, 7, 5000])
def test_lines_come_out_whole_however_they_are_cut(most):
    random = Random(most)
    lines = ["x" * random.choice([0, 1, 40, 300]) + random.choice(["", "\xe9", "\r "])
             for _ in range(400)]  # fmt: skip
    data = b"".join(line.encode("latin-1") + random.choice([b"\n", b"\r\n"]) for line in lines)
    ours, theirs = socket.socketpair()
    wire = Wire(ours, "the peer")

    def cut():
        place = 0
        while place < len(data):
            size = random.randint(1, most)
            theirs.sendall(data[place : place + size])
            place += size

    writer = in_thread(cut)
    assert [wire.receive(5.0) for _ in lines] == lines
    writer.join(5)
    assert wire.take() is None
    assert wire.peek() is None
    wire.close()
    theirs.close()


def seated(port, greeting=b"VERSION:2.0.0\r\n"):
    peer = socket.create_connection(("127.0.0.1", port), timeout=5)
    peer.sendall(greeting)
    return peer


def asked(peer):
    """Read until it is this peer's turn (it is seat 2, and first to act in hand 0)."""
    data = b""
    while not data.endswith(b"\r\n"):
        data += peer.recv(4096)
    return data.splitlines()[-1]


def misbehave(behaviour, limits=QUICK, hands=3):
    """A match whose second seat does `behaviour(peer)`; the log and how it ended."""
    log = io.StringIO()
    with AcpcDealer(
        NOLIMIT_HOLDEM, hands, 0, log=log, transcript=io.StringIO(), limits=limits
    ) as dealer:
        other = honest(NOLIMIT_HOLDEM, dealer.ports[0])
        peer = seated(dealer.ports[1])
        bad = in_thread(behaviour, peer)
        match = in_thread(dealer.run)
        match.join(30)
        assert not match.is_alive()
        other.join(5)
        assert not other.is_alive()
        peer.close()
        bad.join(5)
        assert not bad.is_alive()
    return match.outcome, log.getvalue()


def drip(peer):
    line = asked(peer) + b":c"
    for byte in line:
        peer.sendall(bytes([byte]))
        time.sleep(0.05)


def flood(peer):
    asked(peer)
    for _ in range(4 * MOST_IDLE_LINES):
        peer.sendall(b"MATCHSTATE:1:99::|9hQd:c\r\n")


def without_newline(peer):
    asked(peer)
    for _ in range(80):
        peer.sendall(b"x" * 4096)


def noise(peer):
    asked(peer)
    random = Random(1)
    for _ in range(MOST_IDLE_LINES // 50):
        peer.sendall(random.randbytes(2000))


def reset(peer):
    asked(peer)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    peer.close()


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (lambda peer: asked(peer), "overran its 0.4 seconds for an answer"),
        (lambda peer: peer.sendall(b"MATCHSTATE:1:0::|9h"), "overran its 0.4 seconds"),
        (drip, "overran its 0.4 seconds"),
        (flood, "lines that answer nothing"),
        (without_newline, f"more than {LONGEST_LINE} bytes"),
        (noise, "seat 2"),
        (lambda peer: (asked(peer), peer.close()), "closed the connection"),
        (reset, "connection"),
        (lambda peer: peer.close(), "connection"),
    ],
    ids=["silent", "half", "drip", "flood", "endless", "noise", "gone", "reset", "gone at once"],
)
def test_a_misbehaving_seat_ends_the_match_with_a_reason(behaviour, reason):
    outcome, log = misbehave(behaviour)
    assert outcome.hands == 0
    assert reason in outcome.reason
    assert "seat 2 (p2)" in outcome.reason
    assert f"# ended after 0 hands: {outcome.reason}" in log
    assert log.endswith("SCORE:0|0:p1|p2\n")


def test_errors_in_an_answer_are_mended_and_comments_ignored():
    """Junk, a bad size and stale lines in a hand that goes on to its end."""

    def play_badly(peer):
        line = asked(peer)
        peer.sendall(
            b"# thinking\r\n; still\n\r\nnonsense\r\n" + line + b"x:c\r\n" + line + b":r1\r\n"
        )
        while line := peer.recv(4096).splitlines()[-1:]:
            peer.sendall(line[0] + b":junk\r\n")

    outcome, log = misbehave(play_badly, QUICK, hands=1)
    assert outcome.reason is None
    assert outcome.hands == 1
    # Comments are no lines, and what honest players do is never wrong.
    strays, mended = outcome.stray_lines, outcome.mended_answers
    assert (strays[0], mended[0]) == (0, 0)
    assert strays[1] >= 2
    assert mended[1] >= 1
    lines = log.splitlines()
    assert lines[4].startswith("# hand 0, seat 2 (p2): ")
    assert lines[4].endswith(f" lines that answer nothing, {mended[1]} answers mended")
    assert lines[5].startswith("STATE:0:r200")


def test_answers_out_of_turn_are_counted():
    def eager(peer):
        """Says everything twice; of the second it may be that the match is over before it comes."""
        while line := peer.recv(4096).splitlines()[-1:]:
            peer.sendall(line[0] + b":c\r\n" + line[0] + b":c\r\n")

    outcome, log = misbehave(eager, QUICK, hands=3)
    assert outcome.reason is None
    assert outcome.mended_answers == (0, 0)
    assert outcome.stray_lines[0] == 0
    assert outcome.stray_lines[1] >= 2
    told = [line for line in log.splitlines() if line.startswith("# hand ")]
    assert sum(int(line.split(": ")[1].split()[0]) for line in told) == outcome.stray_lines[1]
    assert all("seat 2 (p2)" in line for line in told)


def test_time_over_the_hand_and_over_the_match_is_kept():
    def slow(peer):
        while line := peer.recv(4096).splitlines()[-1:]:
            # Four decisions a hand: far over both limits, even where a clock is looked at late.
            time.sleep(0.4)
            peer.sendall(line[0] + b":c\r\n")

    class Caller(Wild):
        def act(self, view):
            return CALL

    for limits, words in (
        (TimeLimits(2, 0.5, 9, 2, 1), "0.5 seconds for a hand"),
        (TimeLimits(2, 9, 0.25, 2, 1), "0.25 seconds a hand on average"),
    ):
        with AcpcDealer(NOLIMIT_HOLDEM, 2, 0, limits=limits) as dealer:
            honest(NOLIMIT_HOLDEM, dealer.ports[0], agent=Caller())
            in_thread(slow, seated(dealer.ports[1]))
            assert words in dealer.run().reason


def test_strangers_at_the_door_do_not_take_the_seat():
    with AcpcDealer(LIMIT_HOLDEM, 4, 0, limits=QUICK) as dealer:
        visits = [b"GET / HTTP/1.1\r\n\r\n", b"VERSION:1.0.0\r\n", b"\xff" * 200_000, b""]
        strangers = []
        for greeting in visits:
            stranger = socket.create_connection(("127.0.0.1", dealer.ports[0]))
            stranger.setblocking(False)
            if greeting:
                stranger.send(greeting)
            strangers.append(stranger)
        players = [honest(LIMIT_HOLDEM, port) for port in dealer.ports]
        outcome = dealer.run()
        assert outcome.reason is None
        assert outcome.hands == 4
        for player in players:
            player.join(5)
            assert player.outcome.hands == 4


def commenting(peer, stop):
    """Comments and empty lines, for as long as somebody listens."""
    with contextlib.suppress(OSError):
        while not stop.wait(0.02):
            peer.sendall(b"# one moment\r\n\r\n; please\r\n")


def test_comments_win_nobody_time():
    stop = threading.Event()
    limits = TimeLimits(start=0.3, greeting=60)
    with AcpcDealer(LIMIT_HOLDEM, 4, 0, limits=limits) as dealer:
        peer = seated(dealer.ports[0], b"")
        talker = in_thread(commenting, peer, stop)
        match = in_thread(dealer.run)
        match.join(20)
        stop.set()
        talker.join(5)
        peer.close()
    assert "nobody took seat 1 (p1) in 0.3 seconds" in match.outcome.reason
    assert "sent no version" in match.outcome.reason or "sent no line" in match.outcome.reason


def test_who_only_comments_loses_the_seat_to_the_next():
    stop = threading.Event()
    limits = TimeLimits(start=60, greeting=0.2)
    with AcpcDealer(LIMIT_HOLDEM, 4, 0, limits=limits) as dealer:
        peer = seated(dealer.ports[0], b"")
        talker = in_thread(commenting, peer, stop)
        match = in_thread(dealer.run)
        for port in dealer.ports:
            honest(LIMIT_HOLDEM, port)
        match.join(20)
        stop.set()
        talker.join(5)
        peer.close()
    assert match.outcome.reason is None
    assert match.outcome.hands == 4


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_that_goes_before_the_other_comes_is_noticed_at_once(seat):
    with AcpcDealer(LIMIT_HOLDEM, 4, 0, limits=TimeLimits(start=600)) as dealer:
        match = in_thread(dealer.run)
        seated(dealer.ports[seat]).close()
        match.join(20)
        assert not match.is_alive()
    name = f"seat {seat + 1} (p{seat + 1})"
    assert f"{name} closed the connection before the match" in match.outcome.reason


def test_a_seat_that_goes_while_the_other_thinks_is_noticed_at_once():
    with AcpcDealer(NOLIMIT_HOLDEM, 4, 0, limits=TimeLimits()) as dealer:
        goes, thinks = (seated(port) for port in dealer.ports)
        match = in_thread(dealer.run)
        assert asked(thinks)
        goes.close()
        match.join(20)
        assert not match.is_alive()
        thinks.close()
    assert match.outcome.reason == "seat 1 (p1) closed the connection"
    assert match.outcome.hands == 0


def test_players_may_come_in_any_order():
    with AcpcDealer(LIMIT_HOLDEM, 4, 0, limits=QUICK) as dealer:
        match = in_thread(dealer.run)
        second = seated(dealer.ports[1])
        first = honest(LIMIT_HOLDEM, dealer.ports[0])
        in_thread(lambda: [second.sendall(asked(second) + b":c\r\n") for _ in range(2)])
        match.join(5)
        first.join(5)
        second.close()
    assert "seat 2 (p2) overran" in match.outcome.reason or match.outcome.reason is None


def test_a_log_that_cannot_be_written_ends_the_match_in_one_sentence():
    class Full:
        def write(self, text):
            if "STATE" in text:
                raise FileError("cannot write the log: no room")

    with AcpcDealer(LIMIT_HOLDEM, 4, 0, log=Full()) as dealer:
        players = [honest(LIMIT_HOLDEM, port) for port in dealer.ports]
        with pytest.raises(FileError, match="no room"):
            dealer.run()
    for player in players:
        player.join(5)
        assert not player.is_alive()


def test_nobody_comes():
    with AcpcDealer(LIMIT_HOLDEM, 4, 0, limits=TimeLimits(start=0.2)) as dealer:
        outcome = dealer.run()
    assert "nobody took seat 1 (p1)" in outcome.reason


def test_the_dealer_refuses_what_it_cannot_do():
    with pytest.raises(GameError, match="at least 1 hand"):
        AcpcDealer(NOLIMIT_HOLDEM, 0, 0)
    with pytest.raises(GameError, match="name"):
        AcpcDealer(NOLIMIT_HOLDEM, 1, 0, names=("a|b", "c"))
    for seconds in (0, -1, float("nan"), float("inf"), 1e20):
        for field in ("response", "hand", "per_hand", "start", "greeting"):
            with pytest.raises(GameError, match="more than 0 seconds, and at most 1,000,000"):
                TimeLimits(**{field: seconds})
    with pytest.raises(GameError, match="at least 1 hand"):
        AcpcDealer(NOLIMIT_HOLDEM, 1 << 32, 0)
    for host in ("..", "a\0b", "x" * 300):
        with pytest.raises(ProtocolError, match="cannot listen"):
            AcpcDealer(NOLIMIT_HOLDEM, 1, 0, host=host)
    with (
        AcpcDealer(NOLIMIT_HOLDEM, 1, 0) as dealer,
        pytest.raises(ProtocolError, match="another port"),
    ):
        AcpcDealer(NOLIMIT_HOLDEM, 1, 0, ports=dealer.ports)


def test_it_listens_on_loopback_only():
    with AcpcDealer(NOLIMIT_HOLDEM, 1, 0) as dealer:
        assert {door.getsockname()[0] for door in dealer._doors} == {"127.0.0.1"}


def client_against(data, close=True, timeout=0.5):
    """What the client makes of a dealer that sends `data`."""
    ours, theirs = socket.socketpair()
    wire = Wire(ours, "the dealer")
    client = in_thread(play, Wild(), NOLIMIT_HOLDEM, wire, timeout=timeout)
    theirs.settimeout(5)
    assert theirs.recv(100) == b"VERSION:2.0.0\r\n"
    with contextlib.suppress(OSError):
        theirs.sendall(data)
        if close:
            theirs.shutdown(socket.SHUT_WR)
    client.join(5)
    assert not client.is_alive()
    wire.close()
    theirs.close()
    return client.outcome


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "closed the connection"),
        (b"hello\r\n", "a line is MATCHSTATE"),
        (b"MATCHSTATE:0:0::5d5c|", "closed the connection"),
        (b"MATCHSTATE:0:0::5d5c|\r\nMATCHSTATE:0:1::5d5c|\r\n", "before 0 was over"),
        (b"MATCHSTATE:0:0:r1:5d5c|\r\n", "cannot raise to 1"),
        (b"MATCHSTATE:0:0:r" + b"9" * 5000 + b":5d5c|\r\n", "is not a raise"),
        (b"MATCHSTATE:0:" + b"9" * 5000 + b"::5d5c|\r\n", "is a whole number"),
        (b"MATCHSTATE:0:\xb2::5d5c|\r\n", "is a whole number"),
        (b"MATCHSTATE:" + b"0" * 5000 + b":0::5d5c|\r\n", "the position is 0 or 1"),
        (b"x" * 3 * LONGEST_LINE, "bytes without ending the line"),
        (b"# hi\r\n" * 5000, "comments only"),
        (b"\xff\xfe\x00\r\n", "a line is MATCHSTATE"),
    ],
)
def test_a_misbehaving_dealer_is_one_sentence(data, words):
    told = client_against(data)
    assert isinstance(told, ProtocolError)
    assert words in str(told)
    assert len(str(told)) < 500


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        (lambda view: 1 / 0, "failed in hand 7: ZeroDivisionError"),
        (
            lambda view: raise_to(1),
            "failed in hand 7: r1 is not allowed; legal: fold, call or raise",
        ),
        (lambda view: "call", "failed in hand 7"),
    ],
)
def test_an_agent_that_fails_at_a_table_is_one_sentence(deed, words):
    class Broken(Wild):
        def act(self, view):
            return deed(view)

    ours, theirs = socket.socketpair()
    wire = Wire(ours, "the dealer")
    theirs.sendall(b"MATCHSTATE:1:7::|9hQd\r\n")
    with pytest.raises(EquipoiseError, match=words):
        play(Broken(), NOLIMIT_HOLDEM, wire, timeout=5)
    wire.close()
    theirs.close()


def test_a_silent_dealer_is_left():
    told = client_against(b"MATCHSTATE:0:0::5d5c|\r\n", close=False, timeout=0.2)
    assert "sent no line within 0.2 seconds" in str(told)


def test_a_dealer_that_reads_nothing_is_left():
    ours, theirs = socket.socketpair()
    wire = Wire(ours, "the dealer")
    with pytest.raises(ProtocolError, match=r"read nothing for 0\.2 seconds"):
        wire.send("x" * 20_000_000, 0.2)
    wire.close()
    theirs.close()


def test_the_client_survives_random_damage():
    """A real dialogue with bytes changed, dropped and doubled: an end, or one sentence."""
    good = (
        b"MATCHSTATE:0:0::5d5c|\r\nMATCHSTATE:0:0:f:5d5c|\r\n"
        b"MATCHSTATE:1:1::|5dJd\r\nMATCHSTATE:1:1:r20000c///:6sKs|5dJd/2sTh2h/Qh/8h\r\n"
    )
    assert client_against(good).chips == 50 - 20000
    random = Random(4)
    for _ in range(150):
        data = bytearray(good)
        for _ in range(random.randint(1, 4)):
            place = random.randrange(len(data))
            kind = random.randrange(3)
            if kind == 0:
                data[place] = random.randrange(256)
            elif kind == 1:
                del data[place : place + random.randint(1, 30)]
            else:
                data[place:place] = data[place : place + random.randint(1, 30)]
        told = client_against(bytes(data))
        assert isinstance(told, ProtocolError) or told.hands >= 1


def test_no_dealer_there():
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    with pytest.raises(ProtocolError, match="start it first"):
        join(Wild(), NOLIMIT_HOLDEM, "127.0.0.1", port)
    for wrong in (99999, 0, -1, 10**30):
        with pytest.raises(ProtocolError, match="from 1 to 65535"):
            join(Wild(), NOLIMIT_HOLDEM, "127.0.0.1", wrong)
    for seconds in (0, -1, float("nan"), float("inf"), 1e20):
        with pytest.raises(ProtocolError, match="more than 0 seconds"):
            join(Wild(), NOLIMIT_HOLDEM, "127.0.0.1", port, timeout=seconds)
    for host in ("..", "a\0b", "x" * 300):
        with pytest.raises(ProtocolError, match="check host and port"):
            join(Wild(), NOLIMIT_HOLDEM, host, port)
