package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func versionCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit that it was built from, and for which system",
		Example: `  plc version
  plc --version                     # the version alone`,
		Args: wants(0, 0, "no arguments"),
		Run: func(*cobra.Command, []string) {
			info, _ := debug.ReadBuildInfo()
			showf(env.stdout, "plc version %s\n%s\n", version(), built(info))
		},
	}
}

// version returns the version with which the module was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// built describes the build of this program: the commit and its date, if it was built in a clone,
// the version of Go and the system. info may be nil.
func built(info *debug.BuildInfo) string {
	var parts []string
	if commit := buildSetting(info, "vcs.revision"); commit != "" {
		if buildSetting(info, "vcs.modified") == "true" {
			commit += " with changes"
		}
		if date := buildSetting(info, "vcs.time"); date != "" {
			commit += " of " + date
		}
		parts = append(parts, "commit "+commit)
	}
	return strings.Join(append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), ", ")
}

// buildSetting returns a setting of the build, or "" if it is not known. info may be nil.
func buildSetting(info *debug.BuildInfo, key string) string {
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
