package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// user returns the variables of another user of the same machine and repository.
func (w *world) user(name string) []string {
	w.t.Helper()
	home := filepath.Join(w.root, name)
	if err := os.MkdirAll(home, 0o755); err != nil {
		w.t.Fatal(err)
	}
	socket := filepath.Join(home, "s")
	w.t.Cleanup(func() { killServer(socket) })
	return []string{"HOME=" + home, "PAW_TMUX_SOCKET=" + socket, "XDG_DATA_HOME=" + home + "/data", "XDG_STATE_HOME=" + home + "/state",
		"XDG_CONFIG_HOME=" + home + "/config", "XDG_CACHE_HOME=" + home + "/cache"}
}

// TestTwoUsersStartAtTheSameTime has a second user start in the same repository after each step of
// a start, with a name chosen by paw and with a given one. The second user gets his own worktrees
// or is refused, and removing his session takes nothing from the first user.
func TestTwoUsersStartAtTheSameTime(t *testing.T) {
	t.Parallel()
	for _, named := range []string{"", " --name same"} {
		for _, step := range []string{"start.recorded", "worktree.filled"} {
			t.Run(step+named, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				start := strings.Fields("start --cli demo --detach" + named)
				second, code := w.user("second"), filepath.Join(w.root, "code")
				do := fmt.Sprintf("env %s '%s' %s >/dev/null 2>&1; echo $? >%s", strings.Join(second, " "), pawForTests(), strings.Join(start, " "), code)
				first := w.pawWith([]string{"PAW_TEST_AT=" + step, "PAW_TEST_DO=" + do}, start...)
				data, err := os.ReadFile(code)
				if err != nil {
					t.Fatal(err)
				}
				want := 2
				if named != "" {
					want = 1
					if got := fmt.Sprint(first.code, " ", strings.TrimSpace(string(data))); got != "0 2" && got != "2 0" {
						t.Errorf("exit codes %s\n%s%s", got, first.stdout, first.stderr)
					}
				} else if first.code != 0 || string(data) != "0\n" {
					t.Errorf("exit codes %d and %s\n%s%s", first.code, data, first.stdout, first.stderr)
				}
				w.apart(want)
				if named != "" && first.code != 0 {
					return
				}
				w.ok(w.pawWith(second, "status"))
				_ = w.pawWith(second, "purge", "--yes", "--tags")
				w.apart(1)
				waitFor(t, "the agent of the first is idle", func() bool { return strings.Contains(w.paw("status", "--json").stdout, `"state":"idle"`) })
				w.ok(w.paw("send", "demo", "a note"))
			})
		}
	}
}

// TestKilledStartLosesItsNameToAnotherUser kills a start before it has tagged anything, and has
// another user take the name: what is left of the first start does not touch the other user's
// session, and can be removed.
func TestKilledStartLosesItsNameToAnotherUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := []string{"start", "--cli", "demo", "--detach"}
	w.kill("start.recorded", start...)
	second := w.user("second")
	w.ok(w.pawWith(second, start...))
	w.write(w.worktree("demo"), "draft.txt", "of the second\n")
	if out := w.paw("recover", "--detach"); out.code != 2 || !strings.Contains(out.stderr, "afk-shop_demo-0") {
		t.Errorf("recover: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	w.ok(w.paw("purge", "--yes", "--tags", "--force"))
	w.apart(1)
	if data, err := os.ReadFile(filepath.Join(w.worktree("demo"), "draft.txt")); err != nil || string(data) != "of the second\n" {
		t.Errorf("got %q, %v", data, err)
	}
	w.ok(w.pawWith(second, "send", "demo", "a note"))
}

// apart fails the test unless there are want agents, each with its own worktree, branch and start
// tag.
func (w *world) apart(want int) {
	w.t.Helper()
	for what, list := range map[string]string{
		"worktrees": strings.Join(strings.Split(w.git(w.repo, "worktree", "list"), "\n")[1:], "\n"),
		"branches":  w.git(w.repo, "branch", "--list", "paw/*"),
		"starts":    w.git(w.repo, "tag", "--list", "afk-*-0"),
	} {
		if got := strings.Count(list, "\n"); got != want {
			w.t.Errorf("%d %s, want %d:\n%s", got, what, want, list)
		}
	}
}

// TestStartsRaceForAnEmptyDirectory starts several sessions at once in a directory that is no
// repository yet; one start is refused late.
func TestStartsRaceForAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	for round := range 5 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			w := newWorld(t)
			w.repo = filepath.Join(w.root, "empty")
			if err := os.Mkdir(w.repo, 0o755); err != nil {
				t.Fatal(err)
			}
			refused := []string{"start", "--cli", "demo", "--detach", "--name", "er0", "--base", "nowhere"}
			codes := w.atOnce(4, func(i int) []string {
				if i == 0 {
					return refused
				}
				return []string{"start", "--cli", "demo", "--detach", "--name", fmt.Sprintf("er%d", i)}
			})
			for i, out := range codes {
				if (i == 0) != (out.code == 2) || out.code != 0 && i > 0 {
					t.Errorf("er%d: exit code %d\n%s%s", i, out.code, out.stdout, out.stderr)
				}
			}
			w.apart(3)
			if got := w.git(w.repo, "log", "--format=%s", "HEAD"); strings.Count(got, "\n") != 1 {
				t.Errorf("the commits are\n%s", got)
			}
		})
	}
}

func TestEmptyDirectoryIsNamedAfterTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.repo = filepath.Join(w.root, "other", "shop")
	if err := os.MkdirAll(w.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	if got := w.git(w.repo, "log", "--format=%s", "HEAD"); got != "afk: session shop_2 initialized\n" {
		t.Errorf("the commit says %q", got)
	}
}
