package observe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// ParseLaunch parses PAW_LAUNCH, "<session>/<agent>/<generation>".
func ParseLaunch(text string) (sessionName, agentName string, generation int, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return "", "", 0, false
	}
	generation, err := strconv.Atoi(parts[2])
	return parts[0], parts[1], generation, err == nil
}

// LaunchPath returns the file of a launch, which exists until its launcher has read it.
func LaunchPath(h *app.App, sessionName, agentName string, generation int) string {
	return filepath.Join(h.Paths.LaunchDir(), sessionName, fmt.Sprintf("%s-%d.json", agentName, generation))
}

// LaunchPlace returns the end of LaunchPath, by which a launcher checks its argument: a pane has
// the environment of the tmux server, in which paw's folders may be others.
func LaunchPlace(sessionName, agentName string, generation int) string {
	return fmt.Sprintf("/launch/%s/%s-%d.json", sessionName, agentName, generation)
}

// FailurePath returns the file in which a launcher that gave up leaves its reason. It is blank until then.
func FailurePath(h *app.App, sessionName, agentName string) string {
	return filepath.Join(h.Paths.LaunchDir(), sessionName, agentName+".failed")
}

// LaunchOpen reports whether a launch has not become the CLI yet, and its launcher has not given up. The launcher holds the
// file of FailurePath locked, which the kernel closes with the exec.
func LaunchOpen(h *app.App, sessionName, agentName string, generation int) bool {
	if _, err := os.Stat(LaunchPath(h, sessionName, agentName, generation)); err == nil {
		return true
	}
	fd, err := disk.OpenRegular(FailurePath(h, sessionName, agentName))
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return errors.Is(disk.Lock(uintptr(fd), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// OpenLaunches returns the times of launches that no launcher has read yet, by agent and
// generation.
func OpenLaunches(h *app.App, sessionName string) map[string]map[int]time.Time {
	open := map[string]map[int]time.Time{}
	entries, err := os.ReadDir(filepath.Join(h.Paths.LaunchDir(), sessionName))
	if err != nil {
		return open
	}
	for _, e := range entries {
		agentName, number, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".json"), "-")
		generation, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		if info, err := e.Info(); err == nil {
			if open[agentName] == nil {
				open[agentName] = map[int]time.Time{}
			}
			open[agentName][generation] = info.ModTime()
		}
	}
	return open
}

// Undelivered notes that the first prompt of an agent was never delivered, or that no turn has begun with it, "" if
// one has. The agent's CLI does not run.
func Undelivered(h *app.App, s *session.Session, agentName string) string {
	path := h.Texts().PromptPath(s.Name, agentName)
	if _, err := os.Stat(path); err == nil {
		return "its first prompt was never sent; it is kept in " + path
	}
	if next := h.Texts().Next(s.Name, agentName); len(next) > 0 {
		verb := "is"
		if len(next) > 1 {
			verb = "are"
		}
		return errs.Counted(len(next), "prompt") + " that it has never got " + verb + " typed once it runs"
	}
	if path = h.Texts().Given(s.Name, agentName); path != "" {
		return "its CLI ended before a turn began with its first prompt, which is kept in " + path
	}
	return ""
}

// StrayPrompts notes which first prompts are kept for agents that do not exist: the paw that
// spawned them was killed.
func StrayPrompts(h *app.App, s *session.Session) []string {
	var said []string
	for _, agent := range h.Texts().StrayPrompts(s.Name, app.AgentNames(s)) {
		said = append(said, fmt.Sprintf("the first prompt of %s was never sent, and there is no such agent; it is kept in %s", agent, h.Texts().PromptPath(s.Name, agent)))
	}
	return said
}

// MarkHooks records that the hooks of a launch report.
func MarkHooks(a app.Agent, generation int) {
	path := hooksMark(a.App, a.Session.Name, a.Record.Name, generation)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil && os.WriteFile(path, nil, 0o600) == nil {
		forgetHooks(a.App, a.Session.Name, a.Record.Name, generation)
	}
}

// forgetHooks deletes the marks of earlier launches.
func forgetHooks(h *app.App, sessionName, agentName string, generation int) {
	entries, _ := os.ReadDir(h.StateDir(sessionName, agentName))
	for _, e := range entries {
		number, marked := strings.CutPrefix(e.Name(), "hooks-")
		if n, err := strconv.Atoi(number); marked && err == nil && n < generation {
			_ = os.Remove(hooksMark(h, sessionName, agentName, n))
		}
	}
}

// hooksSeen returns when the hooks of a launch first reported, zero if they have not.
func hooksSeen(h *app.App, sessionName, agentName string, generation int) time.Time {
	info, err := os.Lstat(hooksMark(h, sessionName, agentName, generation))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func hooksMark(h *app.App, sessionName, agentName string, generation int) string {
	return filepath.Join(h.StateDir(sessionName, agentName), fmt.Sprintf("hooks-%d", generation))
}

// hookLost returns why this paw does not get what a running CLI reports, "" where it does.
func hookLost(h *app.App, cliName string, lock session.AgentLock) string {
	if lock.State != session.LockHeld || lock.Holder.Hook == "" {
		return ""
	}
	if _, err := os.Stat(lock.Holder.Hook); errors.Is(err, os.ErrNotExist) {
		return session.ReasonHookGone
	}
	if c, known := h.CLIs.Get(cliName); known && c.Facts().Reports != lock.Holder.Reports {
		return session.ReasonHookOld
	}
	return ""
}

// AskRecord reads the CLI's own record about an agent; the zero Observed where that is impossible.
func AskRecord(ctx context.Context, a app.Agent, last *turn.Record) cli.Observed {
	c, ok := a.App.CLIs.Get(a.Record.CLI)
	if !ok {
		return cli.Observed{}
	}
	o, err := c.Observe(ctx, a.App.Specs().Read(a.Session, a.Record, ""), last)
	if err != nil {
		return cli.Observed{}
	}
	// CLIs record milliseconds. An end before the start belongs to an earlier turn: the CLI never
	// got this one.
	if o.Ended != nil && last != nil {
		if at := cmp.Or(o.Ended.At, o.At); !at.IsZero() && at.Before(last.StartedAt.Truncate(time.Millisecond)) {
			o.Ended = nil
		}
	}
	return o
}

// HooksEverSeen reports whether the hooks of any launch of this agent ever reported. Marks of an
// earlier agent of the same name are older.
func HooksEverSeen(h *app.App, sessionName string, w *session.Agent) bool {
	entries, _ := os.ReadDir(h.StateDir(sessionName, w.Name))
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		info, err := e.Info()
		return err == nil && strings.HasPrefix(e.Name(), "hooks-") && !info.ModTime().Before(w.CreatedAt)
	})
}

