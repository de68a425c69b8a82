"""Recordings are read from under the roots and from nowhere else, whatever links and dots a path has."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.records import AudioRef
from sottovoce.models.speech.audio import load
from sottovoce.models.speech.audio_refusals import AudioNotFound, AudioOutsideRoots
from sottovoce.models.speech.audio_roots import AudioRoots, open_regular
from sottovoce.transforms.read.corpus import OpenAudio


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "corpus"
    (folder / "audio").mkdir(parents=True)
    (folder / "audio" / "a.wav").write_bytes(b"inside")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.wav").write_bytes(b"outside")
    return folder


def outside(roots: AudioRoots, path: object) -> bool:
    try:
        roots.place(str(path))
    except AudioOutsideRoots:
        return True
    return False


@pytest.mark.parametrize(
    "path", ["audio/a.wav", "audio/../audio/./a.wav", "audio//a.wav", "../corpus/audio/a.wav", "audio/missing.wav"]
)
def test_paths_that_end_inside_are_resolved(corpus, path):
    expected = corpus / "audio" / Path(path).name
    assert AudioRoots((str(corpus),)).place(f"{corpus}/{path}") == str(expected)


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "/etc/nothing-there", "/", "", "a.wav", "/etc/../etc/passwd", "/proc/self/root/etc/passwd"),
        *("{root}/../../secret/a.wav", "{root}/../../secret/missing", "{root}/..", "{root}-other/a.wav", "{root}x"),
        *(
            "{root}/audio/../../../secret/a.wav",
            "{root}/\\0",
            "file:///etc/passwd",
            "gs://bucket/a.wav",
            "FILE:{root}/a",
        ),
    ],
)
def test_paths_that_leave_are_outside_whether_anything_is_there_or_not(corpus, path):
    assert outside(AudioRoots((str(corpus),)), path.replace("{root}", str(corpus)).replace("\\0", "\0"))


def test_links_are_followed_inside_and_never_out(corpus):
    def link(name: str, target: str) -> str:
        (corpus / name).symlink_to(target)
        return f"{corpus}/{name}"

    roots, real = AudioRoots((str(corpus),)), str(corpus / "audio" / "a.wav")
    assert roots.place(link("relative", "audio/a.wav")) == real
    assert roots.place(link("absolute", real)) == real
    assert roots.place(f"{link('folder', 'audio')}/a.wav") == real
    assert roots.place(f"{link('chain', 'folder')}/../relative") == real
    for name, target in {
        "out": "../../secret/a.wav", "out absolute": f"{corpus}/../../secret/a.wav", "gone": "/etc/nothing-there",
        "root": "/", "roundabout": f"/proc/self/cwd/../{corpus}/audio/a.wav", "back": f"../../secret/../data/corpus/{real}",
    }.items():  # fmt: skip
        assert outside(roots, link(name, target)), name
    assert outside(roots, f"{link('folder out', '../../secret')}/a.wav")
    (corpus / "loop").symlink_to("loop")
    with pytest.raises(AudioNotFound):
        roots.place(f"{corpus}/loop")


def test_a_root_may_itself_be_typed_through_a_link(corpus, tmp_path):
    (tmp_path / "mount").symlink_to(corpus)
    roots = AudioRoots((str(tmp_path / "mount"),))
    assert roots.place(f"{tmp_path}/mount/audio/a.wav") == str(corpus / "audio" / "a.wav")
    assert roots.place(f"{corpus}/audio/a.wav") == str(corpus / "audio" / "a.wav")
    assert outside(roots, f"{tmp_path}/mount/../secret/a.wav")


def test_several_roots_count_each_and_links_may_lead_from_one_to_another(corpus, tmp_path):
    (corpus / "over").symlink_to(tmp_path / "secret")
    assert outside(AudioRoots((str(corpus),)), f"{corpus}/over/a.wav")
    both = AudioRoots((str(corpus), str(tmp_path / "secret")))
    assert both.place(f"{corpus}/over/a.wav") == both.place(f"{tmp_path}/secret/a.wav") == f"{tmp_path}/secret/a.wav"


def test_remote_roots_are_compared_by_their_text(corpus):
    roots = AudioRoots(("gs://bucket/corpus", str(corpus)))
    assert roots.place("gs://bucket/corpus/a/b.wav") == "gs://bucket/corpus/a/b.wav"
    for uri in (
        *("gs://bucket/corpus-2/a.wav", "gs://bucket/a.wav", "s3://bucket/corpus/a.wav", "gs://bucket/corpus/../a.wav"),
        *("GS://bucket/corpus/a.wav", "gs://bucket/corpus/./../a.wav"),
    ):
        assert outside(roots, uri), uri
    assert outside(AudioRoots(("gs://bucket/corpus",)), "/etc/passwd")


def test_files_of_the_corpus_itself_are_read_wherever_links_lead(corpus, tmp_path):
    (corpus / "data.parquet").symlink_to(tmp_path / "secret" / "a.wav")
    uri = str(corpus / "data.parquet")
    assert AudioRoots((str(corpus),), frozenset([uri])).place(uri) == str(tmp_path / "secret" / "a.wav")
    assert outside(AudioRoots((str(corpus),)), uri)


def test_without_roots_nothing_is_read(corpus):
    assert outside(AudioRoots(), corpus / "audio" / "a.wav")


@given(
    st.lists(
        st.sampled_from(["..", ".", "", "audio", "up", "over", "a.wav", "etc", "secret", "data", "corpus"]), max_size=9
    )
)
def test_whatever_the_steps_the_place_lies_where_the_system_says_or_is_outside(tmp_path_factory, steps):
    """Against os.path.realpath: the same place, and never one beyond the root."""
    top = tmp_path_factory.getbasetemp() / "steps"
    corpus = top / "data" / "corpus"
    if not corpus.exists():
        (corpus / "audio").mkdir(parents=True)
        (corpus / "audio" / "a.wav").write_bytes(b"x")
        (corpus / "up").symlink_to("..")
        (corpus / "over").symlink_to("audio")
    path = "/".join([str(corpus), *steps])
    really = os.path.realpath(path)
    try:
        place = AudioRoots((str(corpus),)).place(path)
    except AudioOutsideRoots:
        return
    assert place == really and (really == str(corpus) or really.startswith(f"{corpus}/"))


def test_only_regular_files_are_opened(corpus, tmp_path):
    with open_regular(str(corpus / "audio" / "a.wav")) as file:
        assert file.read() == b"inside"
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/null"):
        with pytest.raises(Exception, match="audio_not_a_file"):
            open_regular(str(path))


def test_a_path_inside_a_parquet_file_is_bound_to_the_roots_as_well(corpus, tmp_path):
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    paths = ["/etc/passwd", "../../secret/a.wav", f"{tmp_path}/secret/missing", "gs://bucket/a.wav"]
    file = corpus / "data.parquet"
    pq.write_table(pa.table({"audio": pa.array([{"bytes": None, "path": path} for path in paths], kind)}), file)
    open_audio = OpenAudio(AudioRoots((str(corpus),), frozenset([str(file)])))
    for row in range(len(paths)):
        with pytest.raises(AudioOutsideRoots):
            load(AudioRef(str(file), row=row, column="audio"), open_audio)
