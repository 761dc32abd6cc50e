package orchestrator

import (
	"context"
	"io"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
)

// statusLinePatience bounds the run of the user's own status line command.
const statusLinePatience = 10 * time.Second

// StatusLine keeps the data that a CLI passes to its status line command, and prints the status
// line: the output of the user's own command, else a short text from the data.
func StatusLine(ctx context.Context, h *app.App, cliName string, payload []byte, out io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, statusLinePatience)
	defer cancel()
	launch := h.Getenv("PAW_LAUNCH")
	sessionName, agentName, _, ok := observe.ParseLaunch(launch)
	if !ok {
		return
	}
	s, err := h.Store.Load(sessionName)
	if err != nil {
		h.HookLog().Add(cliName, cli.StatusLine, err)
	}
	if s == nil {
		return
	}
	w := s.Agent(agentName)
	c, known := h.CLIs.Get(cliName)
	if w == nil || !known || w.CLI != cliName {
		return
	}
	told, err := c.Gauge(h.Specs().Read(s, w, ""), launch, payload)
	if err != nil {
		h.HookLog().Add(cliName, cli.StatusLine, err)
	}
	if told.Own == "" {
		_, _ = io.WriteString(out, told.Words)
		return
	}
	_ = cli.RunStatusLine(ctx, told.Own, payload, out) // a failed command still shows what it has printed, as in claude
}
