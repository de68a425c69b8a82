"""What languages the way to each sink takes, told before a run that would refuse its records for theirs.

Nothing of a record is told, its language neither: only which members of the job know which languages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import common_languages, language_limits, languages_of
from sottovoce.models.text.language import code_of
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.sinks import sink_class


def notes_of_languages(job: Job, said: Collection[str]) -> Iterator[str]:
    """Of sinks that take fewer languages than the first records name (`said`), or than their aligner was chosen for. A sink
    that takes none at all is an error."""
    if job.input.other_languages == "take":
        return
    named = {code_of(language) for language in (*said, job.input.language) if language}
    for sink in job.sinks:
        families = sink_class(sink).mechanisms
        way = [getattr(job, family) for family in ("detect", *families)]
        taken = common_languages(way)
        if taken is None:
            continue
        if not taken:
            raise SettingsError(
                [f"sinks.{sink}: no language is known to every stage on its way: {language_limits(way)}"]
            )
        own = common_languages(way[1:])
        placed = languages_of(job.align) if "align" in families else own
        chosen_in_vain = own is not None and (placed is None or bool(placed - own))
        if named - taken or chosen_in_vain:
            yield (
                f"{sink} takes records in {', '.join(sorted(taken))} alone, and refuses others: {language_limits(way)}. "
                "Other members know others (docs/languages.md); input.other_languages: take lets all pass"
            )
