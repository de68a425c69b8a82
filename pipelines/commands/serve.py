"""`sottovoce serve`: the models over HTTP, for callers on this machine or, with tokens, from elsewhere."""

from __future__ import annotations

import argparse
import os
import ssl
from typing import TYPE_CHECKING

from sottovoce.models.errors import SettingsError

if TYPE_CHECKING:  # --help must not wait for the models' packages
    from sottovoce.pipelines.service.service_settings import ServiceSettings

EXAMPLES = """\
  sottovoce serve                                   # http://127.0.0.1:5000, for this machine alone
  sottovoce serve --set audio.transcribe=moonshine --set replace=full
  curl -s localhost:5000/v1/replace -H 'Content-Type: application/json' -d '{"text": "call anna in berlin", "strategy": "full"}'
  curl -s localhost:5000/v1/anonymise -F audio=@call.wav -F text='call anna in berlin' -H 'Accept: audio/wav' -o safe.wav
  sottovoce serve --tokens callers --new-token alice     # prints a token once; the file keeps its hash
  sottovoce serve --host 0.0.0.0 --tokens callers --tls-cert cert.pem --tls-key key.pem --workers 2 --secret-file secret
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1); others need --tokens")
    parser.add_argument("--port", type=int, default=5000, help="(5000)")
    parser.add_argument("--config", metavar="FILE", help="job file: which detector, strategy, voice and so on")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="one value of the job")
    parser.add_argument("--secret-file", metavar="F", help="keys the sessions (default: a fresh one, for this start)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes; each loads its models (1)")
    parser.add_argument("--text-only", action="store_true", help="no speech: quicker to start, smaller")
    parser.add_argument("--tokens", metavar="FILE", help="who may call, as hashes of bearer tokens")
    parser.add_argument("--new-token", metavar="NAME", help="add a token to --tokens, print it, and end")
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="URL", help="a web page elsewhere that may call (none)"
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="certificate, as PEM")
    parser.add_argument("--tls-key", metavar="FILE", help="its key, as PEM")
    parser.add_argument("--max-body", type=int, default=16 << 20, metavar="BYTES", help="of a request (16777216)")
    parser.add_argument("--max-characters", type=int, default=20_000, metavar="N", help="of a text (20000)")
    parser.add_argument("--max-wait", type=float, default=60.0, metavar="S", help="for an answer (60)")
    parser.add_argument("--waiting-texts", type=int, default=512, metavar="N", help="queue of texts (512)")
    parser.add_argument("--waiting-speech", type=int, default=16, metavar="N", help="queue of speech (16)")


def run(args: argparse.Namespace) -> int:
    if args.new_token is not None:
        return _new_token(args)
    _check(args)
    try:
        from sottovoce.pipelines.service.processes import serve
    except ImportError as error:
        raise SettingsError([f"serve: {error.name} is not installed; pip install 'sottovoce[serve]'"]) from None
    serve(_settings(args), args.port, args.workers, args.tls_cert, args.tls_key)
    return 0


def _settings(args: argparse.Namespace) -> ServiceSettings:
    from sottovoce.models.settings import FAMILIES
    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.sanitize.secret_file import passing_secret, read_secret
    from sottovoce.pipelines.service.service_settings import Limits, ServiceSettings
    from sottovoce.pipelines.service.tokens import read_tokens

    job = read_job(args.config, args.set)
    return ServiceSettings(
        specs={family: job.specs[family] for family in FAMILIES},
        slicer=job.sections["slice"],
        audio=job.sections["audio"],
        secret=read_secret(args.secret_file) if args.secret_file else passing_secret(),
        host=args.host,
        tokens=read_tokens(args.tokens) if args.tokens else None,
        origins=tuple(args.allow_origin),
        text_only=args.text_only,
        language=job.sections["input"].language,
        limits=Limits(args.max_body, args.max_characters, args.max_wait, args.waiting_texts, args.waiting_speech),
    )


def _new_token(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.service.tokens import add_token

    if not args.tokens:
        raise SettingsError(["--new-token: needs --tokens FILE, where its hash is kept"])
    print(add_token(args.tokens, args.new_token))
    return 0


def _check(args: argparse.Namespace) -> None:
    problems = []
    if not 0 < args.port < 65536:
        problems.append(f"--port {args.port}: allowed are 1 to 65535")
    if not 1 <= args.workers <= 256:
        problems.append(f"--workers {args.workers}: allowed are 1 to 256")
    if bool(args.tls_cert) != bool(args.tls_key):
        problems.append("--tls-cert, --tls-key: give both or neither")
    problems += [f"{path}: no such file" for path in (args.tls_cert, args.tls_key) if path and not os.path.isfile(path)]
    if problems:
        raise SettingsError(problems)
    if args.tls_cert:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(args.tls_cert, args.tls_key, password="")
        except (ssl.SSLError, OSError):
            told = (
                f"--tls-cert {args.tls_cert}, --tls-key {args.tls_key}: expected a certificate and its own key, as PEM"
            )
            raise SettingsError([f"{told}, the key without a password"]) from None
