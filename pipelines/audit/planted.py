"""Canaries in a run: planted before its graph, looked for behind it, gone before its commit.

They are drawn with the secret, so what was planted is known again without being written down. What became of them is kept
in private state as counts, yes and no (`canaries.json`); `models/evaluation/audit/by_canaries.py` judges it.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import told_by_place
from sottovoce.models.evaluation.attacks.sound import sound_print
from sottovoce.models.evaluation.audit.by_canaries import SPEECH
from sottovoce.models.evaluation.audit.canaries import FIRST, Canary, invent, words_found
from sottovoce.models.evaluation.audit.ear import Ear
from sottovoce.models.evaluation.audit.masked_names import longest_silence
from sottovoce.models.evaluation.known_answers.word_times import FLITE_VOICES, flite_speech
from sottovoce.models.randomness import Secret
from sottovoce.models.records import AudioRef, Utterance
from sottovoce.models.speech import audio
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.pipelines.audit.originals import heard, paired, slices_by_utterance
from sottovoce.pipelines.sanitize.run_folder import write_json
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.sinks.route import choose_sink
from sottovoce.transforms.sinks.sink import ReplacedText
from sottovoce.transforms.text.crowd import releases_templates
from sottovoce.transforms.write.shards import write_then_rename

AT_LEAST, SPEAKING = 50, 40  # people, and how many of twice as many speak, in a corpus of ten times as many records
AT_MOST = 2000  # of a share: they lie in the graph, and more would tell no more
TURNS = 2  # of each of them
ALIKE = 8  # hexadecimal digits that two ids begin with: by luck, once in four thousand million pairs
Rows = dict[str, dict[str, Mapping[str, Any]]]


def people_to_plant(asked: int | float, records: int, speech: bool) -> int:
    """A whole number as it is; a share of the records, but enough to measure by where they are at most a tenth of them, and no
    more than measuring needs. Where some speak, there are twice as many."""
    if isinstance(asked, int):
        return asked
    at_least = AT_LEAST * (2 if speech else 1)
    return min(max(int(asked * records / TURNS), min(at_least, records // 10)), AT_MOST) if asked else 0


def plant(job: Job, asked: int | float, records: int) -> Job:
    """The job with its canaries. None for texts that a crowd must have said: nobody's own words pass there."""
    people = people_to_plant(asked, records, SPEECH in job.sinks)
    if not people or releases_templates(job.rewrite):
        return job
    canaries = [_with_recording(job, canary) for canary in invented(job, shared_out(job, people))]
    batches = _in_batches(canaries, job.input.records_per_batch)
    roots = AudioRoots((*job.audio_roots.roots, job.places.canaries("audio")), job.audio_roots.files)
    return dataclasses.replace(job, canaries=batches, audio_roots=roots)


