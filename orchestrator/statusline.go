package orchestrator

import (
	"context"
	"io"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
)

// statusLinePatience bounds the status line of the user's own.
const statusLinePatience = 10 * time.Second

// StatusLine keeps what a CLI tells its status line, and prints what it is to show: what the user's own prints, else what was told in a
// few words.
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
		h.LogHook(cliName, cli.StatusLine, err)
	}
	if s == nil {
		return
	}
	w := s.Agent(agentName)
	c, known := h.CLIs.Get(cliName)
	if w == nil || !known || w.CLI != cliName {
		return
	}
	told, err := c.Gauge(h.SpecFor(s, w, ""), launch, payload)
	if err != nil {
		h.LogHook(cliName, cli.StatusLine, err)
	}
	if told.Own == "" {
		_, _ = io.WriteString(out, told.Words)
		return
	}
	_ = cli.RunStatusLine(ctx, told.Own, payload, out) // claude shows what it printed, and so does paw
}
