import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.io.localfilesystem import LocalFileSystem
from committed_run import commit

from sottovoce.pipelines import cli
from sottovoce.pipelines.sanitize import report


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "out" / "run-0123456789ab"
    shard = folder / "slu" / "part-00000-of-00001.parquet"
    shard.parent.mkdir(parents=True)
    rows = [{"id": "aa", "text": "play [ARTIST] please", "intent": "play_music", "slots": [], "language": "en"}]
    slots = pa.list_(pa.struct([("begin", pa.int32()), ("end", pa.int32()), ("name", pa.string())]))
    texts = [(name, pa.string()) for name in ("id", "text", "intent")]
    pq.write_table(pa.Table.from_pylist(rows, pa.schema([*texts, ("slots", slots), ("language", pa.string())])), shard)
    return commit(folder)


def export(run_folder, target, *more: str) -> int:
    return cli.main(["export", "--run", str(run_folder), "--output", str(target), *more])


def test_the_command_writes_the_export_and_says_where(run_folder, tmp_path, capsys):
    assert export(run_folder, tmp_path / "made", "--format", "conll") == 0
    printed = capsys.readouterr().out
    assert "run-0123456789ab as conll" in printed and "slu.conll" in printed
    assert "# intent = play_music\n" in (tmp_path / "made" / "slu.conll").read_text()


def test_a_uri_is_read_through_beams_filesystems(run_folder, tmp_path, capsys):
    class LocalUnderAScheme(LocalFileSystem):
        @classmethod
        def scheme(cls):
            return "shelf"

        def open(self, path, *arguments, **options):
            return super().open(path.removeprefix("shelf://"), *arguments, **options)

        def exists(self, path):
            return super().exists(path.removeprefix("shelf://"))

        def match(self, patterns, limits=None):
            found = super().match([pattern.removeprefix("shelf://") for pattern in patterns], limits)
            for item in (item for result in found for item in result.metadata_list):
                item.path = f"shelf://{item.path}"
            return found

    assert export(f"shelf://{run_folder}", tmp_path / "made", "--format", "nemo") == 0
    assert "[ARTIST]" in (tmp_path / "made" / "slu.jsonl").read_text()
    assert export(f"nowhere://{run_folder}", tmp_path / "other", "--format", "nemo") == cli.EXIT_FAILED
    assert "nothing here reads nowhere://" in capsys.readouterr().err


def test_what_cannot_be_exported_ends_with_one_line_and_an_exit_code(run_folder, tmp_path, capsys):
    assert export(run_folder, tmp_path / "made", "--format", "kaldi") == cli.EXIT_FAILED
    assert capsys.readouterr().err.startswith("error: run-0123456789ab has nothing for kaldi")
    assert export(run_folder.parent, tmp_path / "made", "--format", "nemo") == cli.EXIT_FAILED
    assert "not a committed run" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert export(run_folder, tmp_path / "file" / "below", "--format", "nemo") == cli.EXIT_FAILED
    assert "could not be written" in capsys.readouterr().err


@pytest.mark.slow
def test_the_checks_that_the_report_names_work_as_printed(run_folder):
    """The first two commands of the report, in the folder of a run."""
    template = (Path(report.__file__).parent / "report.html").read_text("utf-8")
    commands = [html.unescape(command) for command in re.findall("<pre>(python .*)</pre>", template)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = [
        subprocess.run(
            command, shell=True, cwd=run_folder, env=os.environ | {"PATH": path}, capture_output=True, text=True
        )
        for command in (commands[0], commands[1].replace("the name", "please"), commands[1])
    ]
    assert [done.stdout.strip() for done in printed] == ["slu/part-00000-of-00001.parquet: OK", "1", "0"]
