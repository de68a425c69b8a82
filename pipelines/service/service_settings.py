"""What a service is started with: models, limits, who may call. Frozen; it travels to every process of the service."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.settings import Spec, require
from sottovoce.models.speech.slice import Slicer
from sottovoce.pipelines.service.tokens import Tokens
from sottovoce.transforms.engine.job import AudioSettings


@dataclass(frozen=True)
class Limits:
    """What one request may bring, and how many may wait."""

    body_bytes: int = 16 << 20
    characters: int = 20_000
    wait_s: float = 60.0
    waiting_texts: int = 512
    waiting_speech: int = 16

    @property
    def json_bytes(self) -> int:
        """Of a body of JSON, which is parsed and checked value by value: what the longest text takes, and results for it."""
        return min(self.body_bytes, 32 * self.characters + (1 << 16))

    def __post_init__(self) -> None:
        require(
            (self.body_bytes >= 1024, "body_bytes: must be at least 1024"),
            (self.characters >= 1, "characters: must be at least 1"),
            (self.wait_s > 0, "wait_s: must be above 0"),
            (min(self.waiting_texts, self.waiting_speech) >= 1, "waiting: at least 1 must be let in"),
        )


@dataclass(frozen=True)
class ServiceSettings:
    """All that a process of the service needs to know. Without `tokens` only this machine may reach it."""

    specs: dict[str, Spec]  # by family, as a job has them
    slicer: Slicer
    audio: AudioSettings
    secret: Secret
    host: str = "127.0.0.1"
    tokens: Tokens | None = None
    origins: tuple[str, ...] = ()
    text_only: bool = False
    language: str | None = None  # of requests that do not say one; None: as their text reads
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.tokens is None and not is_loopback(self.host):
            raise SettingsError(
                [
                    f"--host {self.host}: others can reach it, so callers need tokens; make one with "
                    "`sottovoce serve --tokens FILE --new-token NAME` and start with --tokens FILE"
                ]
            )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone. No name is looked up: only `localhost` and addresses can be."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
