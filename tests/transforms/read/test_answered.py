"""A storage that never answers is told as one, with the next command; one that answers or refuses is passed on."""

from __future__ import annotations

import logging
import threading

import pytest
from apache_beam.io.aws.clients.s3.messages import S3ClientError
from apache_beam.io.filesystem import BeamIOError

from sottovoce.models.errors import DEBUG, CorpusError
from sottovoce.transforms.read import answered as module
from sottovoce.transforms.read.answered import answered, cause


def test_what_is_given_or_raised_is_passed_on():
    assert answered(lambda: 5, "gs://b") == 5
    with pytest.raises(PermissionError):
        answered(lambda: (_ for _ in ()).throw(PermissionError), "gs://b")


def test_a_bucket_that_never_answers_is_named_with_the_next_command(monkeypatch):
    monkeypatch.setattr(module, "MOST_S", 0.05)
    with pytest.raises(CorpusError, match=r"gs://nobody/x: no answer within 0.05 s.*gcloud auth"):
        answered(threading.Event().wait, "gs://nobody/x")


def test_a_storage_that_cannot_be_asked_tells_what_to_install_or_what_it_said_and_quotes_nothing():
    deep = BeamIOError(
        "Match", {"s3://b/x": BeamIOError("List", {"s3://b/": S3ClientError("No such key: anna.wav", 404)})}
    )
    assert cause(deep, "s3://b") == "No such key"
    assert cause(BeamIOError("Get", {"hdfs://h/x": ImportError("no hdfs")}), "hdfs://h/x").endswith(
        "'apache-beam[hadoop]'"
    )
    assert cause(BeamIOError("Match", {"azfs://a/x": NameError("x")}), "azfs://a").endswith("'apache-beam[azure]'")
    nobodys = ValueError("Unable to get filesystem from specified path. Path specified: foo://anna")
    assert cause(nobodys, "foo://anna") == "no filesystem for foo://"
    assert cause(nobodys, "gs://anna").endswith("'apache-beam[gcp]'")
    assert cause(ValueError("S3 path must be in the form"), "s3://") == "not in the form s3://BUCKET/FOLDER"
    assert cause(PermissionError("anna.wav"), "gs://b") == "PermissionError"


def test_what_clients_log_while_they_try_again_is_not_printed(monkeypatch, caplog):
    monkeypatch.delenv(DEBUG, raising=False)

    def ask():
        logging.getLogger("apache_beam.utils.retry").warning("Traceback for above exception")
        return 5

    assert answered(ask, "gs://b") == 5 and not caplog.records
    logging.getLogger("apache_beam.utils.retry").warning("heard again")
    assert len(caplog.records) == 1
