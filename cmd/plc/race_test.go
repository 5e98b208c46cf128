//go:build race

package main

// raceDetector says that memory is used for the detector of races as well.
const raceDetector = true
