"""`sottovoce build align`: the aligner brought nearer to a corpus, so that it refuses less of what was rightly written down."""

from __future__ import annotations

import argparse
from pathlib import Path

from sottovoce.models.errors import CorpusError
from sottovoce.pipelines.local.audio_arguments import add_audio_arguments, load_audio_of

EXAMPLES = """\
  sottovoce build align --data corpus/manifest.jsonl --out my_aligner     then: align: {use: pocketsphinx, model: my_aligner}
  sottovoce build align --data corpus/manifest.jsonl --exclude-speakers test.txt --out my_aligner
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", required=True, metavar="CORPUS", help="recordings with transcripts")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the acoustic model goes")
    parser.add_argument("--exclude-speakers", type=Path, metavar="FILE", help="speakers to leave out, one id a line")
    add_audio_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.evaluation.learners.map_adapted import MapAdapted
    from sottovoce.models.records import Utterance
    from sottovoce.models.speech.recognise import is_transcript
    from sottovoce.pipelines.builders.adapt_aligner import adapt
    from sottovoce.pipelines.local.read_locally import read_utterances

    learner = MapAdapted()
    learner.setup()
    left_out = set(args.exclude_speakers.read_text("utf-8").split()) if args.exclude_speakers else set()
    utterances = [
        one
        for one in read_utterances(args.data)
        if isinstance(one, Utterance) and one.audio and is_transcript(one.text) and one.speaker_id not in left_out
    ]
    if not utterances:
        raise CorpusError("no record has both audio_filepath and a transcript")
    heard = adapt(learner, utterances, load_audio_of(args.data, args), args.out)
    print(
        f"written: {args.out}, adapted to {heard:,} of {len(utterances):,} recordings; keep it as you keep the corpus"
    )
    return 0
