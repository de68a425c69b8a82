"""Before and after, on an example that nobody said: what the members of this run's job make of one invented sentence.

The run's secret is not used: a draw for a text that everybody knows is nobody's business. The words were spoken by a
synthesiser (tools/speak_demo.py). Where the example cannot be made, as on a driver without the models that the workers
have, the report says so and is complete all the same.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from sottovoce.models.errors import told_by_place
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.speech.chain import SpeechChain
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.text import chain
from sottovoce.models.text.rewrite import NONE
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.text.crowd import releases_templates

TEXT = "hello this is rosalind barker please move my appointment in aberdeen to friday at nine"
RECORDING = "example.flac"
KEY = Secret(b"of the example in every report, and known to everybody")


@dataclass(frozen=True, slots=True)
class ExampleSound:
    """`source` is a FLAC file as an address that holds it, for an audio element."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class ShownExample:
    """`before`: the sentence in pieces, each with the type of what was found there, or none. `after`: its text in the data sets
    of text. `heard` and `slices`: the recording, and what is released of it. `missing`: why something is not shown."""

    before: tuple[tuple[str, str], ...] = ()
    after: str | None = None
    heard: ExampleSound | None = None
    slices: tuple[ExampleSound, ...] = ()
    missing: str = ""


def example_of(job: Job) -> ShownExample:
    """The example, or why there is none; never an error, for the report is written after the run."""
    if releases_templates(job.rewrite):
        return ShownExample(missing="A single sentence leaves nothing in a release of what many speakers have said.")
    try:
        return _made(job)
    except Exception as error:  # noqa: BLE001 - a report without an example is a report; nothing of a record was at work
        return ShownExample(missing=f"It could not be made where this report was written: {told_by_place(error)}.")


def _made(job: Job) -> ShownExample:
    invented = Utterance("example", "example", 0, TEXT, Source("", 0), language="en")
    found = _with(job.detect, lambda detector: chain.detected(detector, [invented])[0])
    shown = ShownExample(before=_pieces(TEXT, found.spans))
    families = {family for sink in job.sinks for family in sink_class(sink).mechanisms}
    if "replace" in families:
        shown = dataclasses.replace(shown, after=_text(job, found))
    if "voice" in families:
        shown = dataclasses.replace(shown, **_speech(job, found))
    return shown


def _text(job: Job, found: Utterance) -> str:
    if job.rewrite.name != NONE:
        draws = chain.draws_of(KEY, job.rewrite)
        return _with(job.rewrite, lambda rewriter: rewriter.rewrite(found, draws).text)
    draws = chain.draws_of(KEY, job.replace)
    return _with(job.replace, lambda strategy: chain.replaced(strategy, found, draws).text)


def _speech(job: Job, found: Utterance) -> dict[str, Any]:
    import io

    import soundfile

    from sottovoce.models.speech.audio import Speech, resample, to_flac

    recording = resources.files(__package__).joinpath(RECORDING).read_bytes()
    samples, rate_hz = soundfile.read(io.BytesIO(recording), dtype="float32")
    always = chain.without_coin(job.replace)
    aligner, voice, masker, listener = (
        members.load(spec).member for spec in (job.align, job.voice, job.mask, job.relisten)
    )
    steps = SpeechChain(
        aligner,
        voice,
        masker,
        listener,
        slicer=job.slice,
        secret=KEY,
        align_on=job.audio.align_on,
        edits_of=lambda utterance: _with(always, lambda one: one.replace(utterance, chain.draws_of(KEY, job.replace))),
    )
    pieces = steps.run(Spoken(found, resample(Speech(samples, rate_hz), job.audio.rate_hz)))
    slices = tuple(ExampleSound(piece.text, _address(to_flac(piece.speech))) for piece in pieces)
    return {"heard": ExampleSound(TEXT, _address(recording)), "slices": slices}


def _with(spec: Spec, act: Callable[[Any], Any]) -> Any:
    loaded = members.load(spec)
    with loaded.lock:
        return act(loaded.member)


def _address(flac: bytes) -> str:
    return f"data:audio/flac;base64,{base64.b64encode(flac).decode()}"


def _pieces(text: str, spans: tuple[Span, ...]) -> tuple[tuple[str, str], ...]:
    pieces, at = [], 0
    for span in sorted(spans, key=lambda span: span.begin):
        pieces += [(text[at : span.begin], ""), (text[span.begin : span.end], span.type)]
        at = span.end
    return tuple(piece for piece in (*pieces, (text[at:], "")) if piece[0])
