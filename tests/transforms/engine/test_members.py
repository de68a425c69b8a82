"""A worker process holds one copy of each member, and its linear algebra runs in one thread."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from sottovoce.models.settings import read_spec
from sottovoce.transforms.engine import members


def test_linear_algebra_has_one_thread_once_a_member_is_loaded() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    threadpool_limits(2, user_api="blas")
    members.load(read_spec("voice", {"use": "mcadams", "low": 0.71}))
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}


def test_a_member_is_loaded_once_and_shared() -> None:
    spec = read_spec("voice", {"use": "mcadams", "low": 0.72})
    assert members.load(spec) is members.load(spec)
