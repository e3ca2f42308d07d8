"""A language model as a player, against a small server of the test's own."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from equipoise.agents.outside.chat import ChatAgent, completion
from equipoise.arena.match import play_match
from equipoise.errors import ProtocolError

FOLD = '{"action": "fold"}'
CALL = '{"action": "call"}'


@contextmanager
def chat_server(answers, status=200):
    """A server that answers with texts in turn, the last one for ever; and what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, dict(self.headers), body))
            text = answers[min(len(asked), len(answers)) - 1]
            data = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_model_plays_and_its_words_stay_with_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", "secret-key")
    log = tmp_path / "match.log"
    with chat_server([CALL]) as (address, asked):
        agent = ChatAgent(address, model="small", key_variable="A_KEY")
        match = play_match(agent, "call", hands=4, seed=2, log=log)
    assert not match.faults
    path, headers, body = asked[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret-key"
    assert body["model"] == "small"
    words, _, told = body["messages"][1]["content"].rpartition("\n")
    assert "You may:" in words
    assert json.loads(told)["legal"]["call"] is True
    notes = [line for line in log.read_text().splitlines() if line.startswith("# NOTE 0 ")]
    assert len(notes) == len(asked)
    note = json.loads(notes[0].removeprefix("# NOTE 0 "))
    assert note["answer"] == CALL
    assert "You may:" in note["prompt"]
    assert "secret-key" not in log.read_text()
    # The log is one that a match goes on from.
    with chat_server([CALL]) as (address, _):
        longer = play_match(ChatAgent(address), "call", hands=6, seed=2, log=log, resume=True)
    assert longer.payoffs[:4].tolist() == match.payoffs.tolist()


@pytest.mark.parametrize("wrong", ["I would call here.", '{"action": "raise", "amount": 3}'])
def test_a_wrong_answer_is_asked_for_once_more(wrong):
    with chat_server([wrong, CALL]) as (address, asked):
        match = play_match(ChatAgent(address), "call", hands=2, seed=1)
        assert not match.faults
        retry = asked[1][2]["messages"]
        assert [part["role"] for part in retry] == ["system", "user", "assistant", "user"]
        assert retry[2]["content"] == wrong
    with chat_server([wrong]) as (address, asked):
        match = play_match(ChatAgent(address), "call", hands=2, seed=1)
        assert match.faults
        assert len(asked) == 2 * len(match.faults)
    assert match.payoffs.tolist() == play_match("fold", "call", hands=2, seed=1).payoffs.tolist()


def test_a_server_that_fails_is_a_fault():
    with chat_server([FOLD], status=500) as (address, _):
        match = play_match(ChatAgent(address), "call", hands=2)
        assert "answers 500" in match.faults[0].reason
    match = play_match(ChatAgent(address, seconds=1), "call", hands=2)
    assert "failed" in match.faults[0].reason


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"choices": []}', b"\xff", b"[" * 10**5])
def test_what_is_no_completion_is_refused(data):
    with pytest.raises(ProtocolError):
        completion(data)
