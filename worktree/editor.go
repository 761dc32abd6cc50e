package worktree

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/term"

	"paw/worktree/git"
)

// ErrNoEditor means that git knows no editor, as without a terminal.
var ErrNoEditor = errors.New("no editor: set GIT_EDITOR, core.editor or EDITOR")

// MessageFile is the name by which editors know the message of a commit.
const MessageFile = "COMMIT_EDITMSG"

// Edit lets the user change a text in the editor that git would use in dir, with the variables of env and on these streams,
// and returns what was saved. name is that of the file, by which an editor knows what is in it.
func Edit(ctx context.Context, dir, name, text string, env []string, stdin io.Reader, stdout, stderr io.Writer) (string, error) {
	repo := git.Repo{Dir: dir}
	if in, ok := stdin.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		repo = repo.WithEnv("TERM=dumb") // the editor that git takes where none is set would wait for keys
	}
	editor, err := repo.Line(ctx, "var", "GIT_EDITOR")
	if err != nil || editor == "" {
		return "", errors.Join(ErrNoEditor, err)
	}
	folder, err := os.MkdirTemp("", "paw")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, file)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, env, stdin, stdout, stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	edited, err := os.ReadFile(file)
	return string(edited), err
}