def shared_out(job: Job, people: int) -> dict[str, int]:
    """How many canaries each sink gets: some of them speak, where flite and a sink of speech are there."""
    sinks = _sinks(job)
    text = [sink for sink in sinks if sink != SPEECH]
    speaking = min(round(people * SPEAKING / (2 * AT_LEAST)), max(SPEAKING, people // 10)) if text else people
    if SPEECH not in sinks or shutil.which("flite") is None:
        speaking = 0
    counts = {sink: (people - speaking + place) // len(text) for place, sink in enumerate(text)}
    return counts | ({SPEECH: speaking} if speaking else {})


def invented(job: Job, counts: Mapping[str, int]) -> list[Canary]:
    """The canaries of a job, drawn with its secret: with so many of them in each sink, always the same ones."""
    return invent(job.secret, counts, lambda name: choose_sink(job.secret, name, job.sinks), SPEECH, FLITE_VOICES)


def _sinks(job: Job) -> list[str]:
    """Those that canaries can be followed into."""
    return [sink for sink in job.sinks if sink == SPEECH or issubclass(sink_class(sink), ReplacedText)]


def _in_batches(canaries: Sequence[Canary], records_per_batch: int) -> tuple[list[Utterance], ...]:
    """As large as those of the corpus. Turns of one person stay together: a dialogue is put together out of one batch."""
    batches: list[list[Utterance]] = [[]]
    for _, own in itertools.groupby(canaries, key=lambda canary: canary.person):
        turns = [canary.utterance for canary in own]
        if batches[-1] and len(batches[-1]) + len(turns) > records_per_batch:
            batches.append([])
        batches[-1] += turns
    return tuple(batches)


def _with_recording(job: Job, canary: Canary) -> Canary:
    if canary.voice is None:
        return canary
    place, speech = job.places.canaries("audio", f"{canary.person}.flac"), said(canary)
    write_then_rename(place, lambda file: file.write(audio.to_flac(speech)), private=True)
    return dataclasses.replace(canary, utterance=dataclasses.replace(canary.utterance, audio=AudioRef(place)))


def said(canary: Canary) -> Speech:
    """What flite makes of a canary's text in its voice; only for canaries that speak."""
    assert canary.voice is not None
    return flite_speech(canary.utterance.text, canary.voice)[0]


def planted_in(job: Job) -> dict[str, int]:
    """How many canaries go along, by sink: with the secret, that is enough to know them again, also without flite."""
    people = dict.fromkeys(utterance.dialogue_id for batch in job.canaries for utterance in batch)
    return dict(Counter(choose_sink(job.secret, dialogue, job.sinks) for dialogue in people))


def keep_evidence(job: Job, planted: Mapping[str, int]) -> None:
    """What became of the canaries, before the commit takes them away. An error here is a failed audit, not a failed run."""
    try:
        rows = {sink: _released(job, sink) for sink in job.sinks}
        found = evidence(job, invented(job, planted), rows)
    except Exception as error:  # noqa: BLE001
        found = {"failed": told_by_place(error)}
    write_json(job.places.canary_evidence, found | {"seal": evidence_seal(job.secret, job.places.name, found)})


def evidence_seal(secret: Secret, run: str, found: Mapping[str, Any]) -> str:
    """Evidence is believed of the run that it was gathered in, as it was gathered."""
    return secret.token("canaries", run, json.dumps(found, sort_keys=True))


def evidence(job: Job, canaries: Sequence[Canary], rows: Rows) -> dict[str, Any]:
    """`rows`: the records of canaries, by sink and id."""
    originals: dict[str, list[Utterance]] = {}
    for canary in canaries:
        originals.setdefault(canary.person, []).append(canary.utterance)
    cut = slices_by_utterance(rows.get(SPEECH, {}), originals, job.secret)
    texts = {name: " ".join(row["text"] for row in own) for name, own in cut.items()}
    for sink, own in rows.items():
        branch = sink_class(sink)
        if issubclass(branch, ReplacedText):
            texts |= {(u.dialogue_id, u.id): text for _, u, text in paired(branch, own, originals, job.secret)}
    spoken = [canary for canary in canaries if canary.voice and _name(canary) in cut]
    speech = {canary.person: _joined([heard(row) for row in cut[_name(canary)]]) for canary in spoken}
    sound, gaps = _sound(spoken, speech)
    return {
        "planted": {
            kind: len({canary.person for canary in canaries if (canary.sink == SPEECH) == (kind == SPEECH)})
            for kind in dict.fromkeys(SPEECH if sink == SPEECH else "text sinks" for sink in _sinks(job))
        },
        "words": words_found(canaries, texts),
        "sound": sound,
        "gaps": gaps,
        "voice": _voices(spoken, speech),
        "joined": [
            *_in_two_sinks(job, originals, rows),
            *_in_one_piece(job, spoken, cut),
            *_by_ids(job, originals, rows),
        ],
    }


def _name(canary: Canary) -> tuple[str, str]:
    return canary.utterance.dialogue_id, canary.utterance.id


def _released(job: Job, sink: str) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for item in FileSystems.match([job.places.canaries(sink, "*.parquet")])[0].metadata_list:
        with FileSystems.open(item.path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            found |= {row["id"]: row for row in pq.read_table(file).to_pylist()}
    return found


def _joined(pieces: Sequence[Speech]) -> Speech:
    return Speech(np.concatenate([piece.samples for piece in pieces]), pieces[0].rate_hz)


def _sound(canaries: Sequence[Canary], speech: Mapping[str, Speech]) -> tuple[list[list[Any]], list[list[Any]]]:
    """([person, the name is heard, another is heard, the name is heard in the original],
    [person, place of the name in the list, seconds of the longest silence, names heard, whether it is one of them])"""
    ear = Ear(FIRST)
    sound, gaps = [], []
    for canary in canaries:
        (_, name), decoy, made = canary.planted[0], canary.decoys[0], speech[canary.person]
        heard = ear.heard(made)
        sound.append([canary.person, name in heard, decoy in heard, name in ear.heard(said(canary))])
        gaps.append([canary.person, FIRST.index(name), longest_silence(made), len(heard), name in heard])
    return sound, gaps


def _voices(canaries: Sequence[Canary], speech: Mapping[str, Speech]) -> list[list[Any]]:
    """[person, the right voice is named, the voice]: the nearest mean of the originals of the others, each side centred."""
    if len(canaries) < 2:
        return []
    known, made = (
        np.array([sound_print(one).mean for one in side])
        for side in ([said(canary) for canary in canaries], [speech[canary.person] for canary in canaries])
    )
    known, made = known - known.mean(axis=0), made - made.mean(axis=0)
    voices = np.array([canary.voice for canary in canaries])
    rows = []
    for place, canary in enumerate(canaries):
        others = np.arange(len(canaries)) != place
        means = {v: known[others & (voices == v)].mean(axis=0) for v in np.unique(voices[others])}
        nearest = min(means, key=lambda voice: float(np.linalg.norm(made[place] - means[voice])))
        rows.append([canary.person, bool(nearest == canary.voice), str(canary.voice)])
    return rows


def _in_two_sinks(job: Job, originals: Mapping[str, Sequence[Utterance]], rows: Rows) -> list[list[Any]]:
    found = {person: [sink for sink in rows if _ids(job, sink, own, rows)] for person, own in originals.items()}
    return [[person, "in two sinks", len(sinks) > 1] for person, sinks in found.items() if sinks]


def _in_one_piece(job: Job, canaries: Sequence[Canary], cut: Mapping[tuple[str, str], Any]) -> list[list[Any]]:
    """Of those that are long enough for two slices whatever the words."""
    least_s = 2 * job.slice.min_seconds + 1
    long = [canary for canary in canaries if said(canary).duration_s >= least_s]
    return [[canary.person, "in one piece", len(cut[_name(canary)]) < 2] for canary in long]


def _by_ids(job: Job, originals: Mapping[str, Sequence[Utterance]], rows: Rows) -> list[list[Any]]:
    found = []
    for person, own in originals.items():
        for sink in rows:
            ids = _ids(job, sink, own, rows)
            if len(ids) > 1:
                found.append([person, "by ids", len({name[:ALIKE] for name in ids}) < len(ids)])
    return found


def _ids(job: Job, sink: str, utterances: Sequence[Utterance], rows: Rows) -> list[str]:
    """The released records of a person in a sink."""
    branch = sink_class(sink)
    if issubclass(branch, ReplacedText):
        return sorted({str(branch.row(u, job.secret).columns["id"]) for u in utterances} & set(rows[sink]))
    return [
        row["id"] for own in slices_by_utterance(rows[sink], {"": list(utterances)}, job.secret).values() for row in own
    ]
