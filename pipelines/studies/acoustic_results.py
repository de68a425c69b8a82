"""From trials and attacks to the tables of `sottovoce evaluate acoustic`: what speech teaches, and what it tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.models.evaluation.metrics.speaker_rates import pooled, rate, ratio
from sottovoce.models.evaluation.metrics.verification import Estimate
from sottovoce.models.evaluation.metrics.word_errors import WordErrors
from sottovoce.pipelines.studies.acoustic_study import NOTHING, ORIGINALS, WHOLE_S, SpeechSource, Study
from sottovoce.pipelines.studies.kept_steps import KeptStep
from sottovoce.pipelines.studies.voice_results import AttackResult, worst

LENGTHS_S = (4.0, 3.0, 1.5)  # of COMPRISE D2.3, Table 1


@dataclass(frozen=True)
class Taught:
    """What one learner made of one source: word errors on original speech of others, and against what they are held."""

    learner: str
    source: str
    utterances: int  # slices it was trained on, on average over the folds
    wer: Estimate
    to_originals: Estimate
    to_nothing: Estimate | None  # only of learners that start from a ready model


WHOLE_ORIGINALS = (SpeechSource(ORIGINALS),)


def trials(
    study: Study, sources: Sequence[SpeechSource], tests: tuple[SpeechSource, ...] = WHOLE_ORIGINALS
) -> Iterator[tuple[str, SpeechSource, KeptStep]]:
    """Every training there is: learner, source, and the step. Only a ready model can be tested without any."""
    for name, spec in study.learners.items():
        member = spec.make()
        for source in sources:
            if source.name == NOTHING and not member.ready:
                continue
            seeds = study.trainings if member.drawn and source.name != NOTHING else 1
            for fold in range(len(study.test_folds)):
                for seed in range(seeds):
                    yield name, source, study.trial_step(name, source, fold, seed, tests)


def taught(
    study: Study, sources: Sequence[SpeechSource], tests: tuple[SpeechSource, ...] = WHOLE_ORIGINALS
) -> dict[str, list[Taught]]:
    """By test: what each learner made of each source."""
    parts: dict[tuple[str, str, str], list[dict[str, WordErrors]]] = {}
    for name, source, step in trials(study, sources, tests):
        for test, found in study.kept.result(step).items():
            parts.setdefault((test, name, source.name), []).append(found)
    errors = {key: pooled(found) for key, found in parts.items()}
    sizes = {source.name: _size(study, source) for source in sources}
    out: dict[str, list[Taught]] = {}
    for (test, name, source_name), found in errors.items():
        nothing = errors.get((test, name, NOTHING))
        held = ratio(found, nothing) if nothing is not None and source_name != NOTHING else None
        to_originals = ratio(found, errors[test, name, ORIGINALS])
        row = Taught(name, source_name, sizes[source_name], rate(found), to_originals, held)
        out.setdefault(test, []).append(row)
    return out


def _size(study: Study, source: SpeechSource) -> int:
    folds = range(len(study.test_folds))
    return round(sum(len(study.training(source, fold)) for fold in folds) / len(study.test_folds))


def frontier(found: Sequence[Taught], attacked: Mapping[str, Sequence[AttackResult]], together: Sequence[int]) -> Any:
    """By learner and source: the ratio of errors to originals beside the worst EER with so many slices together."""
    out: dict[str, dict[str, Any]] = {}
    for one in found:
        rates = {count: worst(attacked[one.source], count) for count in together if one.source in attacked}
        out.setdefault(one.learner, {})[one.source] = {
            "wer_ratio": _numbers(one.to_originals),
            "eer": {str(count): _numbers(seen.eer) for count, seen in rates.items() if seen},
        }
    return out


def to_json(found: Sequence[Taught]) -> list[dict[str, Any]]:
    """A row for each learner and source; the ratio to no adaptation is null for a learner that starts from nothing."""
    return [
        {
            "learner": one.learner,
            "source": one.source,
            "utterances": one.utterances,
            "wer": _numbers(one.wer),
            "ratio_to_originals": _numbers(one.to_originals),
            "ratio_to_not_adapted": _numbers(one.to_nothing) if one.to_nothing else None,
        }
        for one in found
    ]


def table(found: Sequence[Taught]) -> str:
    """Plain text, a line for each learner and source; error rates in %, ratios as factors, 95 % intervals."""
    widest = max(len(one.source) for one in found)
    head = f"{'learner':<8} {'trained on':<{widest}} {'slices':>6}  {'WER %':>5} {'95 %':>12}  "
    lines = [head + f"{'to originals':>20}  {'to not adapted':>20}"]
    for one in found:
        lines.append(
            f"{one.learner:<8} {one.source:<{widest}} {one.utterances:>6}  {100 * one.wer.value:>5.1f} "
            f"{f'{100 * one.wer.low:.1f} to {100 * one.wer.high:.1f}':>12}  {_times(one.to_originals):>20}  "
            f"{_times(one.to_nothing):>20}".rstrip()
        )
    return "\n".join(lines)


def attack_table(attacked: Mapping[str, Sequence[AttackResult]], together: Sequence[int]) -> str:
    """The EER of each attacker with its best encoder, and which one that was: untrained beside trained."""
    order = ("ignorant", "lazy", "semi-informed", "informed")
    widest = max(len(name) for name in attacked)
    lines = [f"{'EER %':<{widest}} {'slices':>6}  " + "".join(f"{name:>24}" for name in order)]
    for source, results in attacked.items():
        for count in together:
            cells = []
            for attacker in order:
                own = [result for result in results if result.attack.attacker == attacker]
                best = worst(own, count)
                cells.append(f"{100 * best.eer.value:.1f} ({best.encoder})" if best else "-")
            lines.append(f"{source:<{widest}} {count:>6}  " + "".join(f"{cell:>24}" for cell in cells))
    return "\n".join(lines)


def table_1_sources(voice: str) -> tuple[list[SpeechSource], tuple[SpeechSource, ...]]:
    """COMPRISE D2.3, Table 1: both kinds of training speech, whole and cut, and both kinds to test on, whole."""
    whole = SpeechSource(f"{voice}, whole", voice, slice_s=WHOLE_S)
    rows = [SpeechSource(ORIGINALS), *(SpeechSource(f"originals, {s:g} s", slice_s=s) for s in LENGTHS_S)]
    rows += [whole, *(SpeechSource(f"{voice}, {s:g} s", voice, slice_s=s) for s in LENGTHS_S)]
    return rows, (SpeechSource(ORIGINALS), whole)


def share_name(share: float) -> str:
    """How tables and plans name a source that is some of the originals alone; `share` is from 0 to 1."""
    return f"{100 * share:g} % of the originals"


def _times(found: Estimate | None) -> str:
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})" if found else ""


def _numbers(found: Estimate) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}
