package main

import "testing"

// A hint that names a store does not show its password.
func TestStoreWithoutPassword(t *testing.T) {
	for store, want := range map[string]string{
		"runs.db":                   "runs.db",
		`C:\runs.db`:                `C:\runs.db`,
		"postgres://host/plc":       "postgres://host/plc",
		"postgres://ada@host/plc":   "postgres://ada@host/plc",
		"postgres://ada:pw@host/p":  "postgres://ada:xxxxx@host/p",
		"postgres://h/p?password=x": "postgres://h/p?password=xxxxx",
	} {
		if got := withoutPassword(store); got != want {
			t.Errorf("%s: %s, want %s", store, got, want)
		}
	}
}
