"""Which parts of the graph ask the runner for a GPU: those with a member that was told to use one (`device: cuda`).

`device: auto` takes a GPU that happens to be there and asks for none. The speech stages ask together: a runner cannot
fuse stages with different hints, and decoded speech would cross a shuffle between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sottovoce.models.settings import Spec
from sottovoce.transforms.engine.job import Job


def gpu_hints(job: Job, *members: Spec) -> dict[str, str]:
    """For `with_resource_hints`: the job's hints if one of the members wants a GPU, else none."""
    return dict(job.gpu_hints) if any(wants_gpu(dict(member.options)) for member in members) else {}


def wants_gpu(options: Any) -> bool:
    """Searched all the way down, because a member may hold others (an ensemble)."""
    if isinstance(options, Mapping):
        return str(options.get("device", "")).startswith("cuda") or any(map(wants_gpu, options.values()))
    return isinstance(options, list | tuple) and any(map(wants_gpu, options))
