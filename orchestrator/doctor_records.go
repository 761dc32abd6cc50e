package orchestrator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/transcript"
	"paw/session"
)

// examineRecords names the types of records that an agent's CLI writes and that paw has never seen: nothing that was
// said is missing, but the CLI may be newer than what paw knows of it. A conversation that is not there has none.
func (f *findings) examineRecords(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) {
	cli, known := h.CLIs.Get(w.CLI)
	if !known || w.TranscriptPath == "" {
		return // without a file, such as opencode's, it would have to be started
	}
	found, err := transcript.Read(ctx, h, s, w, "")
	if err != nil || len(found.Unknown) == 0 {
		return
	}
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(found.Unknown)) {
		counts = append(counts, fmt.Sprintf("%s (%d)", name, found.Unknown[name]))
	}
	program := w.CLI
	if executable, err := h.Program(cli); err == nil {
		if version, err := cli.Version(ctx, executable, h.Env); err == nil {
			program += " " + version
		}
	}
	f.fine(fmt.Sprintf("%s/%s: %s writes records of types that paw does not know: %s; no message is missing",
		s.Name, w.Name, program, strings.Join(counts, ", ")))
}
