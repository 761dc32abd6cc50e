package selftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/fakemodel"
	"paw/tmux"
)

// place is the scratch environment of a trial: a folder with a repository and a HOME, a tmux
// socket, and the scripted model.
type place struct {
	root   string // parent of everything but the socket
	repo   string
	socket string
	model  fakemodel.Server
	server *http.Server
	paw    *app.App
	once   sync.Once
}

// newPlace creates the scratch environment for a CLI, with its configured program and what is kept
// of the user's environment, and switches this process to it.
func newPlace(ctx context.Context, cli string, command, env []string) (*place, error) {
	p := &place{}
	if err := p.make(ctx, cli, command, env); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *place) make(ctx context.Context, cli string, command, userEnv []string) error {
	if err := p.makeFolders(); err != nil {
		return err
	}
	url, err := p.serve(ctx)
	if err != nil {
		return err
	}
	env, err := fakemodel.Prepare(cli, filepath.Join(p.root, "home"), p.repo, url)
	if err != nil {
		return err
	}
	env = slices.Concat(keptEnvironment(userEnv), env, []string{"PAW_TMUX_SOCKET=" + p.socket})
	if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "TERM=") }) {
		env = append(env, "TERM=xterm-256color")
	}
	if err := replaceEnvironment(env); err != nil {
		return err
	}
	config := filepath.Join(p.root, "home", ".config", "paw", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(config, []byte(configuration(cli, command)), 0o600); err != nil {
		return err
	}
	p.paw, err = app.New(p.repo, env, nil)
	if err != nil {
		return err
	}
	p.paw.Note = func(string) {}
	return nil
}

// makeFolders creates the folders below the user's cache directory: codex refuses the system's
// temporary directory. Their paths are short, since the path of a socket is limited to about 100
// bytes.
func (p *place) makeFolders() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	if p.root, err = os.MkdirTemp(cache, "paw-doctor-"); err != nil {
		return err
	}
	if p.root, err = filepath.EvalSymlinks(p.root); err != nil {
		return err
	}
	sockets, err := os.MkdirTemp("", "paw-doctor-")
	if err != nil {
		return err
	}
	p.socket, p.repo = filepath.Join(sockets, "s"), filepath.Join(p.root, "shop")
	return os.Mkdir(p.repo, 0o700)
}

// serve starts the scripted model on loopback, until the trial ends.
func (p *place) serve(ctx context.Context) (url string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	p.server = &http.Server{Handler: &p.model, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String(), nil
}

// configuration returns the configuration of paw that lets the CLI do the steps of the script.
func configuration(cli string, command []string) string {
	text := fmt.Sprintf("[clis.%s]\n", cli)
	if len(command) > 0 {
		words := make([]string, len(command))
		for i, word := range command {
			words[i] = fmt.Sprintf("%q", word)
		}
		text += "command = [" + strings.Join(words, ", ") + "]\n"
	}
	switch cli {
	case "codex":
		text += "git_writable = true\n"
	case "copilot":
		text += `args = ["--allow-all-paths", "--allow-tool=write", "--allow-tool=shell(git:*)", "--allow-tool=shell(printf:*)",
	"--allow-tool=shell(test:*)", "--allow-tool=shell(sleep:*)"]
`
	}
	return text
}

// remove ends all processes of the scratch environment and deletes it. It may be called repeatedly
// and at any time.
func (p *place) remove() {
	p.once.Do(func() {
		p.killAll()
		if p.server != nil {
			_ = p.server.Close() // the process exits soon
		}
		quiet := 0
		poll.Until(context.Background(), poll.Tick, endPatience, func() bool {
			if quiet++; p.killRest() {
				quiet = 0
			}
			// A process may have started another one, and ended, while /proc was read.
			return quiet > 1 && p.delete() == nil
		})
	})
}

// delete deletes the folders; a process that was just killed may still have written files.
func (p *place) delete() error {
	var errs []error
	for _, dir := range []string{p.root, filepath.Dir(p.socket)} {
		if dir == "" || dir == "." {
			continue // newPlace has not created this folder
		}
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// kept are the variables of the user that the trial keeps: to find programs, to show text, and to
// run on this machine. Any other variable could name a configuration, a credential or a server.
var kept = []string{
	"PATH", "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_LIBRARY_PATH", "NIX_LD",
	"NIX_LD_LIBRARY_PATH", "NODE_PATH", "HOMEBREW_PREFIX", "GOCOVERDIR",
}

// managers are the variables and default folders of version managers, whose shims on PATH find the
// real programs there. Without the variables the shims would look in the trial's HOME.
var managers = map[string]string{
	"VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf", "MISE_DATA_DIR": ".local/share/mise", "NVM_DIR": ".nvm",
	"FNM_DIR": ".local/share/fnm", "NODENV_ROOT": ".nodenv", "BUN_INSTALL": ".bun", "PNPM_HOME": ".local/share/pnpm",
}

// keptEnvironment returns the variables of the user that the trial keeps.
func keptEnvironment(env []string) []string {
	value := map[string]string{}
	var all []string
	for _, kv := range env {
		name, v, _ := strings.Cut(kv, "=")
		value[name] = v
		if slices.Contains(kept, name) || strings.HasPrefix(name, "LC_") {
			all = append(all, kv)
		}
	}
	for name, folder := range managers {
		dir := value[name]
		if dir == "" && value["HOME"] != "" {
			dir = filepath.Join(value["HOME"], folder)
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			all = append(all, name+"="+dir)
		}
	}
	slices.Sort(all)
	return all
}

// replaceEnvironment makes env the environment of this process, from which the tmux client, git and
// paw's paths read it.
func replaceEnvironment(env []string) error {
	os.Clearenv()
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// endPatience limits what is done in the place when its trial is over or a play has failed.
const endPatience = 5 * time.Second

// killServer kills the tmux server with SIGKILL, as in a crash, and returns the processes of its
// panes.
func (p *place) killServer() (panes []int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience) // runs also after the trial was interrupted
	defer cancel()
	server, all, err := tmux.New(p.socket).Panes(ctx)
	if err != nil {
		return nil, err
	}
	for _, pane := range all {
		if pane.PID > 1 && !pane.Dead {
			panes = append(panes, pane.PID)
		}
	}
	return panes, syscall.Kill(server.PID, syscall.SIGKILL)
}

// killAll kills the tmux server and the process groups of its panes: a CLI may ignore the loss of
// its terminal.
func (p *place) killAll() {
	if p.socket == "" {
		return
	}
	panes, err := p.killServer()
	if err != nil {
		return // no server any more
	}
	for _, pid := range panes {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // the process may have ended
	}
}

// killRest kills the processes with the trial's HOME, where /proc shows them: processes that a CLI
// starts may be in other groups. It reports whether there were any.
func (p *place) killRest() (found bool) {
	mark := []byte("\x00HOME=" + filepath.Join(p.root, "home") + "\x00")
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || p.root == "" {
		return false
	}
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			found = true
		}
	}
	return found
}
