# The control plane that the tests, the demo and the benchmarks start. The Makefile
# at the root includes this file; paths are relative to the root.
#
#   make controlplane    builds both binaries, or does nothing if they are newer
#                        than their sources
#
# CONTROLPLANE has the binaries, for targets that need them: `test: $(CONTROLPLANE)`.
# The first build takes minutes (it compiles Kubernetes), so it is a separate
# target and never part of a test.
#
# The versions are those in controlplane/go.mod and controlplane/kwok/go.mod.

CONTROLPLANE := bin/controlplane bin/kwok

# kubectl and the servers compare and report this version; when built as
# modules they do not know it.
kubernetes_version := $(shell sed -n 's|^.*k8s.io/kubernetes \(v[0-9.]*\)$$|\1|p' controlplane/go.mod)
kubernetes_numbers := $(subst ., ,$(kubernetes_version:v%=%))
kubernetes_ldflags := $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version, \
	-X $(package).gitVersion=$(kubernetes_version) \
	-X $(package).gitMajor=$(word 1,$(kubernetes_numbers)) \
	-X $(package).gitMinor=$(word 2,$(kubernetes_numbers)))

.PHONY: controlplane
controlplane: $(CONTROLPLANE)

bin/controlplane: $(wildcard controlplane/*.go) controlplane/go.mod controlplane/go.sum controlplane/build.sh controlplane/build.mk
	@controlplane/build.sh controlplane . $@ 5 "$(kubernetes_ldflags)"

bin/kwok: controlplane/kwok/go.mod controlplane/kwok/go.sum controlplane/build.sh controlplane/build.mk
	@controlplane/build.sh controlplane/kwok sigs.k8s.io/kwok/cmd/kwok $@ 2
