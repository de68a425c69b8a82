#!/usr/bin/env bash
# Builds the Kubernetes API server and controller manager of go.mod into .cache/kubernetes: about ten minutes, once.
set -euo pipefail
cd "$(dirname "$0")"
target=../../.cache/kubernetes
command -v go >/dev/null || { echo "needs Go 1.24 or later: https://go.dev/dl"; exit 1; }
command -v etcd >/dev/null || { echo "needs etcd: apt-get install --no-install-recommends etcd-server"; exit 1; }
mkdir -p "$target"
for program in kube-apiserver kube-controller-manager; do
    # Not only where it is missing: go.mod may name another version than the one that was built.
    go build -trimpath -ldflags "-s -w" -o "$target/$program" "k8s.io/kubernetes/cmd/$program"
done
