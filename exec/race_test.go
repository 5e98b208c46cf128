//go:build race

package exec_test

// raceDetector reports that the race detector runs, which allocates more.
const raceDetector = true