// unrecorded is the note of a hook that could not record what happened, for the commands that would
// take the turn before for the last one. A command may have more rights than the hook.
type unrecorded struct {
	Launch string    `json:"launch"`
	Folder string    `json:"folder"`           // that the hook cannot write, "" for none
	Prompt string    `json:"prompt,omitempty"` // the error of recording a prompt, "" for none
	At     time.Time `json:"at"`
	lost   bool      // the file of the note is there and empty: its disk was full
}

// NoteUnrecorded notes which folder a hook of a launch cannot write, and the error with which the
// hook could not record a prompt, nil for none. Without either, the note of a folder is deleted; that
// of a prompt counts until an event is recorded, since the hook of the turn's end has nothing to
// record.
func NoteUnrecorded(h *app.App, sessionName, agentName, launch string, prompt error) {
	path := unrecordedPath(h, sessionName, agentName)
	note := unrecorded{Launch: launch, Folder: unwritable(h, sessionName, agentName), At: h.Now()}
	if prompt != nil {
		note.Prompt, _, _ = strings.Cut(prompt.Error(), "\n")
	}
	if note.Folder == "" && note.Prompt == "" {
		if _, err := os.Lstat(path); err == nil {
			if note := readUnrecorded(path); note.Prompt == "" && !note.lost {
				_ = os.Remove(path)
			}
		}
		return
	}
	data, err := json.Marshal(note)
	if err == nil {
		err = disk.ReplaceSoon(path, data)
	}
	if err != nil {
		_ = os.WriteFile(path, nil, 0o600) // an empty file has room on a full disk
	}
}

func readUnrecorded(path string) (note unrecorded) {
	data, err := disk.ReadFile(path)
	if err == nil && len(data) == 0 {
		if info, err := os.Lstat(path); err == nil {
			return unrecorded{lost: true, At: info.ModTime()}
		}
	}
	if err != nil || json.Unmarshal(data, &note) != nil {
		return unrecorded{}
	}
	return note
}

// notRecorded returns why what an agent does is not recorded, "" if it is: the hooks of a launch
// cannot write a folder that this process cannot write either, or a hook has noted a folder or a
// prompt without an event recorded since. A process in an agent's sandbox may have less rights than
// the hooks and relies on the note only.
func notRecorded(h *app.App, sessionName, agentName, launch string, last *turn.Record) string {
	if h.Getenv("PAW_LAUNCH") == "" {
		if folder := unwritable(h, sessionName, agentName); folder != "" {
			return "its hooks cannot write " + folder
		}
	}
	note := readUnrecorded(unrecordedPath(h, sessionName, agentName))
	if _, _, generation, ok := ParseLaunch(launch); ok && note.lost && hooksSeen(h, sessionName, agentName, generation).Before(note.At) {
		note.Launch = launch
	}
	switch {
	case note.Launch != launch, last != nil && last.LastEventAt.After(note.At):
		return ""
	case note.Folder != "":
		return "its hooks cannot write " + note.Folder
	case note.Prompt != "":
		return "its last prompt is not recorded: " + note.Prompt
	case note.lost:
		return "its last prompt is not recorded: its hook found no space on the disk"
	}
	return ""
}

