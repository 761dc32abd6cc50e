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

// hookVariable names the program that is called for every event, as `PROGRAM hook demo EVENT` with
// a report on its standard input. It is removed from the environment of the agent's children: their
// turns are not this agent's.
const hookVariable = "PAW_HOOK"

// hookTimeout ends a hook that hangs. The agent waits for its hooks, as other agents do, so that
// the begin and end of a turn are known before anything else happens.
const hookTimeout = time.Minute

// Report is the input of a hook: an event, its conversation and its turn.
type Report struct {
	Entry
	SessionID      string `json:"session_id"`
	TurnID         string `json:"turn_id,omitempty"`
	TranscriptPath string `json:"transcript_path"`
	Source         string `json:"source,omitempty"` // kind of a start event: "startup", "resume" or "fork"
}

// reporter returns a function that calls the hook program of env, nil where env has none.
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

// callHook runs the hook program and ignores its outcome. The hook has a process group of its own:
// a signal that ends the agent must not end its last report.
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
		cmd.Dir = "/" // no program can start in a deleted folder
	}
	cmd.Stdin = strings.NewReader(string(payload))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
}

// withoutHook removes hookVariable from the environment of the agent's children.
func withoutHook(env []string) []string {
	return slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, hookVariable+"=") })
}
