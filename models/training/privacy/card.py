"""The privacy card of a trained model, and its entry in the ledger: what was spent, for whom, and what is not covered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.training.loop.prepare import Prepared
from sottovoce.models.training.loop.trainer import Progress
from sottovoce.models.training.privacy.plan import Plan, of_a_group
from sottovoce.models.training.tasks import task_of

MECHANISMS = {
    "plain": "training without protection",
    "paper": "eDP-SGD as published (Dupuy et al. 2022)",
    "sound": "eDP-SGD with noise scaled to its sensitivity",
    "per_example": "DP-SGD with per-unit clipping in one backward pass",
}


def ledger_entry(plan: Plan, prepared: Prepared) -> LedgerEntry:
    """Figures of the whole plan: where training stops may depend on data, so stopping early buys nothing back."""
    settings = plan.settings
    sound, claimed = plan.sound(), plan.claimed()
    epsilon = sound.epsilon if sound else math.inf
    return LedgerEntry(
        stage="training",
        mechanism=MECHANISMS[settings.mode],
        says=_says(plan, epsilon),
        not_protected=_not_protected(plan, prepared),
        parameters=parameters(plan),
        adjacency=settings.neighbours if sound else None,
        assumptions=(*(sound.assumptions if sound else ()), *_own_assumptions(plan, prepared)),
        paper={settings.protects: claimed.epsilon} if claimed else None,
        sound={settings.protects: epsilon},
        infinite_because=None if sound else _why_infinite(plan),
    )


def parameters(plan: Plan) -> dict[str, Any]:
    """The settings that a card lists; z0, delta and the sensitivity only where noise is added."""
    settings = plan.settings
    shown = ("mode", "unit", "epochs", "batch_size", "n_micro", "clip", "decay", "tau", "alpha", "alpha_z", "optimizer")
    values: dict[str, Any] = {name: getattr(settings, name) for name in shown} | {"unit": settings.protects}
    values |= {"learning_rate": settings.learning_rate, "sampling": settings.drawn_by, "n": plan.n, "steps": plan.steps}
    if settings.mode != "plain":
        values |= {"z0": plan.z0, "delta": plan.delta, "alpha_max": plan.alpha_max, "sensitivity_factor": plan.c}
    return values


def card(plan: Plan, prepared: Prepared, progress: Progress, noise_source: str) -> dict[str, Any]:
    """Everything that there is to say; `published` is what may stand beside the model."""
    settings, sound, claimed = plan.settings, plan.sound(), plan.claimed()
    return {
        "mechanism": MECHANISMS[settings.mode],
        "unit": settings.protects,
        "speaker_by_group_privacy": _of_a_speaker(plan, prepared),
        "epsilon": sound.epsilon if sound else math.inf,
        "epsilon_published_formula": claimed.epsilon if claimed else None,
        "delta": plan.delta if settings.mode != "plain" else None,
        "adjacency": settings.neighbours if sound else None,
        "z_eff": list(sound.z_eff) if sound else [],
        "assumptions": list(ledger_entry(plan, prepared).assumptions),
        "not_protected": list(_not_protected(plan, prepared)),
        "noise_source": noise_source,
        "parameters": parameters(plan),
        "steps_planned": plan.steps,
        "steps_taken": progress.step,
        "stopped_early": progress.stopped_early,
        "task": settings.task,
        "publishes": task_of(settings.task).publishes,
        "validation": progress.history[-1] if progress.history else None,
        "validation_is_public": settings.validation_is_public,
        "nothing_learnt": _nothing_learnt(plan, progress),
    }


def published(values: dict[str, Any]) -> dict[str, Any]:
    """What may stand beside the model. Scores on private examples are exact and charged to nobody: whoever knows all of them
    but one could tell that one from a score. They stay in the private folder."""
    if values["validation_is_public"] or values["validation"] is None:
        return values
    return {**values, "validation": None, "nothing_learnt": None, "validation_kept_back": True}


def as_page(values: dict[str, Any]) -> str:
    """The card for people."""
    figure = (
        f"{values['epsilon']:.4g} at delta {values['delta']:.3g}" if values["epsilon"] < math.inf else "none (infinite)"
    )
    lines = [
        "# Privacy card",
        "",
        f"* How it was trained: {values['mechanism']}",
        f"* Epsilon that holds, per {values['unit']}: **{figure}**",
    ]
    if group := values["speaker_by_group_privacy"]:
        said = f"{group['epsilon']:.4g} at delta {group['delta']:.3g}" + (
            ", which protects nobody" if group["delta"] >= 1 else ""
        )
        lines.append(
            f"* For a speaker with all of at most {group['examples_at_most']} examples, by group privacy: {said}"
        )
    if values["epsilon_published_formula"] is not None:
        lines.append(f"* Epsilon by the published formula, a claim: {values['epsilon_published_formula']:.4g}")
    lines += [
        f"* Noise: {values['noise_source']}",
        f"* Steps: {values['steps_taken']} of {values['steps_planned']} planned",
    ]
    if values["validation"]:
        lines.append("* Validation: " + in_words(values["validation"]))
    if values.get("validation_kept_back"):
        lines.append("* Validation: on private examples, whose scores stay with the owner of the data")
    if values["nothing_learnt"]:
        lines.append(f"* **It learnt nothing**: {values['nothing_learnt']}")
    for title, key in (("Assumptions", "assumptions"), ("Not protected", "not_protected")):
        lines += ["", f"## {title}", "", *(f"* {line}" for line in values[key])]
    lines += ["", "## Settings", "", *(f"* {name}: {value}" for name, value in values["parameters"].items())]
    return "\n".join(lines) + "\n"


def in_words(scores: Mapping[str, float]) -> str:
    """Scores on one line, to four digits: `error 0.1234, perplexity 56.78`; the epoch is left out."""
    return ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in scores.items() if name != "epoch")


def _nothing_learnt(plan: Plan, progress: Progress) -> str | None:
    return task_of(plan.settings.task).nothing_learnt(progress.history[-1]) if progress.history else None


def _of_a_speaker(plan: Plan, prepared: Prepared) -> dict[str, Any] | None:
    """What the figure of one example is worth for a person with all of theirs, where that is not the unit."""
    sound = plan.sound()
    if plan.settings.protects == "speaker" or sound is None or prepared.most_of_a_speaker is None:
        return None
    return in_a_group(prepared.most_of_a_speaker, sound.epsilon, plan.delta)


def in_a_group(examples: int, epsilon: float, delta: float) -> dict[str, Any]:
    """The figure of one example, turned into one for a person with at most so many of them (group privacy)."""
    epsilon, delta = of_a_group(epsilon, delta, examples)
    return {"examples_at_most": examples, "epsilon": epsilon, "delta": delta}


def _says(plan: Plan, epsilon: float) -> str:
    if epsilon == math.inf:
        return "The trained model may give away any training example: " + _why_infinite(plan)
    unit = "all examples of one speaker" if plan.settings.protects == "speaker" else "one example"
    return (
        f"Whoever sees the trained model, and every model on the way to it, changes the odds of {unit} having been used by "
        f"at most a factor e^{epsilon:.3g}, except with probability {plan.delta:.3g}."
    )


def _why_infinite(plan: Plan) -> str:
    if plan.settings.mode == "plain":
        return "no gradient was clipped and no noise was added."
    return "the layer scaling was measured on private examples without noise, and no epsilon covers that."


def _not_protected(plan: Plan, prepared: Prepared) -> tuple[str, ...]:
    settings = plan.settings
    task = task_of(settings.task)
    said = [f"{task.publishes}, published with the model"]
    if settings.protects == "example":
        said.append("a person with several examples: k of them cost k times the epsilon of one, at a larger delta")
    else:
        said.append("people that the corpus names by no speaker: their records count by dialogue")
        said.append(f"examples of a speaker beyond the first {settings.longest_speaker} are not used at all")
    if plan.mixing > 1:
        said.append("what the published formula claims: its clipping does not bound statistics over private rows")
    said.append("training losses and logs, which are exact: they belong with the data and not with the model")
    said.append("settings chosen after looking at results on the same data")
    return tuple(said)


def _own_assumptions(plan: Plan, prepared: Prepared) -> tuple[str, ...]:
    said = [
        f"{task_of(plan.settings.task).publishes}: counted as public",
        "the key of this training, drawn for it alone, stays with its owner",
    ]
    if not task_of(plan.settings.task).declared(plan.settings):
        said[0] += ", though read from the data here"
    if group := _of_a_speaker(plan, prepared):
        said.append(f"the largest number of examples of one speaker, {group['examples_at_most']}, is public")
    if plan.settings.public_weights is not None:
        said.append("the model that training began with was learnt from public data alone, as its settings say")
    if prepared.validation and not plan.settings.validation_is_public:
        said.append("validation examples are not trained on, and their scores are published nowhere")
    if plan.settings.patience is not None:
        said.append("the figure is that of all planned steps, however early training stopped")
    return tuple(said)
