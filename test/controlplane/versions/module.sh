#!/bin/sh
# Writes the module of a version of Kubernetes, or moves it to another patch release:
#
#   test/controlplane/versions/module.sh 1.32.9
#
# writes test/controlplane/versions/1.32/go.mod and go.sum with what k8s.io/kubernetes
# v1.32.9 itself requires: its etcd, its language version, and its staging modules
# as v0.32.9. The module has no Go files: ../main.go is built with its go.mod.
set -eu

version=$1
minor=${version%.*}
cd "$(dirname "$0")/.."
mkdir -p "versions/$minor"
upstream=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's|.*"GoMod": "\(.*\)".*|\1|p')

staging() { sed -n 's|^\t\(k8s.io/[a-z-]*\) => ./staging/.*|\1|p' "$upstream" | sort; }
required() { sed -n '/^require (/,/^)/s|^\t\([^ ]* v[^ ]*\).*|\1|p' "$upstream" | grep -v ' v0\.0\.0$'; }

{
	echo "module github.com/taint-manager/taint-manager/test/controlplane"
	sed -n 's|^go |\n&|p' "$upstream"
	printf '\nrequire (\n'
	required | sed -n 's|^go.etcd.io/etcd/server/v3 |	&|p'
	for name in client-go component-base kubectl; do echo "	k8s.io/$name v0.${version#*.}"; done
	printf '\tk8s.io/kubernetes v%s\n' "$version"
	printf ')\n\nrequire (\n'
	required | grep -v '^go.etcd.io/etcd/server/v3 ' | sed 's|.*|	& // indirect|'
	printf ')\n\n// k8s.io/kubernetes names its staging modules v0.0.0 and replaces them by folders, which only holds for its own builds.\nreplace (\n'
	staging | sed "s|.*|	& => & v0.${version#*.}|"
	echo ")"
} >"versions/$minor/go.mod"
GOFLAGS=-mod=mod go mod tidy "-modfile=versions/$minor/go.mod"
