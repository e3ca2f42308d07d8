"""The benchmark: a client written from the wire's description, crashes, limits, and figures."""

from __future__ import annotations

import asyncio
from random import Random

import httpx
import pytest
from starlette.testclient import TestClient

from equipoise.agents.registry import AgentSpec
from equipoise.arena.histories.history import History
from equipoise.arena.match import play_match
from equipoise.arena.remote import challenge as visiting
from equipoise.arena.remote.challenge import Challenge, LostError, Server
from equipoise.arena.remote.notation import read_answer
from equipoise.errors import EquipoiseError
from equipoise.web.benchmark import sessions as playing
from equipoise.web.benchmark.server import application, serve
from equipoise.web.benchmark.store import FILE, Store

KEY = "a-long-word-1234"


def opened(folder, agent="quick", **more):
    return TestClient(application(folder, agent, **more), base_url="http://localhost")


@pytest.fixture
def client(tmp_path):
    with opened(tmp_path) as client:
        yield client


def post(client, path, **data):
    answer = client.post(f"/api/{path}", json=data)
    assert answer.status_code == 200, answer.text
    return answer.json()


def play_hand(client, token, choose, prefix="/api", **more):
    """A hand, as a client plays it that knows the description of the wire and nothing else."""
    told = client.post(
        f"{prefix}/new_hand", json={"token": token, **more} if token else more
    ).json()
    token, before = told["token"], None
    while "winnings" not in told:
        assert told["old_action"] == (before or "") or before is None
        street = told["action"].rpartition("/")[2]
        count = {0: 0, 1: 3, 2: 4, 3: 5}[told["action"].count("/")]
        assert len(told["board"]) == count
        before = told["action"]
        # A bet on this street, or the big blind before the flop, has to be called.
        faced = "b" in street or (
            not told["action"].count("/") and told["client_pos"] == 1 and not street
        )
        told = client.post(
            f"{prefix}/act", json={"token": token, "incr": choose(faced, street)}
        ).json()
        assert told["action"].startswith(before)
        assert told["old_action"] == before
    return told


def passive(faced, street):
    return "c" if faced else "k"


def test_a_client_of_the_description_plays_and_is_counted(client):
    token, total = None, 0
    for number in range(1, 31):
        told = play_hand(client, token, passive, "/slumbot/api" if number % 2 else "/api")
        token = told["token"]
        total += told["winnings"]
        assert (told["session_num_hands"], told["session_total"]) == (number, total)
        assert told["client_pos"] == (number - 1) % 2
        assert len(told["bot_hole_cards"]) == 2
        assert read_answer(told).winnings == told["winnings"]
        sign = (told["winnings"] > 0) - (told["winnings"] < 0)
        assert (told["won_pot"] > 0) - (told["won_pot"] < 0) == sign
    figures = client.get(f"/api/session/{token}").json()
    assert figures["hands"] == figures["aivat_hands"] == figures["allin_hands"] == 30
    assert figures["mbb_per_hand"] == pytest.approx(total / 30 * 10)
    assert figures["errors"] == 0
    assert figures["seconds_per_decision"] > 0


def test_what_is_illegal_changes_nothing(client):
    token = post(client, "new_hand", series=1)["token"]
    before = post(client, "new_hand", token=token)
    for incr in ("x", "", "b1", "b99999", "k" if before["action"] else "f!", "b" + "9" * 90):
        told = post(client, "act", token=token, incr=incr)
        assert set(told) == {"error_msg"}
        assert post(client, "new_hand", token=token) == before
    assert client.get(f"/api/session/{token}").json()["errors"] == 6


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("act", b'{"token": "nobody", "incr": "k"}', 401),
        ("act", b'{"incr": "k"}', 400),
        ("act", b'{"token": 5, "incr": "k"}', 400),
        ("new_hand", b"[]", 400),
        ("new_hand", b'{"series": -1}', 400),
        ("new_hand", b'{"series": true}', 400),
        ("new_hand", b'{"series": 9223372036854775808}', 400),
        ("new_hand", b"\xff\xfe", 400),
        ("new_hand", b"[" * 4000, 400),
        ("new_hand", b'{"token": "' + b"x" * 5000 + b'"}', 413),
        ("login", b'{"username": "a b", "password": "x"}', 400),
        ("login", b'{"username": "\\ud800", "password": "\\ud800"}', 400),
        ("nothing", b"{}", 404),
    ],
)
def test_what_cannot_be_read_is_a_sentence(client, path, body, status):
    answer = client.post(f"/api/{path}", content=body)
    assert answer.status_code == status
    assert set(answer.json()) == {"error_msg"}


