"""The section `audit` of a job: what a run must hold out against, and how much of it is attacked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sottovoce.models.evaluation.audit import TABLE
from sottovoce.models.evaluation.audit.readers import TABLE as READERS
from sottovoce.models.settings import require, resolve, table

OF_THE_VOICES = "campplus"  # the pools of the voices were built with it: it would listen for what it was told to hide


@dataclass(frozen=True)
class AuditSettings:
    """`max_risk`, by attack, is what the upper end of its risk may reach; each attack has a default of its own.

    `unmeasured`: what is made of an attack that could not be measured. `records` are sampled, person by person, unless the
    audit is a full one. `canaries` go through a run that an audit follows: a share of its records, or so many people; 0: none.
    `trained_canaries` are those of a measuring training (`--training`), of which half are trained on; `shadow_models`, each
    trained on half of the rows, tell members from others (0: none).
    `readers` compare texts, `encoders` listen to voices; those that a package is missing for are left out, and named.
    """

    nightly: bool = True
    max_risk: dict[str, float] = field(default_factory=dict)
    unmeasured: Literal["refuse", "allow"] = "refuse"
    records: int = 4000
    speakers: int = 40
    canaries: int | float = 0.01
    trained_canaries: int = 400
    shadow_models: int = 8
    readers: tuple[str, ...] = ("tfidf", "stylometry")
    encoders: tuple[str, ...] = ("ge2e", "wespeaker", "eres2net", "prosody")

    def __post_init__(self) -> None:
        unknown = [name for name in self.max_risk if name not in TABLE]
        illiterate = [name for name in self.readers if name not in READERS]
        listeners = [name for name in table("speakers") if name != OF_THE_VOICES]
        deaf = [name for name in self.encoders if name.partition(":")[0] not in listeners]
        require(
            (not unknown, f"max_risk: {', '.join(unknown)}: no such attack; allowed: {', '.join(TABLE)}"),
            (not illiterate, f"readers: {', '.join(illiterate)}: not known; allowed: {', '.join(READERS)}"),
            ("tfidf" in self.readers, "readers: tfidf must be among them: the attackers are calibrated by it"),
            (not deaf, f"encoders: {', '.join(deaf)}: not to attack with; allowed: {', '.join(listeners)}"),
            (all(0 <= risk <= 1 for risk in self.max_risk.values()), "max_risk: must lie in [0, 1]"),
            (
                self.canaries >= 0 and (isinstance(self.canaries, int) or self.canaries <= 1),
                "canaries: a whole number, or a share up to 1.0",
            ),
            (
                min(self.records, self.speakers, self.trained_canaries) >= 1,
                "records, speakers, trained_canaries: must be at least 1",
            ),
            (self.shadow_models >= 0 and self.shadow_models % 2 == 0, "shadow_models: 0 or an even number"),
        )

    def allowed(self, attack: str) -> float:
        """The highest risk, from 0 to 1, that an attack may reach: the job's own limit, else the attack's default."""
        return self.max_risk.get(attack, resolve(TABLE[attack]).max_risk)
