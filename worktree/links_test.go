package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"
)

// link makes a symbolic link in the main checkout, and the folders above it.
func (w *world) link(target, name string) {
	w.t.Helper()
	at := filepath.Join(w.Dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(target, at); err != nil {
		w.t.Fatal(err)
	}
}

func TestSetUpRefusesToLinkWhatLeadsBack(t *testing.T) {
	for name, c := range map[string]struct {
		layout map[string]string // links of the main checkout, with their targets
		folder string            // that is to be linked
		out    string            // the link that is named, "" where the folder is linked
	}{
		"npm workspaces": {map[string]string{
			"node_modules/.bin/tsc": "../typescript/bin/tsc", "node_modules/core": "../packages/core",
		}, "node_modules", "core"},
		"npm workspaces with a scope": {map[string]string{
			"node_modules/@x/core": "../../packages/core",
		}, "node_modules", "@x/core"},
		"pnpm, the root of workspaces": {map[string]string{
			"node_modules/ms": ".pnpm/ms@2.1.3/node_modules/ms", "node_modules/@x/core": "../../packages/core",
		}, "node_modules", "@x/core"},
		"pnpm, a package of workspaces": {map[string]string{
			"packages/app/node_modules/ms": "../../../node_modules/.pnpm/ms@2.1.3/node_modules/ms",
		}, "packages/app/node_modules", "ms"},
		"npm link of a neighbour": {map[string]string{"node_modules/near": "../../near"}, "node_modules", "near"},
		"absolute, back":          {map[string]string{"deps/core": "MAIN/packages/core"}, "deps", "core"},
		"pnpm, one package": {map[string]string{
			"node_modules/ms": ".pnpm/ms@2.1.3/node_modules/ms", "node_modules/.pnpm/node_modules/ms": "../ms@2.1.3/node_modules/ms",
		}, "node_modules", ""},
		"virtual environment": {map[string]string{
			".venv/bin/python": "/usr/bin/python3", ".venv/bin/python3": "python", ".venv/lib64": "lib",
		}, ".venv", ""},
		"absolute, into itself": {map[string]string{"deps/now": "MAIN/deps/v1"}, "deps", ""},
		"deeper":                {map[string]string{"deps/a/b/c": "../../../packages/core"}, "deps", "a/b/c"},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := prepared(t, "node_modules\n.venv\ndeps\n")
			for at, target := range c.layout {
				w.link(strings.ReplaceAll(target, "MAIN", w.Dir), at)
			}
			w.write("packages/core/index.js", "x\n")
			got := w.m.Setups().SetUp(t.Context(), p.Path, Setup{Link: []string{c.folder}})
			if c.out == "" {
				wantProblems(t, got)
				return
			}
			wantProblems(t, got, c.folder+": not linked: its link "+c.out+" leads out of it")
			if disk.Exists(filepath.Join(p.Path, c.folder)) {
				t.Error("it was linked")
			}
		})
	}
}

func TestSetUpLinksNothingIntoACheckWorktree(t *testing.T) {
	w, _ := prepared(t, "node_modules\ndata\n")
	w.link("../../packages/core", "node_modules/@x/core")
	w.write("data/rows", "1\n")
	p := w.plan("check")
	p.Branch, p.CreateBranch = "", false
	place, err := w.m.Checks().Place(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, w.m.Setups().SetUp(t.Context(), place, Setup{Link: []string{"node_modules", "data"}}))
	if info, err := os.Lstat(filepath.Join(place, "data")); err != nil || !info.IsDir() {
		t.Errorf("got %v, %v", info, err)
	}
	if got, _ := os.Readlink(filepath.Join(place, "node_modules/@x/core")); got != "../../packages/core" {
		t.Errorf("got %q", got)
	}
}

func TestSetUpCopiesALinkAsALink(t *testing.T) {
	w, p := prepared(t, "data\nlatest\n")
	big := realTemp(t)
	writeFile(t, filepath.Join(big, "rows"), "1\n")
	w.link(big, "data")
	w.link(filepath.Join(w.Dir, "packages/core"), "latest")
	wantProblems(t, w.setUp(p, []string{"data", "latest"}, nil))
	if got, _ := os.Readlink(filepath.Join(p.Path, "data")); got != big {
		t.Errorf("got %q", got)
	}
	// An absolute link into the main checkout leads to the same place in the worktree, and is no work that could be lost.
	if got, _ := os.Readlink(filepath.Join(p.Path, "latest")); got != "packages/core" {
		t.Errorf("got %q", got)
	}
	if found, err := w.m.inspect(t.Context(), Plan{Path: p.Path}); err != nil || len(found.Ignored) != 0 {
		t.Errorf("got %+v, %v", found.Dirt, err)
	}
}

func TestSetUpOfCheckWorktreeFollowsLockFiles(t *testing.T) {
	w, _ := prepared(t, "installed\n")
	commit := func(name, text string) string {
		w.write(name, text)
		w.commit(name)
		return w.git("rev-parse", "HEAD")
	}
	first := commit("package-lock.json", "a\n")
	other := commit("readme", "b\n")
	deep := commit("web/requirements-dev.txt", "c\n")
	p := w.plan("check")
	p.Branch, p.CreateBranch = "", false
	place, err := w.m.Checks().Place(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	setUp := func(commit, command string) error {
		_, err := w.m.Checks().SetUp(t.Context(), place, commit, Setup{
			Command: command, Env: os.Environ(), Announce: func(c string) { ran = append(ran, c) },
		})
		return err
	}
	for i, c := range []struct {
		commit, command string
		runs            bool
	}{
		{first, "true", true}, {first, "true", false}, {other, "true", false}, {deep, "true", true}, {first, "true", true},
		{first, "true ", true},
		{first, "false", true}, {first, "false", true}, // one that failed is due again
		{first, "true ", true}, {other, "true ", false},
	} {
		before := len(ran)
		err := setUp(c.commit, c.command)
		if (err != nil) != (c.command == "false") {
			t.Errorf("%d: %v", i, err)
		}
		if got := len(ran) > before; got != c.runs {
			t.Errorf("%d: ran %v, want %v", i, got, c.runs)
		}
	}
}
