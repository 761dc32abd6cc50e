package git

import (
	"context"
	"errors"
	"testing"
)

func TestAnsweringGitSaysWhyItEnds(t *testing.T) {
	r := Repo{Dir: t.TempDir()}
	if err := r.Run(t.Context(), "init", "-q"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start := func() *Answering {
		t.Helper()
		git, err := r.Start(ctx, "update-ref", "--stdin")
		if err != nil {
			t.Fatal(err)
		}
		return git
	}
	answers := start()
	for range 2 {
		if err := answers.Ask("start\nabort\n", 2); err != nil {
			t.Errorf("got %v", err)
		}
	}
	answers.Close()
	err := start().Ask("nonsense\n", 1)
	if failed, ok := errors.AsType[*Error](err); !ok || failed.ExitCode != 128 || !failed.Said("unknown command: nonsense") {
		t.Errorf("a command that is none: %v", err)
	}
	waits := start()
	cancel()
	if err := waits.Ask("\n", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := r.Start(t.Context(), "update-ref", "--stdin"); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("without git: %v", err)
	}
}
