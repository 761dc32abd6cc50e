package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"paw/worktree/git"
)

// ErrNoEditor says that git knows no editor, as without a terminal.
var ErrNoEditor = errors.New("no editor: set GIT_EDITOR, core.editor or EDITOR")

// MessageFile is the file name by which editors recognise a commit message.
const MessageFile = "COMMIT_EDITMSG"

// Edit lets the user change a text in the editor that git would use in dir, with the environment
// env and on these streams, and returns the saved text. name is the file's name, by which an editor
// recognises the format. If the editor fails and the user has changed the text, the file is kept,
// and the error names it.
func Edit(ctx context.Context, dir, name, text string, env []string, stdin io.Reader, stdout, stderr io.Writer) (string, error) {
	repo := git.Repo{Dir: dir}
	if in, ok := stdin.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		repo = repo.WithEnv("TERM=dumb") // git's default editor would wait for keys
	}
	editor, err := repo.Line(ctx, "var", "GIT_EDITOR")
	if err != nil || editor == "" {
		return "", errors.Join(ErrNoEditor, err)
	}
	folder, err := os.MkdirTemp("", "paw")
	if err != nil {
		return "", err
	}
	keep := false
	defer func() {
		if !keep {
			os.RemoveAll(folder)
		}
	}()
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, file)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, env, stdin, stdout, stderr
	failed := cmd.Run()
	edited, err := os.ReadFile(file)
	if failed == nil {
		return string(edited), err
	}
	if keep = !errors.Is(err, fs.ErrNotExist) && string(edited) != text; keep {
		return "", fmt.Errorf("%w; what you wrote is in %s", failed, file)
	}
	return "", failed
}

// Filtered returns what a program makes of a text.
func Filtered(ctx context.Context, env []string, text, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdin, cmd.WaitDelay = env, strings.NewReader(text), time.Second
	out, err := cmd.Output()
	return string(out), err
}

// Pager is the user's pager, which shows on a terminal what is written to it.
type Pager struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// PagerCommand returns the shell command of the user's pager as git finds it in dir: GIT_PAGER,
// core.pager, PAGER, less. The result is "" for no pager.
func PagerCommand(ctx context.Context, dir string) string {
	command, err := git.Repo{Dir: dir}.Line(ctx, "var", "GIT_PAGER")
	if err != nil || command == "cat" {
		return ""
	}
	return command
}

// StartPager starts a pager on a terminal, with the environment env.
func StartPager(ctx context.Context, command string, env []string, terminal, errw io.Writer) (*Pager, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdout, cmd.Stderr, cmd.Env = terminal, errw, env
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &Pager{in, cmd}, cmd.Start()
}

// Wait closes the pager's input and waits until the user has left the pager. The pager's exit
// status is ignored.
func (p *Pager) Wait() {
	_ = p.Close()
	_ = p.cmd.Wait()
}
