package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"paw/config/lazyregexp"
)

// The slowest of the CLIs takes under 3 s for its version on two busy cores.
const versionTimeout = 20 * time.Second

var number = lazyregexp.New(`\d+(\.\d+)+[0-9A-Za-z.+-]*`)

// askVersion runs `executable --version`.
func askVersion(ctx context.Context, executable string, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := Output(ctx, os.TempDir(), env, executable, "--version")
	if err != nil {
		return "", err
	}
	if found := number.FindString(string(out)); found != "" {
		return strings.TrimRight(found, "."), nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first, nil
}

// Output runs a CLI without a terminal or input and returns its standard output; the error ends with the last line of
// its standard error.
func Output(ctx context.Context, dir string, env []string, executable string, args ...string) ([]byte, error) {
	var stdout bytes.Buffer
	err := OutputTo(ctx, &stdout, dir, env, executable, args...)
	return stdout.Bytes(), err
}

// OutputTo is output that goes to stdout.
func OutputTo(ctx context.Context, stdout io.Writer, dir string, env []string, executable string, args ...string) error {
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Dir = dir
	cmd.Env = Scrub(environment(env))
	cmd.WaitDelay = 2 * time.Second
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Errorf("%s %s: %w: %s", executable, strings.Join(args, " "), err, last)
	}
	return fmt.Errorf("%s %s: %w", executable, strings.Join(args, " "), err)
}
