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

// built returns what a program knows of its own build: the commit and its date, if it was built in
// a clone, with which Go and for which system. info may be nil.
func built(info *debug.BuildInfo) string {
	var commit, modified, date string
	if info != nil {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = "commit " + s.Value
			case "vcs.modified":
				if s.Value == "true" {
					modified = " with changes"
				}
			case "vcs.time":
				date = " of " + s.Value
			}
		}
	}
	var parts []string
	if commit != "" {
		parts = append(parts, commit+modified+date)
	}
	return strings.Join(append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), ", ")
}
