# Thin names over the tools; CONTRIBUTING.md says when to use which.
SHELL := /bin/bash

release := .build/release
swift_folders := Package.swift Shared Services Clients TestKit Samples Tests

# POSTGRESQL=1 builds and tests storage on PostgreSQL, too, which needs libpq. Package.swift asks for it: with it there are a
# room and its tests more, and the mains that offer it are compiled anew.
export POSTGRESQL

timed := ^(Integration|StoragePostgreSQL|ServiceKit|ServiceLink|Redis|Presence|Client|AgoraRtmKit|AgoraRtmKitMainActor|AgoraRtmKitSamples|TestKit|Samples)Tests
alone := (Chaos|Rolling|Mixed|KilledEdge|Holder|HostileCrowd|StorageNodes|StorageFailover|PostgresKill)Tests
run_tests := Tests/run.sh

# The oldest commit beside whose programs today's have been run, until there is a release.
oldest := 4ebd032

# Where `make install` puts executables and completions. DESTDIR goes before it, for packages.
PREFIX ?= /usr/local

.PHONY: help setup run test room check build install deb images web scripts lint format generate write docs fuzz sanitize bench soak \
	nightly clean test-api test-compose test-conformance test-http-api test-mixed test-package test-web

help:
	@echo 'make run       set up, build without optimisation, start the whole stack on this machine'
	@echo 'make test      set up, then all tests; POSTGRESQL=1 with those of storage on PostgreSQL'
	@echo 'make room      the tests of one room, and nothing else is compiled: ROOM=Storage'
	@echo 'make check     format, house rules, subjects of commits and unit tests: before every commit'
	@echo 'make test WHAT=…   other tests, or a part of them:'
	@echo '     web           the web client, in Node and in headless Chromium; SEEDS=1000 for more histories'
	@echo '     compose       the stacks of compose/ in real containers: killed, scaled, rolled, nothing lost'
	@echo '     package       an app made of the README, from resolving to a received message; MEASURE=1 for its size, too'
	@echo '     http-api      schemathesis against the HTTP API, by docs/http/openapi.yaml; EXAMPLES=1000 for more'
	@echo '     conformance   the conformance suite finds each fault of a sample client; no build is needed'
	@echo '     mixed         programs of an earlier commit beside those of today, under load; COMMIT=… says which'
	@echo '     api           what would break apps that were written for the last release; RECORD=1 records this one'
	@echo 'make build     release executables, in $(release); POSTGRESQL=1 with storage on PostgreSQL'
	@echo 'make install   those executables, completions of shells and units of systemd, below $(PREFIX); PREFIX=~/.local for one user'
	@echo 'make deb       the Debian package of all that, in .build/deb'
	@echo 'make images    the image of all programs, localhost/heliograph, with docker or podman (docs/operations/containers.md)'
	@echo 'make web       the packages and the classic scripts of the web client, in .build/web'
	@echo 'make format    format all Swift files, and wrap the prose of all documents'
	@echo 'make generate  write protocol/generated and Shared/Wire/Schema from protocol/schema'
	@echo 'make write     write docs/compatibility.md, the tables of docs/configuration.md, and protocol/conformance/vectors.json'
	@echo 'make docs      a static site of the client libraries, in .build/docs/site'
	@echo 'make fuzz      inputs from libFuzzer for every decoder, 5 minutes each; SECONDS_EACH=20 for a look'
	@echo 'make sanitize  all tests under ThreadSanitizer and AddressSanitizer'
	@echo 'make bench     fan-out on this machine, and with WHAT=…:'
	@echo '     micro         instructions of each step of a message, against a baseline; BASELINE=update writes that'
	@echo '     peers         workloads beside other servers, into docs/performance.md; QUICK=1 for a look'
	@echo '     growth        how cost grows, into docs/growth.md; QUICK=1 for a look'
	@echo '     attacks       one client against the installation, and what others notice; ONLY=names for one attack'
	@echo '     journal       what the journal costs Redis, and how long nothing is acknowledged when a leading node goes'
	@echo '     topics        what a topic of a stream channel costs beside a message channel, and a join beside a subscribe'
	@echo '     http          how many messages backends publish over HTTP on one core; QUICK=1 for a look'
	@echo '     presence      what joins, pages, sweeps and members of presence cost, in memory and over Redis'
	@echo '     million       a million sessions on one machine, into docs/performance.md; QUICK=1 for 10,000'
	@echo '     storage       storage beside bare SQLite; QUICK=1 for a look, DATA= says on which disk, PARTS=writes which;'
	@echo '                   DATABASE=postgres://… with POSTGRESQL=1 measures that'
	@echo '     storage-nodes one storage node and two over one database: POSTGRESQL=1 DATABASE=postgres://…, as root'
	@echo '     rolling       every process restarted in turn under load, into docs/rolling.png'
	@echo 'make soak      a thousand simulated histories, and with WHAT=…:'
	@echo '     simulation    SEEDS=10000 for more, FIRST=1 to begin elsewhere; SEED=1 for one, of which TRACE=FILE writes down all'
	@echo '     chaos         processes killed and lines cut for 10 minutes; MINUTES=1 for a look, SEED=7 to repeat'
	@echo '     storage       storage is killed a hundred times under load; nodes share a database of a thousand seeds; engines are compared'
	@echo '     web           what an hour does to two tabs of Chromium under 50 messages a second; MINUTES=20 for a shorter one'
	@echo '     webhooks      a receiver of webhooks is away for 10 minutes and everything is killed, and no event is missing; MINUTES=1 for a look'
	@echo 'make nightly   what takes too long for each push: optimised programs, long series, sanitizers, images'
	@echo 'make clean     remove what was built'

