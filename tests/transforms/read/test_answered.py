"""A storage that never answers is told as one, with the next command; one that answers or refuses is passed on."""

from __future__ import annotations

import threading

import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.transforms.read import answered as module
from sottovoce.transforms.read.answered import answered


def test_what_is_given_or_raised_is_passed_on():
    assert answered(lambda: 5, "gs://b") == 5
    with pytest.raises(PermissionError):
        answered(lambda: (_ for _ in ()).throw(PermissionError), "gs://b")


def test_a_bucket_that_never_answers_is_named_with_the_next_command(monkeypatch):
    monkeypatch.setattr(module, "MOST_S", 0.05)
    with pytest.raises(CorpusError, match=r"gs://nobody/x: no answer within 0.05 s.*gcloud auth"):
        answered(threading.Event().wait, "gs://nobody/x")
