# What to call: make demo and make test for a first look, make build for
# ./cluade, make cross for the binaries of all boards.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test demo lint fuzz cross size bench smoke busybox clean

build:
	build/compile.sh $(VERSION) cluade

# What needs a tool that is not installed is skipped, and named; with CI set it
# fails.
test:
	go test ./...

demo: build
	build/demo.sh

lint:
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	go vet ./...
	go mod tidy -diff
	go run $(STATICCHECK) ./...

# Every fuzz target for FUZZTIME, 10s by default.
fuzz:
	build/fuzz.sh

cross:
	build/cross.sh $(VERSION)

# The MIPS binary against its budget in build/budgets.
size:
	build/size.sh $(VERSION)

# Memory, first request, start-up time, against the same.
bench:
	build/bench.sh $(VERSION)

# The MIPS binaries under qemu.
smoke:
	build/smoke.sh $(VERSION)

# The scripts of tests/ in a root that holds BusyBox alone.
busybox:
	build/busybox-root.sh $(VERSION)

clean:
	rm -rf cluade dist
