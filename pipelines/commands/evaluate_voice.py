"""`sottovoce evaluate voice`: who is recognised after the voice was changed, and what the speech is still worth."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from sottovoce.models.errors import SettingsError
from sottovoce.pipelines.local.audio_arguments import add_audio_arguments, audio_roots_of, audio_settings_of

EXAMPLES = """\
  sottovoce evaluate voice --data corpus/manifest.jsonl --anonymiser mcadams
  sottovoce evaluate voice --data manifest.jsonl --anonymiser '{use: mcadams, assign: speaker}' --speakers 30 --out study
  sottovoce evaluate voice --data manifest.jsonl --anonymiser phonetic --recogniser moonshine vosk:model-en-us --json
  sottovoce evaluate voice --data manifest.jsonl --anonymiser phonetic --pools fold1 fold2 fold3 fold4 fold5
"""
SAMPLES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", required=True, metavar="CORPUS", help="recordings with speaker ids and transcripts")
    parser.add_argument("--anonymiser", required=True, metavar="MEMBER", help="name of a voice, or {use: name, ...}")
    parser.add_argument(
        "--pools",
        nargs="+",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="pools of `build voice --exclude-speakers`: each speaker is spoken for by one that has not heard them",
    )
    parser.add_argument(
        "--align", default="pocketsphinx", metavar="MEMBER", help="who finds words in speech; none: nobody"
    )
    parser.add_argument(
        "--encoder",
        nargs="+",
        default=["campplus", "ge2e"],
        metavar="MEMBER",
        help="campplus, ge2e, wespeaker, eres2net, prosody, hf:NAME (default the first two)",
    )
    parser.add_argument(
        "--recogniser",
        nargs="*",
        default=["moonshine"],
        metavar="MEMBER",
        help="moonshine, vosk:PATH, hf:NAME (default moonshine)",
    )
    parser.add_argument("--no-naturalness", action="store_true", help="leave DNSMOS and PLCMOS out")
    parser.add_argument("--listen", type=int, default=150, metavar="N", help="utterances for WER and naturalness (150)")
    parser.add_argument("--speakers", type=int, metavar="N", help="only N speakers of the corpus, drawn at random")
    parser.add_argument(
        "--enrol", type=int, default=3, metavar="N", help="recordings an attacker has of each (default 3)"
    )
    parser.add_argument("--test", type=int, default=10, metavar="N", help="most test utterances of each (default 10)")
    parser.add_argument(
        "--together", nargs="+", type=int, default=[1, 5], metavar="N", help="test utterances averaged (default 1 5)"
    )
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="of the attackers that train (default 5)")
    parser.add_argument(
        "--fine-tune", action="store_true", help="also train CAM++ on anonymised speech, once a fold (slow)"
    )
    parser.add_argument(
        "--calibrate",
        metavar="MEMBER",
        help="also attack a voice known to be weak, such as vtln: there trained ones must win",
    )
    parser.add_argument("--seed", type=int, default=0, help="which utterances are chosen, and the folds (default 0)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--out", type=Path, default=Path("out/voice"), metavar="DIR", help="plots, samples, voice.json")
    parser.add_argument(
        "--originals", type=Path, metavar="FILE", help="keep and reuse what was measured on the originals (sensitive)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_audio_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.evaluation.attacks.speaker_linkage import Design
    from sottovoce.pipelines.local.read_locally import read_member, read_utterances
    from sottovoce.pipelines.studies import measure_voice as study_of
    from sottovoce.pipelines.studies import voice_results
    from sottovoce.pipelines.studies.fine_tuned_attack import fine_tuned_results

    design = Design(args.enrol, args.test, tuple(args.together), args.folds, args.seed)
    voice = read_member("voice", "--anonymiser", args.anonymiser)
    chosen = study_of.choose(list(read_utterances(args.data)), design, args.speakers)
    study = study_of.VoiceStudy(
        voice,
        None if args.align == "none" else read_member("align", "--align", args.align),
        design,
        _measures(args, study_of.pick(chosen, design, args.listen, SAMPLES), _voices(args.pools, voice, chosen)),
        args.out,
        args.workers,
        args.fine_tune,
        audio_roots_of(args.data, args),
        audio_settings_of(args),
    )
    try:
        rows, refused = study_of.run(study_of.with_known(study, args.originals), chosen)
        results = voice_results.attack_results(rows, list(study.measures.encoders), design)
        if args.fine_tune:
            results += fine_tuned_results(rows, study)
        weak = _calibration(args, study, chosen, rows) if args.calibrate else []
    finally:
        study_of.clear(study)
    if args.originals:
        study_of.keep_known(rows, args.originals)
    return _report(args, rows, refused, results, weak)


def _calibration(args: argparse.Namespace, study: Any, chosen: list[Any], rows: list[Any]) -> list[Any]:
    """What the same attackers reach on a weak voice: one that fails there proves nothing by failing elsewhere."""
    from sottovoce.pipelines.local.read_locally import read_member
    from sottovoce.pipelines.studies import measure_voice as study_of
    from sottovoce.pipelines.studies import voice_results
    from sottovoce.pipelines.studies.fine_tuned_attack import fine_tuned_results

    known = {row.recording: row.before for row in rows}
    measures = dataclasses.replace(
        study.measures, recognisers={}, naturalness=False, listened=frozenset(), samples={}, voices={}, known=known
    )
    weak = dataclasses.replace(
        study, voice=read_member("voice", "--calibrate", args.calibrate), measures=measures
    )  # fmt: skip
    heard, _ = study_of.run(weak, chosen)
    found = voice_results.attack_results(heard, list(measures.encoders), study.design)
    return found + (fine_tuned_results(heard, weak) if args.fine_tune else [])


def _voices(pools: list[Path], voice: Any, chosen: list[Any]) -> dict[str, Any]:
    """The voice of each speaker, where pools are given; else whoever reads the figures is told if they flatter."""
    from sottovoce.pipelines.studies.unheard_pools import speakers_in_pool, unheard

    speakers = {utterance.speaker_id for utterance in chosen}
    known = 0 if pools else speakers_in_pool(voice, speakers)
    if known:
        note = f"note: the pool knows {known} of {len(speakers)} speakers; for fair figures build it without them"
        print(note, file=sys.stderr)
    return unheard(voice, pools, speakers)


def _measures(args: argparse.Namespace, picked: tuple[frozenset[str], dict[str, int]], voices: dict[str, Any]) -> Any:
    from sottovoce.models.speech.recognise import Recogniser
    from sottovoce.pipelines.local.read_locally import read_member
    from sottovoce.pipelines.sanitize.secret_file import passing_secret
    from sottovoce.transforms.speech.measure_voice import Measures

    encoders = {spec.name: spec for spec in (read_member("speakers", "--encoder", value) for value in args.encoder)}
    listeners = [read_member("relisten", "--recogniser", value) for value in args.recogniser]
    recognisers = {spec.name: spec for spec in listeners}
    silent = [name for name, spec in recognisers.items() if not isinstance(spec.make(), Recogniser)]
    if silent:
        raise SettingsError([f"--recogniser {silent[0]}: writes nothing down; allowed: moonshine, vosk:PATH, hf:NAME"])
    (args.out / "samples").mkdir(parents=True, exist_ok=True)
    listened, samples = picked
    folder = str(args.out / "samples")
    return Measures(
        passing_secret(), encoders, recognisers, not args.no_naturalness, listened, samples, folder, voices=voices
    )


def _report(args: argparse.Namespace, rows: list[Any], refused: Any, results: list[Any], weak: list[Any]) -> int:
    from sottovoce.pipelines.studies import voice_results

    utility = voice_results.utility(rows)
    worst = {count: voice_results.worst(results, count) for count in args.together}
    out = {
        "anonymiser": args.anonymiser,
        "worst_eer": {str(count): found.eer.value for count, found in worst.items() if found},
        "attacks": [result.to_json() for result in results],
        "calibration": [result.to_json() for result in weak],
        "worth": utility,
        "refused": dict(refused),
    }
    (args.out / "voice.json").write_text(json.dumps(out, indent=2))
    _draw(results, args.out)
    if args.json:
        print(json.dumps(out, indent=2))
        return 0
    speakers = len({row.speaker for row in rows})
    print(f"{args.anonymiser}: {len(rows)} utterances of {speakers} speakers; refused: {dict(refused) or 'none'}\n")
    print(voice_results.table(results))
    for count, found in worst.items():
        if found:
            print(
                f"worst case, {count} utterance(s): EER {100 * found.eer.value:.1f} % ({found.attack.attacker}, {found.encoder})"
            )
    if weak:
        print(f"\nthe same attackers on {args.calibrate}, which is known to be weak\n{voice_results.table(weak)}")
    print()
    for name, figures in utility.items():
        print(f"{name:<30} " + ", ".join(f"{key} {value:.3g}" for key, value in figures.items()))
    print(
        f"\nplots, samples and voice.json: {args.out} (samples hold original voices: keep them as you keep the corpus)"
    )
    return 0


def _draw(results: list[Any], out: Path) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("no plots: matplotlib is not installed; pip install 'sottovoce[speakers]'")
        return
    from sottovoce.pipelines.studies.voice_chart import draw

    draw(results, out / "scores.png")