def test_names_are_kept_by_their_passwords(client):
    one = post(client, "login", username="ann", password="secret")["token"]
    two = post(client, "login", username="ann", password="secret")["token"]
    assert one != two
    assert client.post("/api/login", json={"username": "ann", "password": "x"}).status_code == 401
    play_hand(client, one, passive)
    told = client.get("/leaderboard").json()
    assert [row["name"] for row in told["sessions"]] == ["ann"]
    page = client.get("/leaderboard", headers={"accept": "text/html"}).text
    assert "<td>ann</td>" in page
    assert client.get("/docs").status_code == 200
    assert "/api/act" in client.get("/openapi.json").json()["paths"]


def test_a_series_is_the_match_with_its_seed_hand_for_hand(client, tmp_path):
    class Here(Server):
        def ask(self, method, path, data=None):
            answer = client.request(method, path, json=data)
            return answer.status_code, answer.json()

    agent = AgentSpec.read("random").make()
    visit = Challenge(Here("localhost"), agent, 2026, 2026, None)
    while len(visit.payoffs) < 40:
        visit.play()
    log = tmp_path / "match.log"
    match = play_match("random", "quick", hands=40, seed=2026, log=log)
    assert visit.payoffs == match.payoffs.tolist()
    assert not visit.faults
    told = visit.figures()
    assert told["pairs"] == 20
    assert told["mbb_per_hand"] == pytest.approx(match.mbb_per_hand)
    assert told["ci95_mbb"] == pytest.approx(match.ci95_mbb)
    # The same hands as files that the rest of the package reads.
    for kind, name in (("acpc", "session.log"), ("phh", "session.phhs")):
        file = tmp_path / name
        file.write_text(client.get(f"/api/session/{visit.token}/{kind}").text)
        hands = list(History.open(file).hands())
        assert len(hands) == 40
        played = [hand.payoffs[hand.number % 2] for hand in hands]
        assert played == visit.payoffs


def test_a_session_belongs_to_its_series(client):
    told = play_hand(client, None, passive, series=5)
    answer = post(client, "new_hand", token=told["token"], series=6)
    assert "series 5" in answer["error_msg"]
    assert "error_msg" not in post(client, "new_hand", token=told["token"], series=5)


def test_a_server_that_is_started_anew_goes_on_with_the_right_hand(tmp_path):
    """Every request meets a server that knows nothing but its file, and plays as one that never died."""

    def chosen(draws):
        return lambda faced, street: draws.choice(["c", "f"] if faced else ["k"])

    (tmp_path / "lasting").mkdir()
    with opened(tmp_path / "lasting") as client:
        lasting, token, draws = [], None, chosen(Random(4))
        for _ in range(6):
            told = play_hand(client, token, draws, series=77)
            token = told.pop("token")
            lasting.append(told)

    class Dying:
        """Opens the server anew for every request."""

        def post(self, path, json):
            with opened(tmp_path) as fresh:
                return fresh.post(path, json=json)

    token, draws = None, chosen(Random(4))
    for expected in lasting:
        told = play_hand(Dying(), token, draws, series=77)
        token = told.pop("token")
        assert told == expected


def test_requests_on_one_token_are_served_in_turn(tmp_path):
    """Two hundred requests at once on one token: no action is taken twice, no hand is skipped."""
    app = application(tmp_path, "call")

    async def crowd():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            first = (await http.post("/api/new_hand", json={})).json()
            body = {"token": first["token"], "incr": "k"}
            asked = [http.post("/api/act", json=body) for _ in range(200)]
            answers = [answer.json() for answer in await asyncio.gather(*asked)]
            return first, answers

    first, answers = asyncio.run(crowd())
    actions = [answer["action"] for answer in answers if "action" in answer]
    # The big blind checks down against a caller: c k/kk/kk/kk, one action for each street.
    assert first["client_pos"] == 0
    assert actions == ["ck/", "ck/kk/", "ck/kk/kk/", "ck/kk/kk/kk"]
    assert all("no hand is under way" in a["error_msg"] for a in answers if "error_msg" in a)