# Installs the Debian packages that are missing; does nothing where all are there.
setup:
	@.ci/setup $(SETUP)

# Without optimisation, which takes half of the time on a fresh machine, and `make test` needs the same files.
run: setup scripts
	EXECUTABLES='rtm rtm-standalone' swift build
	@exec .build/debug/rtm-standalone $(ARGS)

# A part of the tests has a target of its own, and so have a benchmark and a soak: make bench WHAT=peers is make bench-peers.
ifneq ($(WHAT),)
test bench soak: %: %-$(WHAT)
else
# Integration tests start the service executables, so everything is built before any test runs. Tests with sockets, processes
# and clocks run apart from those that keep every core busy; the maltreated system has the machine for itself. So have tests
# with a thousand descriptors, one after the other: Foundation's Process reads behind the list of them when it is long. And so
# have nodes of storage that are killed: how long a shard has no owner is asked of them.
test: SETUP := tests
test: setup scripts lint
	@mkdir -p .build && : >.build/skipped
	swift build --build-tests
	$(run_tests) --filter '$(timed)' --skip '$(alone)'
	TESTS_AT_ONCE=1 $(run_tests) --filter '$(alone)'
	Tests/beside.sh "SEED=$$(git rev-parse --short=12 HEAD 2>/dev/null || true) $(run_tests) --skip '$(timed)'" \
		'SKIPPED=.build/skipped Tests/Web/run.sh'
	@[ -n '$(POSTGRESQL)' ] || echo 'storage on PostgreSQL is tested with POSTGRESQL=1' >>.build/skipped
	@[ ! -s .build/skipped ] && echo 'make test: nothing was skipped' || sed 's/^/make test: skipped: /' .build/skipped

bench: bench-fan-out

soak: soak-simulation
endif

# One room's tests alone: the package has no other test target then, so nothing else is compiled. FILTER chooses among them.
room:
	@[ -d 'Tests/$(ROOM)' ] || { echo 'usage: make room ROOM=NAME, where Tests/NAME has the tests' >&2; exit 2; }
	ROOM='$(ROOM)' swift build --product HeliographPackageTests
	ROOM='$(ROOM)' $(run_tests) --filter '$(or $(FILTER),^$(ROOM)Tests)'

check: lint
	.ci/subjects
	swift build --build-tests
	$(run_tests) --filter '$(timed)' --skip IntegrationTests
	$(run_tests) --skip '$(timed)'
	@.ci/sizes

# The web client against the servers of this build, or of the folder HELIOGRAPH_RELEASE.
test-web: SETUP := tests
test-web: setup scripts
	[ -n "$$HELIOGRAPH_RELEASE" ] || swift build
	SEEDS='$(or $(SEEDS),100)' Tests/Web/run.sh

