# Everyday commands. Each one installs the packages that it needs, if they are missing. Services among them are not enabled.

.DEFAULT_GOAL := help
.PHONY: help run test fresh tsan asan coverage mutation bench lint format build release fuzz soak clean
.PHONY: install uninstall deb sbom image test-image test-package test-mail test-providers test-dependent reproducible
.PHONY: swift packages libraries headers test-tools postgres browser proxies mailservers operations packaging

# The same flags everywhere, because SwiftPM builds again when they change. SwiftPM needs the index to find tests; without
# system modules in it a clean build takes a third less time. C is optimised in debug builds, too: the tests compute many
# hashes.
SWIFT_FLAGS := -Xswiftc -index-ignore-system-modules --explicit-target-dependency-import-check error -Xcc -O2
# The number of Swift tests that run at once. If all ran at once, each would be so slow that its time limits pass.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH := $(shell expr 4 '*' "$$(nproc)")
PYTHON := .venv/bin/python
ARGS ?=

help: ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

run: build libraries ## Serve on http://127.0.0.1:8080, development profile, SQLite in ./data
	.build/debug/postern serve --profile development $(ARGS)

test: swift packages postgres ## Unit and end-to-end tests, then clients from outside (Tests/Interop)
	.ci/with-postgres .ci/test $(SWIFT_FLAGS)
# What .ci/test installs beside the build.
test-tools: packaging headers browser proxies mailservers operations .venv/ready
# Whole modules, each read once, and no debugging information: a clean build takes a third less time, but a build after a
# change takes longer.
WHOLE_MODULES := -debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 \
	-Xswiftc -no-emit-module-separately-wmo
ifdef CI
test: SWIFT_FLAGS += $(WHOLE_MODULES)
endif

fresh: swift ## `make run` and `make test` in a new Debian that has only git, make and Swift (as root; twenty minutes)
	@.ci/install-packages debootstrap git
	.ci/fresh $(ARGS)

tsan: swift packages headers postgres ## Swift tests under the thread sanitizer
	.ci/with-postgres .ci/tsan $(SWIFT_FLAGS)

asan: swift packages ## The scrypt and Argon2 kernels against the libraries under the address sanitizer
	Tests/ScryptLanes/run.sh
	Tests/Argon2Kernels/run.sh

coverage: swift packages headers postgres ## Covered lines of each module
	.ci/with-postgres .ci/coverage $(SWIFT_FLAGS)

mutation: swift packages headers postgres ## Change one place at a time and look whether a test fails (ARGS="--only 17")
	.ci/with-postgres Tests/Mutation/run.py $(ARGS) -- $(SWIFT_FLAGS) $(WHOLE_MODULES)

lint: swift ## Check the format of every Swift file
	swift format lint --strict --recursive Sources Tests Package.swift

format: swift ## Format every Swift file
	swift format --in-place --recursive Sources Tests Package.swift

build: swift packages ## Build .build/debug/postern
	swift build $(SWIFT_FLAGS)

# LLVM's linker comes with Swift. With it constants are not executable, relocations are packed (a MiB less), and symbols are
# not exported. Each function has a section of its own, so that one which nothing calls is left out, and of those with the
# same code one is kept (1.7 MiB together). Two functions can then have one address; only the tracing of Swift's runtime,
# which is for other systems, compares addresses of functions. The linker takes a symbol from the first library that has it,
# so the libraries are named here. In the compiler's order that would be full Foundation, whose Unicode data are 40 MiB. The
# same commit gives the same bytes in every folder (`make reproducible`), because paths are relative to it. There is no build
# id, and there are no hashes for incremental builds, because both depend on paths in the debugging information.
RELEASE_LIBRARIES := FoundationEssentials _FoundationCShims _FoundationCollections swift_StringProcessing swift_RegexParser \
	swiftSynchronization swiftDispatch swift_Concurrency swiftGlibc dispatch BlocksRuntime swiftCore \
	sqlite3 ssl crypto scrypt argon2 resolv
