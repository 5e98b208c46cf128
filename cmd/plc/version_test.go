package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestBuilt(t *testing.T) {
	system := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, c := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"nothing is known", nil, system},
		{"go install of a version", &debug.BuildInfo{}, system},
		{"in a clone", &debug.BuildInfo{Settings: []debug.BuildSetting{
			setting("-trimpath", "true"), setting("vcs.revision", "0123abc"), setting("vcs.time", "2026-01-02T03:04:05Z"), setting("vcs.modified", "false"),
		}}, "commit 0123abc of 2026-01-02T03:04:05Z, " + system},
		{"in a clone with changes", &debug.BuildInfo{Settings: []debug.BuildSetting{
			setting("vcs.revision", "0123abc"), setting("vcs.time", "2026-01-02T03:04:05Z"), setting("vcs.modified", "true"),
		}}, "commit 0123abc with changes of 2026-01-02T03:04:05Z, " + system},
	} {
		if got := built(c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