# KEEP=1 leaves the last stack running, ONLY=single or ONLY=scaled runs one of the two.
test-compose: SETUP := containers
test-compose: setup
	Tests/Compose/run.py

# What a stranger's app fetches, compiles and needs (docs/packages.md).
test-package: setup
	swift build
	Tests/Package/apple.py
	MEASURE='$(MEASURE)' Tests/Package/run.py

# Requests that are made of docs/http/openapi.yaml, and their answers.
test-http-api: SETUP := tests
test-http-api: setup
	swift build --product rtm-standalone
	EXAMPLES='$(or $(EXAMPLES),100)' SEED='$(or $(SEED),1)' Tests/HTTP/run.sh

# The suite of protocol/conformance against its own sample client, and against what is wrong with that.
test-conformance:
	Tests/Python/setup.sh
	.build/python/bin/python protocol/conformance/run.py vectors
	.build/python/bin/python protocol/conformance/mutants.py

# Without COMMIT the oldest one that today's programs may run beside (docs/operations/upgrade.md).
test-mixed: SETUP := tests
test-mixed: setup
	swift build --build-tests
	earlier=$$(Tests/Mixed/earlier.sh '$(or $(COMMIT),$(oldest))') && \
		EARLIER=$$earlier $(run_tests) --filter 'IntegrationTests.MixedTests'

# The public symbols against those of the last release; RECORD=1 is part of a release.
test-api:
	swift build
	Tests/Package/api.py $(if $(RECORD),record)

# Each says itself what it builds.
bench-%:
	Tests/Benchmarks/$*/run.sh

soak-%:
	Tests/Soak/$*.sh

# What takes too long for each push: optimised programs, long series, and everything under sanitizers.
nightly:
	$(MAKE) build
	$(MAKE) fuzz
	$(MAKE) soak
	$(MAKE) soak-storage
	$(MAKE) soak-chaos
	SERIES=10 $(run_tests) --skip '$(timed)'
	$(MAKE) sanitize
	$(MAKE) test-mixed
	$(MAKE) test-package MEASURE=1
	$(MAKE) test-compose

# The commit shows in /version and in the metric rtm_build_info.
build:
	packaging/build.sh

install: build
	prefix=$(PREFIX) && packaging/install.sh $(release) '$(DESTDIR)' "$$(realpath -m "$$prefix")"

# The Debian package, in .build/deb.
deb: SETUP := deb
deb: setup
	packaging/deb.sh

# PROGRAMS=host compiles with the toolchain of this machine; BUILD_IMAGE= and BASE_IMAGE= name other images than the official ones.
images:
	PROGRAMS='$(PROGRAMS)' BUILD_IMAGE='$(BUILD_IMAGE)' BASE_IMAGE='$(BASE_IMAGE)' compose/images.sh

# Before every build, so that the gateway has the web client's scripts in its binary.
scripts:
	@Services/Gateway/Files/generate.py --scripts

# What npm installs, what it publishes, and the scripts for pages without modules.
web: SETUP := tests
web: setup scripts
	@Clients/web/pack.sh .build/web
	@ls -1 .build/web
	@echo 'the gateway serves the scripts for good as:'
	@grep --only-matching '/*web/[a-z-]*\.[0-9a-f]*\.js' Services/Gateway/Files/scripts.c

lint:
	swift format lint --strict --parallel --recursive $(swift_folders)

format:
	swift format --in-place --parallel --recursive $(swift_folders)
	docs/wrap.py

generate:
	protocol/generate.sh

# What programs and tests know, as documents and as vectors.
write:
	swift build --build-tests
	WRITE_COMPATIBILITY=1 WRITE_CONFIGURATION=1 WRITE_VECTORS=1 \
		$(run_tests) --filter 'LedgerTests|IntegrationTests.DocumentTests|ProtocolDocumentTests/vectors'

# BASE is the path under which a web server will show it.
docs:
	docs/site.sh

# TARGETS chooses, KEEP=1 adds what reaches something new to Tests/Fuzz/corpus.
fuzz: setup
	Tests/Fuzz/fuzz.sh

# SANITIZERS=thread for one of them, FILTER=^EdgeTests for some tests.
sanitize: setup
	Tests/Sanitize/sanitize.sh

clean:
	swift package clean
