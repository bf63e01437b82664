# Two commands do all: `make run` plays the samples, `make test` tests everything.
# Each target installs what it lacks (Debian packages by apt, npm packages); `make help`
# lists the others.

GO      ?= go
BIN     := .bin
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
LINT    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZ    ?= 30s
HIDDEN  := ./games/_client/test/fixture # which ./... passes over
SUDO    := $(shell test "$$(id -u)" = 0 || echo sudo)

.PHONY: run help build build-giouring test test-gnet test-pool test-giouring test-thorough test-go test-client test-browser race lint generate bench bench-peers bench-micro fuzz tools-node tools-typescript tools-qemu tools-cc tools-chromium tools-caddy tools-systemd clean

run: build ## build, serve the sample games and print the address of the page
	$(BIN)/gamehoster dev games/localhost

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 10

build: ## the one binary, in .bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/gamehoster ./cmd/gamehoster

# The library links to names that the runtime keeps to itself.
GIOURING := -tags giouring -ldflags=-checklinkname=0

build-giouring: ## the same on the giouring library's ring binding, in .bin/gamehoster-giouring
	CGO_ENABLED=0 $(GO) build -trimpath -tags giouring -ldflags '-checklinkname=0 -s -w -X main.version=$(VERSION)-giouring' -o $(BIN)/gamehoster-giouring ./cmd/gamehoster

test: test-go test-gnet test-pool test-client test-browser ## all tests

test-go: tools-node tools-qemu tools-cc tools-typescript tools-caddy tools-systemd
	$(GO) test -timeout 30m ./...

# Hardly any of it waits for anything, so it gives way to what does, and four tests at a
# time keep two cores busy.
test-thorough: tools-node tools-qemu ## the rules' compiler with twenty times as many random games, and a million ticks of each sample; ten minutes
	GAMEHOSTER_THOROUGH=1 nice -n 10 $(GO) test -parallel 4 -timeout 60m ./games/body

# Everything above the loops once more, on gnet: io_uring is what auto chooses. Short, as
# what is counted in thousands is the same on either.
LOOPS := ./engine ./cmd/gamehoster

test-gnet:
	GAMEHOSTER_TRANSPORT=gnet $(GO) test -short -timeout 20m $(LOOPS)

# And on worker processes, which serve has, while most tests ask for nothing and get loops.
# The sieges are of the door, which is the same.
test-pool:
	GAMEHOSTER_WORKERS=pool $(GO) test -short -timeout 20m -skip 'Siege|Large' ./engine

test-giouring: ## the loop's and the engine's tests on the giouring library's ring binding
	GAMEHOSTER_TRANSPORT=uring $(GO) test $(GIOURING) -short -timeout 20m ./engine/loop/uring $(LOOPS)

test-client: tools-node
	cd games/_client && npm ci --no-audit --no-fund --silent && npm test

test-browser: build tools-node tools-chromium tools-caddy
	cd games/_e2e && npm ci --no-audit --no-fund --silent && GAMEHOSTER_BIN=$(CURDIR)/$(BIN)/gamehoster npm test

# Short, as most of what is random in tests is done by one goroutine, where a race
# detector has nothing to find.
race: tools-node tools-qemu tools-cc tools-typescript ## the Go tests under the race detector, expired borrowed buffers poisoned
	$(GO) test -race -short -tags invariants -timeout 20m ./engine/... ./tick/... ./wire/... ./games/...

lint: ## vet, golangci-lint (pinned) with the floor plan's depguard rules, formatting
	$(GO) vet ./... $(HIDDEN)
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) run $(LINT) run --allow-parallel-runners ./... $(HIDDEN)
	$(GO) vet -tags giouring ./engine/loop/uring
	$(GO) run $(LINT) run --allow-parallel-runners --build-tags giouring ./engine/loop/uring

generate: ## rewrite generated files; CI fails when this changes anything
	$(GO) generate ./...
	$(GO) run ./games/_client/test/fixture games/_client/test/fixture

bench: build build-giouring ## every scenario of bench/README.md, in less than ten minutes; peers as far as they are installed
	$(BIN)/gamehoster bench --out bench-report

bench-peers: build build-giouring tools-node ## installs the peers from npm and Go, and runs the same beside them
	cd bench/peers && npm ci --ignore-scripts --no-audit --no-fund --silent && $(GO) build ./...
	cd bench/peers/colyseus && npm ci --ignore-scripts --no-audit --no-fund --silent
	$(BIN)/gamehoster bench --out bench-report

bench-micro: tools-node ## microbenchmarks of the hot path, and the bodies against Go, Node and others
	$(GO) test -run '^$$' -bench . -benchmem ./wire/... ./tick/... ./games/body/...
	$(GO) run ./bench/bodies

fuzz: tools-node ## every fuzz target for FUZZ (30s) each, and random games of seeds that nobody has run
	$(GO) test ./games/body -run 'TestRandomGames$$' -seed $$(date +%s)0000 -programs 2000
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ) $$pkg || exit 1; \
		done; \
	done

tools-node:
	@command -v node >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y nodejs npm; }

tools-typescript: tools-node # which checks the declarations for editors
	@test -x games/_client/node_modules/.bin/tsc || (cd games/_client && npm ci --no-audit --no-fund --silent)

tools-qemu: # for the code that wazero makes on arm64
	@command -v qemu-aarch64 >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y qemu-user; }

tools-cc: # for the servers in C that stand for the limit, and for the race detector
	@command -v cc >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y gcc libc6-dev; }

tools-chromium:
	@command -v chromium >/dev/null || { $(SUDO) apt-get update && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y chromium; }

# Its package would run one as a service, too.
tools-caddy:
	@command -v caddy >/dev/null || { $(SUDO) apt-get update && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y caddy && { ! command -v systemctl >/dev/null || $(SUDO) systemctl disable --now caddy >/dev/null 2>&1 || true; }; }

tools-systemd: # which checks the units
	@command -v systemd-analyze >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y systemd; }

clean:
	rm -rf $(BIN)
