"""The study of `sottovoce evaluate acoustic`: which sets of speech are made, who learns from them, who attacks them.

Every set, every embedding and every trial is a step of its own (see kept_steps.py). A source is where training speech comes
from; all sources are tested on original speech of speakers who are in no training set of that fold.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from sottovoce.models.evaluation.attacks.speaker_linkage import Design
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.speech.slice import Slicer
from sottovoce.pipelines.sanitize.job_file import JobFile
from sottovoce.pipelines.studies import acoustic_sets as sets
from sottovoce.pipelines.studies.acoustic_attack import EmbeddedClips, Suspects, attack_results, choose_suspects, embed
from sottovoce.pipelines.studies.acoustic_sets import Clip, SpeechSet
from sottovoce.pipelines.studies.acoustic_trial import try_out
from sottovoce.pipelines.studies.kept_steps import KeptStep, KeptSteps, identity_of
from sottovoce.pipelines.studies.voice_results import AttackResult
from sottovoce.transforms.speech.measure_voice import key_of

NOTHING, ORIGINALS = "not adapted", "originals"
WHOLE_S = 1e6  # slices of at least so many seconds: whole utterances
SECONDS_PER_WORD = 0.45
# Processor seconds for each second of speech, rough: for telling beforehand how long a study takes.
ALIGN_COST, VOICE_COST, MACHINE_COST, EMBED_COST, READ_COST = 0.08, 0.07, 0.03, 0.05, 0.003


@dataclass(frozen=True)
class SpeechSource:
    """`voice` names one of the study's voices, None are originals; `share` of the training utterances are originals too.

    `slice_s` cuts into slices of at least so long; None is as the job says, for originals whole.
    """

    name: str
    voice: str | None = None
    share: float = 0.0
    slice_s: float | None = None


@dataclass(frozen=True)
class Study:
    """Corpus, voices, learners and encoders of the study. Its steps are done when `kept` is asked for their results."""

    utterances: Sequence[Utterance]
    load: sets.Load
    test_folds: tuple[frozenset[str], ...]  # speakers of the test; those of no fold are in every training set
    job: JobFile
    masked: bool
    voices: Mapping[str, Mapping[str, Spec]]  # by name, then by speaker: who speaks for them
    learners: Mapping[str, Spec]
    encoders: Mapping[str, Spec]
    design: Design
    seed: int
    trainings: int  # of each learner that draws, on each source: their errors are added up
    secret: Secret
    kept: KeptSteps
    pools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # digests of each voice's pools, by its name

    def aligned_step(self) -> KeptStep:
        """The corpus with its word times, and with its sensitive words where they are to be masked."""
        align, detect = (self.job.specs[name] for name in ("align", "detect"))
        identity = identity_of("align", self._corpus, align, detect if self.masked else None)
        cost = ALIGN_COST * self._seconds(self.utterances)
        return KeptStep("align", identity, cost, lambda: sets.align(self.utterances, self.job, self.masked, self.load))

    def set_step(self, source: SpeechSource, enrolment: bool = False) -> KeptStep:
        """The whole corpus as this source gives it; an attacker's `enrolment` has draws of its own."""
        some = [u for u in self.utterances if not enrolment or key_of(u) in self.suspects.enrolled]
        seconds = self._seconds(some)
        if source.voice is None and source.name in sets.MACHINES:
            identity, said = identity_of(source.name, self._corpus), partial(sets.said_by_machine, some, source.name)
            return KeptStep(f"say the transcripts, {source.name}", identity, MACHINE_COST * seconds, said)
        if source.voice is None and source.slice_s is None:
            identity = identity_of("originals", self._corpus)
            return KeptStep(
                "read originals", identity, READ_COST * seconds, lambda: sets.originals(self.utterances, self.load)
            )
        slicer = self._slicer(source)
        before = self.aligned_step()
        if source.voice is None:
            return KeptStep(
                f"cut originals, {source.slice_s:g} s", identity_of("cut", before.identity, slicer), READ_COST * seconds,
                lambda: sets.cut_originals(some, self.kept.result(before), slicer, self.load),
            )  # fmt: skip
        voices, secret = self.voices[source.voice], self._secret_of("enrolment" if enrolment else "release")
        rest = [self.job.specs[name] for name in ("mask", "relisten")]
        who = sorted((name, repr(spec)) for name, spec in voices.items())
        identity = identity_of(
            "voice", before.identity, who, self.pools.get(source.voice, ()), slicer, rest, secret.value, enrolment
        )
        job = dataclasses.replace(self.job, sections={**self.job.sections, "slice": slicer})
        name = f"speak as {source.name}" + (", the attacker's enrolment" if enrolment else "")
        return KeptStep(
            name, identity, VOICE_COST * seconds,
            lambda: sets.voiced(some, self.kept.result(before), job, voices.__getitem__, secret, self.load),
        )  # fmt: skip

    def trial_step(
        self,
        learner: str,
        source: SpeechSource,
        fold: int,
        seed: int,
        tests: tuple[SpeechSource, ...] = (SpeechSource(ORIGINALS),),
    ) -> KeptStep:
        """Trained on the source without the fold's speakers, tested on theirs: errors by the test's name, then by speaker."""
        spec = self.learners[learner]
        basis = [self.set_step(one).identity for one in self._basis(source)]
        tested = [(one.name, self.set_step(one).identity) for one in tests]
        draw = self.seed if source.share else None
        identity = identity_of("trial", spec, source, basis, tested, sorted(self.test_folds[fold]), draw, seed)
        test_s = self._seconds([u for u in self.utterances if u.speaker_id in self.test_folds[fold]])
        cost_s = spec.make().cost_s(self._seconds(self.utterances) - test_s, len(tests) * test_s)
        return KeptStep(
            f"{learner} on {source.name}, fold {fold + 1}, seed {seed}", identity, cost_s,
            lambda: try_out(spec, self.training(source, fold), {t.name: self._test(t, fold) for t in tests}, seed),
        )  # fmt: skip

    def training(self, source: SpeechSource, fold: int) -> list[Clip]:
        """The pieces of the source whose speakers are not tested in this fold."""
        if source.name == NOTHING:
            return []
        found: list[Clip] = []
        basis = [self.kept.result(self.set_step(one)) for one in self._basis(source)]
        shared = self._shared(source.share, fold)
        for part, one in zip(basis, self._basis(source), strict=True):
            wanted = one.name == ORIGINALS if source.share else None
            found += [
                piece
                for piece in part.pieces
                if piece.speaker not in self.test_folds[fold]
                and (wanted is None or (piece.utterance in shared) == wanted)
            ]
        return found

    def heard_steps(self, source: SpeechSource, enrolment: bool) -> dict[str, KeptStep]:
        """What each encoder hears in what the attackers enrol, or in what they are tested on."""
        chosen = self.suspects.enrolled if enrolment else self.suspects.tested
        of = self.set_step(source, enrolment)
        seconds = self._seconds([u for u in self.utterances if key_of(u) in chosen])
        return {
            name: KeptStep(
                f"{name} listens to {source.name}" + (", enrolment" if enrolment else ""),
                identity_of("embed", spec, of.identity, sorted(chosen)), EMBED_COST * seconds,
                partial(self._embed, of, chosen, spec),
            )
            for name, spec in self.encoders.items()
        }  # fmt: skip

    def attack(self, source: SpeechSource) -> list[AttackResult]:
        """What each attacker reaches with each encoder on the speech of the source; does the steps that are not kept yet."""
        enrolled, tested = (self._heard(source, enrolment) for enrolment in (True, False))
        return attack_results(
            enrolled, tested, self._heard(SpeechSource(ORIGINALS), True), self.design, self._pool_of(source)
        )

    @cached_property
    def suspects(self) -> Suspects:
        """Which utterances attackers enrol and which they are tested on: the same ones for all sources."""
        return choose_suspects(self.utterances, self.design)

    @cached_property
    def _corpus(self) -> str:
        return identity_of([(key_of(u), u.speaker_id, u.text, u.audio) for u in self.utterances])

    def _heard(self, source: SpeechSource, enrolment: bool) -> EmbeddedClips:
        chosen = self.suspects.enrolled if enrolment else self.suspects.tested
        pieces = self._chosen(self.set_step(source, enrolment), chosen)
        heard = {name: self.kept.result(s) for name, s in self.heard_steps(source, enrolment).items()}
        return EmbeddedClips(pieces, heard).taken_together()

    def _chosen(self, of: KeptStep, keys: frozenset[str]) -> list[Clip]:
        found: SpeechSet = self.kept.result(of)
        return found.of(lambda piece: piece.utterance in keys)

    def _embed(self, of: KeptStep, keys: frozenset[str], encoder: Spec) -> np.ndarray:
        return embed(self._chosen(of, keys), encoder)

    def _pool_of(self, source: SpeechSource) -> dict[str, int] | None:
        if source.voice is None:
            return None
        numbers = {spec: place for place, spec in enumerate(dict.fromkeys(self.voices[source.voice].values()))}
        return {speaker: numbers[spec] for speaker, spec in self.voices[source.voice].items()}

    def _basis(self, source: SpeechSource) -> list[SpeechSource]:
        """The sets that a source is made of."""
        if source.name == NOTHING:
            return []
        own = dataclasses.replace(source, share=0.0)
        if not source.share:
            return [own]
        return [SpeechSource(ORIGINALS)] if source.voice is None else [SpeechSource(ORIGINALS), own]

    def _shared(self, share: float, fold: int) -> frozenset[str]:
        """The training utterances whose originals may be used: the same ones alone and beside a voice."""
        keys = sorted(key_of(u) for u in self.utterances if u.speaker_id not in self.test_folds[fold])
        return frozenset(random.Random(self.seed).sample(keys, round(share * len(keys))))

    def _test(self, source: SpeechSource, fold: int) -> list[Clip]:
        found: SpeechSet = self.kept.result(self.set_step(source))
        return found.of(lambda piece: piece.speaker in self.test_folds[fold])

    def _slicer(self, source: SpeechSource) -> Slicer:
        slicer: Slicer = self.job.sections["slice"]
        return slicer if source.slice_s is None else dataclasses.replace(slicer, min_seconds=source.slice_s)

    def _secret_of(self, role: str) -> Secret:
        return Secret(self.secret.digest("acoustic study", role))

    @staticmethod
    def _seconds(utterances: Sequence[Utterance]) -> float:
        return sum(SECONDS_PER_WORD * len(u.text.split()) for u in utterances)
