//go:build race

package lang

// raceDetector says that all takes many times as long.
const raceDetector = true
