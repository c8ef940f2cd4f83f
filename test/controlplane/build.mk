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
# The versions are those in test/controlplane/go.mod. kwok is a tool of the same module:
# of its 970 packages the control plane has 890, so it takes seconds after that.
#
#   make bin/helm        builds the helm that the tests install the chart with, of
#                        the version in release/go.mod, whose tests share what
#                        that compiles
#
#   make bin/controlplane-1.32    builds the same programs of another version of
#                                 Kubernetes, that of test/controlplane/versions/1.32/go.mod

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

# $(call compile,MODULE FOLDER,PACKAGE,MINUTES FROM EMPTY CACHES,LDFLAGS,OTHER FLAGS) builds $@ of one module. The linker
# leaves DWARF out, too.
define compile
@echo "building $@, which is needed once, and takes about $3 minutes on two cores when Go's caches are empty"
@mkdir -p $(@D)
GOWORK=off go -C $1 build -trimpath -buildvcs=false -tags grpcnotrace -gcflags=all=-dwarf=false $5 -ldflags "-s -w $4" -o $(CURDIR)/$@ $2
endef

bin/controlplane: $(wildcard test/controlplane/*.go) test/controlplane/go.mod test/controlplane/go.sum test/controlplane/build.mk
	$(call compile,test/controlplane,.,5,$(call kubernetes_ldflags,test/controlplane/go.mod))

bin/controlplane-%: test/controlplane/versions/%/go.mod test/controlplane/versions/%/go.sum $(wildcard test/controlplane/*.go)
	$(call compile,test/controlplane,.,5,$(call kubernetes_ldflags,$<),-modfile=versions/$*/go.mod)

bin/kwok: test/controlplane/go.mod test/controlplane/go.sum test/controlplane/build.mk
	$(call compile,test/controlplane,sigs.k8s.io/kwok/cmd/kwok,1)

# When built as a module, helm does not know its version.
helm_version = $(shell sed -n 's|^.*helm.sh/helm/v4 \(v[0-9.]*\).*|\1|p' release/go.mod)

bin/helm: release/go.mod release/go.sum
	@echo "building helm (a minute or two the first time)"
	cd release && go build -ldflags '-s -w -X helm.sh/helm/v4/internal/version.version=$(helm_version)' -o ../$@ helm.sh/helm/v4/cmd/helm
