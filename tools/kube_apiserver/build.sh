#!/usr/bin/env bash
# Builds the Kubernetes API server and controller manager of go.mod into .cache/kubernetes: about ten minutes, once.
set -euo pipefail
cd "$(dirname "$0")"
target=../../.cache/kubernetes
command -v go >/dev/null || { echo "needs Go 1.24 or later: https://go.dev/dl"; exit 1; }
command -v etcd >/dev/null || { echo "needs etcd: apt-get install --no-install-recommends etcd-server"; exit 1; }
mkdir -p "$target"
# Always, not only where they are missing: go.mod may name another version than the one that was built. Both at once, so
# that what they share is compiled once; not optimised (-N -l), since a test of minutes never earns that time back.
go build -p "${JOBS:-2}" -trimpath -gcflags "all=-N -l" -ldflags "-s -w" -o "$target/" \
    k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager
