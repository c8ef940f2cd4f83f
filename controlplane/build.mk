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
#
#   make bin/helm        builds the helm that the tests install the chart with, of
#                        the version in controlplane/helm/go.mod
#
#   make bin/controlplane-1.30    builds the same programs of another version of
#                                 Kubernetes, that of controlplane/versions/1.30/go.mod

CONTROLPLANE := bin/controlplane bin/kwok

# kubectl and the servers compare and report this version; when built as
# modules they do not know it.
kubernetes_version = $(shell sed -n 's|^.*k8s.io/kubernetes \(v[0-9.]*\)$$|\1|p' $(1))
kubernetes_ldflags = $(call version_flags,$(call kubernetes_version,$(1)))
version_flags = $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version, \
	-X $(package).gitVersion=$(1) \
	-X $(package).gitMajor=$(word 1,$(subst ., ,$(1:v%=%))) \
	-X $(package).gitMinor=$(word 2,$(subst ., ,$(1))))

.PHONY: controlplane
controlplane: $(CONTROLPLANE)

bin/controlplane: $(wildcard controlplane/*.go) controlplane/go.mod controlplane/go.sum controlplane/build.sh controlplane/build.mk
	@controlplane/build.sh controlplane . $@ 5 "$(call kubernetes_ldflags,controlplane/go.mod)"

bin/controlplane-%: controlplane/versions/%/go.mod controlplane/versions/%/go.sum $(wildcard controlplane/*.go) controlplane/build.sh
	@controlplane/build.sh controlplane . $@ 5 "$(call kubernetes_ldflags,$<)" versions/$*/go.mod

bin/kwok: controlplane/kwok/go.mod controlplane/kwok/go.sum controlplane/build.sh controlplane/build.mk
	@controlplane/build.sh controlplane/kwok sigs.k8s.io/kwok/cmd/kwok $@ 2

# When built as a module, helm does not know its version.
helm_version = $(shell sed -n 's|^.*helm.sh/helm/v4 \(v[0-9.]*\).*|\1|p' controlplane/helm/go.mod)

bin/helm: controlplane/helm/go.mod controlplane/helm/go.sum controlplane/build.sh
	@controlplane/build.sh controlplane/helm helm.sh/helm/v4/cmd/helm $@ 2 "-X helm.sh/helm/v4/internal/version.version=$(helm_version)"
