"""`sottovoce align`: when each word of a batch of recordings is said, as CTM, TextGrid and JSON."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from sottovoce.models.errors import Refusal, SettingsError, reason_of
from sottovoce.pipelines.local.audio_arguments import add_audio_arguments, load_audio_of

FORMATS = ("ctm", "textgrid", "json")
EXAMPLES = """\
  sottovoce align --input examples/demo --output aligned
  sottovoce align --input kaldi/data/train --output aligned --format ctm
  sottovoce align --input manifest.jsonl --output aligned --align ctc:models/wav2vec2-large-xlsr-53-german
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", required=True, metavar="CORPUS", help="manifest, folder or URI of the corpus")
    parser.add_argument(
        "--output", required=True, metavar="DIR", type=Path, help="local folder; holds the original words"
    )
    parser.add_argument("--format", default=",".join(FORMATS), help=f"which of {', '.join(FORMATS)} (default: all)")
    parser.add_argument("--align", default="pocketsphinx", metavar="MEMBER", help="name, ctc:MODEL or {use: name, ...}")
    parser.add_argument("--max-seconds", type=float, default=120.0, metavar="S", help="longest recording (default 120)")
    add_audio_arguments(parser)


def run(args: argparse.Namespace) -> int:
    wanted = tuple(args.format.split(","))
    unknown = [name for name in wanted if name not in FORMATS]
    if unknown:
        raise SettingsError([f"--format: {', '.join(unknown)} is not known; allowed: {', '.join(FORMATS)}"])
    from sottovoce.pipelines.local.read_locally import read_member, read_utterances

    aligner = read_member("align", "--align", args.align).make()
    aligner.setup()
    args.output.mkdir(parents=True, exist_ok=True)
    load = load_audio_of(args.input, args, max_seconds=args.max_seconds)
    done, misfits, reasons = 0, 0, Counter[str]()
    with _Writer(args.output, wanted) as writer:
        for record in read_utterances(args.input):
            try:
                name, text, words, duration_s = _aligned(record, aligner, load)
                writer.write(name, text, words, duration_s)
                done, misfits = done + 1, misfits + sum(word.misfit for word in words)
            except Refusal as refusal:
                reasons[refusal.code] += 1
                writer.refuse(record, refusal)
    print(f"{done} recordings aligned in {args.output}: these files hold the original words, keep them like the corpus")
    if misfits:
        print(
            f"  misfits {misfits:>7,}  words that are perhaps not what is said there: marked, with confidence 0 in CTM"
        )
    for reason, count in reasons.most_common():
        print(f"  refused {count:>7,}  {reason}")
    return 0 if done else 1


def _aligned(record: Any, aligner: Any, load: Any) -> tuple[str, str, Any, float]:
    from sottovoce.models.corpus import Refused

    if isinstance(record, Refused):
        raise record.error if isinstance(record.error, Refusal) else Refusal
    speech = load(record)
    return record.id, record.text, aligner.align(speech, record.text, record.language), speech.duration_s


class _Writer:
    def __init__(self, folder: Path, formats: tuple[str, ...]):
        self._folder, self._formats = folder, formats
        self._files: dict[str, Any] = {}

    def __enter__(self) -> _Writer:
        names = {"ctm": "words.ctm", "json": "words.jsonl"}
        for kind in ("ctm", "json"):
            if kind in self._formats:
                self._files[kind] = open(self._folder / names[kind], "w", encoding="utf-8")
        self._files["failures"] = open(self._folder / "failures.jsonl", "w", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def write(self, name: str, text: str, words: Any, duration_s: float) -> None:
        from sottovoce.models.speech.align import formats

        if "ctm" in self._files:
            self._files["ctm"].writelines(f"{line}\n" for line in formats.ctm_lines(name, text, words))
        if "json" in self._files:
            self._files["json"].write(formats.json_line(name, text, words) + "\n")
        if "textgrid" in self._formats:
            folder = self._folder / "textgrid"
            folder.mkdir(exist_ok=True)
            grid = formats.text_grid(text, words, duration_s)
            (folder / f"{formats.file_name(name)}.TextGrid").write_text(grid, encoding="utf-8")

    def refuse(self, record: Any, refusal: Refusal) -> None:
        reason, allowed = reason_of(refusal)
        place = {"file": record.source.file, "line": record.source.line, "reason": reason, "allowed": allowed}
        self._files["failures"].write(json.dumps(place) + "\n")