// unwritable returns the first folder of those that an agent's hooks write, which this process
// cannot write.
func unwritable(h *app.App, sessionName, agentName string) string {
	ofAll := cli.Once(h.Look, "unwritable", func() string {
		folder, _ := app.Unwritable(h.Paths.SessionsDir, h.Paths.LocksDir())
		return folder
	})
	if ofAll != "" {
		return ofAll
	}
	folder, _ := app.Unwritable(h.TurnDir(sessionName, agentName).Path, h.StateDir(sessionName, agentName))
	return folder
}

func unrecordedPath(h *app.App, sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), "unwritable")
}

// AwaitDying gives agents time to end that have lost their pane, or are about to end by themselves. Those that do not end
// are orphans, or alive.
func AwaitDying(ctx context.Context, h *app.App, f Facts) (Facts, error) {
	var dying []Agent
	grace := map[string]time.Duration{}
	for _, a := range f.Agents {
		left, running := graceLeft(a, f.Now), f.Running(a)
		leaves := running == live.InPane && a.Turns.Observed.Leaves && a.Turns.Observed.At.After(a.Turns.Launched)
		if leaves {
			left = dyingGrace
		}
		if left > 0 && (leaves || running == live.Paneless) {
			dying, grace[a.Record.Name] = append(dying, a), left
		}
	}
	if len(dying) == 0 {
		return f, nil
	}
	longest := slices.Max(slices.Collect(maps.Values(grace)))
	dying = awaitEnd(ctx, h, f.Session, dying, min(longest, dyingQuiet))
	dying = slices.DeleteFunc(dying, func(a Agent) bool { return grace[a.Record.Name] <= dyingQuiet })
	for _, a := range dying {
		h.Sayf("%s: waiting for %s to end", a.Record.Name, processNamed(a.Lock.PID()))
	}
	if len(dying) > 0 {
		awaitEnd(ctx, h, f.Session, dying, longest-dyingQuiet)
	}
	return Observe(ctx, h, f.Session)
}

// How long recover waits for agents that lost their pane: SIGHUP ends most at once, but a CLI may
// run hooks first on a slow machine. After dyingQuiet recover says what it waits for.
const (
	dyingGrace = 10 * time.Second
	dyingQuiet = time.Second
)

// graceLeft returns how long an agent that has lost its pane may still take to end.
func graceLeft(a Agent, now time.Time) time.Duration {
	var taken time.Duration
	if a.Pane != nil && !a.Pane.Dead {
		if since, err := session.StartedAt(a.Pane.PID); err == nil {
			taken = now.Sub(since)
		}
	}
	return graceFor(session.IgnoresHangUp(a.Lock.PID()), taken)
}

// graceFor returns how long a CLI may still take to end that lost its pane a time ago. One that
// ignores SIGHUP ends soon, when it reads from its terminal, or never.
func graceFor(ignoresHangUp bool, taken time.Duration) time.Duration {
	grace := dyingGrace
	if ignoresHangUp {
		grace = dyingQuiet
	}
	return max(0, grace-max(0, taken))
}

// awaitEnd polls until the agents have ended or grace is over, and returns those that have not. An
// agent that was launched again is not waited for.
func awaitEnd(ctx context.Context, h *app.App, s *session.Session, dying []Agent, grace time.Duration) []Agent {
	poll.Until(ctx, 10*poll.Tick, grace, func() bool { // a look may list all processes
		processes := LookAtProcesses()
		dying = slices.DeleteFunc(dying, func(a Agent) bool {
			if a.StillHolds(h, s) {
				return false
			}
			lock, err := Probe(h.Agent(s, &a.Record), processes)
			return err == nil && (a.LaunchedSince(s, lock) || lock.State != session.LockHeld)
		})
		return len(dying) == 0
	})
	return dying
}

// processNamed names the process of an agent, 0 for an unknown one.
func processNamed(pid int) string {
	if pid == 0 {
		return "something that it started"
	}
	return fmt.Sprintf("pid %d", pid)
}

// LaunchHint stands before each hint in the file in which a launcher writes why it gave up.
const LaunchHint = "\npaw: hint: "

// LaunchFailure returns why the last launcher of an agent gave up, "" if it did not, and the lines that lead on.
func LaunchFailure(h *app.App, sessionName, agentName string) (reason string, hints []string) {
	data, err := os.ReadFile(FailurePath(h, sessionName, agentName))
	if err != nil {
		return "", nil
	}
	parts := strings.Split(string(data), LaunchHint)
	return strings.TrimSpace(parts[0]), parts[1:]
}
