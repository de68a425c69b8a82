"""Sottovoce from Python: what the pipeline does to a corpus, done to a text, a recording or a corpus from a few lines.

    >>> import sottovoce
    >>> text = "remind anna to call 07700 900123"
    >>> [(span.type, text[span.begin : span.end]) for span in sottovoce.detect(text)]
    [('PER', 'anna'), ('PHONE', '07700 900123')]
    >>> sottovoce.replace(text, strategy="typed").text
    'remind [PER] to call [PHONE]'
    >>> round(sottovoce.budget.rr(p=0.9, pi_min=1.30253e-4)["epsilon_unit"], 3)
    6.75

Each function calls what the stages of the graph call (`models/text/chain.py`, `models/speech/chain.py`,
`pipelines/sanitize/run.py`): there is no second copy. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce import budget as budget
    from sottovoce.on_corpora import Sanitized as Sanitized
    from sottovoce.on_corpora import sanitize as sanitize
    from sottovoce.on_speech import Recording as Recording
    from sottovoce.on_speech import anonymise as anonymise
    from sottovoce.on_speech import mask as mask
    from sottovoce.on_text import Replaced as Replaced
    from sottovoce.on_text import detect as detect
    from sottovoce.on_text import replace as replace

    __version__: str

_WHERE = {
    "detect": "on_text",
    "replace": "on_text",
    "Replaced": "on_text",
    "anonymise": "on_speech",
    "mask": "on_speech",
    "Recording": "on_speech",
    "sanitize": "on_corpora",
    "Sanitized": "on_corpora",
}

__all__ = [*_WHERE, "budget"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("sottovoce")
    if name == "budget":
        return importlib.import_module("sottovoce.budget")
    if name in _WHERE:
        return getattr(importlib.import_module(f"sottovoce.{_WHERE[name]}"), name)
    raise AttributeError(f"sottovoce has no {name!r}; it has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
