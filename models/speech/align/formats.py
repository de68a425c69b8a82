"""Aligned words in the layouts that speech tools read: CTM (NIST), TextGrid (Praat) and JSON lines.

All of them hold the original words: what is written here needs the same care as the corpus itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import quote

from sottovoce.models.records import Phone, Word


def ctm_lines(name: str, text: str, words: Sequence[Word]) -> list[str]:
    """ "recording channel begin duration word confidence"; blanks in the name are escaped. Of a misfit the confidence is 0."""
    return [
        f"{file_name(name)} 1 {word.begin_s:.2f} {word.end_s - word.begin_s:.2f} {_token(text, word)} "
        f"{0.0 if word.misfit else word.confidence:.3f}"
        for word in words
    ]


def json_line(name: str, text: str, words: Sequence[Word]) -> str:
    """One recording, without the line's end: offsets in characters of `text`, times in seconds, phones as [label, begin, end]."""
    return json.dumps(
        {
            "id": name,
            "text": text,
            "words": [
                {
                    "word": text[word.begin : word.end],
                    "begin": word.begin,
                    "end": word.end,
                    "begin_s": round(word.begin_s, 4),
                    "end_s": round(word.end_s, 4),
                    "confidence": round(word.confidence, 4),
                    "misfit": word.misfit,
                    "phones": [[phone.label, round(phone.begin_s, 4), round(phone.end_s, 4)] for phone in word.phones],
                }
                for word in words
            ],
        },
        ensure_ascii=False,
    )


def text_grid(text: str, words: Sequence[Word], duration_s: float) -> str:
    """Interval tiers that cover the whole recording without gaps: words and phones, and misfits where there are any."""
    tiers = {
        "words": [(word.begin_s, word.end_s, text[word.begin : word.end]) for word in words],
        "phones": [_interval(phone) for word in words for phone in word.phones],
    }
    if misfits := [(word.begin_s, word.end_s, "misfit") for word in words if word.misfit]:
        tiers["misfits"] = misfits
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", f"xmax = {duration_s:.4f}"]
    lines += ["tiers? <exists>", f"size = {len(tiers)}", "item []:"]
    for number, (name, marked) in enumerate(tiers.items(), 1):
        intervals = _without_gaps(marked, duration_s)
        lines += [f"    item [{number}]:", '        class = "IntervalTier"', f'        name = "{name}"']
        lines += ["        xmin = 0", f"        xmax = {duration_s:.4f}", f"        intervals: size = {len(intervals)}"]
        for index, (begin_s, end_s, label) in enumerate(intervals, 1):
            quoted = label.replace('"', '""')
            lines += [f"        intervals [{index}]:", f"            xmin = {begin_s:.4f}"]
            lines += [f"            xmax = {end_s:.4f}", f'            text = "{quoted}"']
    return "\n".join(lines) + "\n"


def file_name(name: str) -> str:
    """A name that is safe as a file and as a column, and stays different for different names."""
    return quote(name, safe="-_")


def _token(text: str, word: Word) -> str:
    return "".join(text[word.begin : word.end].split())


def _interval(phone: Phone) -> tuple[float, float, str]:
    return phone.begin_s, phone.end_s, phone.label


def _without_gaps(marked: Sequence[tuple[float, float, str]], duration_s: float) -> list[tuple[float, float, str]]:
    out: list[tuple[float, float, str]] = []
    at_s = 0.0
    for begin_s, end_s, label in marked:
        begin_s, end_s = max(begin_s, at_s), min(end_s, duration_s)
        if begin_s - at_s > 1e-6:
            out.append((at_s, begin_s, ""))
        if end_s - begin_s > 1e-6:
            out.append((begin_s, end_s, label))
            at_s = end_s
    if duration_s - at_s > 1e-6:
        out.append((at_s, duration_s, ""))
    return out