release: swift packages ## Build .build/release/postern and a stripped copy, .build/postern
	swift build $(SWIFT_FLAGS) --configuration release --static-swift-stdlib --product postern \
		-Xcc -ffile-prefix-map=$(CURDIR)=. -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
		-Xswiftc -Xfrontend -Xswiftc -function-sections -Xlinker --build-id=none \
		-Xswiftc -use-ld=lld -Xswiftc -Xfrontend -Xswiftc -disable-all-autolinking \
		-Xlinker --start-group $(addprefix -Xlinker -l,$(RELEASE_LIBRARIES)) -Xlinker --end-group \
		-Xlinker --icf=all -Xlinker --no-export-dynamic -Xlinker -z -Xlinker now -Xlinker -z -Xlinker pack-relative-relocs
	@strip -o .build/postern .build/release/postern

# What `make install` and `make deb` install: by default what `make release` has built. These variables, DESTDIR and zshdir
# (the directory where zsh looks for completions) have their usual meaning.
BINARY ?= .build/postern
PREFIX ?= /usr/local
sysconfdir ?= /etc
zshdir ?= share/zsh/site-functions
OUTPUT ?= .build
# The time in all built files, so that the same commit gives the same bytes.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat --format %Y CHANGELOG.md)
PACKAGING = env BINARY='$(BINARY)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' sysconfdir='$(sysconfdir)' zshdir='$(zshdir)' \
	OUTPUT='$(OUTPUT)' SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) deploy/package/

install: $(BINARY) ## Install the release program with all its files (PREFIX=/usr/local, DESTDIR=, sysconfdir=/etc)
	@.ci/install-packages python3 binutils
	@$(PACKAGING)install

uninstall: ## Remove what `make install` has installed; settings and data stay
	@$(PACKAGING)install --uninstall

deb: $(BINARY) packaging ## Build .build/postern_VERSION_ARCHITECTURE.deb for the Debian of this machine
	@$(PACKAGING)deb

sbom: $(BINARY) packaging ## Write .build/postern.cdx.json, the software bill of materials
	@$(PACKAGING)sbom $(BINARY) >$(OUTPUT)/postern.cdx.json

test-package: $(BINARY) packaging .venv/ready ## Test the Debian package in a small Debian, also booted with its systemd (as root)
	@.ci/install-packages debootstrap systemd-container
	BINARY='$(BINARY)' $(PYTHON) -m pytest --ignore Tests/Package/test_image.py --ignore Tests/Package/test_mail.py Tests/Package

test-mail: $(BINARY) packaging .venv/ready ## Run docs/one-machine.md in a Debian booted with its systemd, and send and read mail (as root; four minutes)
	@.ci/install-packages debootstrap systemd-container
	BINARY='$(BINARY)' $(PYTHON) -m pytest Tests/Package/test_mail.py

.venv-providers/ready: Tests/Providers/requirements.txt
	@.ci/require-python
	python3 -m venv --clear .venv-providers
	.venv-providers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@

test-providers: build .venv/ready .venv-providers/ready ## Log in at identity providers of others: Debian's Glewlwyd and one of PyPI
	@.ci/install-packages glewlwyd
	$(PYTHON) -m pytest Tests/Providers

# What builds the container image, with the arguments of `docker build`.
IMAGE_BUILDER ?= docker build
image: ## Build the container image `postern` (IMAGE_BUILDER="docker build")
	$(IMAGE_BUILDER) --tag postern --build-arg REVISION=$(shell git rev-parse HEAD) \
		--build-arg VERSION=$(shell sed -n 's/.* version = "\(.*\)"/\1/p' Sources/Platform/Process.swift) \
		--build-arg CREATED=$(shell date --utc --date @$(SOURCE_DATE_EPOCH) +%Y-%m-%dT%H:%M:%SZ) .

test-image: swift .venv/ready ## Build the container image with buildah, without a registry, and test it (as root; six minutes)
	@.ci/install-packages debootstrap buildah
	$(PYTHON) -m pytest -rP Tests/Package/test_image.py

