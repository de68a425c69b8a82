"""Who may call: tokens are checked, loopback alone goes without, other pages stay outside, headers are safe."""

from __future__ import annotations

import contextlib
import os
import signal
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from loopback import free_ports
from service import QUICK, serving, settings

from sottovoce.models.errors import SettingsError
from sottovoce.pipelines.cli import main
from sottovoce.pipelines.service.tokens import add_token, read_tokens

ASKED = {"json": {"text": "call alice", "strategy": "consistent"}}


@pytest.fixture(scope="module")
def callers(tmp_path_factory):
    file = str(tmp_path_factory.mktemp("callers") / "tokens")
    tokens = {name: add_token(file, name) for name in ("alice", "bob")}
    with serving(tokens=read_tokens(file), host="0.0.0.0") as client:
        yield client, {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}, file


def test_without_a_token_nothing_but_health_and_page_is_answered(callers):
    client, headers, _ = callers
    assert client.get("/health").status_code == 200
    for wrong in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Basic YTpi"}):
        answer = client.post("/v1/replace", **ASKED, headers=wrong)
        assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/metrics", headers=wrong).status_code == 401
    assert client.post("/v1/replace", **ASKED, headers=headers["bob"]).status_code == 200


def test_the_file_of_tokens_holds_hashes_and_is_not_for_others(callers):
    _, headers, file = callers
    assert not any(row["Authorization"].split()[1] in Path(file).read_text() for row in headers.values())
    assert os.stat(file).st_mode & 0o077 == 0
    with pytest.raises(SettingsError, match="stands in"):
        add_token(file, "bob")


def test_whoever_can_be_reached_by_others_needs_tokens():
    with pytest.raises(SettingsError, match="--tokens"):
        settings(host="0.0.0.0")


@pytest.mark.parametrize(
    "content, told", [("", "no token"), ("bob secret", "line 1"), (f"a {'0' * 64}\na {'1' * 64}", "twice")]
)
def test_a_file_that_is_no_list_of_hashes_is_refused(tmp_path, content, told):
    (tmp_path / "t").write_text(content)
    with pytest.raises(SettingsError, match=told):
        read_tokens(str(tmp_path / "t"))


@pytest.mark.parametrize("host", ["localhost", "localhost:5000", "127.0.0.1", "[::1]", "[::1]:5000"])
def test_this_machine_is_known_by_every_name_it_has_for_itself(host):
    with serving() as client:
        assert client.post("/v1/replace", **ASKED, headers={"Host": host}).status_code == 200


def test_a_page_of_somebody_else_reads_nothing_unless_it_was_named():
    page = {"Origin": "https://elsewhere.example"}
    with serving() as client:
        assert "access-control-allow-origin" not in client.post("/v1/replace", **ASKED, headers=page).headers
        renamed = client.post("/v1/replace", **ASKED, headers={"Host": "elsewhere.example"})
        assert renamed.status_code == 421, "a foreign name that was made to point at this machine"
    with serving(origins=("https://elsewhere.example",)) as client:
        answer = client.post("/v1/replace", **ASKED, headers=page)
        assert answer.headers["access-control-allow-origin"] == page["Origin"]


def test_a_page_that_was_named_may_ask_with_a_token_and_read_what_is_refused(tmp_path):
    add_token(str(tmp_path / "t"), "alice")
    with serving(origins=("https://elsewhere.example",), tokens=read_tokens(str(tmp_path / "t"))) as client:
        page = {"Origin": "https://elsewhere.example"}
        wants = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        }
        asks = client.options("/v1/replace", headers=page | wants)  # as a browser does first, and never with a token
        assert asks.status_code == 200 and "authorization" in asks.headers["access-control-allow-headers"].lower()
        refused = client.post("/v1/replace", **ASKED, headers=page)
        assert refused.status_code == 401 and refused.headers["access-control-allow-origin"] == page["Origin"]
        other = client.options("/v1/replace", headers=wants | {"Origin": "https://other.example"})
        assert other.status_code == 400 and "access-control-allow-origin" not in other.headers


def test_files_that_are_no_certificate_are_told_before_anything_is_loaded(tmp_path, capsys):
    (tmp_path / "cert").write_text("no certificate")
    files = ["--tls-cert", str(tmp_path / "cert"), "--tls-key", str(tmp_path / "cert")]
    assert main(["serve", *files]) == 2
    assert "expected a certificate and its own key, as PEM" in capsys.readouterr().err


def test_every_answer_has_an_id_of_ours_and_safe_headers():
    with serving() as client:
        for answer in (client.get("/health"), client.get("/nowhere"), client.post("/v1/detect", json={})):
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "default-src 'self'" in answer.headers["content-security-policy"]
            assert len(answer.headers["x-request-id"]) == 16
            assert "server" not in answer.headers
        chosen = client.get("/health", headers={"X-Request-Id": "mine"})
        assert chosen.headers["x-request-id"] != "mine", "what a caller chose would be written down"


@pytest.mark.slow
def test_with_a_certificate_it_speaks_tls_and_nothing_else(tmp_path):
    cert, key = self_signed(tmp_path)
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "sottovoce.pipelines.cli", "serve", "--text-only", "--port", str(port)]
    command += ["--set", QUICK[0], "--tls-cert", str(cert), "--tls-key", str(key)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    trusting = ssl.create_default_context(cafile=str(cert))
    try:
        with httpx.Client(base_url=f"https://localhost:{port}", verify=trusting, trust_env=False) as client:
            until_up(client, process)
            assert client.post("/v1/replace", json={"text": "call alice", "strategy": "redact"}).status_code == 200
        with pytest.raises(httpx.ConnectError), httpx.Client(trust_env=False) as stranger:
            stranger.get(f"https://localhost:{port}/health")  # nobody whom it trusts signed this
        with pytest.raises(httpx.TransportError), httpx.Client(trust_env=False) as plain:
            plain.get(f"http://localhost:{port}/health")
    finally:
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=60)
    assert f"https://127.0.0.1:{port}" in log


def until_up(client, process):
    for _ in range(1200):
        assert process.poll() is None, process.stderr.read()
        with contextlib.suppress(httpx.TransportError):
            assert client.get("/health").status_code == 200
            return
        time.sleep(0.1)
    raise AssertionError("the service did not come up")


def self_signed(folder):
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return folder / "cert.pem", folder / "key.pem"
