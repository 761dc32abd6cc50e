package teardown

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/app"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// What a CLI writes as it ends, into a worktree that was found clean, is saved by --force like everything else.
func TestForceSavesWhatComesLate(t *testing.T) {
	dir := t.TempDir()
	repo, place := filepath.Join(dir, "shop"), filepath.Join(dir, "one")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	h, err := app.New(repo, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	repository, err := gitdir.Discover(repo)
	if err != nil {
		t.Fatal(err)
	}
	m := h.Manager(repository)
	plan := worktree.Plan{Agent: "one", Branch: "one", Path: place, Base: git("rev-parse", "HEAD"), CreateBranch: true, Owner: "paw shop/one"}
	if _, err := m.Create(t.Context(), []worktree.Plan{plan}, func(string) {}); err != nil {
		t.Fatal(err)
	}
	seen, err := m.See(t.Context(), plan)
	if err != nil || !seen.Clean() {
		t.Fatal(err, seen)
	}
	late := Agent{
		Agent: session.Agent{Name: "one", WorktreePath: place, TurnSession: "shop_one"},
		clean: true, intent: session.PhaseDiscarding, plan: plan, seen: seen,
	}
	if err := os.WriteFile(filepath.Join(place, "late.txt"), []byte("late\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var removed Removed
	if err := late.clear(t.Context(), h, m, &removed); err != nil {
		t.Fatal(err)
	}
	if removed.RescueRef == "" || git("show", removed.RescueRef+":late.txt") != "late" {
		t.Errorf("not saved: %+v", removed)
	}
	if _, err := os.Stat(place); err == nil || removed.Trash == "" {
		t.Errorf("the worktree is there, or not in the trash (%s)", removed.Trash)
	}
}
