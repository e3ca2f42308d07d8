"""The server as a process: killed in the middle of a session, and sent nonsense."""

from random import Random

from equipoise.bench.serve import kills, nonsense, spoilt


def test_a_killed_server_goes_on_with_the_right_hand():
    done, wrong = kills(seed=3, count=2, sessions=2)
    assert done["reached"]
    assert wrong["reached"]


def test_nonsense_is_answered():
    broken, hung, _ = nonsense(seed=3, count=240)
    assert broken["value"] == hung["value"] == 0


def test_nonsense_is_the_same_from_the_same_seed():
    assert spoilt(Random(5), "token") == spoilt(Random(5), "token")