def test_agents_that_think_are_asked_in_threads(tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.agents.simple.CallAgent.waits", True)
    with opened(tmp_path, "call") as client:
        told = play_hand(client, None, passive)
    assert told["session_num_hands"] == 1


def test_a_key_is_asked_for(tmp_path):
    with opened(tmp_path, key=KEY, local=False) as client:
        assert client.post("/api/new_hand", json={}).status_code == 401
        assert client.post("/wrong-wrong-wrong/api/new_hand", json={}).status_code == 401
        bearer = {"Authorization": f"Bearer {KEY}"}
        assert client.post("/api/new_hand", json={}, headers=bearer).status_code == 200
        assert client.post(f"/{KEY}/api/new_hand", json={}).status_code == 200
        assert client.post(f"/{KEY}/slumbot/api/new_hand", json={}).status_code == 200
    with pytest.raises(EquipoiseError, match="--key"):
        serve("call", host="0.0.0.0")
    with pytest.raises(EquipoiseError, match="--key"):
        serve("call", key="short")


def test_foreign_names_and_pages_get_nothing(client):
    assert (
        client.post("/api/new_hand", json={}, headers={"host": "evil.example"}).status_code == 421
    )
    from_page = {"origin": "http://evil.example"}
    assert client.post("/api/new_hand", json={}, headers=from_page).status_code == 403


def test_there_are_limits(client, monkeypatch):
    monkeypatch.setattr(playing, "MOST_SESSIONS", 1)
    token = post(client, "new_hand", series=0)["token"]
    answer = client.post("/api/new_hand", json={})
    assert answer.status_code == 429
    assert "sessions are kept" in answer.json()["error_msg"]
    assert "error_msg" not in post(client, "new_hand", token=token)


def test_new_sessions_and_requests_come_at_a_rate(tmp_path, monkeypatch):
    monkeypatch.setattr(playing, "_NEW_BURST", 2.0)
    monkeypatch.setattr(playing, "_NEW_RATE", 0.001)
    monkeypatch.setattr(playing, "_BURST", 5.0)
    monkeypatch.setattr(playing, "_RATE", 0.001)
    with opened(tmp_path, "call") as client:
        answers = [client.post("/api/new_hand", json={}) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
        token = answers[0].json()["token"]
        statuses = [
            client.post("/api/new_hand", json={"token": token}).status_code for _ in range(6)
        ]
        assert statuses == [200] * 4 + [429] * 2


def test_a_session_of_another_agent_is_not_mixed_up(tmp_path):
    with opened(tmp_path, "call") as client:
        token = post(client, "new_hand")["token"]
    with opened(tmp_path, "fold") as client:
        answer = client.post("/api/new_hand", json={"token": token})
        assert answer.status_code == 401
        assert "against call" in answer.json()["error_msg"]


def test_no_token_stands_in_the_file(tmp_path):
    with opened(tmp_path, "call") as client:
        token = post(client, "new_hand")["token"]
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert token.encode() not in kept
    assert Store(tmp_path / FILE).session(token) is not None


def test_a_challenger_survives_a_server_that_comes_and_goes(client, monkeypatch):
    """Every third request is lost, before or after the server has seen it: the chips are the same."""
    monkeypatch.setattr(visiting, "sleep", lambda seconds: None)

    class Flaky(Server):
        count = 0

        def ask(self, method, path, data=None):
            self.count += 1
            lost = self.count > 1 and self.count % 3 == 0
            if lost and self.count % 2:
                raise LostError("gone before")
            answer = client.request(method, path, json=data)
            if lost:
                raise LostError("gone after")
            return answer.status_code, answer.json()

    visit = Challenge(Flaky("localhost"), AgentSpec.read("quick").make(), 9, 9, None)
    while len(visit.payoffs) < 40:
        visit.play()
    match = play_match("quick", "quick", hands=40, seed=9)
    assert visit.payoffs[:40] == match.payoffs.tolist()
