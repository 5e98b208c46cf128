//go:build !linux

package main

// keepPeak is for Linux.
func keepPeak() {}
