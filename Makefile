# Sixteen words; each is a line that can be typed without make as well.
.PHONY: test lint race fuzz torture bounds flow lsp serve pages temporal bench bench-go generate release-snapshot check

test: ## the tests
	go test ./...

lint: ## staticcheck, and actionlint for the workflows; minutes, the first time
	go tool staticcheck ./...
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

race: ## the tests under the race detector, which needs a C compiler; half an hour
	go test -race -timeout 60m ./...

fuzz: ## each fuzz target for a few seconds, the large hostile inputs, and every change after an approval
	.ci/fuzz 5s
	go test ./cmd/plc -run Hostile -torture
	go test ./approval -args -changes 10000

torture: ## kills, power cuts and broken files, by the thousand; some minutes
	go test -timeout 30m -v -run TestStepped ./exec/law -law.stepped=20000
	go test -timeout 30m -v -run TestUndone ./exec/law -law.undone=10000
	go test -timeout 60m -v -run TestUndoKilledAnyTime ./cmd/plc -undo.kills=1000
	go test -timeout 30m -v -run 'Kills|PowerCut|Bits|Bytes|Truncated' ./journal/sqlite -torture

bounds: ## 100,000 generated plans, none of which may do more than a person is shown of it before; an hour
	go test -timeout 180m -v -run TestBounds ./exec/law -law.bounds=100000

flow: ## a million runs of generated plans against what really flows, and 100,000 pairs that differ in secrets; half an hour
	go test -timeout 4h -v ./compile/flow -run 'TestOracle|TestFalsePositives|TestNonInterference|TestRunsAreNoWorse' -flow.triples=1000000 -flow.pairs=100000 -flow.small=3000 -flow.runs=5000

lsp: ## a million random edits, and how long editors wait for findings, in 1,000 calls and 100,000
	go test ./cmd/plc/internal/lsp -run Edits -v -lsp.edits 1000000
	go test ./cmd/plc/internal/lsp -run XXX -bench Keystroke -benchtime 100x

serve: ## 100 clients with 10,000 runs on one server that is killed in the middle; half an hour
	go test -timeout 60m -v ./cmd/plc -run TestServerIsKilled -serve.clients 100 -serve.runs 10000

pages: ## how fast the pages are, with 10,000 runs and with a run of 2,000 calls; needs what .ci/run installs for browsers; minutes
	go test -timeout 30m -v ./cmd/plc/internal/server -run 'TestFirstPage|TestBrowserKeepsUp' -pages.runs 10000 -pages.time 20s

temporal: ## 300 times a worker, all or the server of Temporal is killed in the middle of runs; half an hour
	.ci/temporal -run TestKilled -v -timeout 60m -args -temporal.kills 300

bench: ## docs/benchmarks.md: plc beside others; QUICK=1 is short, and to the terminal; some minutes
	cd bench/js && npm ci --silent || echo "without what needs Node"
	go -C bench run . $(if $(QUICK),-quick)

bench-go: ## the benchmarks of the packages, beside those of the last tag if there is one
	.ci/bench $(BENCH)

generate: ## what is made from comments, and the golden files; read the diff
	go generate ./...
	go test -run Picture -update .

release-snapshot: ## what a release has, in dist, without the image where there is no docker; some minutes
	go run github.com/goreleaser/goreleaser/v2@v2.16.0 release --snapshot --clean \
		$$(docker info >/dev/null 2>&1 || echo --skip=docker) $$(command -v syft >/dev/null || echo --skip=sbom)

check: ## all that CI does
	.ci/run
