import math
from collections import Counter

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from whole_runs import write_secret

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.secrets.secret_reference import FileReference
from sottovoce.transforms.sinks.route import RouteDialogues, choose_sink

SECRET = Secret(b"a secret of the test run")
WEIGHTS = {"stt_am": 0.4, "stt_lm": 0.3, "slu": 0.2, "dm": 0.1}
DIALOGUES = 10_000


def test_shares_lie_within_the_stated_bound_of_the_weights():
    """Each share is a mean of 10,000 keyed coins. Flakiness: none (the secret is fixed); with a random secret 5 standard
    errors on four sinks would fail with probability below 4 * 6e-7."""
    sinks = Counter(choose_sink(SECRET, f"dialogue {i}", WEIGHTS) for i in range(DIALOGUES))
    for sink, weight in WEIGHTS.items():
        assert abs(sinks[sink] / DIALOGUES - weight) < 5 * math.sqrt(weight * (1 - weight) / DIALOGUES)


def test_a_sink_without_weight_gets_nothing():
    assert {choose_sink(SECRET, str(i), {"a": 0.0, "b": 1.0, "c": 0.0}) for i in range(1000)} == {"b"}


def test_another_secret_routes_otherwise():
    other = Secret(b"another secret of the run")
    same = sum(choose_sink(SECRET, str(i), WEIGHTS) == choose_sink(other, str(i), WEIGHTS) for i in range(DIALOGUES))
    assert same / DIALOGUES < 0.35  # independent draws agree with probability 0.30


def route_all(tmp_path, name: str, options: list[str]) -> dict[str, set[str]]:
    """Two turns of each dialogue, in different batches; one line for each turn in the file of its sink."""
    batches = [
        [Utterance(f"{d}-{turn}", f"dialogue {d}", turn, "text", Source("f", d)) for d in range(begin, begin + 500)]
        for turn in (0, 1)
        for begin in range(0, DIALOGUES, 500)
    ]
    file = write_secret(tmp_path / "secret")  # workers of other processes read it there
    secret = Secret(file.read_bytes(), FileReference(str(file)))
    with beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner", *options])) as pipeline:
        routed = pipeline | beam.Create(batches) | beam.Reshuffle() | RouteDialogues(WEIGHTS, secret)
        for sink in WEIGHTS:
            lines = routed[sink] | f"ids {sink}" >> beam.FlatMap(lambda batch: [u.dialogue_id for u in batch])
            lines | f"write {sink}" >> beam.io.WriteToText(str(tmp_path / f"{name}-{sink}"))
    return {
        sink: {line for part in tmp_path.glob(f"{name}-{sink}-*") for line in part.read_text().splitlines()}
        for sink in WEIGHTS
    }


@pytest.mark.slow
@pytest.mark.long
def test_same_dialogue_goes_to_one_sink_in_every_run_and_for_every_number_of_workers(tmp_path):
    one = route_all(tmp_path, "one", ["--direct_num_workers=1"])
    two = route_all(tmp_path, "two", ["--direct_num_workers=2", "--direct_running_mode=multi_processing"])
    assert one == two
    assert sum(len(dialogues) for dialogues in one.values()) == DIALOGUES == len(set().union(*one.values()))
