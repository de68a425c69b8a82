"""Secrets that Beam reads: a file of any of its filesystems, and whatever its secret managers keep."""

from __future__ import annotations

from dataclasses import dataclass

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.transforms.util import Secret as BeamSecret

from sottovoce.models.secrets.secret_reference import SecretUnavailable


@dataclass(frozen=True, slots=True)
class UriReference:
    """A file that Beam's filesystems reach, such as gs://bucket/secret."""

    uri: str

    def __str__(self) -> str:
        return self.uri

    def read(self) -> bytes:
        try:
            with FileSystems.open(self.uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
                return file.read()
        except (OSError, ValueError, BeamIOError) as error:  # ValueError: a scheme that no filesystem here reads
            raise SecretUnavailable(f"{self.uri}: cannot be read ({type(error).__name__})") from None


@dataclass(frozen=True, slots=True)
class BeamSecretReference:
    """A secret manager, in Beam's own words: type:GcpSecret;version_name:projects/P/secrets/S/versions/1"""

    option: str

    def __str__(self) -> str:
        return self.option

    def read(self) -> bytes:
        try:
            return BeamSecret.parse_secret_option(self.option).get_bytes()
        except Exception as error:  # noqa: BLE001 - each secret manager has errors of its own
            raise SecretUnavailable(f"{self.option}: cannot be read ({type(error).__name__})") from None
