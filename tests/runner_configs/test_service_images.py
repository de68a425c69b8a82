"""The image, the compose file and the manifests of the service start what our parser accepts, as nobody in particular."""

from __future__ import annotations

import argparse
import json
import re

import kubernetes_cluster
import pytest
import yaml
from image_steps import DOCKERFILE, stages
from whole_runs import ROOT

from sottovoce.pipelines.commands import serve

FOLDER = ROOT / "runner_configs" / "service"
MANIFESTS = list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text()))
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["sottovoce"]
COMMANDS = {
    "image, texts": json.loads(dict(map(tuple, stages()["text"][1]))["CMD"]),
    "image, all": json.loads(dict(map(tuple, stages()["full"][1]))["CMD"]),
    "compose": COMPOSE["command"],
    "kubernetes": MANIFESTS[0]["spec"]["template"]["spec"]["containers"][0]["command"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_starts_a_command_that_we_accept_with_tokens(name):
    program, command, *flags = COMMANDS[name]
    assert (program, command) == ("sottovoce", "serve")
    parser = argparse.ArgumentParser(exit_on_error=False)
    serve.add_arguments(parser)
    args = parser.parse_args(flags)
    assert args.host == "0.0.0.0" and args.tokens


def test_the_image_copies_every_folder_of_the_package_and_ends_as_nobody_in_particular():
    copied = re.findall(r"^COPY (\w+) \1$", DOCKERFILE.read_text(), re.M)
    assert set(copied) == {"interface", "models", "transforms", "pipelines", "runner_configs"}
    for target in ("text", "full"):
        assert ["USER", "10001"] in stages()[target][1]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest["kind"])
def test_kubernetes_knows_every_field(manifest):
    client = pytest.importorskip("kubernetes.client", reason="the extra `kubernetes` is not installed")
    api = client.ApiClient()
    read = api._ApiClient__deserialize(manifest, f"V1{manifest['kind']}")
    assert api.sanitize_for_serialization(read) == manifest


@pytest.mark.slow
@pytest.mark.skipif(
    bool(kubernetes_cluster.missing(kubernetes_cluster.SERVER)),
    reason="no Kubernetes API server is built here: make test-kubernetes",
)
def test_a_real_api_server_accepts_the_manifests():
    from kubernetes.utils import FailToCreateError, create_from_dict

    with kubernetes_cluster.control_plane(jobs=False) as plane:
        for manifest in MANIFESTS:
            create_from_dict(plane.client(), manifest, namespace="default")
        wrong = MANIFESTS[0] | {"metadata": {"name": "wrong"}, "spec": MANIFESTS[0]["spec"] | {"replicas": -1}}
        with pytest.raises(FailToCreateError, match="greater than or equal to 0"):
            create_from_dict(plane.client(), wrong, namespace="default")
