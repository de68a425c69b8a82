"""A Kubernetes control plane on loopback: real etcd, API server and controller manager; the test plays the kubelet.

The API server checks every request as any cluster would, and the controller manager makes pods for Jobs and judges
them. There is no node: `Kubelet` says what a pod does, and serves its log, over the same API a real one uses.
"""

from __future__ import annotations

import shutil
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from loopback import free_ports

BINARIES = Path(__file__).parents[2] / ".cache" / "kubernetes"
SERVER, MANAGER = "kube-apiserver", "kube-controller-manager"
TOKEN = "token-of-this-test"
NODE = "played-node"


def missing(*needed: str) -> list[str]:
    return [name for name in needed or (SERVER, MANAGER) if not (BINARIES / name).exists()] + (
        [] if shutil.which("etcd") else ["etcd"]
    )


class ControlPlane:
    def __init__(self, folder: Path):
        self.folder, self.kubeconfig = folder, folder / "kubeconfig"
        self._daemons: list[subprocess.Popen] = []
        self._etcd_port, self._peer_port, self.port = free_ports(3)

    def start(self, jobs: bool) -> None:
        from kubernetes.client import CoreV1Api

        key = self.folder / "service-account.key"
        key.write_bytes(rsa_key())
        (self.folder / "tokens.csv").write_text(f'{TOKEN},admin,1,"system:masters"\n')
        etcd, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, self._peer_port))
        listen = [f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}", f"--listen-peer-urls={peer}"]
        durable = [f"--data-dir={self.folder}/etcd", "--unsafe-no-fsync"]
        self._run(
            "etcd", *listen, *durable, f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"
        )
        self._run(str(BINARIES / SERVER), *self._server_options(etcd, key))
        certificate = self.folder / "certificates" / "apiserver.crt"
        wait_until(certificate.exists, "the API server", self.words)
        self.kubeconfig.write_text(self._kubeconfig(certificate))
        core = CoreV1Api(self.client())
        wait_until(lambda: answers(lambda: core.read_namespace("default")), "the API server", self.words)
        if not jobs:
            return
        options = [
            "--controllers=job-controller,garbage-collector-controller",
            "--leader-elect=false",
            "--secure-port=0",
        ]
        config = [f"--kubeconfig={self.kubeconfig}", f"--service-account-private-key-file={key}"]
        self._run(str(BINARIES / MANAGER), *options, *config)

    def stop(self) -> None:
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def client(self) -> Any:
        from kubernetes.config import new_client_from_config

        return new_client_from_config(str(self.kubeconfig))

    def words(self) -> str:
        return "".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.out"))

    def _run(self, *command: str) -> None:
        with (self.folder / f"{Path(command[0]).name}.out").open("wb") as out:
            self._daemons.append(subprocess.Popen(command, stdout=out, stderr=out, cwd=self.folder))

    def _server_options(self, etcd: str, key: Path) -> list[str]:
        options = {
            "etcd-servers": etcd,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "secure-port": self.port,
            "cert-dir": self.folder / "certificates",
            "service-account-key-file": key,
            "service-account-signing-key-file": key,
            "service-account-issuer": "https://kubernetes.default.svc",
            "token-auth-file": self.folder / "tokens.csv",
            "authorization-mode": "RBAC",
            "service-cluster-ip-range": "10.0.0.0/24",
            "disable-admission-plugins": "ServiceAccount",
            "endpoint-reconciler-type": "none",
        }
        return [f"--{name}={value}" for name, value in options.items()]

    def _kubeconfig(self, certificate: Path) -> str:
        return f"""\
apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster: {{server: "https://127.0.0.1:{self.port}", certificate-authority: "{certificate}"}}
users:
- name: admin
  user: {{token: "{TOKEN}"}}
contexts:
- name: test
  context: {{cluster: test, user: admin}}
"""


class Kubelet:
    """Says what the pod of a Job does, and serves its log to the API server."""

    def __init__(self, plane: ControlPlane):
        from kubernetes.client import CoreV1Api

        self._plane, self._core = plane, CoreV1Api(plane.client())
        self.log = ""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificates = plane.folder / "certificates"
        context.load_cert_chain(certificates / "apiserver.crt", certificates / "apiserver.key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self._core.create_node({"metadata": {"name": NODE}})
        status = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._server.server_port}},
        }
        self._core.patch_node_status(NODE, {"status": status})

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take_pod(self, job: str) -> Any:
        """The pod that the Job controller made, on our node."""
        found: list[Any] = []

        def made() -> bool:
            found[:] = self._core.list_namespaced_pod("default", label_selector=f"job-name={job}").items
            return bool(found)

        wait_until(made, "a pod", self._plane.words)
        binding = {"metadata": {"name": found[0].metadata.name}, "target": {"kind": "Node", "name": NODE}}
        self._core.create_namespaced_binding("default", binding, _preload_content=False)
        return found[0]

    def say(self, pod: Any, phase: str, exit_code: int | None = None) -> None:
        status: dict[str, Any] = {"phase": phase}
        state: dict[str, Any] = {"running": {}}
        if exit_code is None:
            status["conditions"] = [{"type": "Ready", "status": "True"}]
        else:
            state = {"terminated": {"exitCode": exit_code, "reason": "Completed" if exit_code == 0 else "Error"}}
        container = {"name": "train", "ready": exit_code is None, "restartCount": 0, "image": "i", "imageID": "i"}
        status["containerStatuses"] = [container | {"state": state}]
        self._core.patch_namespaced_pod_status(pod.metadata.name, "default", {"status": status})

    def _handler(kubelet) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                content = kubelet.log.encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def wait_until(ready: Callable[[], Any], what: str, words: Callable[[], str]) -> None:
    for _ in range(600):
        if ready():
            return
        time.sleep(0.2)
    raise AssertionError(f"{what} did not come up:\n{words()}")


def answers(ask: Callable[[], Any]) -> bool:
    from kubernetes.client import ApiException
    from urllib3.exceptions import HTTPError

    try:
        ask()
    except (ApiException, HTTPError):
        return False
    return True


def rsa_key() -> bytes:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


@contextmanager
def control_plane(jobs: bool = True) -> Iterator[ControlPlane]:
    """`jobs`: with the controllers that make pods for Jobs; the API server alone judges manifests."""
    with tempfile.TemporaryDirectory(prefix="kubernetes-") as folder:
        plane = ControlPlane(Path(folder))
        try:
            plane.start(jobs)
            yield plane
        finally:
            plane.stop()
