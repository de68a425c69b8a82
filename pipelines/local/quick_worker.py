"""A worker process of a local run that names no place elsewhere: Beam's own, without the connectors that its driver left out.

python -m sottovoce.pipelines.local.quick_worker        # started by Beam, which says the rest in the environment
"""

from __future__ import annotations

import shlex
import sys

from sottovoce.pipelines.local.beam_alone import import_beam_alone

A_CONNECTOR = "apache_beam.io.gcp.gcsfilesystem"


def worker_command(beams_own: str) -> str:
    """Beam's own worker, where this process has loaded all of Beam: then some place may be elsewhere."""
    return beams_own if A_CONNECTOR in sys.modules else f"{shlex.quote(sys.executable)} -m {__spec__.name}"


def main() -> None:
    """Load Beam without its connectors first, then hand over to its own worker."""
    import_beam_alone("direct", None, ())
    from apache_beam.runners.worker import sdk_worker_main

    sdk_worker_main.main(sys.argv)


if __name__ == "__main__":
    main()
