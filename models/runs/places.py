"""Where everything in an output folder lies. Two roots: `OUT/run-*/` and `OUT/trained/` may be handed on,
`OUT/private/` may not.

OUT/<run id>/<sink>/part-*.parquet      the safe records
            /ledger.json  report.html  config.yaml
            /_COMMITTED.json            the last write: shards and files with their sha256, and the counts of the run
OUT/trained/<run id>/model/             the model that was trained on the run, with its card: may be handed on
                    /ledger.json        what the training may spend, and did
OUT/private/                            mode 0700, files 0600; a bucket needs an access rule of its own for it
           /secret_check.json           a keyed hash: one OUT has one secret
           /secret                      only where no --secret-file was given
           /lock                        who is writing in OUT
           /cumulative_ledger.json      what all runs together have taken and spent
           /forgotten/*.parquet         keyed marks of people and dialogues that no run takes again
           /lists/<run id>.json         values counted in the corpus, with their noise: released once, used by every repetition
                /<run id>.<count>-*     templates and values that a crowd said, with their noise: the same
           /erasures/<name>/            receipts of `sottovoce forget`; of one that was cut off, what it has still to do
           /runs/<run id>/work/         in progress: staged slices, notes of shards, tally; gone at the commit
                         /state/        dialogues taken, speakers charged: keyed hashes
                         /index/        keyed: which records are whose, for `sottovoce forget`
                         /failures/     refused records: keyed id, stage, reason, file and line
                         /tables.json   the files of the three folders above, with their sha256
                         /commit.json   the sha256 of its `_COMMITTED.json`
                         /audit.json    what attacks on the run found (`sottovoce audit`): counts and rates
                         /audit.html    the same for an officer, with what the ledger says
                         /challenge.json  the key of a blind challenge: whose slice is whose, by alias
                         /canaries.json what became of invented people in the run: counts, yes and no
                         /training/     marker, settings, logs, checkpoints and exact curves of its training
                         /left_out.json how many records of forgotten people the run has left out, if any
                         /counts.json   the exact counts of a run that hands on none (`rewrite: crowd`)
                         /record.json   its `_COMMITTED.json` again: what was taken counts when the records are gone

Only names are made here; `pipelines/sanitize/run_folder.py` touches the files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

COMMITTED = "_COMMITTED.json"
PRIVATE, RUNS, TRAINED = "private", "runs", "trained"
SECRET_CHECK, SEAL, COUNTS = "secret_check.json", "commit.json", "counts.json"
WORK, STATE, INDEX, FAILURES, TRAINING = "work", "state", "index", "failures", "training"
KEPT_TABLES = (STATE, INDEX, FAILURES)  # private folders of a run whose files are written by the graph, and stay


def absolute(output: str) -> str:
    """Workers of a cluster have another working directory: a local path is made absolute."""
    return output.rstrip("/") if "://" in output else os.path.abspath(output)


@dataclass(frozen=True, slots=True)
class OutputPlaces:
    """The places of one OUT."""

    uri: str

    @classmethod
    def of(cls, output: str) -> OutputPlaces:
        return cls(absolute(output))

    def private(self, *parts: str) -> str:
        """A place below what may not be handed on; without parts, the folder itself."""
        return "/".join((self.uri, PRIVATE, *parts))

    @property
    def secret(self) -> str:
        """The secret itself, where it was made for this OUT and no file of one was given."""
        return self.private("secret")

    @property
    def secret_check(self) -> str:
        """A keyed hash that tells whether a secret is the one of this OUT."""
        return self.private(SECRET_CHECK)

    @property
    def lock(self) -> str:
        """Who is writing in OUT, and so keeps every other writer out."""
        return self.private("lock")

    @property
    def charges_lock(self) -> str:
        """Held while a training charges its speakers, so that no two do at once."""
        return self.private("charges_lock")

    @property
    def cumulative_ledger(self) -> str:
        """What all runs of OUT together have taken and spent."""
        return self.private("cumulative_ledger.json")

    def marks(self, name: str) -> str:
        """Whom one erasure has forgotten; `*` for all erasures."""
        return self.private("forgotten", f"{name}.parquet")

    def erasure(self, *parts: str) -> str:
        """A place among the erasures: receipts, and what one that was cut off has still to do."""
        return self.private("erasures", *parts)

    def run(self, name: str) -> RunPlaces:
        return RunPlaces(self, name)


@dataclass(frozen=True, slots=True)
class RunPlaces:
    """The places of one run, in both roots."""

    output: OutputPlaces
    name: str

    @classmethod
    def of(cls, run: str) -> RunPlaces:
        """By the folder that is handed on: OUT/<run id>."""
        output, _, name = absolute(run).rpartition("/")
        return cls(OutputPlaces(output), name)

    def released(self, *parts: str) -> str:
        return "/".join((self.output.uri, self.name, *parts))

    def private(self, *parts: str) -> str:
        """A place in what the run keeps and does not hand on; without parts, that folder."""
        return self.output.private(RUNS, self.name, *parts)

    def folder_of(self, sink: str) -> str:
        """Where the files of a sink go: records are handed on, what the run must remember is not."""
        return self.private(sink) if sink in KEPT_TABLES else self.released(sink)

    def work(self, *parts: str) -> str:
        """A place in the folder of a run in progress, which is removed at the commit."""
        return self.private(WORK, *parts)

    @property
    def shard_notes(self) -> str:
        """The folder in which workers describe each file they have finished, for the commit to list."""
        return self.work("shards")

    @property
    def staged_audio(self) -> str:
        """The folder in which slices wait as FLAC while references to them are sorted."""
        return self.work("audio")

    def canaries(self, *parts: str) -> str:
        """What became of canaries, by sink, and their recordings: gone at the commit."""
        return self.work("canaries", *parts)

    @property
    def canary_evidence(self) -> str:
        """What became of the invented people, in counts, under a seal: kept for the audit."""
        return self.private("canaries.json")

    @property
    def tally(self) -> str:
        """The counts of all stages, from the graph to whoever commits the run."""
        return self.work("tally.json")

    @property
    def tables(self) -> str:
        return self.private("tables.json")

    @property
    def record(self) -> str:
        """The commit once more: it stays when the folder that was handed on is gone."""
        return self.private("record.json")

    @property
    def counts(self) -> str:
        return self.private(COUNTS)

    @property
    def left_out(self) -> str:
        return self.private("left_out.json")

    @property
    def seal(self) -> str:
        """The sha256 of the commit, out of reach of whoever holds only what was handed on."""
        return self.private(SEAL)

    @property
    def audit(self) -> str:
        """What attacks on the run have found, as JSON."""
        return self.private("audit.json")

    @property
    def challenge(self) -> str:
        """The answers of a blind challenge: whose slice is whose, by alias."""
        return self.private("challenge.json")

    @property
    def audit_page(self) -> str:
        """The audit as a page for people to read."""
        return self.private("audit.html")

    @property
    def lists(self) -> str:
        """Beside the run's own folder, which a repetition of the run begins by removing."""
        return self.output.private("lists", f"{self.name}.json")

    def crowd(self, count: str) -> str:
        """Beside the run's own folder for the same reason: how the names of a count's shards begin; `*` for all counts."""
        return self.output.private("lists", f"{self.name}.{count}")

    def training(self, *parts: str) -> str:
        return self.private(TRAINING, *parts)

    def trained(self, *parts: str) -> str:
        """Beside the run, whose folder holds what was committed and nothing else."""
        return "/".join((self.output.uri, TRAINED, self.name, *parts))

    @property
    def training_marker(self) -> str:
        """Says that a training on the run was started, so that none is started twice."""
        return self.training("marker.json")

    @property
    def training_lock(self) -> str:
        """Held while a training on the run is started, so that no two are at once."""
        return self.training("lock")
