package main

// nodeSystems are those that run in Node.
func nodeSystems() []System { return nil }
