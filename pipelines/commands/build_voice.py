"""`sottovoce build voice`: a pool of public speakers and the network that speaks with their voices (COMPRISE's VT_Builder)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.models.errors import SettingsError
from sottovoce.pipelines.local.audio_arguments import add_audio_arguments, audio_roots_of, audio_settings_of

if TYPE_CHECKING:
    from sottovoce.models.speech.voice.builder.training import VoiceTraining

EXAMPLES = """\
  sottovoce build voice --data corpus/manifest.jsonl --out my_pool       then: voice: {use: phonetic, pool: my_pool}
  sottovoce build voice --heard my_pool/heard --exclude-speakers fold1.txt --start base --set steps=400 --out fold1
  sottovoce build voice --data other/manifest.jsonl --heard other_heard --sounds-only --out my_pool
  sottovoce build voice --data corpus/manifest.jsonl --move --epsilon 8 --out my_corpus
  sottovoce build voice --data corpus/manifest.jsonl --out my_pool --recogniser vosk:model-en-us --workers 8
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", metavar="CORPUS", help='recordings with speaker_id; text "-" where there is no transcript'
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the pool and its card go")
    parser.add_argument(
        "--heard", type=Path, metavar="FOLDER", help="features of the corpus: kept here, and reused without --data"
    )
    parser.add_argument("--exclude-speakers", type=Path, metavar="FILE", help="speakers to leave out, one id a line")
    parser.add_argument("--start", type=Path, metavar="FOLDER", help="go on from the network of this pool")
    parser.add_argument(
        "--sounds-only",
        action="store_true",
        help="train nothing: only public sounds for the network of the pool in --out",
    )
    parser.add_argument(
        "--move",
        action="store_true",
        help="train nothing: the pool of --start (default the one that ships), moved to how this corpus speaks",
    )
    parser.add_argument(
        "--epsilon", type=float, default=8.0, metavar="E", help="of --move, for each speaker; inf: exact"
    )
    parser.add_argument("--delta", type=float, default=1e-5, metavar="D", help="of --move")
    parser.add_argument(
        "--by",
        choices=("phone", "class"),
        default="phone",
        help="of --move: 2,280 figures, or 147, which a few dozen speakers can tell through the noise (default phone)",
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="training, e.g. steps=4000")
    parser.add_argument("--encoder", default="campplus", metavar="MEMBER", help="who embeds speakers, or none")
    parser.add_argument("--recogniser", default="moonshine", metavar="MEMBER", help="who writes missing transcripts")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that hear the corpus")
    add_audio_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.speech.voice.builder.build import build
    from sottovoce.models.speech.voice.builder.card import write_card
    from sottovoce.pipelines.builders.hear_corpus import heard_before

    folder = args.heard or args.out / "heard"
    options = _training(args.set)
    if args.data:
        _hear(args, folder)
    elif not folder.is_dir():
        raise SettingsError(["--data: missing; without it, --heard must name a folder that an earlier build has kept"])
    heard = list(heard_before(folder))
    exclude = set(args.exclude_speakers.read_text("utf-8").split()) if args.exclude_speakers else set()
    if args.sounds_only:
        from sottovoce.models.speech.voice.builder.build import sounds_for

        print(f"written: {sounds_for(args.out, heard, exclude):,} sounds to {args.out}")
        return 0
    if args.move:
        return _move(args, [item for item in heard if item.speaker not in exclude])
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        print(line, flush=True)

    pool = build(heard, args.out, options, say, exclude, args.start)
    write_card(args.out, pool, heard, options, said)
    print(f"written: {args.out} (see MODEL_CARD.md)")
    return 0


def _move(args: argparse.Namespace, heard: list[Any]) -> int:
    from sottovoce.models.randomness import fresh_secret
    from sottovoce.models.speech.voice import pool as pools
    from sottovoce.models.speech.voice.builder.corpus_means import GRAINS, move

    if not args.epsilon > 0 or not 0 < args.delta < 1:
        raise SettingsError(["--epsilon, --delta: must be above 0, and delta below 1"])
    draw = fresh_secret().generator("corpus means")
    speakers = move(args.start or pools.WEIGHTS, heard, args.out, args.epsilon, args.delta, draw, GRAINS[args.by])
    print(
        f"written: {args.out}, moved to {speakers:,} speakers at epsilon {args.epsilon:g}, delta {args.delta:g} for each"
    )
    print("each build of this kind is one release: what two of them cost adds up")
    return 0


def _hear(args: argparse.Namespace, folder: Path) -> None:
    from sottovoce.pipelines.builders.hear_corpus import Hearing, hear, usable
    from sottovoce.pipelines.local.read_locally import read_member, read_utterances

    encoder = None if args.encoder == "none" else read_member("speakers", "--encoder", args.encoder)
    recogniser = read_member("relisten", "--recogniser", args.recogniser)
    utterances = usable(list(read_utterances(args.data)))
    roots, audio = audio_roots_of(args.data, args), audio_settings_of(args)
    hearing = Hearing(folder, encoder, recogniser, args.workers, args.beam_arguments, roots, audio)
    for reason, count in sorted(hear(utterances, hearing).items()):
        print(f"not used: {count:,} recordings, {reason}")


def _training(assignments: list[str]) -> VoiceTraining:
    from sottovoce.models.settings import build
    from sottovoce.models.speech.voice.builder.training import VoiceTraining
    from sottovoce.pipelines.yaml_settings import read_assignment

    values = {".".join(keys): value for keys, value in map(read_assignment, assignments)}
    return build(VoiceTraining, values, "--set")
