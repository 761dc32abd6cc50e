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
	git := &Answering{}
	defer git.Close()
	ask := func(ctx context.Context, commands string, lines int) (string, error) {
		return git.Ask(ctx, r, commands, lines, "update-ref", "--stdin")
	}
	for range 2 {
		if last, err := ask(ctx, "start\nabort\n", 2); last != "abort: ok" || err != nil {
			t.Errorf("got %q, %v", last, err)
		}
	}
	_, err := ask(ctx, "nonsense\n", 1)
	if failed, ok := errors.AsType[*Error](err); !ok || failed.ExitCode != 128 || !failed.Said("unknown command: nonsense") {
		t.Errorf("a command that is none: %v", err)
	}
	if last, err := ask(ctx, "start\nabort\n", 2); last != "abort: ok" || err != nil {
		t.Errorf("another git: %q, %v", last, err)
	}
	cancel()
	if _, err := ask(ctx, "\n", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := ask(t.Context(), "start\n", 1); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("without git: %v", err)
	}
}
