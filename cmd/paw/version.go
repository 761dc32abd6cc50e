package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in releases.
var version = ""

func newVersion(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the version of paw",
		Long:    exits(`Show the version of paw, or the commit it was built from.`),
		Example: "  paw version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(versionJSON{Version: 1, Paw: ownVersion()})
			}
			a.printVersion()
			return nil
		},
	}
	a.addJSON(cmd)
	return cmd
}

type versionJSON struct {
	Version int    `json:"version"` // of this object
	Paw     string `json:"paw"`
}

func (a *invocation) printVersion() { fmt.Fprintf(a.stdout, "paw %s\n", ownVersion()) }

// ownVersion is that of the release, else the commit it was built from.
func ownVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " (modified)"
		}
	}
	if revision == "" {
		return "development build"
	}
	return fmt.Sprintf("development build %.12s%s", revision, dirty)
}
