"""What is learned from which sink: one file and one row for each task (`task.py` says what a task is)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import resolve

if TYPE_CHECKING:  # settings are checked without waiting for torch
    from sottovoce.models.training.tasks.task import Task

TABLE = {
    "slu": "sottovoce.models.training.tasks.slu:Understanding",
    "lm": "sottovoce.models.training.tasks.lm:LanguageModelling",
    "am": "sottovoce.models.training.tasks.am:Recognition",
    "dm": "sottovoce.models.training.tasks.dm:DialogueManagement",
    "rewriter": "sottovoce.models.training.tasks.rewriter:Rewriting",
}


def task_of(name: str) -> Task:
    """The task of that name; an error that tells the allowed ones, where there is none."""
    if name not in TABLE:
        raise SettingsError([f"task: {name!r} is not known; allowed: {', '.join(TABLE)}"])
    return resolve(TABLE[name])()
