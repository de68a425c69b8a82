"""The attacker that trains an encoder of its own: CAM++ on anonymised speech of the other folds' speakers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from sottovoce.models.evaluation.attacks.speaker_linkage import fine_tuned_attacks
from sottovoce.models.evaluation.voice_row import VoiceRow
from sottovoce.models.records import AudioRef
from sottovoce.models.speech.audio import load
from sottovoce.models.speech.speakers.campplus import CamPlusPlus
from sottovoce.models.speech.speakers.fine_tune import FineTuning, fine_tuned
from sottovoce.pipelines.studies.measure_voice import KEPT, VoiceStudy
from sottovoce.pipelines.studies.voice_results import AttackResult, best_of, recordings_of


def fine_tuned_results(
    rows: Sequence[VoiceRow], study: VoiceStudy, how: FineTuning = FineTuning()
) -> list[AttackResult]:
    """Every recording is embedded by an encoder that has not met its speaker."""
    heard = recordings_of(rows, next(iter(rows[0].after.embeddings)))  # whichever: the embeddings are made anew below
    speakers, fold_of = heard.speaker, heard.folds(study.design)
    own_fold = np.array([fold_of[name] for name in speakers])
    folder = study.out / "_work" / KEPT
    speech = [load(AudioRef(str(folder / f"{row.recording}.flac"))) for row in rows]
    plain = CamPlusPlus()
    plain.setup()
    after = np.zeros((len(rows), len(plain.embed(speech[0]))), np.float32)
    for fold in np.unique(own_fold):
        others = np.flatnonzero(own_fold != fold)
        tuned = fine_tuned(plain, [speech[row] for row in others], speakers[others].tolist(), how)
        for row in np.flatnonzero(own_fold == fold):
            after[row] = tuned.embed(speech[row])
    # Only anonymised speech is compared, so it may stand for the originals, which the new encoders have not heard.
    recordings = dataclasses.replace(heard, original=after, anonymised=after)
    return best_of("fine-tuned", fine_tuned_attacks(recordings, study.design))
