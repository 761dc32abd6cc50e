# make demo and make test are all a newcomer needs; everything they need is
# installed by .ci/install-tools when it is missing.

BIN     := $(CURDIR)/bin
PREFIX  ?= /usr/local
VERSION ?= $(shell git describe --tags --match 'v*' 2>/dev/null)
LINT    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
RACE    ?= ./...
DEAD    := golang.org/x/tools/cmd/deadcode@v0.52.0
GOFILES := $(shell find . -name '*.go' -not -path './.cache/*')

.PHONY: all build demo test race lint bench fuzz test-real test-clis test-dist dist picture commands install uninstall clean tools

all: build $(BIN)/share

tools:
	@sh .ci/install-tools

build: $(BIN)/paw

# Without inlining in its own code paw is a megabyte smaller, and as fast: its time goes into the processes that it waits for.
$(BIN)/paw: $(GOFILES) go.mod go.sum
	@command -v go >/dev/null || { echo 'make: error: go is not on your PATH; paw needs Go 1.26 to be built: https://go.dev/dl' >&2; exit 1; }
	@mkdir -p $(BIN)
	CGO_ENABLED=0 go build -trimpath -tags nethttpomithttp2 -gcflags './...=-l' -ldflags '-s -w -X main.version=$(VERSION)' -o $@ ./cmd/paw

demo: tools build
	@$(BIN)/paw demo

# The tests run what is built and installed, which is without cgo; go vet has run when they begin.
# The packages that take longest, or wait most, are the first: two run at a time, and one of them is
# cmd/paw till the end.
test: tools
	CGO_ENABLED=0 go vet ./...
	CGO_ENABLED=0 go vet -tags clis ./...
	TMPDIR=$$(sh .ci/tmpdir) CGO_ENABLED=0 go test -vet=off -timeout 20m ./cmd/paw ./worktree ./tmux ./session ./...

race: tools
	GORACE=atexit_sleep_ms=0 go test -race -timeout 30m $(RACE)

lint:
	go run $(LINT) run --allow-parallel-runners ./...
	GOOS=darwin go vet ./...
	@GOBIN=$(BIN) go install $(DEAD)
	@for os in linux darwin; do \
		dead=$$(GOOS=$$os CGO_ENABLED=0 $(BIN)/deadcode ./cmd/paw) || exit 1; \
		[ -z "$$dead" ] || { echo "$$os: $$dead"; exit 1; }; \
	done

# In memory, if there is any: a disk's time varies threefold from run to run, so its writes are counted instead of timed.
bench: tools build
	@TMPDIR=$$(sh .ci/tmpdir) PAW=$(BIN)/paw go run ./cmd/paw/internal/bench

picture:
	go test -count=1 -run '^TestPicture' ./cmd/paw -draw

# docs/commands.md, from the help texts, and the objects of docs/json.md.
commands:
	go test -count=1 -run '^Test(Commands|JSON)Page$$' ./cmd/paw -draw

FUZZTIME ?= 20s
MODELSTEPS ?= 2000
MODELKILLS ?= 100
MOVESTEPS ?= 3000
ORDERS ?= 1000
FUZZ = config/FuzzLoad config/FuzzBounds config/display/FuzzDisplay session/FuzzLoad session/FuzzNameFrom session/turn/FuzzRead session/turn/FuzzText \
	session/turn/FuzzParseTag tmux/FuzzParsePanes orchestrator/cli/FuzzClaudePastes orchestrator/cli/internal/records/FuzzMembers orchestrator/cli/demo/program/FuzzDecoder \
	orchestrator/children/FuzzOrders orchestrator/queue/FuzzOrders

fuzz:
	@for f in $(FUZZ); do \
		echo $$f; go test ./$${f%/*} -run '^$$' -fuzz "^$${f##*/}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit; done
	PAW_BLAME_HISTORIES=1000 go test ./worktree -count=1 -timeout 60m -run '^TestBlameFollowsRandomHistories$$'
	PAW_MODEL_STEPS=$(MODELSTEPS) PAW_MODEL_KILLS=$(MODELKILLS) go test ./orchestrator -count=1 -timeout 60m -run '^TestLandings(FollowTheModel|SurviveKills)$$'
	PAW_MOVES_STEPS=$(MOVESTEPS) go test ./worktree -count=1 -timeout 60m -run '^TestMovesFollowTheModel$$'
	PAW_SETUP_KILLS=1 go test ./cmd/paw -count=1 -timeout 60m -run '^TestSetUpUnderKills$$'
	PAW_ORDERS=$(ORDERS) go test ./orchestrator/queue -count=1 -timeout 60m -run '^TestRandomOrders$$'

test-real: tools
	@sh .ci/test-real

test-clis: tools build
	@sh .ci/test-clis

dist:
	@sh .ci/dist

test-dist:
	go vet -tags man ./cmd/paw
	go vet -tags dist ./cmd/paw
	go test -tags dist -count=1 -timeout 10m -run '^(TestDist|TestRenameModule)$$' ./cmd/paw

# Man pages and completions.
$(BIN)/share: $(BIN)/paw .ci/share
	@rm -rf $@
	sh .ci/share $@

install: build $(BIN)/share
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BIN)/paw $(DESTDIR)$(PREFIX)/bin/paw
	ln -sf paw $(DESTDIR)$(PREFIX)/bin/git-paw
	cp -R $(BIN)/share $(DESTDIR)$(PREFIX)/

# What install has put there, and nothing else.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/paw $(DESTDIR)$(PREFIX)/bin/git-paw
	cd $(DESTDIR)$(PREFIX)/share && rm -rf doc/paw && rm -f man/man1/paw.1 man/man1/paw-*.1 man/man1/git-paw.1 man/man7/paw-*.7 \
		bash-completion/completions/paw bash-completion/completions/git-paw zsh/site-functions/_paw zsh/site-functions/_git-paw \
		fish/vendor_completions.d/paw.fish

clean:
	rm -rf $(BIN)
