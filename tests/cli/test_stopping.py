"""Ctrl-C on the command line."""

from __future__ import annotations

import signal
import threading

import pytest

from equipoise.cli.stopping import stopped_by_signals
from equipoise.run import Stop


def test_ctrl_c_sets_the_flag_once_and_then_is_itself() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with stopped_by_signals() as stop, stop.watching():
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_ctrl_c_does_not_wait_for_what_nobody_runs() -> None:
    with stopped_by_signals() as stop:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert not stop.is_set()
        with pytest.raises(SystemExit) as told:
            signal.raise_signal(signal.SIGTERM)
        assert told.value.code == 143


def test_being_asked_to_end_any_number_of_times() -> None:
    with stopped_by_signals() as stop, stop.watching():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()


def test_other_threads_do_not_listen() -> None:
    found: list[Stop] = []

    def work() -> None:
        with stopped_by_signals() as stop:
            found.append(stop)

    before = signal.getsignal(signal.SIGINT)
    other = threading.Thread(target=work)
    other.start()
    other.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert not found[0].is_set()
