"""The fuzzer finds what is planted, reads the same inputs again, and finds nothing in the package."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from plantedreaders import buggy, deaf, dying, hanging, hungry, sound
from typer.testing import CliRunner

from equipoise.bench.fuzz.fuzz import Fuzzer, all_readers
from equipoise.bench.fuzz.mutations import MOST_BYTES, Stock, gather, spoil
from equipoise.bench.fuzz.worker import VERDICTS, Inputs, Limits
from equipoise.cli import app


def fuzzed(readers, inputs=300, limits=None, workers=1, seed=5):
    fuzzer = Fuzzer(inputs, seed, workers, limits=limits or Limits(), readers=readers)
    fuzzer.run()
    assert fuzzer.done == inputs
    return fuzzer


def test_what_is_accepted_and_refused_is_no_fault():
    fuzzer = fuzzed(sound)
    assert fuzzer.faults == 0
    assert fuzzer.refusing == []
    assert fuzzer.tally.total("accepted") > 10
    assert fuzzer.tally.total("refused") > 10


def test_an_untyped_error_is_found_with_its_input():
    fuzzer = fuzzed(buggy)
    assert fuzzer.faults == fuzzer.tally.counts["buggy"]["other_exceptions"] > 10
    (fault,) = fuzzer.tally.faults.values()
    assert fault.reader == "buggy"
    assert fault.count == fuzzer.faults
    assert fault.error.startswith("KeyError")
    assert fault.trace[-1].endswith("_buggy")
    # The input can be made again from its number.
    name, data = Inputs(buggy(), 5).input(fault.input)
    assert name == "buggy"
    assert repr(data) == fault.data


def test_a_hang_is_found():
    fuzzer = fuzzed(hanging, limits=Limits(seconds=0.1))
    assert fuzzer.faults == fuzzer.tally.counts["loops"]["hangs"] > 0


def test_a_worker_that_hears_no_alarm_is_killed_and_the_others_are_counted():
    fuzzer = fuzzed(deaf, limits=Limits(seconds=0.1, grace_seconds=0.5), workers=2)
    assert fuzzer.faults == fuzzer.tally.counts["deaf"]["hangs"] > 0
    assert next(iter(fuzzer.tally.faults.values())).data


def test_a_process_that_ends_is_a_fault():
    fuzzer = fuzzed(dying, 200)
    assert fuzzer.faults == fuzzer.tally.counts["dies"]["other_exceptions"] > 0


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is not told")
def test_memory_is_found_whatever_becomes_of_it():
    fuzzer = fuzzed(hungry, 200, Limits(memory_bytes=1 << 27))
    assert fuzzer.faults == fuzzer.tally.counts["large"]["over_memory"] > 1


def test_the_same_seed_gives_the_same_inputs_to_any_number_of_workers():
    first, second = fuzzed(buggy, 900, workers=1), fuzzed(buggy, 900, workers=3)
    assert first.tally.counts == second.tally.counts
    assert first.tally.faults == second.tally.faults
    assert first.samples == second.samples
    assert fuzzed(buggy, 900, seed=6).tally.counts != first.tally.counts


def test_a_reader_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="no reader 'cart': choose from card"):
        Fuzzer(10, only=["cart"])


@pytest.fixture(scope="module")
def readers():
    return all_readers()


def test_samples_are_the_same_every_time(readers):
    assert Inputs(readers, 1).digest == Inputs(all_readers(), 1).digest
    assert len({reader.name for reader in readers}) == len(readers)


def test_mutations_are_reproducible_bounded_and_many():
    samples = [b'pot = 100\nboard = "As Kd"\n', b"GAMEDEF\nblind = 5 10\n"]
    stock = Stock(samples, gather(samples))
    made = [spoil(Random(n), samples[0], stock) for n in range(2000)]
    assert made == [spoil(Random(n), samples[0], stock) for n in range(2000)]
    assert len(set(made)) > 1000
    assert max(map(len, made)) <= MOST_BYTES


def test_the_package_stands_a_few_thousand_inputs():
    result = CliRunner().invoke(
        app, ["bench", "fuzz", "--inputs", "2500", "--seed", "3", "--workers", "1", "--json"]
    )
    told = json.loads(result.stdout)
    assert told["faults"] == []
    assert result.exit_code == 0
    assert told["inputs"] == sum(told[verdict] for verdict in VERDICTS) == 2500
    # Large files get few inputs: of those it suffices that they are read at all.
    often = {reader.name for reader in all_readers() if reader.weight >= 0.3}
    assert often <= set(told["readers"]) <= {reader.name for reader in all_readers()}
    assert told["readers_without_samples"] == []
