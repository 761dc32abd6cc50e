package orchestrator

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// recorded plays what a real claude did once more, in a real worktree: the calls of its hooks and the lines of its
// transcript, in their order. Each tool writes a file of its own, tool-1 and so on, after its hook.
type recorded struct {
	t          *testing.T
	p          *app.App
	now        time.Time
	worktree   string
	transcript string
	tools      int
	following  bool
}

// row is a line of a recording: a call of a hook, or a line of the transcript.
type row struct {
	Hook      string          `json:"hook"`
	At        int64           `json:"at"`
	Payload   json.RawMessage `json:"payload"`
	Timestamp time.Time       `json:"timestamp"`
}

const recordedSession = "s"

func newRecorded(t *testing.T, conversation string) *recorded {
	t.Helper()
	dir := memoryDir(t)
	repo := filepath.Join(dir, "repo")
	r := &recorded{t: t, worktree: filepath.Join(dir, "a")}
	r.git("init", "-q", "-b", "main", repo)
	r.git("-C", repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
	r.git("-C", repo, "worktree", "add", "-q", "-b", "b", r.worktree)
	user := filepath.Join(dir, "home")
	r.transcript = filepath.Join(user, ".claude", "projects", regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(r.worktree, "-"), conversation+".jsonl")
	if err := os.MkdirAll(filepath.Dir(r.transcript), 0o700); err != nil {
		t.Fatal(err)
	}
	paths := config.Paths{StateDir: filepath.Join(dir, "state"), SessionsDir: filepath.Join(dir, "sessions")}
	r.p = &app.App{
		Paths: paths, Locks: session.Locks{Dir: paths.LocksDir()}, CLIs: clis.New(nil), Now: func() time.Time { return r.now },
		Store: session.Store{Dir: paths.SessionsDir, LocksDir: paths.LocksDir()}, Step: func(string) {},
		Env: []string{"HOME=" + user, "PATH=" + os.Getenv("PATH"), "PAW_LAUNCH=" + recordedSession + "/a/0"},
		Detached: func(args []string) error {
			r.following = r.following || args[0] == "__follow"
			return nil
		},
	}
	r.p.Config.Turns.SnapshotSeconds = 60
	s := &session.Session{
		Name: recordedSession, GitCommonDir: filepath.Join(repo, ".git"), RepoPath: repo, Status: session.StatusActive,
		Agents: []session.Agent{{
			Name: "a", CLI: "claude", Branch: "b", WorktreePath: r.worktree, TurnSession: "s_a", Phase: session.PhaseLive,
			ConversationIDs: []string{conversation},
		}},
	}
	if err := r.p.Store.Create(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	// As long as the CLI calls its hooks it has the agent's lock: a hook that finds none asks tmux for the agent.
	lock, err := r.p.Locks.HoldAgent(recordedSession, "a", session.Holder{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	return r
}

// memoryDir is a folder on a file system where a sync costs nothing, if there is one.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "paw")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (r *recorded) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// play plays a recording. followed says whether the process that follows a turn lives to look after each row, or never
// starts.
func (r *recorded) play(rows []string, followed bool) {
	r.t.Helper()
	for _, text := range rows {
		var one row
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			r.t.Fatal(err)
		}
		if one.Hook == "" {
			r.now = one.Timestamp.Add(time.Millisecond)
			r.write(r.transcript, text+"\n")
		} else {
			r.now = time.UnixMilli(one.At)
			r.call(one)
		}
		if r.following && followed {
			r.follow()
		}
	}
}

func (r *recorded) call(one row) {
	r.t.Helper()
	payload := map[string]any{"transcript_path": r.transcript}
	if err := json.Unmarshal(one.Payload, &payload); err != nil {
		r.t.Fatal(err)
	}
	data, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	_, queued := os.Lstat(turns.QueuedMark(r.p, recordedSession, "a"))
	if one.Hook != "PreToolUse" || queued == nil {
		if err := hook(r.t.Context(), r.p, Report{CLI: "claude", Event: one.Hook, Payload: data, Caller: os.Getppid()}); err != nil {
			r.t.Fatalf("%s: %v", one.Hook, err)
		}
	}
	if one.Hook == "PreToolUse" {
		r.tools++
		r.write(filepath.Join(r.worktree, fmt.Sprintf("tool-%d", r.tools)), "done\n")
	}
}

func (r *recorded) write(path, text string) {
	r.t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		r.t.Fatal(err)
	}
}

// follow is what the process does that follows a turn, at one moment.
func (r *recorded) follow() {
	r.t.Helper()
	s, err := r.p.Load(recordedSession)
	if err == nil {
		_, err = turns.TakeMissed(r.t.Context(), r.p.Agent(s, s.Agent("a")))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// turns shows each turn: number, type, state, prompt, what joined it, the files that its diff has, its notes, and a * for
// a tag.
func (r *recorded) turns() []string {
	r.t.Helper()
	records, problems := r.p.TurnDir(recordedSession, "a").Records()
	if len(problems) > 0 {
		r.t.Fatal(problems)
	}
	tags := r.git("-C", r.worktree, "tag")
	var shown []string
	for _, one := range records {
		text := fmt.Sprintf("%d %s %s%s %q", one.Number, one.Type, one.State, map[bool]string{true: ":" + string(one.Reason)}[one.Reason != ""], one.Prompt)
		log, err := os.ReadFile(one.LogFile)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, joined := range regexp.MustCompile(`"EXECUTE".*"description":("[^"]*")`).FindAllStringSubmatch(string(log), -1) {
			text += " +" + joined[1]
		}
		if one.State != turn.InProgress {
			before, after := turn.BeforeRef("s_a", one.Number), turn.TurnRef("s_a", one.Number)
			text += " [" + strings.Join(strings.Fields(r.git("-C", r.worktree, "diff", "--name-only", before, after)), " ") + "]"
		}
		if strings.Contains(tags+"\n", turn.TagName("s_a", one.Number)+"\n") {
			text += " *"
		}
		for _, note := range one.Notes {
			text += " note: " + note
		}
		shown = append(shown, text)
	}
	return shown
}

func recording(t *testing.T, name string) (rows []string, conversation string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("cli", "testdata", "claude-turns", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	rows = strings.Split(strings.TrimSpace(string(content)), "\n")
	found := regexp.MustCompile(`"session_id":"([^"]*)"`).FindStringSubmatch(rows[0])
	if found == nil {
		t.Fatalf("%s does not begin with a hook", name)
	}
	return rows, found[1]
}

// TestRecordedTurns: prompts that wait, an Esc, errors of the API, a compaction and hooks that send claude on, as two
// versions of claude report them. Each prompt that is answered on its own has a turn with what its tools did.
func TestRecordedTurns(t *testing.T) {
	for name, want := range map[string][]string{
		"bash-command-2.1.197": {
			`1 prompt finished "do: say A" [] *`,
		},
		"bash-command-2.1.330": {
			`1 prompt finished "do: say A" [] *`,
		},
		"compaction-between-2.1.330": {
			`1 prompt finished "do: slow 4 first" +"do: say B" +"do: write c.txt 1\ndo: say C" [] *`,
			`2 prompt finished "do: say B" [] *`,
			`3 prompt finished "do: write c.txt 1\ndo: say C" [tool-1] *`,
		},
		"error-before-2.1.330": {
			`1 prompt aborted:error "do: sleep 3\ndo: fail 400 bad" +"do: write b.txt 1\ndo: say B" []`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" [tool-1] *`,
		},
		"error-then-two-2.1.330": {
			`1 prompt aborted:error "do: run sleep 2\ndo: fail 400 bad" [tool-1]`,
			`2 prompt finished "do: slow 3 first" +"do: fail 400 bad" +"do: say C" [] *`,
			`3 prompt finished "do: fail 400 bad" +"do: say C" [] *`,
		},
		"esc-in-a-tool-2.1.330": {
			`1 prompt aborted:interrupted "do: run sleep 6\ndo: say A" +"do: write b.txt 1\ndo: say B" [tool-1]`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" [tool-2] *`,
			`3 prompt finished "do: say after" [] *`,
		},
		"esc-while-it-answers-2.1.197": {
			`1 prompt aborted:interrupted "do: slow 6 first" []`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" [tool-1] *`,
			`3 prompt finished "do: say after" [] *`,
		},
		"esc-while-it-answers-2.1.330": {
			`1 prompt aborted:interrupted "do: slow 6 first" +"do: write b.txt 1\ndo: say B" []`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" [tool-1] *`,
			`3 prompt finished "do: say after" [] *`,
		},
		"one-joins-one-waits-2.1.330": {
			`1 prompt finished "do: run sleep 3\ndo: slow 4 A" +"do: write b.txt 1" +"do: write c.txt 1\ndo: say C" [tool-1 tool-2] *`,
			`2 prompt finished "do: write c.txt 1\ndo: say C" [tool-3] *`,
		},
		"stop-hook-and-prompt-2.1.330": {
			`1 prompt finished "do: slow 3 A" +"do: write b.txt 1\ndo: say B" [tool-1 tool-2] *`,
		},
		"stop-hook-decision-2.1.330": {
			`1 prompt finished "do: say A" [tool-1] *`,
			`2 prompt finished "do: say next" [] *`,
		},
		"stop-hook-exit-2-2.1.197": {
			`1 prompt finished "do: say A" [tool-1 tool-2] *`,
			`2 prompt finished "do: say next" [] *`,
		},
		"stop-hook-exit-2-2.1.330": {
			`1 prompt finished "do: say A" [tool-1 tool-2] *`,
			`2 prompt finished "do: say next" [] *`,
		},
		"taken-back-2.1.330": {
			`1 prompt finished "do: slow 6 first" +"do: write b.txt 1\ndo: say B" [] *`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" [tool-1] *`,
		},
		"three-at-once-2.1.197": {
			`1 prompt finished "do: slow 4 first" [] *`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" +"do: write c.txt 1\ndo: say C" +"do: slow 2 D" [] *`,
		},
		"three-at-once-2.1.330": {
			`1 prompt finished "do: slow 4 first" +"do: write b.txt 1\ndo: say B" +"do: write c.txt 1\ndo: say C" +"do: slow 2 D" [] *`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" +"do: write c.txt 1\ndo: say C" +"do: slow 2 D" [] *`,
		},
		"while-a-tool-runs-2.1.330": {
			`1 prompt finished "do: run sleep 3\ndo: say A" +"do: write b.txt 1\ndo: say B" [tool-1 tool-2] *`,
		},
		"while-it-answers-2.1.197": {
			`1 prompt finished "do: slow 4 first" [] *`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" [tool-1] *`,
		},
		"while-it-answers-2.1.330": {
			`1 prompt finished "do: slow 4 first" +"do: write b.txt 1\ndo: say B" [] *`,
			`2 prompt finished "do: write b.txt 1\ndo: say B" [tool-1] *`,
		},
	} {
		for _, followed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, followed %t", name, followed), func(t *testing.T) {
				rows, conversation := recording(t, name)
				r := newRecorded(t, conversation)
				r.play(rows, followed)
				if diff := cmp.Diff(want, r.turns()); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		}
	}
}
