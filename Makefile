# Every job of the project. On a fresh machine Go and git are enough for
# `make run` and `make test`; the other jobs fetch the pinned tools below.

export CGO_ENABLED ?= 0

# Tools are pinned here and not in go.mod, so that they are no dependency of
# the product.
GOFUMPT     := go run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

# A number of inputs, not a time: a run that ends by its time can be cut inside
# an input, and the fuzzer then reports that as a failure.
FUZZTIME ?= 3000x
SOAK     ?= 10000

.PHONY: run build cross test check fmt vet race fuzz bench soak golden conform differential clean

run:
	go run .

build:
	go build -trimpath -ldflags "$(LDFLAGS)" -o bin/honestty .

# cross builds the product for every target; nothing is run.
cross:
	@for t in $(TARGETS); do \
		echo "build $$t"; \
		GOOS=$${t%/*} GOARCH=$${t#*/} go build -trimpath -o /dev/null . || exit 1; \
	done

test:
	go test ./...

# check is everything but the slow jobs: format, vet for both systems,
# staticcheck, the cross builds and the tests of the other systems compiled.
check: fmt vet cross

fmt:
	@out=$$($(GOFUMPT) -l .); if [ -n "$$out" ]; then echo "gofumpt would change:"; echo "$$out"; exit 1; fi

vet:
	go vet ./...
	GOOS=darwin go vet ./...
	GOOS=freebsd go vet ./fdwait
	$(STATICCHECK) ./...

# race needs cgo, which the product does not. A program built for it sleeps a second
# when it ends, and the tests start hundreds.
race:
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=20 go test -race -short ./...

# fuzz runs every fuzz target for FUZZTIME. New inputs are made smaller in a few
# tries only: the fuzzer would take a minute for each.
fuzz:
	@grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u | while read -r pkg; do \
		go test -list '^Fuzz' $$pkg | grep '^Fuzz' | while read -r target; do \
			echo "fuzz $$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$pkg || exit 1; \
		done || exit 1; \
	done

# bench prints ratios against a peer or a limit measured in the same run.
bench: build
	go run ./bench

# soak runs the promise SOAK times with every core loaded, and then the long
# tests of tools, journal and panels.
soak:
	HONESTTY_SOAK=$(SOAK) go test -count 1 -timeout 2h -run 'Soak' -v ./bench
	HONESTTY_SOAK=$(SOAK) go test -count 1 -timeout 2h ./tools/... ./journal ./tui/panels ./agent/...

# golden writes the expected screens anew; read the diff before you commit it.
golden:
	HONESTTY_GOLDEN=write go test ./tui/... ./cli/...

# conform scores the engine on public recordings where they are at hand.
CONFORM ?= ../shared/conform
conform: build
	@if [ -x $(CONFORM)/run ]; then $(CONFORM)/run "$(CURDIR)/bin/honestty vt"; else echo "conformance: skipped, no suites in $(CONFORM)"; fi

# differential compares the engine with @xterm/headless on random programs. It
# needs node and npm; the package goes into a folder of its own, outside the tree.
XTERM_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/honestty-differential
differential:
	@mkdir -p $(XTERM_DIR)
	@test -d $(XTERM_DIR)/node_modules/@xterm/headless || (cd $(XTERM_DIR) && npm install --silent --no-save --no-package-lock @xterm/headless@6.0.0)
	NODE_PATH=$(XTERM_DIR)/node_modules go test -count 1 -tags differential -run XtermJS ./vt

clean:
	rm -rf bin
