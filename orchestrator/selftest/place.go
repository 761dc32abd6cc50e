package selftest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/fakemodel"
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
