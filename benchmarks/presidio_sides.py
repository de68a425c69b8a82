"""Presidio with the shipped tagger behind it, in three ways, for `benchmarks/text.py`.

    presidio        BatchAnalyzerEngine with nothing but defaults; the tagger as Presidio takes one: a folder for its own
                    HuggingFaceNerRecognizer, beside its predefined recognisers and without a spaCy model, as its documentation
                    of that recogniser shows
    presidio one    the same set-up, `AnalyzerEngine.analyze` called for one text after the other
    presidio ours   BatchAnalyzerEngine with our detector (rules and int8 network) as one recogniser more

The folder is the shipped network itself: its int8 weights times their scales, with the bias folded in. Presidio's very
default, an English model of spaCy, comes from no package registry and finds other things: it is not measured here.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 128
NO_ENGINE = {"nlp_engine_name": "no_op", "models": [{"lang_code": "en", "model_name": "no_op"}]}
ADDED = ("EMAIL", "PHONE", "CODE", "AMOUNT")


def analyse_all(side: str, detector: Any, folder: Path) -> Callable[[list[str]], Any]:
    """What is to be timed: everything is loaded and has run once."""
    from presidio_analyzer import AnalyzerEngine, BatchAnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    for name in ("presidio-analyzer", "transformers"):
        logging.getLogger(name).setLevel(logging.ERROR)
    engine = NlpEngineProvider(nlp_configuration=NO_ENGINE).create_engine()
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
    analyzer.registry.add_recognizer(_as_recogniser(detector) if side == "presidio ours" else _its_own(folder))
    analyzer.analyze("my name is anna", language="en")
    if side == "presidio one":
        return lambda texts: [analyzer.analyze(text, language="en") for text in texts]
    batched = BatchAnalyzerEngine(analyzer)
    more = {"batch_size": BATCH} if side == "presidio ours" else {}
    return lambda texts: batched.analyze_iterator(texts, language="en", **more)


def _as_recogniser(detector: Any) -> Any:
    from presidio_analyzer import EntityRecognizer, RecognizerResult

    class Ours(EntityRecognizer):
        def load(self) -> None:
            """Loaded before the clock starts."""

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any) -> list[RecognizerResult]:
            return [RecognizerResult(s.type, s.begin, s.end, s.score) for s in detector.detect([text])[0]]

    return Ours(["PER", "LOC", "ORG", "DATE", "TIME", *ADDED], name="ours", supported_language="en")


def _its_own(folder: Path) -> Any:
    import torch
    from presidio_analyzer.predefined_recognizers.ner import HuggingFaceNerRecognizer

    torch.set_num_threads(1)
    mapping = HuggingFaceNerRecognizer.DEFAULT_LABEL_MAPPING | {kind: kind for kind in ADDED}
    return HuggingFaceNerRecognizer(model_name=str(folder), supported_language="en", label_mapping=mapping)


def write_twin(shipped: Path, folder: Path) -> Path:
    """The shipped tagger as a folder that transformers loads."""
    from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

    kept = json.loads((shipped / "tagger.json").read_text())
    weights = _plain_weights(shipped / "tagger.onnx")
    weights["classifier.bias"][kept["labels"].index("O")] -= kept["outside_bias"]
    for at, name in enumerate(kept["labels"]):
        weights["classifier.bias"][at] += kept.get("type_bias", {}).get(name[2:], 0.0)
    vocabulary, width = weights["bert.embeddings.word_embeddings.weight"].shape
    config = BertConfig(
        vocab_size=vocabulary, hidden_size=width, num_hidden_layers=6, num_attention_heads=12, intermediate_size=4 * width,
        type_vocab_size=len(weights["bert.embeddings.token_type_embeddings.weight"]),
        id2label=dict(enumerate(kept["labels"])), label2id={name: at for at, name in enumerate(kept["labels"])},
    )  # fmt: skip
    model = BertForTokenClassification(config)
    missing, unknown = model.load_state_dict(weights, strict=False)
    if unknown or any("position_ids" not in name for name in missing):
        raise RuntimeError("the shipped network has other layers than expected")
    model.save_pretrained(folder)
    shutil.copyfile(shipped / "tokenizer.json", folder / "tokenizer.json")
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")}
    PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **special).save_pretrained(folder)
    return folder


def _plain_weights(network: Path) -> dict[str, Any]:
    """int8 times scale, under the names that transformers has for them."""
    import torch

    from sottovoce.models.text.detect.builder.start import plain_weights

    return {
        name.replace("encoder.", "bert.", 1).replace("head.", "classifier.", 1): torch.from_numpy(
            np.array(array, np.float32, order="C")
        )
        for name, array in plain_weights(network)
    }
