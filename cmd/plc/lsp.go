package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp"
)

func lspCommand(env *environment) *cobra.Command {
	c := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors: the language server",
		Long: `Serve an editor over standard input and output by the Language Server Protocol: findings
as they are typed, completion, hover, definitions, renaming and fixes for plans, tool
files and project files. Editors start it; docs/editors.md says how each is set up. It
runs no tool and starts no MCP server. Exit 0 after shutdown and exit, else 1.`,
		Example: "  plc lsp",
		Args:    wants(0, 0, "nothing"),
		RunE: func(c *cobra.Command, _ []string) error {
			err := lsp.Serve(c.Context(), stdio{env.stdin, env.stdout}, lsp.Config{Environ: os.Environ(), Version: version()})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return exit(exitErrors)
			}
			return err
		},
	}
	c.Flags().Bool("stdio", true, "speak over standard input and output, which is the only way there is")
	return c
}

// stdio is standard input and output as one stream.
type stdio struct {
	io.Reader
	io.Writer
}

// Close implements io.Closer. It closes standard input, so that reading ends.
func (s stdio) Close() error {
	if c, ok := s.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
