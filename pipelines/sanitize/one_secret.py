"""One output has one secret: under a second one no dialogue would be recognised, and each would be released again.

`private/secret_check.json` holds keyed hashes, which tell whether a secret is the one and nothing else of it. Without a
--secret-file an output makes its own secret on first use and keeps it in `private/secret`.
"""

from __future__ import annotations

import os

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.runs.places import OutputPlaces, RunPlaces
from sottovoce.models.secrets.secret_reference import FileReference
from sottovoce.pipelines.nightly.finished_runs import finished_runs
from sottovoce.pipelines.sanitize.run_folder import read_json, write_json
from sottovoce.pipelines.sanitize.secret_file import read_secret
from sottovoce.transforms.write.shards import write_then_rename


def secret_for(output: str, given: str | None) -> Secret:
    """The secret that was given, or the output's own. Nothing is touched: a new one is kept when the output is claimed."""
    if given is not None:
        return read_secret(given)
    places = OutputPlaces.of(output)
    if "://" in places.uri:
        raise SettingsError([f"--secret-file: needed for {output}; only a local output can keep a secret of its own"])
    if os.path.exists(places.secret):
        return read_secret(places.secret)
    if os.path.exists(places.secret_check):
        raise RunError(f"{output} was made with a secret that is kept elsewhere; give it with --secret-file")
    return Secret(fresh_secret().value, FileReference(places.secret))


def secret_at_hand(run: str, given: str | None) -> Secret | None:
    """The secret that was given, or the one that the output of a run keeps; None where it is kept elsewhere."""
    kept = RunPlaces.of(run).output.secret
    return read_secret(given or kept) if given is not None or FileSystems.exists(kept) else None


def claim_output(output: str, secret: Secret, force: bool = False) -> bool:
    """Let this secret write here, as the one writer. False where another one has written as well, which `force` allows."""
    places = OutputPlaces.of(output)
    place = places.secret_check
    # An output that has released nothing, and forgotten nobody, can begin with any secret.
    used = bool(finished_runs(output) or FileSystems.match([places.marks("*")])[0].metadata_list)
    checks = read_json(place)["checks"] if used and FileSystems.exists(place) else []
    known = bool(checks) or not used
    if not force and not known:
        raise RunError(
            f"{output} holds runs, but not the private folder that says what they took: every dialogue could be released "
            f"again. Put {places.private()} back, use another --output, or --force"
        )
    if not force and checks and checks != [secret.check]:
        raise RunError(
            f"the secret is not the one of the runs before in {output}: every dialogue would be released again. Use that "
            f"secret, another --output, or --force"
        )
    if secret.reference == FileReference(places.secret):
        _keep(places, secret)
    if secret.check not in checks:
        write_json(place, {"checks": [*checks, secret.check]})
    return known and checks in ([], [secret.check])


def _keep(places: OutputPlaces, secret: Secret) -> None:
    """The output's own secret, on disk before anything is drawn with it."""
    if not os.path.exists(places.secret):
        write_then_rename(places.secret, lambda file: file.write(secret.value), private=True)
    elif FileReference(places.secret).read() != secret.value:
        raise RunError(f"another command has just made the secret of {places.uri}; run this one again")


def secrets_used(output: str) -> int:
    """More than one where `--force` has allowed it."""
    place = OutputPlaces.of(output).secret_check
    return len(read_json(place)["checks"]) if FileSystems.exists(place) else 0


def knows_secret(output: str, secret: Secret) -> bool:
    """Whether runs of this output were made with the secret."""
    place = OutputPlaces.of(output).secret_check
    return FileSystems.exists(place) and secret.check in read_json(place)["checks"]
