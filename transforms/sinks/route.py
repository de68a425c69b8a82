"""Send each dialogue to exactly one sink: HMAC(secret, dialogue id) -> [0, 1) -> weights.

No shuffle and no state, so a retry, a second run, another runner and another number of workers give the same answer.
Holding both forms of one dialogue (its speech in one sink, its text in another) would let them be joined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.tally import Given, Tally
from sottovoce.transforms.engine.stage import TALLY, is_invented


def choose_sink(secret: Secret, dialogue_id: str, weights: Mapping[str, float]) -> str:
    """The weights need not add up to 1, but one must be above 0; a sink of weight 0 is never chosen."""
    at = secret.uniform("route", dialogue_id) * sum(weights.values())
    for sink, weight in weights.items():
        at -= weight
        if at < 0:
            return sink
    return next(sink for sink in reversed(list(weights)) if weights[sink] > 0)  # only rounding leads here


class RouteDialogues(beam.PTransform):
    """Batches of Utterances -> one PCollection of batches for each sink, and one of tallies."""

    def __init__(self, weights: Mapping[str, float], secret: Secret):
        super().__init__()
        self._weights, self._secret = dict(weights), secret

    def expand(self, batches: beam.PCollection) -> dict[str, beam.PCollection]:
        """By the name of the sink, and by TALLY; all turns of a dialogue go the same way."""
        return batches | beam.ParDo(_Route(self._weights, self._secret)).with_outputs(*self._weights, TALLY)


class _Route(beam.DoFn):
    def __init__(self, weights: dict[str, float], secret: Secret):
        self._weights, self._secret = weights, secret

    def process(self, batch: Sequence[Utterance]) -> Iterator[beam.pvalue.TaggedOutput]:
        by_sink: dict[str, list[Utterance]] = {}
        sinks: dict[str, str] = {}
        for utterance in batch:
            if utterance.dialogue_id not in sinks:
                sinks[utterance.dialogue_id] = choose_sink(self._secret, utterance.dialogue_id, self._weights)
            by_sink.setdefault(sinks[utterance.dialogue_id], []).append(utterance)
        invented = is_invented(batch)
        tally = Tally() if invented else Tally.of("route", received=len(batch), passed=len(batch))
        for sink, utterances in by_sink.items():
            if not invented:
                tally.merge(Tally.of(f"to {sink}", received=len(utterances), passed=len(utterances)))
                tally.given[sink] = _given(utterances)
            yield beam.pvalue.TaggedOutput(sink, utterances)
        yield beam.pvalue.TaggedOutput(TALLY, tally)


def _given(utterances: Sequence[Utterance]) -> Given:
    return Given(
        spans=Counter(span.type for one in utterances for span in one.spans),
        labels=Counter(one.intent for one in utterances if one.intent is not None),
        words=Counter(len(one.text.split()) for one in utterances),
    )
