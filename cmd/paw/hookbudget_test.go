package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestHookKeepsItsBudget has a file whose git filter hangs, so that the file cannot be saved in the
// time that a hook takes. The turn ends without a snapshot and says so, and a later turn saves all
// files.
func TestHookKeepsItsBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[turns]\nsnapshot_seconds = 1\n")
	letGo := filepath.Join(w.root, "let-go")
	w.write(w.repo, ".gitattributes", "*.slow filter=slow\n")
	w.git(w.repo, "add", ".gitattributes")
	w.git(w.repo, "commit", "-q", "-m", "a filter")
	w.git(w.repo, "config", "filter.slow.clean", "trap '' TERM; while [ ! -e "+letGo+" ]; do sleep 1; done; cat")
	w.start("demo")
	a := w.agent("demo")
	first := w.goesOn(a, 1, "do: write x.slow x\ndo: write y y")
	w.write(w.root, "let-go", "")
	if first.State != "finished" || first.Tag == nil || *first.Tag != "afk-shop_demo-1" || first.Snapshot != nil {
		t.Errorf("the turn over the budget is %+v", first)
	}
	if note := strings.Join(first.Notes, "\n"); !strings.Contains(note, "no snapshot: ") || !strings.Contains(note, "over the budget") {
		t.Errorf("the note does not say what is missing: %q", note)
	}
	if n := w.agent("demo").TurnsCompleted; n != 1 {
		t.Errorf("%d turns are counted, want 1", n)
	}
	w.checkTurns("demo")
	later := first
	for n := 2; later.Snapshot == nil; n++ { // on a slow machine, this too may take longer than the hook's second
		later = w.goesOn(a, n, "do: say again")
	}
	if len(later.Notes) > 0 {
		t.Errorf("the turn that is saved has the notes %q", later.Notes)
	}
	w.checkSaved(a, later)
	w.checkTurns("demo")
}

// goesOn sends the demo agent the prompt of turn n, and waits until the CLI waits for the next
// prompt and no git process is left.
func (w *world) goesOn(a agentJSON, n int, prompt string) turnJSON {
	w.t.Helper()
	w.ok(w.paw("send", "demo", "--no-wait", prompt))
	waitFor(w.t, fmt.Sprintf("turn %d came to its end", n), func() bool { _, _, ended := w.demoTimes(a, n); return !ended.IsZero() })
	waitFor(w.t, fmt.Sprintf("the CLI goes on after turn %d", n), func() bool {
		return strings.HasSuffix(strings.TrimSpace(w.tmux("capture-pane", "-p", "-t", "=paw-shop:").stdout), ">")
	})
	waitFor(w.t, fmt.Sprintf("no git is left of turn %d", n), func() bool { return len(gitsBelow(w.root)) == 0 })
	list := w.turnsOf("demo")
	if len(list) != n {
		w.t.Fatalf("%d turns, want %d", len(list), n)
	}
	return list[n-1]
}

// demoTimes reads three times from the demo agent's conversation: when it called the hook of the
// turn's begin, when that hook had returned, and when it called the hook of the turn's end. The
// demo CLI writes an event before each hook, and the prompt after it.
func (w *world) demoTimes(a agentJSON, n int) (begun, worked, ended time.Time) {
	w.t.Helper()
	data, err := os.ReadFile(w.transcript(a))
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var e struct {
			Role, Event string
			Turn        int
			Timestamp   time.Time
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue // a line that is not complete yet
		}
		switch {
		case e.Event == "turn_start" && e.Turn == n:
			begun = e.Timestamp
		case e.Role == "user" && !begun.IsZero() && worked.IsZero():
			worked = e.Timestamp
		case (e.Event == "turn_end" || e.Event == "error") && e.Turn == n:
			ended = e.Timestamp
		}
	}
	return begun, worked, ended
}

func (w *world) transcript(a agentJSON) string {
	return filepath.Join(w.root, "home/.local/state/paw/demo", *a.ConversationID+".jsonl")
}

// checkSaved fails the test unless a turn's snapshot equals the files.
func (w *world) checkSaved(a agentJSON, one turnJSON) {
	w.t.Helper()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(w.root, "compare")}
	git := func(args ...string) string { return w.ok(w.run(a.WorktreePath, index, "git", args...)).stdout }
	git("read-tree", *one.Snapshot)
	if differs := git("diff", "--name-only") + git("ls-files", "--others"); differs != "" {
		w.t.Errorf("the snapshot of turn %d differs from the files in %.300s", one.Number, differs)
	}
	if files := git("ls-files"); !strings.Contains(files, "x.slow\n") {
		w.t.Errorf("the snapshot of turn %d has only\n%s", one.Number, files)
	}
}

// gitsBelow lists the git processes whose working directory is below dir.
func gitsBelow(dir string) []string {
	var found []string
	for _, p := range processes() {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid))
		if err == nil && strings.HasPrefix(cwd, dir+"/") && strings.HasPrefix(filepath.Base(p.words[0]), "git") {
			found = append(found, strings.Join(p.words, " "))
		}
	}
	return found
}

