package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  plc version",
		Args:    wants(0, 0, "no arguments"),
		Run:     func(*cobra.Command, []string) { showf(env.stdout, "plc version %s\n", version()) },
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
