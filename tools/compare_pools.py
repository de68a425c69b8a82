"""Word errors of several pools on the same utterances with the same draws: the judge of a recipe for the phone network.

    python tools/compare_pools.py fold1 other_fold1 --data an4.jsonl --heard heard --speakers fold1.txt \\
        --recogniser moonshine vosk:model-en-us

`--heard` is what `sottovoce build voice` kept: phones come from there, so that nothing is aligned again. `--speakers` lists whose
utterances are said; take speakers that none of the pools has heard. The secret is fixed, for nobody is to be protected here:
figures of two pools then differ by the pools alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sottovoce.models.evaluation.metrics.word_errors import WordErrors, word_errors
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.speech.audio import Speech, load
from sottovoce.models.speech.voice.builder.examples import Heard
from sottovoce.models.speech.voice.phonetic import Phonetic
from sottovoce.pipelines.builders.hear_corpus import heard_before
from sottovoce.pipelines.local.read_locally import read_member, read_utterances

SURE = 0.02  # least confidence of the aligner in each word
SECRET = Secret(b"\x01" * 32)
Said = list[tuple[Utterance, Speech]]


def chosen(data: str, heard: dict[str, Heard]) -> list[Utterance]:
    found = [u for u in read_utterances(data) if isinstance(u, Utterance) and u.audio is not None and u.id in heard]
    return [u for u in found if heard[u.id].words and min(word.confidence for word in heard[u.id].words) > SURE]


def errors_in(said: Said, recogniser: Any) -> WordErrors:
    found = (word_errors(utterance.text, recogniser.transcribe(speech), "en") for utterance, speech in said)
    return sum(found, WordErrors(0, 0))


def main() -> None:
    parser = argparse.ArgumentParser(description="word errors of several pools on the same utterances")
    parser.add_argument("pools", nargs="+", help="folders that `sottovoce build voice` wrote")
    parser.add_argument("--data", required=True, help="the corpus, with transcripts")
    parser.add_argument("--heard", required=True, type=Path)
    parser.add_argument("--speakers", required=True, type=Path, help="a file of speaker ids")
    parser.add_argument("--recogniser", nargs="+", default=["moonshine"])
    args = parser.parse_args()
    speakers = set(args.speakers.read_text("utf-8").split())
    heard = {item.utterance: item for item in heard_before(args.heard) if item.speaker in speakers}
    utterances = chosen(args.data, heard)
    recognisers = {name: read_member("relisten", "--recogniser", name).make() for name in args.recogniser}
    for recogniser in recognisers.values():
        recogniser.setup()
    originals = [(utterance, load(utterance.audio)) for utterance in utterances if utterance.audio is not None]
    before = {name: errors_in(originals, recogniser) for name, recogniser in recognisers.items()}
    print(f"{len(originals)} utterances;", *(f"{name} {before[name].rate:.3f}" for name in before), flush=True)
    for pool in args.pools:
        voice = Phonetic(pool=pool)
        voice.setup()
        said = [(u, voice.transform(u, speech, heard[u.id].words, SECRET).speech) for u, speech in originals]
        after = {name: errors_in(said, recogniser) for name, recogniser in recognisers.items()}
        figures = (f"{n} {after[n].rate:.3f}, {after[n].errors / max(before[n].errors, 1):.2f} times" for n in after)
        print(f"{pool}:", "; ".join(figures), flush=True)


if __name__ == "__main__":
    main()
