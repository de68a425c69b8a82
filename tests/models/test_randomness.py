from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.randomness import Secret, fresh_secret

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
