package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnfinishedLandingIsInNobodysWay: a landing that cannot be finished, because another git holds
// the index, is reported with a hint; agents still come back, and work still lands on other
// branches.
func TestUnfinishedLandingIsInNobodysWay(t *testing.T) {
	t.Parallel()
	w := started(t, "one", "two")
	w.write(w.worktree("one"), "one.txt", "one\n")
	w.write(w.worktree("two"), "two.txt", "two\n")
	w.git(w.repo, "branch", "other")
	w.kill("land.move.files", "land", "one")
	lock := filepath.Join(w.repo, ".git/index.lock")
	w.write(w.repo, ".git/index.lock", "") // the lock of a git that waits for the user's message
	if out := w.paw("doctor"); !strings.Contains(out.stdout+out.stderr, "a landing of shop/one was cut short there") {
		t.Errorf("doctor says\n%s%s", out.stdout, out.stderr)
	}
	killServer(w.socket)
	w.awaitDead("one", "two")
	out := w.paw("recover", "shop", "--detach")
	if out.code != 1 || !strings.Contains(out.stderr, "paw: error: shop: landing 1 of shop/one is not finished\n") || !strings.Contains(out.stderr, "landing 1 of shop/one was cut short, and is not finished: ") || !strings.Contains(out.stderr, "; paw recover shop") {
		t.Errorf("exit code %d, recover says\n%s", out.code, out.stderr)
	}
	w.ready("one", "two")
	w.ok(w.paw("land", "two", "--into", "other"))
	if out := w.paw("land", "two"); out.code != 3 || !strings.Contains(out.stderr, "was cut short there") || !strings.Contains(out.stderr, "hint: paw recover shop") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("recover", "shop", "--detach"))
	w.hasStatus(w.repo, "")
	w.ok(w.paw("land", "one"))
	w.hasStatus(w.repo, "")
	if got := w.readFile("one.txt"); got != "one\n" {
		t.Errorf("it landed %q", got)
	}
}

// TestLandWhereNothingIsCheckedOut: a checkout that has no index yet has no files of its branch,
// and landings write none.
func TestLandWhereNothingIsCheckedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := filepath.Join(w.root, "empty", "shop")
	w.git(w.root, "clone", "-q", "--no-checkout", w.repo, bare)
	w.repo = bare
	w.configure("worktree.path = '" + w.root + "/shop.paw/{session}/{agent}'\n")
	w.start("one")
	w.write(w.worktree("one"), "README.md", "changed\n")
	w.ok(w.paw("land", "one"))
	if got := w.git(w.repo, "show", "main:README.md"); got != "changed\n" {
		t.Errorf("it landed %q", got)
	}
	w.ok(w.paw("land", "--undo"))
	w.ok(w.paw("land", "one"))
	if _, err := os.Lstat(filepath.Join(w.repo, ".git/index.lock")); err == nil {
		t.Error("the index is locked")
	}
	w.git(w.repo, "checkout", "-q")
	w.hasStatus(w.repo, "")
}

// TestMessageIsWrittenBeforeAnythingIsHeld: while one user writes the message of a landing, others
// can land.
func TestMessageIsWrittenBeforeAnythingIsHeld(t *testing.T) {
	t.Parallel()
	w := started(t, "one", "two")
	w.write(w.worktree("one"), "one.txt", "one\n")
	w.write(w.worktree("two"), "two.txt", "two\n")
	here, done := filepath.Join(w.root, "here"), filepath.Join(w.root, "done")
	w.script(w.root, "editor", "#!/bin/sh\necho 'by hand' > \"$1\"; : > "+here+"; until test -e "+done+"; do sleep 0.05; done\n")
	ended := make(chan output, 1)
	go func() {
		ended <- w.pawWith([]string{"EDITOR=" + filepath.Join(w.root, "editor"), "VISUAL="}, "land", "one", "--edit")
	}()
	waitFor(t, "the editor", func() bool { _, err := os.Lstat(here); return err == nil })
	w.ok(w.paw("land", "two"))
	w.write(w.root, "done", "")
	w.ok(<-ended)
	if got := w.git(w.repo, "log", "-2", "--format=%s"); got != "by hand\ntwo.txt\n" {
		t.Errorf("main is\n%s", got)
	}
}

// TestUpdateIsSigned: the merge commit of an update is signed like the user's own commits.
func TestUpdateIsSigned(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	w.script(w.root, "signer", "#!/bin/sh\ncat >/dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo '-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----'\n")
	w.write(w.worktree("one"), "one.txt", "one\n")
	w.git(w.worktree("one"), "add", "-A")
	w.git(w.worktree("one"), "commit", "-q", "-m", "one")
	w.write(w.repo, "m.txt", "m\n")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "m")
	w.git(w.repo, "config", "commit.gpgSign", "true")
	w.git(w.repo, "config", "gpg.program", filepath.Join(w.root, "signer"))
	w.ok(w.paw("update", "one"))
	if got := w.git(w.worktree("one"), "cat-file", "commit", "HEAD"); !strings.Contains(got, "gpgsig") || strings.Count(got, "parent ") != 2 {
		t.Errorf("not signed:\n%s", got)
	}
}
