"""What a study of speech as training data consists of, before any of it is done: who is tested, what is made and tried."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.models.corpus import Refused
from sottovoce.models.errors import CorpusError, SettingsError
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec, option_names
from sottovoce.models.speech.voice import pool as pools
from sottovoce.pipelines.sanitize.secret_file import read_secret
from sottovoce.pipelines.studies.acoustic_results import share_name, table_1_sources, trials
from sottovoce.pipelines.studies.acoustic_sets import machines_here
from sottovoce.pipelines.studies.acoustic_study import NOTHING, ORIGINALS, SpeechSource, Study
from sottovoce.pipelines.studies.kept_steps import KeptStep
from sottovoce.pipelines.studies.unheard_pools import speakers_in_pool, unheard


@dataclass(frozen=True)
class AcousticPlan:
    """A study laid out: its steps in order, of which those that were done before are not done again."""

    study: Study
    sources: list[SpeechSource]  # what is trained on
    attacked: list[SpeechSource]
    tables: list[str]  # voices of which Table 1 is made

    def steps(self) -> list[KeptStep]:
        """All of them, each after those that it needs."""
        study, made = self.study, [source for source in self.sources if source.name != NOTHING and not source.share]
        found = [study.set_step(SpeechSource(ORIGINALS)), study.aligned_step()]
        found += [study.set_step(source) for source in made]
        found += [step for _, _, step in trials(study, self.sources)]
        for source in self.attacked:
            for enrolment in (True, False):
                found += [study.set_step(source, enrolment), *study.heard_steps(source, enrolment).values()]
        for voice in self.tables:
            rows, tests = table_1_sources(voice)
            found += [study.set_step(source) for source in rows]
            found += [step for _, _, step in trials(study, rows, tests)]
        return list({step.identity: step for step in found}.values())

    def do(self) -> None:
        """Every step that is not kept yet, in order; after a kill it goes on with the first one missing."""
        for step in self.steps():
            if not self.study.kept.has(step):
                self.study.kept.result(step)

    def refused(self) -> dict[str, dict[str, int]]:
        """Why records are missing, for each set that was made."""
        made = [source for source in self.sources if source.name != NOTHING and not source.share]
        return {one.name: dict(self.study.kept.result(self.study.set_step(one)).refused) for one in made}


def plan(
    study: Study, voices: Sequence[str], weak: Sequence[str], share: float, mix: bool, table_1: bool
) -> AcousticPlan:
    """`weak` voices are attacked and not learnt from; `share` of the originals is learnt from alone and, with `mix`, beside
    each voice. Without encoders nothing is attacked."""
    sources = [SpeechSource(NOTHING), SpeechSource(ORIGINALS), *(SpeechSource(name, name) for name in voices)]
    sources += [SpeechSource(machine) for machine in machines_here()]
    if "flite" not in machines_here():
        print("note: no plain text-to-speech beside it; apt-get install flite", file=sys.stderr)
    sources.append(SpeechSource(share_name(share), share=share))
    if mix:
        sources += [SpeechSource(f"{name} + {share_name(share)}", name, share) for name in voices]
    names = list(dict.fromkeys([*weak, *voices]))
    attacked = [SpeechSource(ORIGINALS), *(SpeechSource(name, name) for name in names)] if study.encoders else []
    return AcousticPlan(study, sources, attacked, list(voices) if table_1 else [])


def choose(records: Iterable[Utterance | Refused], speakers: int | None, seed: int) -> list[Utterance]:
    """Utterances that can be trained on and tested with, of all or of some speakers."""
    usable = [r for r in records if isinstance(r, Utterance) and r.audio is not None and r.speaker_id and r.text != "-"]
    names = sorted({one.speaker_id or "" for one in usable})
    if len(names) < 3:
        raise CorpusError(
            f"the corpus has {len(names)} speakers with recordings and transcripts; at least 3 are needed "
            "(each record needs speaker_id, audio_filepath and text)"
        )
    if speakers is not None and speakers < len(names):
        names = sorted(random.Random(seed).sample(names, max(3, speakers)))
    kept = set(names)
    return [one for one in usable if one.speaker_id in kept]


def split(speakers: Sequence[str], folds: int | None, test_share: float, seed: int) -> tuple[frozenset[str], ...]:
    """The speakers of each test: all of them in parts, or one part; at least two speakers stay for training."""
    order = random.Random(seed).sample(sorted(speakers), len(speakers))
    if folds is not None:
        if folds > len(order):
            raise SettingsError([f"--folds {folds}: more than the {len(order)} speakers of the corpus"])
        return tuple(frozenset(order[fold::folds]) for fold in range(folds))
    count = min(max(1, round(test_share * len(order))), len(order) - 2)
    return (frozenset(order[:count]),)


def named(specs: Sequence[Spec]) -> dict[str, Spec]:
    """Names for people: the member with its options, but not where its pool lies."""
    found: dict[str, Spec] = {}
    for spec in specs:
        options = [f"{key} {value}" for key, value in spec.options if key != "pool"]
        name = ", ".join([spec.name, *options])
        if name in found:
            raise SettingsError([f"--voice {name}: given twice"])
        found[name] = spec
    return found


def spoken_for(voice: Spec, folders: Sequence[Path], speakers: Sequence[str]) -> dict[str, Spec]:
    """The voice of each speaker; whoever reads the figures is told if they flatter."""
    if folders and _has_pool(voice):
        return unheard(voice, folders, speakers)
    known = speakers_in_pool(voice, speakers)
    if known:
        told = f"note: {voice.name}: the pool knows {known} of {len(speakers)} speakers; for fair figures give --pools"
        print(told, file=sys.stderr)
    return dict.fromkeys(speakers, voice)


def _has_pool(voice: Spec) -> bool:
    return "pool" in option_names("voice", voice.name)


def pools_of(voices: Mapping[str, Mapping[str, Spec]]) -> dict[str, tuple[str, ...]]:
    """Digests of the pools that each voice speaks with: another pool is another voice."""
    found = {}
    for name, by_speaker in voices.items():
        chosen = [dict(spec.options).get("pool") for spec in set(by_speaker.values()) if _has_pool(spec)]
        folders = {Path(folder or pools.WEIGHTS) for folder in chosen}
        files = sorted(file for folder in folders for file in folder.glob("*.npz"))
        found[name] = tuple(sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in files))
    return found


def kept_secret(folder: Path) -> Secret:
    """The secret of a study, made on first use: a study that goes on must speak with the same draws."""
    path = folder / "secret"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(0o600)
        path.write_bytes(fresh_secret().value)
    return read_secret(str(path))
