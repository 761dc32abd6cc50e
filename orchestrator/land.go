package orchestrator

import (
	"context"
	"io"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/worktree"
)

// MessageEditor returns a function that lets the user edit a message in git's editor, on these
// streams.
func MessageEditor(h *app.App, stdin io.Reader, stdout, stderr io.Writer) func(context.Context, string) (string, error) {
	return func(ctx context.Context, draft string) (string, error) {
		text, err := worktree.Edit(ctx, h.Dir, worktree.MessageFile, draft, h.Env, stdin, stdout, stderr)
		if err != nil {
			return "", errs.New(errs.Failed, "the editor: %w", err)
		}
		return text, nil
	}
}

// EditPrompt lets the user edit a prompt in git's editor, on these streams.
func EditPrompt(ctx context.Context, h *app.App, draft string, stdin io.Reader, stdout, stderr io.Writer) (string, error) {
	text, err := MessageEditor(h, stdin, stdout, stderr)(ctx, draft)
	if err != nil {
		return "", errs.New(errs.Failed, "%w; the prompt is as it was", err)
	}
	return text, nil
}

// Terminal returns the streams on which git may ask the user something when it pushes. With quietly
// there are none, and git's output is kept for its error.
func Terminal(h *app.App, stdin io.Reader, stderr io.Writer, quietly bool) worktree.Terminal {
	t := worktree.Terminal{In: stdin, Err: stderr, Env: h.Env}
	if quietly {
		t.In, t.Err = nil, nil
	}
	return t
}