// TestHooksChangeNothing calls the hooks of a turn in a worktree with every kind of unfinished
// work.
func TestHooksChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.repo, ".gitignore", "*.log\ncache/\n")
	for _, name := range []string{"both.txt", "edited.txt", "gone.txt", "staged.txt", "half.txt"} {
		w.write(w.repo, name, "first\n")
	}
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "more")
	w.git(w.repo, "checkout", "-q", "-b", "theirs")
	w.write(w.repo, "both.txt", "theirs\n")
	w.git(w.repo, "commit", "-q", "-am", "theirs")
	w.git(w.repo, "checkout", "-q", "main")
	w.start("demo")
	a := w.agent("demo")
	w.ok(w.hook(a, "prompt", 1, "prompt"))

	tree := a.WorktreePath
	w.write(tree, "both.txt", "ours\n")
	w.git(tree, "commit", "-q", "-am", "ours")
	if out := w.run(tree, nil, "git", "merge", "-q", "theirs"); out.code != 1 {
		t.Fatalf("the merge ended with %d: %s", out.code, out.stderr)
	}
	w.write(tree, "staged.txt", "staged\n")
	w.write(tree, "new.txt", "new\n")
	w.write(tree, "half.txt", "staged\n")
	w.git(tree, "add", "staged.txt", "new.txt", "half.txt")
	w.write(tree, "half.txt", "edited after that\n")
	w.write(tree, "edited.txt", "edited\n")
	w.write(tree, "untracked.txt", "untracked\n")
	w.write(tree, "folder/untracked.txt", "untracked\n")
	w.write(tree, "x.log", "ignored\n")
	w.write(tree, "cache/x", "ignored\n")
	if err := os.Remove(filepath.Join(tree, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(tree, "link")); err != nil {
		t.Fatal(err)
	}

	before := w.look(tree)
	for _, want := range []string{
		"u UU N... 100644 100644 100644 100644", "1 M. N... 100644 100644 100644", "1 MM ", "1 A. ", "1 .M ", "1 .D ",
		"? untracked.txt\n", "? folder/\n", "? link\n", "! x.log\n", "! cache/\n",
	} {
		if !strings.Contains(before["git status"], want) {
			t.Fatalf("no %q among\n%s", want, before["git status"])
		}
	}
	same := func(after string) {
		t.Helper()
		if now := w.look(tree); !maps.Equal(now, before) {
			for _, what := range slices.Sorted(maps.Keys(before)) {
				if now[what] != before[what] {
					t.Errorf("after %s: %s was\n%.500s\nand is\n%.500s", after, what, before[what], now[what])
				}
			}
			for what := range now {
				if _, there := before[what]; !there {
					t.Errorf("after %s: %s is new", after, what)
				}
			}
		}
	}
	for n, next := range []string{"end", "prompt", "end"} {
		said := w.ok(w.hook(a, next, []int{1, 2, 2}[n], map[string]string{"prompt": "prompt", "end": "message"}[next]))
		if said.stdout != "" || said.stderr != "" {
			t.Errorf("%s printed %q%q", next, said.stdout, said.stderr)
		}
		same(next)
	}

	// The hooks have saved the turn.
	list := w.turnsOf("demo")
	if len(list) != 2 || list[1].State != "finished" || list[1].Tag == nil || len(list[0].Notes)+len(list[1].Notes) > 0 {
		t.Fatalf("turns: %+v", list)
	}
	for _, one := range list {
		names := strings.Fields(w.git(tree, "ls-tree", "-r", "--name-only", *one.Snapshot))
		want := []string{
			".gitignore", "README.md", "both.txt", "edited.txt", "folder/untracked.txt", "half.txt", "link", "new.txt",
			"staged.txt", "sub/a.txt", "untracked.txt",
		}
		if !slices.Equal(names, want) {
			t.Errorf("turn %d saved %q, want %q", one.Number, names, want)
		}
		if half, both := w.git(tree, "show", *one.Snapshot+":half.txt"), w.git(tree, "show", *one.Snapshot+":both.txt"); half != "edited after that\n" || !strings.Contains(both, "<<<<<<<") {
			t.Errorf("turn %d saved %q and %q", one.Number, half, both)
		}
	}
}

// hook calls a hook as the demo CLI does; key is the name of the event's own field.
func (w *world) hook(a agentJSON, event string, turn int, key string) output {
	w.t.Helper()
	return w.hookOf("demo", a, nil, map[string]any{
		"conversation": *a.ConversationID, "turnID": fmt.Sprintf("%s/%d", *a.ConversationID, turn), "folder": a.WorktreePath,
		"hook_event_name": event, "transcript": w.transcript(a), key: "text",
	})
}

// hookOf calls the hook of a CLI that the payload names, with env beside the variables of an agent.
func (w *world) hookOf(cli string, a agentJSON, env []string, payload map[string]any) output {
	w.t.Helper()
	report, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	env = append([]string{"PAW_SESSION=shop", "PAW_AGENT=" + a.Name, "PAW_LAUNCH=shop/" + a.Name + "/1", "PWD=" + a.WorktreePath}, env...)
	return w.runReading(string(report), a.WorktreePath, env, pawForTests(), "hook", cli, payload["hook_event_name"].(string))
}

// look returns what no hook may change: the output of git, and content, mode and time of each file
// of the worktree and of its git directory, where index and HEAD are.
func (w *world) look(tree string) map[string]string {
	w.t.Helper()
	admin := strings.TrimSpace(w.git(tree, "rev-parse", "--absolute-git-dir"))
	seen := map[string]string{}
	for _, dir := range []string{tree, admin} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			var content []byte
			switch {
			case d.Type().IsRegular():
				content, err = os.ReadFile(path)
			case d.Type()&fs.ModeSymlink != 0:
				var to string
				to, err = os.Readlink(path)
				content = []byte(to)
			}
			seen[path] = fmt.Sprintf("%s %s %q", info.Mode(), info.ModTime().Format(time.RFC3339Nano), content)
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	for _, name := range []string{"index", "HEAD", "MERGE_HEAD"} {
		if seen[filepath.Join(admin, name)] == "" {
			w.t.Fatalf("%s: there is no %s", admin, name)
		}
	}
	// With optional locks, git status itself would refresh the index.
	seen["git status"] = w.git(tree, "--no-optional-locks", "status", "--porcelain=v2", "--ignored")
	return seen
}
