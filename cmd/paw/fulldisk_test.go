//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk mounts a small file system where paw keeps its state. fill fills the file system to the
// last byte.
func fullDisk(t *testing.T, w *world) (fill func()) {
	t.Helper()
	fill = smallDisk(t, filepath.Join(w.root, "home/.local"), "256k", 0)
	return fill
}

// smallDisk mounts a file system of a size at dir. fill fills it, but for some bytes.
func smallDisk(t *testing.T, dir, size string, leave int) (fill func()) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("cannot mount a small file system here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return func() {
		f, err := os.Create(filepath.Join(dir, "filler"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for {
			if _, err := f.Write(make([]byte, 512)); err != nil {
				break
			}
		}
		if info, err := f.Stat(); err != nil || f.Truncate(max(info.Size()-int64(leave), 0)) != nil {
			t.Errorf("%v, and cannot be made shorter", err)
		}
	}
}

// TestLandOnAFullDiskNamesTheDisk: git often says only that it could not write.
func TestLandOnAFullDiskNamesTheDisk(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]int{"nothing fits": 0, "no ref fits": 4 << 10, "the files do not fit": 256 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			disk := filepath.Join(w.root, "disk")
			fill := smallDisk(t, disk, "4m", leave)
			if err := os.CopyFS(filepath.Join(disk, "shop"), os.DirFS(w.repo)); err != nil {
				t.Fatal(err)
			}
			w.repo = filepath.Join(disk, "shop")
			w.configure("[worktree]\npath = '" + w.root + "/trees/{agent}'\n")
			w.ok(w.paw("start", "--cli", "demo", "--detach"))
			w.ready("demo")
			w.ok(w.paw("send", "demo", "do: run head -c 512000 /dev/urandom >big"))
			w.ok(w.paw("wait", "demo"))
			fill()
			if out := w.paw("land", "demo"); out.code != 1 || !strings.Contains(out.stderr, "paw: hint: df -h "+disk) {
				t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
		})
	}
}

func TestStartOnAFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fullDisk(t, w)()
	out := w.paw("start", "--cli", "demo", "--detach")
	if out.code != 1 || !strings.HasPrefix(out.stderr, "paw: error: ") || !strings.Contains(out.stderr, "no space left") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if branches := w.git(w.repo, "branch", "--list", "paw/*"); branches != "" {
		t.Errorf("left behind: %s", branches)
	}
	if _, err := os.Stat(filepath.Join(w.root, "shop.paw")); err == nil {
		t.Error("left a worktree folder behind")
	}
	if w.tmux("list-sessions").code == 0 {
		t.Error("left a tmux server behind")
	}
	if out := w.ok(w.paw("status", "--all")); strings.Contains(out.stdout, "shop  ") {
		t.Errorf("left a record behind: %s", out.stdout)
	}
}

// TestAddOnAFullDiskLeavesNothing: neither an agent that never was, nor its branch or worktree.
func TestAddOnAFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fill := fullDisk(t, w)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ready("demo")
	fill()
	if out := w.paw("add", "--cli", "two=demo"); out.code != 1 || !strings.Contains(out.stderr, "no space left") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if out := w.ok(w.paw("status")); strings.Contains(out.stdout, "two") {
		t.Errorf("left an agent behind:\n%s", out.stdout)
	}
	if branches := w.git(w.repo, "branch", "--list", "paw/shop/two"); branches != "" {
		t.Errorf("left behind: %s", branches)
	}
	if _, err := os.Stat(w.worktree("two")); err == nil {
		t.Error("left a worktree behind")
	}
}

func TestStatusAndStopWorkOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fill := fullDisk(t, w)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ready("demo")
	fill()
	if out := w.ok(w.paw("status")); !strings.Contains(out.stdout, "shop  active") {
		t.Errorf("status: %s%s", out.stdout, out.stderr)
	}
	if out := w.paw("doctor"); out.code != 1 || !strings.Contains(out.stdout, "cannot be written: no space left on device") || !strings.Contains(out.stdout, "df -h ") {
		t.Errorf("doctor: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	w.write(w.worktree("demo"), "draft.txt", "draft\n") // the repository has room
	w.ok(w.paw("rewind", "demo", "0"))
	w.hasStatus(w.worktree("demo"), "")
	w.ok(w.paw("rewind", "demo", "--undo"))
	w.hasStatus(w.worktree("demo"), "?? draft.txt\n")
	out := w.paw("stop", "demo")
	if out.code != 1 || strings.Count(out.stderr, "no space left") != 1 || !strings.Contains(out.stderr, "paw: hint: paw stop shop demo --only\n") {
		t.Errorf("stop of one: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	out = w.paw("stop")
	if out.code != 1 || !strings.Contains(out.stderr, "not recorded") || strings.Count(out.stderr, "no space left") != 1 {
		t.Errorf("stop: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	waitFor(t, "the tmux server ends without a pane", func() bool { return w.tmux("list-sessions").code != 0 })
	if a := w.agent("demo"); a.PID != nil {
		t.Errorf("still runs: %+v", a)
	}
}

// TestStopOnAReadOnlyDisk: the CLIs end all the same, and paw says what it could not write.
func TestStopOnAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join(w.root, "home/.local")
	smallDisk(t, dir, "4m", 0)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ready("demo")
	if err := errors.Join(syscall.Mount(dir, dir, "", syscall.MS_BIND, ""), syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")); err != nil {
		t.Skipf("cannot make a read-only file system here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	out := w.paw("stop")
	if out.code != 1 || !strings.Contains(out.stderr, "paw: error: shop: stopped, but not recorded: ") || !strings.Contains(out.stderr, "read-only file system") {
		t.Errorf("stop: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	waitFor(t, "the tmux server ends without a pane", func() bool { return w.tmux("list-sessions").code != 0 })
}

// TestSetUpThatFillsTheDisk: a launcher has room for its reason to give up.
func TestSetUpThatFillsTheDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fullDisk(t, w)
	filler := filepath.Join(w.root, "home/.local/filler")
	w.configure("[worktree]\nsetup = 'until test -e " + w.root + "/go; do sleep 0.1; done; cat /dev/zero >" + filler + " 2>/dev/null || exit 3'\n")
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.write(w.root, "go", "")
	waitFor(t, "the set-up has failed", func() bool {
		a := w.agent("demo")
		return a.State == "error" && a.Reason != nil && *a.Reason == "set-up failed (exit status 3)"
	})
	if left, err := filepath.Glob(filepath.Join(w.root, "home/.local/state/paw/launch/shop/*")); len(left) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	w.configure("")
	w.ok(w.paw("recover", "--detach"))
	w.ready("demo")
}

// TestPromptThatAFullDiskDidNotRecord: the turn before does not answer for it, also once there is space again.
func TestPromptThatAFullDiskDidNotRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fill := fullDisk(t, w)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ready("demo")
	w.ok(w.paw("send", "demo", "do: write x 1"))
	w.ok(w.paw("wait", "demo"))
	fill()
	w.ok(w.paw("send", "demo", "do: write y 2", "--no-wait"))
	waitFor(t, "the prompt is carried out", func() bool {
		_, err := os.Stat(filepath.Join(w.worktree("demo"), "y"))
		return err == nil
	})
	unrecorded := func() bool {
		return strings.Contains(w.ok(w.paw("status")).stdout, "unknown") && w.paw("wait", "demo", "--timeout", "1m").code == 1
	}
	waitFor(t, "the agent is unknown", unrecorded)
	if err := os.Remove(filepath.Join(w.root, "home/.local/filler")); err != nil {
		t.Fatal(err)
	}
	if !unrecorded() {
		t.Error("known, now that there is space")
	}
	if out := w.paw("rewind", "demo", "0"); out.code != 3 || !strings.Contains(out.stderr, "its last prompt is not recorded") {
		t.Errorf("rewind: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	w.ok(w.paw("send", "demo", "do: write z 3"))
	w.ok(w.paw("wait", "demo"))
	if out := w.ok(w.paw("status")); strings.Contains(out.stdout, "unknown") {
		t.Errorf("after a turn that is recorded:\n%s", out.stdout)
	}
}

// longPrompt does not fit into what is freed meanwhile on a full disk.
var longPrompt = strings.Repeat("about twenty letters\n", 1000)

// TestPromptsOnAFullDisk: a prompt that cannot be kept is refused with the line that shows the disk, and nothing of it is left;
// one that is kept is typed once there is room, and survives a program that cannot be executed.
func TestPromptsOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := filepath.Join(w.root, "home/.local/state/paw")
	fill := fullDisk(t, w)
	refused := func(folder string, out output) {
		t.Helper()
		if out.code != 1 || !strings.Contains(out.stderr, "no space left") || !strings.HasSuffix(out.stderr, "\npaw: hint: df -h "+filepath.Join(state, folder)+"\n") {
			t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
	}
	w.configure("[clis.odd]\ncommand = ['" + w.root + "/odd']\n[worktree]\nsetup = 'while ! test -e " + w.root + "/go; do sleep 0.05; done'\n")
	w.write(w.root, "odd", "no program\n")
	if err := os.Chmod(filepath.Join(w.root, "odd"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("start", "--cli", "demo,odd", "--prompt", "do: append p.txt first", "--detach"))
	w.ok(w.paw("send", "demo", "do: append p.txt kept"))
	fill()
	refused("agents/shop/demo", w.paw("send", "demo", "do: append p.txt refused\n"+longPrompt))
	refused("launch/shop", w.paw("add", "--cli", "more=demo", "--prompt", "never\n"+longPrompt))
	w.write(w.root, "go", "")
	waitFor(t, "the odd one has failed", func() bool { return w.agent("odd").State == "error" })
	if text, err := os.ReadFile(filepath.Join(state, "launch/shop/odd.prompt")); string(text) != "do: append p.txt first" {
		t.Errorf("the first prompt is %q, %v", text, err)
	}
	if err := os.Remove(filepath.Join(w.root, "home/.local/filler")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the kept prompt is carried out", func() bool {
		w.paw("recover", "shop", "demo", "--detach")
		text, _ := os.ReadFile(filepath.Join(w.worktree("demo"), "p.txt"))
		return string(text) == "first\nkept\n"
	})
	if out := w.paw("doctor"); strings.Contains(out.stdout, "more") {
		t.Errorf("an agent that was refused:\n%s", out.stdout)
	}
}

// TestQueuedPromptOnAFullDisk: what the CLI has got is never called an error, although it could not be kept.
func TestQueuedPromptOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fill := fullDisk(t, w)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ready("demo")
	w.ok(w.paw("send", "demo", "do: run while ! test -e "+w.root+"/on; do sleep 0.05; done"))
	fill()
	if out := w.ok(w.paw("send", "demo", "do: append p.txt queued\n"+longPrompt)); !strings.Contains(out.stderr, "demo: the prompt is queued in its CLI alone, and lost if that ends before it begins: ") {
		t.Errorf("%s%s", out.stdout, out.stderr)
	}
	w.write(w.root, "on", "")
	waitFor(t, "it is carried out", func() bool {
		text, _ := os.ReadFile(filepath.Join(w.worktree("demo"), "p.txt"))
		return string(text) == "queued\n"
	})
}

// TestRewindThatAFullDiskCuts: a rewind with no room for its way back stays open. What says so names the disk, recover does not
// succeed before it is ended, and once there is room it is carried out or taken back, and either turn can be gone to.
func TestRewindThatAFullDiskCuts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk := filepath.Join(w.root, "disk")
	fill := smallDisk(t, disk, "12m", 700<<10)
	if err := os.CopyFS(filepath.Join(disk, "shop"), os.DirFS(w.repo)); err != nil {
		t.Fatal(err)
	}
	w.repo = filepath.Join(disk, "shop")
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ready("demo")
	for _, prompt := range []string{"do: run for i in 1 2 3; do head -c 1000000 /dev/urandom >b$i; done", "do: run rm b1 b2 b3; echo 2 >t2"} {
		w.ok(w.paw("send", "demo", prompt))
		w.ok(w.paw("wait", "demo"))
	}
	at := filepath.Join(disk, "shop.paw/shop/demo")
	before := w.git(at, "status", "--short", "--branch")
	fill()
	full := "paw: hint: df -h " + at + "\n"
	if out := w.paw("rewind", "demo", "1"); out.code != 1 || !strings.Contains(out.stderr, full+"paw: hint: paw recover shop\n") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	out := w.paw("recover", "--detach")
	for _, want := range []string{"No space left on device; df -h " + at, "paw: error: shop: a paw rewind in " + at + " is not finished\npaw: hint: paw recover shop\n"} {
		if out.code != 1 || !strings.Contains(out.stderr, want) {
			t.Errorf("exit code %d, without %q\n%s%s", out.code, want, out.stdout, out.stderr)
		}
	}
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("recover", "--detach"))
	status := func() string { return w.git(at, "status", "--short", "--branch") }
	after := "## paw/shop/demo\n?? b1\n?? b2\n?? b3\n"
	if now := status(); now != before && now != after {
		t.Errorf("half done:\n%s\nwas:\n%s", now, before)
	}
	for _, turn := range []struct{ number, want string }{{"1", after}, {"2", before}} {
		if w.ok(w.paw("rewind", "demo", turn.number)); status() != turn.want {
			t.Errorf("turn %s:\n%s", turn.number, status())
		}
	}
}
