"""The acoustic model of pocketsphinx, its means adapted to recordings with their transcripts, in a folder of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.learners import SpokenExample
from sottovoce.models.evaluation.learners.map_adapted import MapAdapted
from sottovoce.models.records import Utterance
from sottovoce.models.speech.align.readings import as_said
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.lexicon import Lexicon


def adapt(learner: MapAdapted, utterances: Sequence[Utterance], load: Callable[[Utterance], Speech], out: Path) -> int:
    """How many recordings it learnt from: those that can be read, and whose words can be said."""
    examples = []
    for utterance in utterances:
        try:
            words = as_said(utterance.text)
            examples += [SpokenExample(load(utterance), words)] if words else []
        except Refusal:
            continue
    lexicon = Lexicon.of(word for one in examples for word in one.words)
    usable = [one for one in examples if all(word in lexicon for word in one.words)]
    with tempfile.TemporaryDirectory(prefix="sottovoce-align-") as folder:
        model = learner.adapted(usable, lexicon, Path(folder))
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in sorted(model.iterdir()):
            shutil.copyfile(file, out / file.name)
    return len(usable)
