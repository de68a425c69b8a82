"""The secret of a command: where it is kept, whether others can read it there, and whether it could be guessed.

--secret-file secret                                                 a file, under the same path on every worker
--secret-file gs://bucket/secret                                     a file of any filesystem that Beam reads
--secret-file env:SOTTOVOCE_SECRET                                   a variable, set on every worker
--secret-file 'type:GcpSecret;version_name:projects/P/secrets/S/versions/1'     Beam's secret managers
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.secrets.secret_reference import (
    EnvironmentReference,
    FileReference,
    SecretReference,
    SecretUnavailable,
)
from sottovoce.models.secrets.secret_strength import MIN_BITS, estimated_bits

VARIABLES = "SOTTOVOCE_"  # training jobs inherit no variable that begins so (models/launch)


def read_secret(given: str) -> Secret:
    """Read here as a worker will read it, and refused where it protects nobody."""
    reference = refer_to(given)
    try:
        value = reference.read()
    except SecretUnavailable as error:
        hint = f"; make one with: (umask 077; head -c 32 /dev/urandom > {given})" if _is_local(reference) else ""
        raise SettingsError([f"--secret-file {error}{hint}"]) from None
    if isinstance(reference, FileReference) and os.stat(reference.path).st_mode & stat.S_IRWXO:
        raise SettingsError([f"--secret-file {given}: others on this machine may read it; chmod 600 {given}"])
    bits = estimated_bits(value)
    if bits < MIN_BITS:
        raise SettingsError(
            [
                f"--secret-file {given}: {len(value)} bytes that hold about {bits:.0f} bits can be guessed; at least "
                f"{MIN_BITS} are needed. Make a new one, not by hand: head -c 32 /dev/urandom"
            ]
        )
    return Secret(value, reference)


def passing_secret() -> Secret:
    """A fresh one for a study, which releases nothing: worker processes of this machine can read it while this one lives."""
    folder = tempfile.mkdtemp(prefix="sottovoce-secret-")  # 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "secret")
    value = fresh_secret().value
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(value)
    return Secret(value, FileReference(path))


def refer_to(given: str) -> SecretReference:
    """Where the secret lies, not the secret: workers read it there. SettingsError for a variable named otherwise."""
    if given.startswith("env:"):
        name = given.removeprefix("env:")
        if not name.startswith(VARIABLES):
            raise SettingsError([f"--secret-file {given}: allowed are variables whose name begins with {VARIABLES}"])
        return EnvironmentReference(name)
    if "://" not in given and not given.startswith("type:"):
        return FileReference(os.path.abspath(given))
    from sottovoce.transforms.engine.secret_reference import BeamSecretReference, UriReference

    return BeamSecretReference(given) if given.startswith("type:") else UriReference(given)


def _is_local(reference: SecretReference) -> bool:
    return isinstance(reference, FileReference) and not os.path.exists(reference.path)
