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

// place is where a trial happens: a folder with a repository and a HOME, a tmux socket, and the scripted model.
type place struct {
	root   string // holds everything but the socket
	repo   string
	socket string
	model  fakemodel.Server
	server *http.Server
	paw    *app.App
	once   sync.Once
}

// newPlace makes the place, and this process live in it.
func newPlace(ctx context.Context, o Options) (*place, error) {
	p := &place{}
	if err := p.make(ctx, o); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *place) make(ctx context.Context, o Options) error {
	if err := p.makeFolders(); err != nil {
		return err
	}
	url, err := p.serve(ctx)
	if err != nil {
		return err
	}
	env, err := fakemodel.Prepare(o.CLI, filepath.Join(p.root, "home"), p.repo, url)
	if err != nil {
		return err
	}
	env = slices.Concat(keptEnvironment(o.Env), env, []string{"PAW_TMUX_SOCKET=" + p.socket})
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
	if err := os.WriteFile(config, []byte(configuration(o.CLI, o.Command)), 0o600); err != nil {
		return err
	}
	p.paw, err = app.New(p.repo, env, nil)
	if err != nil {
		return err
	}
	p.paw.Note = func(string) {}
	return nil
}

// makeFolders makes the folders. codex does not work in the system's folder for temporary files, and the path of a
// socket has about 100 bytes.
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

// serve starts the scripted model, which listens on loopback as long as the trial lasts.
func (p *place) serve(ctx context.Context) (url string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	p.server = &http.Server{Handler: &p.model, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String(), nil
}

// configuration is paw's: what the CLI needs to do the steps of the script.
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

// remove ends all that runs in the place and deletes it. It may be called more than once, and at any time.
func (p *place) remove() {
	p.once.Do(func() {
		p.killAll()
		if p.server != nil {
			_ = p.server.Close() // the process ends soon
		}
		poll.Until(context.Background(), poll.Tick, 5*time.Second, func() bool {
			p.killRest()
			return p.delete() == nil
		})
	})
}

// delete deletes the folders. What has just been killed may still have written there.
func (p *place) delete() error {
	var errs []error
	for _, dir := range []string{p.root, filepath.Dir(p.socket)} {
		if dir == "" || dir == "." {
			continue // was not made
		}
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// kept are the variables of the user that the trial keeps: what finds programs, shows text and runs on this machine.
// Everything else could name a configuration, a credential or a server.
var kept = []string{
	"PATH", "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_LIBRARY_PATH", "NIX_LD",
	"NIX_LD_LIBRARY_PATH", "NODE_PATH", "HOMEBREW_PREFIX", "GOCOVERDIR",
}

// managers are the folders from which shims on PATH take the real programs, by the variables that name them. The shims
// look for them in HOME when those are not set, which is another one here.
var managers = map[string]string{
	"VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf", "MISE_DATA_DIR": ".local/share/mise", "NVM_DIR": ".nvm",
	"FNM_DIR": ".local/share/fnm", "NODENV_ROOT": ".nodenv", "BUN_INSTALL": ".bun", "PNPM_HOME": ".local/share/pnpm",
}

// keptEnvironment is what of the user's environment the trial has.
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

// replaceEnvironment makes env the environment of this process: the tmux client, git and the search for paw's own files
// take it from there.
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

// killServer ends the tmux server of the place as a crash would, and returns the processes of its panes.
func (p *place) killServer() (panes []int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // also when the trial was interrupted
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

// killAll ends everything that runs in the place. A CLI that ignores the end of its terminal leads a process group.
func (p *place) killAll() {
	if p.socket == "" {
		return
	}
	panes, err := p.killServer()
	if err != nil {
		return // there is none any more
	}
	for _, pid := range panes {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // it may be gone
	}
}

// killRest kills the processes that have the place for their HOME, where the system tells which those are: what a CLI
// starts need not be in its group.
func (p *place) killRest() {
	mark := []byte("\x00HOME=" + filepath.Join(p.root, "home") + "\x00")
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || p.root == "" {
		return
	}
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
