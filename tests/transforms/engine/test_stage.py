import logging
import pickle
from types import SimpleNamespace

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to

from sottovoce.models.errors import PackageMissing, Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.pipelines.sanitize.explain import explain
from sottovoce.transforms.engine.stage import FAILURES, PASSED, TALLY, Step, _Run

SECRET = Secret(b"a secret of the test run")
PLANTED = "anna lindqvist"


class TooOdd(Refusal):
    code = "too_odd"
    allowed = "even turns"


class Picky(Step):
    """Refuses odd turns, breaks on turn 4 with a message that quotes the text."""

    name = "picky"

    def one(self, utterance):
        if utterance.turn == 4:
            raise ValueError(f"cannot handle {utterance.text}")
        if utterance.turn % 2:
            raise TooOdd
        return utterance.turn


class PickyInBatches(Picky):
    def many(self, utterances):
        return [self.one(utterance) for utterance in utterances]


def utterances(count=6):
    return [Utterance(f"u{i}", PLANTED, i, PLANTED, Source("manifest.jsonl", i + 1)) for i in range(count)]


def run(step):
    """The DoFn as a plain loop: what it emits, by output."""
    out = {PASSED: [], FAILURES: [], TALLY: []}
    for element in _Run(step, SECRET, None).process(utterances()):
        tag = element.tag if isinstance(element, beam.pvalue.TaggedOutput) else PASSED
        out[tag].append(getattr(element, "value", element))
    return out


def test_one_bad_item_does_not_cost_its_neighbours_in_either_mode():
    for step in (Picky(), PickyInBatches()):
        out = run(step)
        assert out[PASSED] == [[0, 2]]
        reasons = [(failure.line, failure.reason) for failure in out[FAILURES][0]]
        assert reasons == [(2, "too_odd"), (4, "too_odd"), (5, "unexpected_ValueError"), (6, "too_odd")]


class NeedsPackage(Step):
    name = "needs"

    def one(self, utterance):
        import no_such_package_here  # noqa: F401


class NeedsPackageInBatches(NeedsPackage):
    def many(self, utterances):
        return [self.one(utterance) for utterance in utterances]


@pytest.mark.parametrize("step", [NeedsPackage(), NeedsPackageInBatches()])
def test_a_package_that_is_missing_ends_the_run_and_refuses_no_record(step):
    with pytest.raises(PackageMissing, match="no_such_package_here is not installed; pip install") as told:
        run(step)
    explained = explain(RuntimeError(f"in a worker: {told.value} [while running 'x']"), None, SimpleNamespace())
    assert str(explained) == f"{told.value}; nothing was committed"
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)


def test_a_failure_shows_nothing_of_the_record():
    for failure in run(Picky())[FAILURES][0]:
        assert PLANTED not in repr(failure) and "u1" not in failure.id
        assert len(failure.id) == 32


def test_the_tally_counts_each_item_once():
    count = run(Picky())[TALLY][0].stages["picky"]
    assert (count.received, count.passed, count.reasons) == (6, 2, {"too_odd": 3, "unexpected_ValueError": 1})


def test_no_log_line_quotes_a_record_when_a_step_breaks(caplog):
    with caplog.at_level(logging.DEBUG), beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"])) as pipeline:
        parts = (
            pipeline
            | beam.Create([utterances()])
            | beam.ParDo(_Run(Picky(), SECRET, None)).with_outputs(FAILURES, TALLY, main=PASSED)
        )
        assert_that(parts[PASSED], equal_to([[0, 2]]))
    assert PLANTED not in caplog.text


def test_sensitive_records_do_not_show_themselves():
    assert PLANTED not in repr(utterances()) + str(utterances()[0])
