package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
)

func newCLIs(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clis",
		Short: "Show which CLIs are installed and what paw can do with each",
		Long:  exits(`Show which CLIs are installed, their versions, and what paw can do with each.`),
		Example: `  paw clis
  paw clis --json | jq -r '.clis[] | select(.installed).name'`,
		Args: cobra.NoArgs,
		RunE: a.withHome(func(cmd *cobra.Command, h *app.App, _ []string) error {
			infos := orchestrator.ListCLIs(cmd.Context(), h, true)
			if a.json {
				return a.printJSON(clisView(infos))
			}
			rows := [][]cell{heads("CLI", "VERSION", "PATH", "TURNS")}
			for _, info := range infos {
				version, place := info.Version, shortened(info.Path)
				switch {
				case info.Path == "":
					version, place = "not installed", cli.Install(info.Name)
				case info.Err != nil:
					version = "does not say"
				}
				rows = append(rows, texts(info.Name, display.FirstLine(version), place, info.Facts.Turns))
			}
			a.printTable(a.stdout, "", rows)
			for _, info := range infos {
				if note := info.VersionNote(); note != "" {
					fmt.Fprintf(a.stdout, "%s\n", note)
					fmt.Fprintf(a.stdout, "    paw doctor --cli %s\n", info.Name)
				}
			}
			return nil
		}),
	}
	a.addJSON(cmd)
	return cmd
}

type cliJSON struct {
	Name      string  `json:"name"`
	Installed bool    `json:"installed"`
	Path      *string `json:"path"`
	Version   *string `json:"version"`
	// LookedAt is null for a CLI of which no version was looked at.
	LookedAt *lookedAtJSON `json:"looked_at"`
	Resume   string        `json:"resume"`
	Turns    string        `json:"turns"`
	Error    *string       `json:"error"`
}

// lookedAtJSON names the oldest and newest version of a CLI that paw's authors looked at, and says
// how the installed version compares.
type lookedAtJSON struct {
	Oldest   string  `json:"oldest"`
	Newest   string  `json:"newest"`
	Standing *string `json:"standing"` // a cli.Standing, null if unknown
}

func lookedAtView(info orchestrator.CLIInfo) *lookedAtJSON {
	if info.Looked.CLI == "" {
		return nil
	}
	return &lookedAtJSON{Oldest: info.Looked.Oldest, Newest: info.Looked.Newest, Standing: orNull(string(info.Standing))}
}

func clisView(infos []orchestrator.CLIInfo) any {
	view := struct {
		Version int       `json:"version"`
		CLIs    []cliJSON `json:"clis"`
	}{Version: 1, CLIs: []cliJSON{}}
	for _, info := range infos {
		v := cliJSON{Name: info.Name, Installed: info.Path != "", Path: orNull(info.Path), Version: orNull(info.Version), Resume: info.Facts.Resume, Turns: info.Facts.Turns, LookedAt: lookedAtView(info)}
		if info.Err != nil {
			v.Error = orNull(info.Err.Error())
		}
		view.CLIs = append(view.CLIs, v)
	}
	return view
}
