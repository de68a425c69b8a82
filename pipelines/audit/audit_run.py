"""One audit: gather what an attacker has and the truth, run every attack, write `audit.json` into private state.

There, because whoever could write it beside the records could open the gate; and under the digest of the commit, because
it speaks of those very records: after `sottovoce forget`, or a run that was replaced, it speaks of nothing.
"""

from __future__ import annotations

import dataclasses
import datetime
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import yaml
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.evaluation.audit.judge import attacked, audit_seal, eased_by_the_job, reasons_not_held
from sottovoce.models.evaluation.audit.material import NEEDS_CANARIES, KnownText, Material
from sottovoce.models.evaluation.audit.readers import at_hand
from sottovoce.models.evaluation.audit.trials import NotApplicable, NotMeasurable
from sottovoce.models.forget.whose import speaker_token
from sottovoce.models.ledger.book import from_json
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.runs.committed_run import CommittedRun
from sottovoce.pipelines.audit.officers_page import page, reached
from sottovoce.pipelines.audit.originals import gaps_of, known_half, not_in, originals_of, slices_of
from sottovoce.pipelines.audit.people_traits import labelled_traits
from sottovoce.pipelines.audit.planted import evidence_seal
from sottovoce.pipelines.audit.released import Sample, sample_of
from sottovoce.pipelines.audit.voices import voices_of
from sottovoce.pipelines.local.read_locally import read_utterances
from sottovoce.pipelines.sanitize.job_file import JobFile, read_job
from sottovoce.pipelines.sanitize.run_files import open_committed
from sottovoce.pipelines.sanitize.run_folder import RunFolder, read_json, remove_tree, write_json
from sottovoce.pipelines.training.marker import one_at_a_time
from sottovoce.transforms.read.corpus import open_corpus
from sottovoce.transforms.write.shards import write_then_rename

VERSION = 1
SPEECH = "stt_am"
NO_INDEX = NotMeasurable("the index of the run, to know what belongs together (forget: on)")
NO_SPEECH = NotApplicable("the run releases no speech")
OWNED_BY_NOBODY = NotApplicable("the records of the run belong to nobody: what bounds them stands in the ledger")
# The attacker's own copy of the chain is that of the run: an audit that changed voices in another way would attack another run.
OF_THE_RUN = ("align", "voice", "mask", "relisten", "replace", "slice", "audio")
OF_READING = ("format", "columns", "language")
OF_AN_AUDIT = ("audit", "input")  # what a job file and --set say of one


@dataclass(frozen=True)
class AuditRequest:
    """`corpus` and `secret` tell which record was made of what; without them some attacks cannot be judged. `training` is the
    train.yaml of a training that is measured by one of the same settings, `traits` a table of what is known of people."""

    run_uri: str
    job: JobFile
    corpus: str | None = None
    secret: Secret | None = None
    auxiliary: str | None = None
    full: bool = False
    training: str | None = None
    traits: str | None = None


