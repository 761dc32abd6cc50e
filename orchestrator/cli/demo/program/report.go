package program

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// hookVariable names the program that hears of every event, as `PROGRAM hook demo EVENT` with a report on its standard
// input. Programs that the agent runs do not get it: their turns are not this agent's.
const hookVariable = "PAW_HOOK"

// hookTimeout ends a hook that hangs. The agent waits for its hooks as other agents do, so that a turn's begin and end
// are known before anything else happens.
const hookTimeout = time.Minute

// Report is what a hook reads: an event, and where it belongs.
type Report struct {
	Entry
	SessionID      string `json:"session_id"`
	TurnID         string `json:"turn_id,omitempty"`
	TranscriptPath string `json:"transcript_path"`
	Source         string `json:"source,omitempty"` // of start: "startup", "resume" or "fork"
}

// reporter is the function that calls the hook program of env, nil where there is none.
func (a *agent) reporter(env []string) func(Entry) {
	program := lookup(env, hookVariable)
	if !filepath.IsAbs(program) {
		return nil
	}
	return func(e Entry) { a.callHook(program, a.describe(e)) }
}

func (a *agent) describe(e Entry) Report {
	r := Report{Entry: e, SessionID: a.conversation.id, TranscriptPath: a.conversation.path}
	switch {
	case e.Event == exited:
	case e.Event != started:
		r.TurnID = TurnID(a.conversation.id, e.Turn)
	case a.conversation.forked:
		r.Source = "fork"
	case len(a.conversation.resumed) > 0:
		r.Source = "resume"
	default:
		r.Source = "startup"
	}
	return r
}

// callHook waits for the hook and does not care how it ends. It has a process group of its own: the signal that ends the
// agent must not end the report of it.
func (a *agent) callHook(program string, r Report) {
	payload, err := json.Marshal(r)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "hook", "demo", r.Event)
	cmd.Dir, cmd.Env = a.dir, a.env
	if _, err := os.Stat(a.dir); err != nil {
		cmd.Dir = "/" // no program starts in a folder that is gone
	}
	cmd.Stdin = strings.NewReader(string(payload))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
}

// withoutHook is what the agent's own programs get.
func withoutHook(env []string) []string {
	return slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, hookVariable+"=") })
}
