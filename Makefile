# Two targets set up all they need: `make demo` and `make test`.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

version := k8s.io/component-base/version
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
# The libraries of Kubernetes want a version of this form.
VERSION ?= $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null || echo v0.1.0-dev)
GO_FILES := $(shell find . -name '*.go' -not -name '*_test.go' -not -path './controlplane/*' -not -path './bench/*' -not -path './tools/*')
BUILD := go build -trimpath -tags grpcnotrace

.PHONY: help
help: ## Show the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: build
build: bin/taint-manager ## Build bin/taint-manager.

bin/taint-manager: go.mod go.sum $(GO_FILES) bin/.version
	$(BUILD) -ldflags '-s -w -X $(version).gitVersion=$(VERSION) -X $(version).gitCommit=$(COMMIT)' -o $@ ./cmd/taint-manager

# Changes only when the version does.
bin/.version: FORCE
	@mkdir -p bin; echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' > $@
FORCE:

include controlplane/build.mk

.PHONY: demo
demo: build controlplane ## Show the main job on a real control plane (KEEP=1: stay up).
	go build -o bin/demo ./internal/demo
	@exec bin/demo $(if $(KEEP),-keep)

# The tests on the real control plane come last and one package at a time: they measure time.
LIVE := ./internal/...

.PHONY: test
test: setup build controlplane lint ## Run every test, with the race detector.
	go test -race -timeout 15m $$(go list ./... | grep -v /internal/)
	go test -race -timeout 30m -count 1 -p 1 $(LIVE)

.PHONY: setup
setup: ## Install what the tests need beside Go: a C compiler, for the race detector.
	@command -v "$${CC:-cc}" >/dev/null || command -v gcc >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "a C compiler is missing: install gcc and libc6-dev, then try again" >&2; exit 1; }; \
		apt-get update -q && apt-get install -qy --no-install-recommends gcc libc6-dev; }

.PHONY: unit
unit: ## Run the tests that need no control plane: seconds.
	go test -short ./...

.PHONY: sim
sim: ## Run simulated worlds (WORLDS=n, from seed FROM=n), or replay one with its trace (SEED=n).
	@go test ./internal/sim -count 1 -timeout 0 -v -run 'TestWorlds$$' \
		$(if $(SEED),-sim.seed=$(SEED)) $(if $(WORLDS),-sim.worlds=$(WORLDS)) $(if $(FROM),-sim.from=$(FROM))

.PHONY: lint
lint: bin/golangci-lint ## Check the code's form.
	bin/golangci-lint run ./...
	go mod tidy -diff
	go vet ./...

bin/golangci-lint: tools/go.mod tools/go.sum
	@echo "building the linter (a few minutes the first time)"
	cd tools && go build -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: golden
golden: ## Write the golden and generated files anew.
	go test . ./cli ./config -update

.PHONY: bench
bench: build controlplane ## Time the core, and a burst on the real control plane against plain workers.
	go test -run '^$$' -bench . -benchmem ./taint ./evictionqueue ./cluster
	go test -run '^$$' -bench Burst -benchtime 1x -timeout 30m ./internal/e2e

.PHONY: clean
clean: ## Remove what was built.
	rm -rf bin
