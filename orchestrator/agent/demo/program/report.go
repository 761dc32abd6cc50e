package program

import (
	"context"
	"encoding/json"
	"fmt"
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

// report is what a hook reads; the fields of other events are left out.
type report struct {
	SessionID      string     `json:"session_id"`
	TurnID         string     `json:"turn_id,omitempty"`
	TranscriptPath string     `json:"transcript_path"`
	Directory      string     `json:"cwd"`
	Event          string     `json:"hook_event_name"`
	Source         string     `json:"source,omitempty"` // of start: "startup", "resume" or "fork"
	Prompt         string     `json:"prompt,omitempty"`
	Question       string     `json:"question,omitempty"`
	Answer         string     `json:"answer,omitempty"`
	Error          string     `json:"error,omitempty"`
	Code           *int       `json:"code,omitempty"`
	Until          *time.Time `json:"limited_until,omitempty"`
}

// reporter is the function that calls the hook program of env, nil where there is none.
func (a *agent) reporter(env []string) func(entry) {
	program := lookup(env, hookVariable)
	if !filepath.IsAbs(program) {
		return nil
	}
	return func(e entry) { a.callHook(program, a.describe(e)) }
}

func (a *agent) describe(e entry) report {
	r := report{
		SessionID: a.conversation.id, TranscriptPath: a.conversation.path, Directory: a.dir, Event: e.Event,
		Prompt: e.Prompt, Question: e.Question, Answer: e.Answer, Error: e.Error, Code: e.Code, Until: e.Until,
	}
	switch e.Event {
	case started:
		r.Source = "startup"
		switch {
		case a.conversation.forked:
			r.Source = "fork"
		case len(a.conversation.resumed) > 0:
			r.Source = "resume"
		}
	case exited:
	default:
		r.TurnID = fmt.Sprintf("%s/%d", a.conversation.id, e.Turn)
	}
	return r
}

// callHook waits for the hook and does not care how it ends. It has a process group of its own: the signal that ends the
// agent must not end the report of it.
func (a *agent) callHook(program string, r report) {
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
