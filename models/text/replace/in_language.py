"""Surrogates in other languages than English: every unit is drawn anew, from lists of its language or in its shape.

No coin keeps a value here, so nothing of it remains but what the ledger names: its type, the gender of a listed given name, the
shape of a number or date, and of Latvian names the case. A Latvian name in the dative ("jānim") is replaced by one in the dative
("ilmāram"); what ends as two cases do is taken for one of them. Polish names come in the nominative, whatever stood there.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from sottovoce.models.text.languages import TABLE, language
from sottovoce.models.text.replace.distribution import Draws, ListDistribution
from sottovoce.models.text.replace.shape import scramble
from sottovoce.models.text.replace.surface import canonical, render, style_of
from sottovoce.models.text.words import read_words

LANGUAGES = tuple(TABLE)
SAYS = (
    "In other languages than English every unit is drawn anew (epsilon 0), from lists of its language; Latvian names take the "
    "case ending of what they replace, Polish ones come in the nominative; days, months and ordinals of both keep their last "
    "two letters."
)
_DICTATED = ("PHONE", "CARD", "IBAN", "ID", "CODE")
_INFLECTED = ("lv", "pl")
_DOMAINS = ("com", "org", "net")
# Classes of words (models/text/words.py) that carry a value, and are replaced by another word of their class; and links.
_VALUES = "zdetyrmjwRZNX"
_LINKS = "JhkfT&GEgbpos,+=MOQFVWUAuCPKL$"
# Latvian: the ending of each case by the ending of the nominative.
_CASES = {
    "s": {"genitive": "a", "dative": "am", "accusative": "u", "locative": "ā"},
    "š": {"genitive": "a", "dative": "am", "accusative": "u", "locative": "ā"},
    "is": {"genitive": "a", "dative": "im", "accusative": "i", "locative": "ī"},
    "a": {"genitive": "as", "dative": "ai", "accusative": "u", "locative": "ā"},
    "e": {"genitive": "es", "dative": "ei", "accusative": "i", "locative": "ē"},
}
_CASE_OF = {
    "am": "dative", "im": "dative", "ai": "dative", "ei": "dative", "as": "genitive", "es": "genitive", "u": "accusative",
    "i": "accusative", "ā": "locative", "ē": "locative", "ī": "locative",
}  # fmt: skip


@cache
def lists_of(code: str) -> dict[str, ListDistribution]:
    """Given names by gender and together, surnames, places, organisations."""
    weights: dict[str, dict[str, float]] = {}
    for name in ("given_names", "surnames", "places", "organisations"):
        path = resources.files("sottovoce.models.text.replace").joinpath(f"lists/{code}/{name}.tsv")
        for line in path.read_text(encoding="utf-8").splitlines():
            value, weight, kind = line.split("\t")
            weights.setdefault(name, {})[value] = float(weight)
            if kind:
                weights.setdefault(f"{name}/{kind}", {})[value] = float(weight)
    return {name: ListDistribution(values, mix=0.1) for name, values in weights.items()}


def surrogate(code: str, type_: str, old: str, draws: Draws, keep_gender: bool, surname: bool) -> str:
    """`surname`: a form of address before it says that it is one."""
    lists, own = lists_of(code), language(code)
    at, dot = own.at.split("|")[0], own.dot.split("|")[0]
    if type_ == "PER":
        return _person(code, old, draws, keep_gender, surname)
    if type_ in ("LOC", "ORG"):
        drawn = lists["places" if type_ == "LOC" else "organisations"].draw(draws)
        return render(_in_case(drawn, old, code), style_of(old))
    if type_ in ("EMAIL", "URL"):
        name, domain = lists["given_names"].draw(draws), _DOMAINS[draws.below(len(_DOMAINS))]
        written = "@" in old or "." in old
        if type_ == "EMAIL":
            return f"{name}@example.{domain}" if written else f"{name} {at} example {dot} {domain}"
        return f"www.example.{domain}" if written else f"www {dot} example {dot} {domain}"
    shaped = _same_shape(code, old, draws, dictated=type_ in _DICTATED)
    if shaped is not None:
        return shaped
    if type_ in ("DATE", "TIME"):
        words = own.words("w") if type_ == "DATE" else own.words("Z")
        return render(words[draws.below(len(words))], style_of(old))
    return scramble(old, draws) if type_ in (*_DICTATED, "AMOUNT") else f"[{type_}]"


def _person(code: str, old: str, draws: Draws, keep_gender: bool, surname: bool) -> str:
    lists, words = lists_of(code), canonical(old).split(" ")
    forms = _nominative(words[0], code) if keep_gender else set()
    gender = next((kind for kind in ("f", "m") if forms & lists[f"given_names/{kind}"].index.keys()), "")
    given = lists[f"given_names/{gender}" if gender else "given_names"]
    parts = [lists["surnames"] if surname else given] + ([lists["surnames"]] if len(words) > 1 else [])
    last = len(words) - 1
    return " ".join(
        render(_in_case(part.draw(draws), words[min(place, last)], code), style_of(old))
        for place, part in enumerate(parts)
    )


def _nominative(word: str, code: str) -> set[str]:
    """The forms of a name under which a list may have it: itself, and in Latvian those that its case may come from."""
    if code != "lv":
        return {word}
    stems = {word[: -len(ending)] for ending in _CASE_OF if word.endswith(ending)}
    return {word} | {stem + ending for stem in stems for ending in _CASES}


def _in_case(new: str, old: str, code: str) -> str:
    if code != "lv":
        return new
    last = canonical(old).split(" ")[-1]
    case = next((case for ending, case in _CASE_OF.items() if last.endswith(ending)), "")
    nominative = next((ending for ending in ("is", "s", "š", "a", "e") if new.endswith(ending)), "")
    return new.removesuffix(nominative) + _CASES[nominative][case] if case and nominative else new


def _same_shape(code: str, old: str, draws: Draws, dictated: bool) -> str | None:
    """Month for month and number for number, figure for figure; None where a word is not understood. In what is `dictated` a word
    that counts is a figure, whatever else it may be ("meia" is half, and six), and only fillers are links."""
    figures, links = language(code).values, ",+u" if dictated else _LINKS
    words, parts, at = read_words(old, code), [], 0
    for begin, end, word, kind in zip(words.begins, words.ends, words.lowered, words.classes, strict=True):
        kind = "d" if dictated and figures.get(word, 10) < 10 else kind
        choices = alike(code, kind, word)
        if kind not in links and not choices and not word.isdecimal():
            return None
        new = (
            scramble(old[begin:end], draws)
            if word.isdecimal()
            else choices[draws.below(len(choices))]
            if choices
            else word
        )
        parts += [scramble(old[at:begin], draws), render(new, style_of(old[begin:end]))]
        at = end
    return "".join((*parts, scramble(old[at:], draws))) if words.classes else None


@cache
def alike(code: str, kind: str, word: str) -> tuple[str, ...]:
    """What may stand for a word: any figure for a figure, else any word of its class; where names of days and months have cases,
    those that end as it does, so that the case stays."""
    if kind not in _VALUES:
        return ()
    if kind in "zd":
        return tuple({value: word for word, value in language(code).values.items() if value < 10}.values())
    known = language(code).words(kind)
    same = tuple(other for other in known if other[-2:] == word[-2:]) if code in _INFLECTED and kind in "mwrRZ" else ()
    return same if len(same) > 2 else known
