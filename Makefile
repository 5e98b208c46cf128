# Six words; each is a line that can be typed without make as well.
.PHONY: test fuzz torture bench generate check

test: ## the tests
	go test ./...

fuzz: ## each fuzz target for a few seconds, the large hostile inputs, and every change after an approval
	.ci/fuzz 5s
	go test ./cmd/plc -run Hostile -torture
	go test ./approval -args -changes 10000

torture: ## kills, power cuts and broken files, by the thousand; some minutes
	go test -timeout 30m -v -run 'Kills|PowerCut|Bits|Truncated' ./journal -torture

bench: ## the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

generate: ## what is made from comments, and the golden files; read the diff
	go generate ./...
	go test -run Picture -update .

check: ## all that CI does
	.ci/run