test-dependent: swift packages ## Build and run a package that depends on this one by version
	Tests/Dependent/run.sh

reproducible: swift packages packaging ## Build the commit twice, in two folders, and compare the results
	.ci/reproducible

.build/postern:
	$(MAKE) release

bench: release postgres ## Measure against nginx, openssl, bare hashes, SQLite, pgbench (twenty minutes; ARGS=--quick for a short run)
	@.ci/install-packages nginx wrk openssl gcc curl postfix cyrus-common cyrus-caldav sasl2-bin
	.ci/with-postgres --durable python3 Tests/Bench/bench.py --binary .build/postern $(ARGS)

fuzz: swift packages ## Fuzz every parser, a minute each (ARGS=600 for ten)
	Tests/Fuzz/run.sh $(ARGS)

soak: release .venv/ready ## Mixed and hostile load for an hour (ARGS="--minutes 5" for less)
	POSTERN_BINARY=$(CURDIR)/.build/postern $(PYTHON) Tests/Soak/soak.py $(ARGS)

clean: ## Remove what was built; ./data stays
	rm -rf .build .build-tsan .build-coverage .build-fuzz .venv

swift:
	@.ci/require-swift

# The tools that make manual pages, the software bill of materials and Debian packages.
packaging:
	@.ci/install-packages python3 binutils dpkg-dev

# The C libraries that the system-library targets link.
packages:
	@.ci/install-packages libssl-dev libargon2-dev libscrypt-dev libsqlite3-dev libpq-dev libcurl4-openssl-dev

# GMime, which reads the mail of the development and test profiles, and libqrencode. They are loaded at their first use.
libraries:
	@.ci/install-packages libgmime-3.0-0 libqrencode4

# GMime and libqrencode, which the tests load, and their headers: the declarations of Sources/CGMime and Sources/CQRCode
# are compared with them.
headers:
	@.ci/install-packages libgmime-3.0-dev libqrencode-dev gcc pkg-config

# The server for tests and measurements of the PostgreSQL engine (.ci/with-postgres).
postgres:
	@.ci/install-packages postgresql

# The browser for the tests of the pages.
browser:
	@.ci/install-packages chromium chromium-driver zbar-tools

# The reverse proxies of the examples in deploy/.
proxies:
	@.ci/install-packages nginx haproxy caddy

# The mail servers of the configurations in deploy/mail/. cyrus-caldav is Cyrus IMAP's HTTP service. The package cyrus-imapd
# cannot be installed beside Dovecot, so it is unpacked. swaks sends mail, and nodejs runs a program of the documents.
mailservers:
	@.ci/install-packages dovecot-imapd dovecot-lmtpd dovecot-auth-lua lua-socket lua-cjson postfix nginx libnginx-mod-mail \
		cyrus-common cyrus-caldav sasl2-bin swaks nodejs
	@$(MAKE) --no-print-directory .build/cyrus-imapd

# The IMAP server of Cyrus, in which mailboxes are made.
.build/cyrus-imapd:
	@rm -rf $@.part && mkdir -p $@.part && cd $@.part && apt-get download --quiet=2 --option APT::Sandbox::User=root cyrus-imapd
	@dpkg-deb --extract $@.part/*.deb $@.part && mv $@.part $@

# Tools of operators. systemd checks the units in deploy/systemd/ and starts a program with its sockets. promtool, of
# prometheus, checks /metrics and the rules in deploy/. testssl.sh looks for weaknesses of TLS. mandoc and man check the
# manual pages. libfaketime gives the program another time, and gcc compiles a library that lets a disk fail.
operations:
	@.ci/install-packages systemd prometheus testssl.sh openssl curl mandoc man-db libfaketime gcc

# requirements.txt names every package, so pip resolves no dependencies.
.venv/ready: Tests/Interop/requirements.txt
	@.ci/require-python
	python3 -m venv --clear .venv
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@
