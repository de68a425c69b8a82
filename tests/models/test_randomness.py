import copy
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.secrets.secret_reference import EnvironmentReference, FileReference, SecretUnavailable

SECRET = Secret(b"0123456789abcdef")


def test_the_same_record_gets_the_same_draw_and_another_secret_another_one():
    assert SECRET.uniform("route", "d1") == Secret(b"0123456789abcdef").uniform("route", "d1")
    assert SECRET.token("id", "d1") != Secret(b"0123456789abcdeg").token("id", "d1")
    assert fresh_secret().value != fresh_secret().value


@given(st.lists(st.text(), min_size=1, max_size=3), st.lists(st.text(), min_size=1, max_size=3))
def test_different_parts_never_run_together(left, right):
    assert (SECRET.digest("p", *left) == SECRET.digest("p", *right)) == (left == right)


def test_a_secret_shows_itself_nowhere():
    assert "0123" not in repr(SECRET) + str(SECRET) + f"{SECRET}"


def test_generators_of_one_record_repeat():
    draws = [SECRET.generator("voice", "u1").random(4).tolist() for _ in range(2)]
    assert draws[0] == draws[1]
    assert draws[0] != SECRET.generator("voice", "u2").random(4).tolist()


def test_the_pickle_of_a_secret_holds_a_reference_and_finds_the_secret_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SOTTOVOCE_TEST", "0123456789abcdef")
    (tmp_path / "secret").write_bytes(SECRET.value)
    for reference in (None, FileReference(str(tmp_path / "secret")), EnvironmentReference("SOTTOVOCE_TEST")):
        pickled = pickle.dumps(Secret(SECRET.value, reference))
        assert SECRET.value not in pickled and SECRET.value.hex().encode() not in pickled
        assert pickle.loads(pickled) == copy.deepcopy(SECRET) == SECRET


def test_a_worker_that_finds_no_secret_or_another_one_does_nothing(tmp_path):
    file = tmp_path / "secret"
    pickled = pickle.dumps(Secret(SECRET.value, FileReference(str(file))))
    with pytest.raises(SecretUnavailable, match="No such file"):
        pickle.loads(pickled)
    file.write_bytes(b"another secret of this test")
    with pytest.raises(SecretUnavailable, match="not the secret that the run was started with"):
        pickle.loads(pickled)


def test_a_secret_that_is_kept_nowhere_reaches_no_other_process():
    code = "import pickle, sys; pickle.load(sys.stdin.buffer)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(SECRET), capture_output=True)
    assert done.returncode and b"reached another process" in done.stderr