def audit(request: AuditRequest, folder: RunFolder, told: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """The content of `audit.json`, which is written first. What was found before counts no more once this has begun: an audit
    that does not end has not opened the gate."""
    began = time.monotonic()
    run = open_committed(folder.uri)
    run.verify()
    with no_start_meanwhile(folder):
        others = _others(folder, run.digest)
        remove_tree(folder.places.audit)
    settings = request.job.sections["audit"]
    told("reading the run")
    material, sampled = gather(request, folder, run)
    if request.training is not None:
        told("training models to be measured")
        training, membership = _trainings(request.training, settings, folder, run)
        material = dataclasses.replace(material, training=training, membership=membership)
    results, fitness = attacked(material, settings, told)
    reasons = reasons_not_held(results, settings.unmeasured)
    content = {
        "version": VERSION,
        "run_id": run.run_id,
        "commit": run.digest,
        "created": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "full": request.full,
        "sampled": sampled,
        "unmeasured": settings.unmeasured,
        "held": not reasons,
        "reasons": reasons,
        "results": results,
        "calibration": fitness,
        "eased": eased_by_the_job(results),
        "seconds": round(time.monotonic() - began, 1),
    } | others
    content["seal"] = audit_seal(request.secret, content) if request.secret else None
    write_json(folder.places.audit, content)
    written = page(content, from_json(run.read("ledger.json").decode()))
    write_then_rename(folder.places.audit_page, lambda file: file.write(written.encode()), private=True)
    return content


def no_start_meanwhile(folder: RunFolder) -> AbstractContextManager[None]:
    """While an audit is taken away or changed, no training starts on its word. Where there is no lock, the start looks twice."""
    return nullcontext() if "://" in folder.uri else one_at_a_time(folder)


def _others(folder: RunFolder, commit: str) -> dict[str, Any]:
    """What outsiders found of these very records stays."""
    try:
        before = read_json(folder.places.audit) if FileSystems.exists(folder.places.audit) else {}
        return {"others": before["others"]} if before.get("commit") == commit and "others" in before else {}
    except (ValueError, AttributeError, TypeError):  # damaged: it is made anew
        return {}


def gather(request: AuditRequest, folder: RunFolder, run: CommittedRun) -> tuple[Material, dict[str, int]]:
    """(what the attacks work on, how many people and records were sampled). Whatever is not at hand, such as a corpus
    that was not given, stands there as a reason. RunError where nobody of the corpus is in the run."""
    settings = request.job.sections["audit"]
    sinks = tuple(sink for sink in run.record["counts"]["rows"] if run.rows(sink))
    if _belongs_to_nobody(run):
        return Material.without(OWNED_BY_NOBODY, sinks), {"people": 0, "of_people": 0, "records": 0}
    sample = sample_of(folder, run, None if request.full else settings.records)
    if sample is None:
        return Material.without(NO_INDEX, sinks), {"people": 0, "of_people": 0, "records": 0}
    texts = sample.texts()
    sampled = {"people": len(sample.people), "of_people": sample.of_people, "records": len(texts)}
    speech = SPEECH in sinks
    parts: dict[str, Any] = {"canaries": _canaries(folder, settings.canaries, request.secret)}
    parts |= {} if speech else {"slices": NO_SPEECH, "voices": NO_SPEECH}
    if request.corpus is not None and request.secret is not None:
        parts |= _with_corpus(request, sample, request.secret, request.corpus, speech)
    if request.auxiliary is not None and request.secret is not None:
        parts["known"] = _auxiliary(request.auxiliary, request.secret, sample)
    return Material(texts, sinks=sinks, readers=at_hand(settings.readers), **parts), sampled


def _with_corpus(request: AuditRequest, sample: Sample, secret: Secret, corpus: str, speech: bool) -> dict[str, Any]:
    job = request.job
    reading = job.sections["input"]
    read = read_utterances(corpus, reading.format, reading.naming)
    originals, named = originals_of(read, secret, sample.people)
    if not originals:
        raise RunError(f"{corpus}: nobody in it is in the run; give the corpus and the secret that the run was made of")
    if missing := not_in(originals, sample, secret):
        partly = NotMeasurable(f"the whole corpus of the run: {missing} sampled dialogues are not in what was given")
        return dict.fromkeys(
            ("known", "gaps", "traits", "slices", "voices") if speech else ("known", "gaps", "traits"), partly
        )
    parts: dict[str, Any] = {
        "named": named,
        "known": known_half(originals, secret) if named else NotMeasurable("speaker ids in the corpus"),
        "gaps": gaps_of(sample, originals, secret),
        "traits": labelled_traits(originals, secret, request.traits),
    }
    if speech:
        roots = open_corpus(corpus, reading.format, reading.naming).audio_roots(reading.audio_roots)
        limit = None if request.full else job.sections["audit"].speakers
        parts["slices"] = slices_of(sample, originals, secret, request.full)
        heard = voices_of(sample, originals, secret, job, roots, limit)
        parts |= {"voices": heard[0], "voice_texts": heard[1]} if isinstance(heard, tuple) else {"voices": heard}
    return parts


def _trainings(config: str, settings: AuditSettings, folder: RunFolder, run: CommittedRun) -> tuple[Any, Any]:
    from sottovoce.pipelines.audit.measuring_training import measuring_trainings  # waits for torch

    return measuring_trainings(folder.uri, run.digest, config, settings)


def _canaries(folder: RunFolder, asked: int | float, secret: Secret | None) -> Any:
    """What became of those that went along counts, also where later nobody asks for any."""
    place = folder.places.canary_evidence
    if not FileSystems.exists(place):
        return NEEDS_CANARIES if asked else NotApplicable("none were asked for (audit.canaries: 0)")
    found = read_json(place)
    seal = found.pop("seal", None)
    if secret is not None and seal != evidence_seal(secret, folder.name, found):
        raise RunError(f"{place} is not what the run wrote; put it back from a backup")
    return found


def _auxiliary(source: str, secret: Secret, sample: Sample) -> list[KnownText] | NotMeasurable:
    found = [u for u in read_utterances(source) if isinstance(u, Utterance) and u.speaker_id is not None]
    known = [KnownText(speaker_token(secret, str(u.speaker_id)), u.text) for u in found]
    own = [text for text in known if text.person in sample.people]
    return own or NotMeasurable(
        "people of the run in what is known from elsewhere (--auxiliary); nobody there is in it"
    )


def _belongs_to_nobody(run: CommittedRun) -> bool:
    ledger = from_json(run.read("ledger.json").decode())
    return any(row["stage"] == "rewrite" and row["mechanism"].startswith("crowd") for row in ledger["mechanisms"])


def job_of_run(run_uri: str, config: str | None, assignments: list[str]) -> JobFile:
    """How to audit says the job that is given, else the one that the run was made by, as far as it is published; how the run
    was made says the run alone."""
    names = [assignment.partition("=")[0].partition(".")[0] for assignment in assignments]
    if foreign := [name for name in names if name not in OF_AN_AUDIT]:
        raise SettingsError(
            [f"--set {name}: the run is made already; allowed: {', '.join(OF_AN_AUDIT)}" for name in foreign]
        )
    published: dict[str, Any] = yaml.safe_load(open_committed(run_uri).read("config.yaml"))
    given = {name: published[name] for name in OF_THE_RUN if name in published}
    if config is None:
        given["audit"] = published.get("audit") or {}
        given["input"] = {name: value for name, value in (published.get("input") or {}).items() if name in OF_READING}
    return read_job(config, assignments, given)


def lines(content: dict[str, Any]) -> Iterator[str]:
    """For people: what each attack reached, whether the attackers are fit, and the verdict."""
    sampled = content["sampled"]
    yield (
        f"attacked {content['run_id']}: {sampled['records']} records of {sampled['people']} people "
        f"(of {sampled['of_people']} in the run)"
    )
    yield f"{'attack':<23} {'where':<10} {'attack':>7} {'control':>8} {'risk':>7}  {'95 %':<16} {'allowed':>7}  verdict"
    for row in content["results"]:
        if "risk" in row:
            risk = row["risk"]
            between = f"{risk['low']:.3f} to {risk['high']:.3f}"
            yield (
                f"{row['attack']:<23} {row['where']:<10} {row['attack_rate']['value']:>7.3f} "
                f"{row['control_rate']['value']:>8.3f} {risk['value']:>7.3f}  {between:<16} {row['allowed']:>7g}  "
                f"{row['verdict']}" + (f": {row['why']}" if "why" in row else "")
            )
        else:
            yield f"{row['attack']:<23} {row['where']:<10} {row['verdict']}: {row['why']}"
    for row in content["calibration"]:
        nothing, everything = (reached(row[f"risk_where_{what}"]) for what in ("nothing_leaks", "all_leaks"))
        fit = "is fit" if row["fit"] else "IS NOT FIT"
        yield f"the attacker {fit}: {row['attack']:<23} {nothing:>6} where nothing leaks, {everything} where all does"
    if content["eased"]:
        yield f"the job allows more than the default: {', '.join(content['eased'])}"
    if content["held"]:
        yield "held"
    else:
        yield "did not hold:"
        yield from (f"  {reason}" for reason in content["reasons"])
