# Seven words; each is a line that can be typed without make as well.
.PHONY: test fuzz torture bench bench-go generate check

test: ## the tests
	go test ./...

fuzz: ## each fuzz target for a few seconds, the large hostile inputs, and every change after an approval
	.ci/fuzz 5s
	go test ./cmd/plc -run Hostile -torture
	go test ./approval -args -changes 10000

torture: ## kills, power cuts and broken files, by the thousand; some minutes
	go test -timeout 30m -v -run 'Kills|PowerCut|Bits|Truncated' ./journal -torture

bench: ## docs/benchmarks.md: plc beside others; QUICK=1 is short, and to the terminal; some minutes
	cd bench/js && npm ci --silent || echo "without what needs Node"
	go -C bench run . $(if $(QUICK),-quick)

bench-go: ## the benchmarks of the packages, beside those of the last tag if there is one
	.ci/bench $(BENCH)

generate: ## what is made from comments, and the golden files; read the diff
	go generate ./...
	go test -run Picture -update .

check: ## all that CI does
	.ci/run
