package app

import (
	"cmp"
	"slices"

	"paw/orchestrator/cli"
)

// builtIn is the CLI that is always installed.
const builtIn = "demo"

// StartHints are the commands that begin a session here, the best one first. They name a CLI that is installed: the
// configured default, else the first there is. Where there is none but the built-in one, the first command installs one.
func (h *App) StartHints() []string {
	if name := h.InstalledCLI(); name != "" {
		return []string{"paw start --cli " + name}
	}
	return []string{cmp.Or(cli.Install(h.Config.DefaultCLI), cli.Install("claude")), "paw start --cli " + builtIn}
}

// InstalledCLI is the configured default where it is installed, else the first CLI that is; "" where there is none but the built-in one.
func (h *App) InstalledCLI() string {
	preferred := h.Config.DefaultCLI
	for _, name := range slices.Concat([]string{preferred}, h.CLIs.Names()) {
		if c, known := h.CLIs.Get(name); known && (name != builtIn || preferred == builtIn) {
			if _, err := cli.LookPath(c.Program(), h.Env); err == nil {
				return name
			}
		}
	}
	return ""
}
