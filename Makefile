# Hermes workbench. `make help` lists the targets.

GO      ?= go
TAGS    := sqlite_fts5
BIN     := bin/hermes
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TOOL    := $(GO) tool -modfile=tools/go.mod
TESTFLAGS ?= -timeout 20m

# Every call of go below has these flags: with -trimpath here and without it there, each package would be compiled twice.
export GOFLAGS := $(strip $(GOFLAGS) -tags=$(TAGS) -trimpath -buildvcs=false)
# Without it go leaves SQLite out where there is no C compiler, and fails minutes later with words about sqlite3.
export CGO_ENABLED := 1

# The far programs: static, the same bytes from the same source and Go, and compiled only when what they are made of has changed.
RUNNERS := $(foreach arch,amd64 arm64,pool/runner/embedded/programs/linux-$(arch).gz)
RUNNER_SOURCES := go.mod $(shell find pool/runner core/crash core/files core/realpath -name '*.go' ! -name '*_test.go' ! -path '*/embedded/*' -o -name keeper.sh)

.DEFAULT_GOAL := help
.PHONY: help run build runners test race lint fmt bench golden docs check clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build and open the workbench
	@$(BIN)

# The linker writes through a memory mapping, and Linux keeps that in large pages. Of a copy, as an installed program is one, a
# running Hermes maps 10 MB less.
build: runners ## Build bin/hermes
	@mkdir -p bin
	$(GO) build -ldflags "-s -w -X main.version=$(VERSION)" -o bin/.linked .
	@cmp -s bin/.linked $(BIN) || { cp bin/.linked $(BIN).new && mv $(BIN).new $(BIN); }

runners: $(RUNNERS) ## Build the programs that run in containers and on far hosts, which bin/hermes holds

pool/runner/embedded/programs/linux-%.gz: $(RUNNER_SOURCES)
	CGO_ENABLED=0 GOOS=linux GOARCH=$* GOFLAGS= $(GO) build -trimpath -buildvcs=false -ldflags "-s -w -buildid=" -o $(@:.gz=) ./pool/runner/program
	@gzip -9nf $(@:.gz=)

test: build ## Run the tests, without the long ones, in about three minutes on two cores after make build (HERMES_TEST_REQUIRE=1 fails instead of skipping what the machine lacks)
	GO=$(GO) .ci/test -short -vet=off $(TESTFLAGS)

race: runners ## Run all tests, with the race detector where something runs side by side
	GO=$(GO) .ci/test -race -vet=off $(TESTFLAGS)

lint: ## Run the lint gates: golangci-lint, code that nothing reaches, file length, boundaries
	$(TOOL) golangci-lint run ./...
	@GO=$(GO) .ci/dead
	@.ci/gates

fmt: ## Format every Go file
	$(TOOL) gofumpt -w $$(git ls-files -co --exclude-standard '*.go')

bench: build ## Print the benchmark tables of docs/performance.md
	@.ci/bench

golden: ## Rewrite the golden screens from the program as it is now; look at the diff before you commit
	UPDATE_GOLDEN=1 $(GO) test ./ui/... ./panes/...

docs: build ## Rewrite docs/keys.md, the lists of docs/configuration.md, docs/screens and the README's picture from the real program
	.ci/docs

check: lint race ## Lint, and every test, nearly all with the race detector

clean: ## Remove build output
	rm -rf bin $(RUNNERS)
