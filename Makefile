# Two targets install everything that they need: `make demo` and `make test`.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

version := k8s.io/component-base/version
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
COMMIT_DATE := $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
# The libraries of Kubernetes require a version of this form.
VERSION ?= $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null || echo v1.0.0-dev)
GO_FILES := $(shell find . -name '*.go' -not -name '*_test.go' -not -path './test/controlplane/*' -not -path './test/differential/*' -not -path './tools/*' -not -path './release/*')
BUILD := go build -trimpath -tags grpcnotrace

.PHONY: help
help: ## Show the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: build
build: bin/taint-manager ## Build bin/taint-manager.

bin/taint-manager: go.mod go.sum $(GO_FILES) $(wildcard internal/status/page/*) bin/.version
	$(BUILD) -ldflags '-s -w -X $(version).gitVersion=$(VERSION) -X $(version).gitCommit=$(COMMIT) $(if $(COMMIT_DATE),-X $(version).buildDate=$(COMMIT_DATE))' -o $@ ./cmd/taint-manager

# Changes only when the version does.
bin/.version: FORCE
	@mkdir -p bin; echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' > $@
FORCE:

include test/controlplane/build.mk

.PHONY: demo
demo: build controlplane ## Show the main job on a real control plane (KEEP=1: stay up).
	go build -trimpath -o bin/demo ./test/demo
	@exec bin/demo $(if $(KEEP),-keep)

# The tests on the real control plane come last and one package at a time, because they measure time.
LIVE := test/demo test/e2e test/scale test/testcluster

# The linter has go vet's checks; in go test they would be made again, for every package of Kubernetes that is used, too.
# With -trimpath, another checkout on this machine reuses what was built and tested here, and the tests share what
# bin/taint-manager was built from.
TEST := go test -vet=off
TRIMMED := $(TEST) -trimpath

PACKAGES = $$(go list ./... | grep -v $(LIVE:%=-e /%$$))

# These are long, or measure time and memory.
SIMULATION := TestWorlds(WithPolicies)?
MEASURED := TestADumpIsReadInThreeTimes.*|TestAMustGatherIsRead.*|TestThirtyPods.*

# What a machine that swaps memory skips, as it would be measured wrongly. The end of `make test` names it.
test: export SKIPPED := $(CURDIR)/bin/skipped
PATIENT := $(CURDIR)/bin/swapping

.PHONY: test
test: setup ## Run every test, and print how long each part took.
	@rm -f bin/skipped
	@$(MAKE) --no-print-directory -j 2 build bin/swapping browser # what is downloaded next to what is compiled
	$(call part,the tests without a control plane,$(TRIMMED) -timeout 40m -skip '^($(SIMULATION)|$(MEASURED))$$' $(PACKAGES))
	$(call part,the simulation,$(TRIMMED) -timeout 40m -run '^($(SIMULATION))$$' ./test/sim)
	$(call part,fuzzing,$(PATIENT) fuzzing || exit 0; $(MAKE) --no-print-directory fuzz FUZZTIME=3000x)
	$(call part,what is measured,$(PATIENT) measured || exit 0; $(TRIMMED) -p 1 -run '^($(MEASURED))$$' ./internal/dump ./test/managertest)
	$(call part,the comparison with the built-in controller,cd test/differential && $(TRIMMED) -timeout 30m ./... \
		$$($(PATIENT) 'nine tenths of the comparison with the built-in controller' >&2 || echo -histories 6000))
	$(call part,the release,cd release && $(TRIMMED) -short -count 1 ./...)
	$(call part,the page,$(PATIENT) page || exit 0; $(MAKE) --no-print-directory page)
	$(call part,the tests on the control plane,$(PATIENT) live || exit 0; $(MAKE) --no-print-directory controlplane bin/helm; $(TRIMMED) -timeout 60m -count 1 -p 1 $(LIVE:%=./%/...))
	@if [ -s bin/skipped ]; then echo "NOT TESTED, because this machine is swapping memory:"; cat bin/skipped; fi

# The packages that import sync. Not cli, whose scripts run whole programs, and not the simulation, which has one
# goroutine: with the race detector they take several times as long.
RACED = $$(go list -f '{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}} ' ./... | \
	grep -E '[ [](sync|sync/atomic)[] ]' | cut -d' ' -f1 | grep -v -e /cli$$ -e /test/sim$$ $(LIVE:%=-e /%$$))

.PHONY: race
race: setup ## Run the tests of the packages that have goroutines with the race detector, which compiles everything a second time.
	$(TEST) -race -timeout 40m $(RACED)

# part runs the command $(2) and prints how long $(1) took.
part = @echo "== $(1)"; began=$$SECONDS; ( $(2) ); echo "== $(1): $$((SECONDS - began)) s"

KUBERNETES ?= 1.37 1.32
.PHONY: test-versions
test-versions: build bin/soak bin/kwok bin/helm $(KUBERNETES:%=bin/controlplane-%) ## Run the live tests, and ten minutes of the soak, on other versions of Kubernetes (KUBERNETES=1.32): 40 minutes for each.
	@RUN='$(RUN)' test/controlplane/versions/test.sh $(KUBERNETES)

.PHONY: soak
soak: build controlplane bin/soak ## Run two replicas while users act and parts break, and judge by the audit log (FOR=1h, SEED=n).
	bin/soak -for $(FOR) $(if $(SEED),-seed $(SEED))
FOR ?= 10m

bin/soak: $(GO_FILES)
	go build -trimpath -o $@ ./test/soak

.PHONY: differential
differential: ## Compare with the built-in controller on random histories: a minute or two.
	cd test/differential && go test -timeout 30m ./...

.PHONY: setup
setup: ## Install what the tests need in addition to Go and a browser: a C compiler, for the race detector, and Prometheus.
	@command -v "$${CC:-cc}" >/dev/null || command -v gcc >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "a C compiler is missing: install gcc and libc6-dev, then try again" >&2; exit 1; }; \
		apt-get update -q && apt-get install -qy --no-install-recommends gcc libc6-dev; }
	@command -v promtool >/dev/null || $(call install,prometheus)

.PHONY: unit
unit: ## Run the tests that need no control plane: seconds.
	go test -short ./...

.PHONY: sim
sim: ## Run simulated worlds (WORLDS=n, from seed FROM=n; POLICIES=1: with policies), or replay one with its trace (SEED=n).
	@go test ./test/sim -count 1 -timeout 0 -v -run 'TestWorlds$(if $(POLICIES),WithPolicies)$$' \
		$(if $(SEED),-sim.seed=$(SEED)) $(if $(WORLDS),-sim.worlds=$(WORLDS)) $(if $(FROM),-sim.from=$(FROM))

.PHONY: lint
lint: bin/golangci-lint ## Check the code's form.
	bin/golangci-lint run ./...
	go mod tidy -diff
	cd test/differential && ../../bin/golangci-lint run ./... && go mod tidy -diff
	cd release && ../bin/golangci-lint run ./... && go mod tidy -diff

bin/golangci-lint: tools/go.mod tools/go.sum
	@echo "building the linter (a few minutes the first time)"
	cd tools && go build -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: page
page: build controlplane browser bin/synthetic bin/live ## Test the page in a headless browser, on a real control plane and a synthetic one.
	cd internal/status/browser && node_modules/.bin/tsc --project .
	cd internal/status/browser && node --test --test-concurrency 4 --test-timeout 600000 --test-reporter spec $$(ls *.test.js | grep -v perf)
	cd internal/status/browser && node --test --test-reporter spec perf.test.js # alone, as it measures

.PHONY: screenshots
screenshots: browser bin/synthetic ## Remake the pictures of the page in docs/screenshots.
	cd internal/status/browser && node screenshots.js

bin/swapping: $(wildcard test/machine/*.go test/machine/swapping/*.go)
	go build -trimpath -o $@ ./test/machine/swapping

bin/synthetic: $(GO_FILES) $(wildcard internal/status/page/*)
	go build -trimpath -o $@ ./internal/status/browser/synthetic

bin/live: $(GO_FILES)
	go build -trimpath -o $@ ./internal/status/browser/live

.PHONY: browser
browser: internal/status/browser/node_modules/.made ## Install what the page's tests need: Node.js, npm, Chromium, and packages for tests.
	@for need in node:nodejs npm:npm chromium:chromium; do \
		command -v "$${need%:*}" >/dev/null || [ -n "$${CHROMIUM:-}" -a "$$need" = chromium:chromium ] || $(call install,$${need#*:}); done

# Needs root on Debian; elsewhere it says what is missing.
define install
{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "the tests need $(1): install it, then try again" >&2; exit 1; }; \
		apt-get update -q && apt-get install -qy --no-install-recommends $(1); }
endef

internal/status/browser/node_modules/.made: internal/status/browser/package-lock.json
	@command -v npm >/dev/null || $(call install,nodejs npm)
	cd internal/status/browser && npm ci --ignore-scripts --no-audit --no-fund && touch node_modules/.made

.PHONY: golden
golden: ## Rewrite the golden and generated files.
	go test ./cli ./cli/run ./internal/config ./internal/evict ./policy ./internal/status -update
	cd release && go test ./manifests -update && go test ./chart -update

.PHONY: manifests
manifests: ## Render deploy/chart into install.yaml, kustomize and rbac.yaml.
	cd release && go test ./manifests -update

# Without VERSION, both have the version of the chart, so that deploy/install.yaml names this image.
COMMIT_TIME ?= $(shell git log -1 --format=%ct 2>/dev/null)
RELEASE := -commit '$(COMMIT)' -time '$(or $(COMMIT_TIME),0)' $(if $(filter file,$(origin VERSION)),,-version '$(VERSION)') $(if $(IMAGE),-image '$(IMAGE)') $(if $(URL),-url '$(URL)')

# The Go that compiles, and that compresses the layers, is the one that go.mod pins.
PINNED := GOTOOLCHAIN=$(shell sed -n 's/^toolchain //p' go.mod)

.PHONY: image
image: ## Write dist/image.tar, an OCI archive for amd64 and arm64 (VERSION=v1.2.3, IMAGE=registry/name).
	cd release && $(PINNED) go run ./cmd/release -image-only $(RELEASE)

.PHONY: release
release: ## Write all files of a release to dist/ (VERSION=v1.2.3, IMAGE=registry/name, URL=where the archives will be).
	rm -rf dist
	cd release && $(PINNED) go run ./cmd/release $(RELEASE)

bin/crane: release/go.mod release/go.sum
	cd release && go build -o ../bin/crane github.com/google/go-containerregistry/cmd/crane

# digests.txt has the digests that the registry has, as sha256sum writes them.
DIST ?= dist
.PHONY: publish
publish: bin/crane bin/helm ## Push what make release has made, the image to IMAGE and the chart to charts/ next to it (VERSION, IMAGE; INSECURE=1: without TLS).
	rm -rf $(DIST)/.image && mkdir $(DIST)/.image && tar -xf $(DIST)/image.tar -C $(DIST)/.image
	image=$$(bin/crane push $(if $(INSECURE),--insecure) $(DIST)/.image '$(IMAGE):$(VERSION)') && \
		chart=$$(bin/helm push $(if $(INSECURE),--plain-http) $(DIST)/taint-manager-'$(VERSION:v%=%)'.tgz 'oci://$(dir $(IMAGE))charts' 2>&1) && \
		printf '%s  %s\n' "$${image##*:}" '$(IMAGE)' "$$(sed -n 's/^Digest: sha256://p' <<< "$$chart")" '$(dir $(IMAGE))charts/taint-manager' > $(DIST)/digests.txt
	cat $(DIST)/digests.txt

.PHONY: test-release
test-release: build ## Compile for every platform, and build the image on two paths, once from an empty build cache, and compare: minutes.
	cd release && $(PINNED) go test -count 1 -timeout 90m -v ./dist

.PHONY: bench
bench: build controlplane ## Measure against the built-in controller, and write docs/bench.json and docs/reference/bench.md: half an hour and more (ROUNDS=n, WORK=burst,idle,...).
	go test -run '^$$' -bench . -benchmem ./taint ./internal/cluster
	go build -trimpath -tags grpcnotrace -o bin/bench ./test/bench
	bin/bench -rounds $(ROUNDS) -work '$(WORK)' $(if $(WORK),,-json docs/bench.json -document docs/reference/bench.md)
ROUNDS ?= 3
WORK ?=

.PHONY: scale
scale: build controlplane ## Measure a million pods on a server of its own, and write docs/reference/scale.md: 12 minutes (PODS=10000,...).
	go build -trimpath -tags grpcnotrace -o bin/scale ./test/scale
	bin/scale $(if $(PODS),-pods '$(PODS)',-document docs/reference/scale.md)

.PHONY: fuzz
fuzz: ## Run each fuzz test for FUZZTIME (1m, or a number of inputs: 3000x).
	@for target in $(FUZZ); do \
		$(TRIMMED) -run "^$$" -fuzz "^$${target#*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x ./$${target%:*} || exit 1; done
# Before Go 1.27, a duration may fail with "context deadline exceeded" although no input has: golang.org/issue/75804.
FUZZTIME ?= 1m
FUZZ = $$(grep -rE '^func Fuzz' --include '*_test.go' --exclude-dir node_modules . | sed -E 's|^\./(.*)/[^/]*:func (Fuzz[^(]*).*|\1:\2|' | sort)

.PHONY: mutants
mutants: ## Break each condition of the rules in turn, and print the mutants that no test finds: an hour (MUTATED=taint, RUN=a regular expression).
	go build -trimpath -o bin/mutants ./test/mutants
	bin/mutants -run '$(RUN)' -also 'test/sim -test.short -test.run=^($(SIMULATION))$$' $(MUTATED)
MUTATED ?= taint policy internal/breaker internal/shard internal/dispatch internal/journal internal/journal/store internal/evict

.PHONY: clean
clean: ## Remove what was built.
	rm -rf bin dist
