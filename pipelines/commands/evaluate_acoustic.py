"""`sottovoce evaluate acoustic`: is anonymised speech worth training on? Recognisers learn from it, attackers listen to it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from sottovoce.models.errors import SettingsError
from sottovoce.pipelines.local.audio_arguments import add_audio_arguments, load_audio_of

EXAMPLES = """\
  sottovoce evaluate acoustic --data corpus/manifest.jsonl --voice phonetic
  sottovoce evaluate acoustic --data manifest.jsonl --voice vtln --voice '{use: phonetic, prosody: 0}' --mix --out study
  sottovoce evaluate acoustic --data manifest.jsonl --voice phonetic --pools fold1 fold2 --unmasked --learner map --folds 4
  sottovoce evaluate acoustic --data manifest.jsonl --voice phonetic --table1 --set slice.min_seconds=1.5
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--data", required=True, metavar="CORPUS", help="recordings with speaker ids and transcripts")
    add(
        "--voice",
        action="append",
        required=True,
        metavar="MEMBER",
        help="a voice, or {use: name, ...}; may be repeated",
    )
    add("--config", metavar="JOB.yaml", help="the job whose detector, aligner, masks and slices are used")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="change one value of the job")
    add_audio_arguments(parser)
    add("--unmasked", action="store_true", help="take no word for sensitive: what the voice alone costs")
    add("--pools", nargs="+", default=[], type=Path, metavar="FOLDER",
        help="pools of `build voice --exclude-speakers`: each speaker is spoken for by one that has not heard them")  # fmt: skip
    add(
        "--learner", nargs="+", default=["map", "ctc"], metavar="MEMBER", help="who is trained: map, ctc (default both)"
    )
    add("--trainings", type=int, default=2, metavar="N", help="of a learner that draws, with other seeds (default 2)")
    add("--speakers", type=int, metavar="N", help="only N speakers of the corpus, drawn at random")
    add("--test-share", type=float, default=1 / 3, metavar="P", help="of the speakers are tested (default a third)")
    add("--folds", type=int, metavar="N", help="instead: everybody is tested, in N parts; N times the trainings")
    add("--share", type=float, default=0.1, metavar="P", help="of the originals, trained on alone (default a tenth)")
    add("--mix", action="store_true", help="also train on each voice with that share of originals beside it")
    add("--table1", action="store_true", help="also both kinds of speech against each other, whole and in slices")
    add("--encoder", nargs="*", default=["campplus", "ge2e"], metavar="MEMBER",
        help="campplus, ge2e, wespeaker, eres2net, prosody, hf:NAME (default the first two; none: no attack)")  # fmt: skip
    add("--calibrate", default="vtln", metavar="MEMBER",
        help="a weak voice that is attacked, too: there trained attackers must win (default vtln; or none)")  # fmt: skip
    add("--enrol", type=int, default=3, metavar="N", help="recordings an attacker has of each speaker (default 3)")
    add("--test", type=int, default=10, metavar="N", help="most recordings of each that are attacked (default 10)")
    add("--together", nargs="+", type=int, default=[1, 5], metavar="N", help="slices averaged (default 1 5)")
    add("--seed", type=int, default=0, help="which speakers are tested, which recordings are attacked (default 0)")
    add("--out", type=Path, default=Path("out/acoustic"), metavar="DIR", help="chart, acoustic.json, and kept steps")
    add("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.studies import acoustic_results as results

    plan = _plan(args)
    study = plan.study
    study.kept.announce(plan.steps())
    plan.do()
    (found,) = results.taught(study, plan.sources).values()
    attacked = {source.name: study.attack(source) for source in plan.attacked}
    tables = {voice: results.taught(study, *results.table_1_sources(voice)) for voice in plan.tables}
    frontier = results.frontier(found, attacked, args.together)
    out: dict[str, Any] = {
        "test_speakers": sum(map(len, study.test_folds)),
        "taught": results.to_json(found),
        "attacks": {name: [one.to_json() for one in rows] for name, rows in attacked.items()},
        "frontier": frontier,
        "table_1": {v: {t: results.to_json(rows) for t, rows in tests.items()} for v, tests in tables.items()},
        "refused": plan.refused(),
    }
    (args.out / "acoustic.json").write_text(json.dumps(out, indent=2))
    _draw(frontier, args.out)
    if args.json:
        print(json.dumps(out, indent=2))
        return 0
    print(f"tested on original speech of {out['test_speakers']} speakers, each of whom its training sets lack\n")
    print(results.table(found))
    if attacked:
        print(
            f"\nlowest EER of each attacker over encoders and scores ({args.calibrate}: what they can do to a weak voice)"
        )
        print(results.attack_table(attacked, args.together))
    for voice, tests in tables.items():
        for test, rows in tests.items():
            print(f"\nTable 1 of D2.3, {voice}: tested on {test}\n{results.table(rows)}")
    print("\n" + "\n".join(f"refused, {name}: {reasons or 'none'}" for name, reasons in out["refused"].items()))
    print(f"chart and acoustic.json: {args.out} (kept steps hold original speech: keep them as you keep the corpus)")
    return 0


def _plan(args: argparse.Namespace) -> Any:
    from sottovoce.models.evaluation.attacks.speaker_linkage import Design
    from sottovoce.pipelines.local.read_locally import read_member, read_utterances
    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.studies import acoustic_plan as planning
    from sottovoce.pipelines.studies.acoustic_study import Study
    from sottovoce.pipelines.studies.kept_steps import KeptSteps

    _check(args)
    job = read_job(args.config, args.set)
    learners = {spec.name: spec for spec in (read_member("learners", "--learner", value) for value in args.learner)}
    encoders = {spec.name: spec for spec in (read_member("speakers", "--encoder", value) for value in args.encoder)}
    for spec in (*learners.values(), *encoders.values()):
        spec.make().setup()  # what is missing is missed before hours have passed
    specs = planning.named([read_member("voice", "--voice", value) for value in args.voice])
    weak = {} if args.calibrate == "none" or not encoders else planning.named(
        [read_member("voice", "--calibrate", args.calibrate)]
    )  # fmt: skip
    utterances = planning.choose(list(read_utterances(args.data)), args.speakers, args.seed)
    speakers = sorted({one.speaker_id or "" for one in utterances})
    folds = planning.split(speakers, args.folds, args.test_share, args.seed)
    voices = {name: planning.spoken_for(spec, args.pools, speakers) for name, spec in {**weak, **specs}.items()}
    kept = args.out / "kept"
    study = Study(
        utterances=utterances,
        load=load_audio_of(args.data, args),
        test_folds=folds,
        job=job,
        masked=not args.unmasked,
        voices=voices,
        learners=learners,
        encoders=encoders,
        design=Design(args.enrol, args.test, tuple(args.together), seed=args.seed),
        seed=args.seed,
        trainings=args.trainings,
        secret=planning.kept_secret(kept),
        kept=KeptSteps(kept),
        pools=planning.pools_of(voices),
    )
    return planning.plan(study, list(specs), list(weak), args.share, args.mix, args.table1)


def _check(args: argparse.Namespace) -> None:
    problems = []
    if not 0 < args.test_share < 1:
        problems.append(f"--test-share {args.test_share:g}: must lie between 0 and 1")
    if not 0 < args.share < 1:
        problems.append(f"--share {args.share:g}: must lie between 0 and 1")
    if args.trainings < 1:
        problems.append(f"--trainings {args.trainings}: must be at least 1")
    if args.folds is not None and args.folds < 2:
        problems.append(f"--folds {args.folds}: must be at least 2")
    if problems:
        raise SettingsError(problems)


def _draw(frontier: Any, out: Path) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("no chart: matplotlib is not installed; pip install 'sottovoce[speakers]'", file=sys.stderr)
        return
    from sottovoce.pipelines.studies.frontier_chart import draw

    draw(frontier, out / "frontier.png")
