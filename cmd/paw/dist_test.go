//go:build dist

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// released is the folder that .ci/dist has filled for this platform.
var released string

// TestDist builds the release once, and installs it in every way.
func TestDist(t *testing.T) {
	released = t.TempDir()
	if err := makeDist("../..", released); err != nil {
		t.Fatal(err)
	}
	t.Run("the same elsewhere", testSameElsewhere)
	t.Run("install", testInstall)
	t.Run("install refuses", testInstallRefuses)
	t.Run("package", testPackage)
	t.Run("registries", testRegistries)
	t.Run("man pages", testManPages)
	t.Run("make uninstall", testMakeUninstall)
}

// pip and npm install the packages without a network, into a folder of their own, and take them away again.
func testRegistries(t *testing.T) {
	npmArch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if npmArch == "" {
		npmArch = runtime.GOARCH
	}
	for name, one := range map[string]struct {
		pattern   string
		add, take []string
		page      string
	}{
		"pip": {"paw_cli-1.2.3-py3-none-*.whl", []string{"sh", "-c", `python3 -m venv "$0" && "$0/bin/pip" install -q --no-index --no-deps "$1"`}, []string{"sh", "-c", `"$0/bin/pip" uninstall -q -y paw-cli`},
			"share/man/man1/paw-land.1"},
		"npm": {"paw-cli-1.2.3-" + runtime.GOOS + "-" + npmArch + ".tgz", []string{"sh", "-c", `npm install -g --offline --prefix "$0" "$1"`}, []string{"sh", "-c", `npm uninstall -g --prefix "$0" paw-cli`},
			"lib/node_modules/paw-cli/man/man1/paw-land.1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(map[string]string{"pip": "python3", "npm": "npm"}[name]); err != nil {
				t.Skip(err)
			}
			prefix := t.TempDir()
			packages, err := filepath.Glob(filepath.Join(released, one.pattern))
			if err != nil || len(packages) != 1 {
				t.Fatalf("%s: %q, %v", one.pattern, packages, err)
			}
			run := func(words ...string) string {
				t.Helper()
				cmd := exec.Command(words[0], words[1:]...)
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%q: %v\n%s", words, err, out)
				}
				return string(out)
			}
			run(append(one.add, prefix, packages[0])...)
			for _, program := range []string{"paw", "git-paw"} {
				if got := run(filepath.Join(prefix, "bin", program), "version"); got != "paw 1.2.3\n" {
					t.Errorf("%s version: %q", program, got)
				}
			}
			if _, err := os.Stat(filepath.Join(prefix, one.page)); err != nil {
				t.Error(err)
			}
			if run(append(one.take, prefix)...); slices.ContainsFunc(files(t, prefix), func(name string) bool { return strings.HasPrefix(filepath.Base(name), "paw") }) {
				t.Errorf("left: %q", files(t, prefix))
			}
		})
	}
}

// make uninstall takes away what make install has put there, and nothing else.
func testMakeUninstall(t *testing.T) {
	prefix := t.TempDir()
	run := func(target string) {
		t.Helper()
		if out, err := exec.Command("make", "-C", "../..", target, "PREFIX="+prefix).CombinedOutput(); err != nil {
			t.Fatalf("make %s: %v\n%s", target, err, out)
		}
	}
	run("install")
	if len(files(t, prefix)) < 50 {
		t.Errorf("installed: %q", files(t, prefix))
	}
	if err := os.WriteFile(filepath.Join(prefix, "share/man/man1/pawn.1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if run("uninstall"); !slices.Equal(files(t, prefix), []string{"share/man/man1/pawn.1"}) {
		t.Errorf("left: %q", files(t, prefix))
	}
}

// makeDist runs .ci/dist in a checkout.
func makeDist(checkout, dir string) error {
	cmd := exec.Command("sh", ".ci/dist", runtime.GOOS+"/"+runtime.GOARCH)
	cmd.Dir = checkout
	cmd.Env = append(os.Environ(), "DIST="+dir, "VERSION=v1.2.3", "SOURCE_DATE_EPOCH=1700000000")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf(".ci/dist: %w\n%s", err, out)
	}
	return nil
}

func archiveOf(os, arch string) string { return fmt.Sprintf("paw_1.2.3_%s_%s", os, arch) }

// The same sources in another folder, at another time, give the same bytes.
func testSameElsewhere(t *testing.T) {
	first, elsewhere := released, filepath.Join(t.TempDir(), "another", "place")
	list, err := exec.Command("git", "-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // deleted but not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(elsewhere, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := filepath.Join(t.TempDir(), "dist")
	if err := makeDist(elsewhere, second); err != nil {
		t.Fatal(err)
	}
	one, two := read(t, first, "SHA256SUMS"), read(t, second, "SHA256SUMS")
	if one != two {
		t.Errorf("the sums are\n%sand elsewhere\n%s", one, two)
	}
	for _, name := range []string{archiveOf(runtime.GOOS, runtime.GOARCH) + ".tar.gz", "install.sh", "paw.rb", "flake.nix"} {
		if !strings.Contains(one, "  "+name+"\n") {
			t.Errorf("SHA256SUMS has no %s:\n%s", name, one)
		}
	}
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// installer runs install.sh with its own HOME and a short PATH.
func installer(t *testing.T, prefix string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{filepath.Join(released, "install.sh")}, args...)...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/local/bin:/usr/bin:/bin", "PREFIX=" + prefix}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// files lists the files below a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	out, err := exec.Command("find", dir, "!", "-type", "d", "-printf", "%P\n").Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(out))
	slices.Sort(list)
	return list
}

func testInstall(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(released))) // on loopback
	defer server.Close()
	for name, from := range map[string][]string{"from its own folder": nil, "from a folder": {released}, "from an address": {server.URL + "/"}} {
		t.Run(name, func(t *testing.T) {
			prefix := filepath.Join(t.TempDir(), "a place")
			out, err := installer(t, prefix, from...)
			if err != nil || !strings.Contains(out, "paw 1.2.3 is in "+prefix+"/bin\n") || !strings.Contains(out, `export PATH="`+prefix+`/bin:$PATH"`) {
				t.Fatalf("%v\n%s", err, out)
			}
			there := files(t, prefix)
			for _, file := range []string{"bin/git-paw", "bin/paw", "share/bash-completion/completions/git-paw", "share/man/man1/git-paw.1",
				"share/man/man1/paw-start.1", "share/man/man7/paw-states.7", "share/zsh/site-functions/_paw", "share/zsh/site-functions/_git-paw", "share/fish/vendor_completions.d/paw.fish", "share/doc/paw/docs/cookbook.md"} {
				if !slices.Contains(there, file) {
					t.Errorf("%s is not there: %q", file, there)
				}
			}
			if out, err := installer(t, prefix, from...); err != nil { // a second time, over the first installation
				t.Errorf("again: %v\n%s", err, out)
			}
			if out, err := installer(t, prefix, "--uninstall"); err != nil || len(files(t, prefix)) > 0 {
				t.Errorf("uninstalled: %v, left %q\n%s", err, files(t, prefix), out)
			}
		})
	}
}

// An archive that was changed on the way is not installed, and files of other programs are not
// overwritten.
func testInstallRefuses(t *testing.T) {
	bad := t.TempDir()
	if out, err := exec.Command("cp", "-R", released+"/.", bad).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	archive := filepath.Join(bad, archiveOf(runtime.GOOS, runtime.GOARCH)+".tar.gz")
	f, err := os.OpenFile(archive, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("x")
	f.Close()
	prefix := filepath.Join(t.TempDir(), "p")
	refused := func(says, dir string, args ...string) {
		t.Helper()
		out, err := installer(t, dir, args...)
		if err == nil || !strings.Contains(out, says) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	refused("its sum is not that of SHA256SUMS; nothing was installed", prefix, bad)
	if _, err := os.Stat(prefix); err == nil {
		t.Errorf("something was installed: %q", files(t, prefix))
	}
	refused("cannot be read", prefix, t.TempDir())
	refused("no such folder", prefix, "/nowhere")
	refused("--help: unknown", prefix, "--help")
	refused("install.sh has installed nothing here", prefix, "--uninstall")

	own := t.TempDir()
	for _, name := range []string{"paw", "git-paw"} {
		if err := os.MkdirAll(filepath.Join(own, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(own, "bin", name), []byte("mine"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	refused("install.sh has not put it there; nothing was installed", own)
	os.Remove(filepath.Join(own, "bin", "paw"))
	if out, err := installer(t, own); err != nil || !strings.Contains(out, "bin/git-paw: install.sh has not put it there; it stays") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := installer(t, own, "--uninstall"); err != nil || read(t, own, "bin", "git-paw") != "mine" || len(files(t, own)) != 1 {
		t.Errorf("%v, left %q\n%s", err, files(t, own), out)
	}
}

// The package is installed below another root and removed again, and leaves no file.
func testPackage(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil || runtime.GOOS != "linux" {
		t.Skip("no dpkg here")
	}
	if os.Geteuid() != 0 {
		t.Skip("dpkg changes its root for root only")
	}
	root := t.TempDir()
	admin := filepath.Join(root, "var/lib/dpkg")
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(admin, "status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	deb := filepath.Join(released, "paw-cli_1.2.3_linux_"+runtime.GOARCH+".deb")
	dpkg := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("dpkg", append([]string{"--root=" + root, "--force-depends"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("dpkg %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	dpkg("-i", deb)
	if out, err := exec.Command(filepath.Join(root, "usr/bin/git-paw"), "version").Output(); err != nil || string(out) != "paw 1.2.3\n" {
		t.Errorf("git-paw version: %v %s", err, out)
	}
	var installed []string
	for _, file := range files(t, filepath.Join(root, "usr")) {
		installed = append(installed, "/usr/"+file)
	}
	for _, file := range []string{"/usr/share/man/man1/paw.1", "/usr/share/zsh/vendor-completions/_paw", "/usr/share/doc/paw-cli/copyright", "/usr/share/doc/paw-cli/docs/commands.md", "/usr/share/doc/paw-cli/docs/desk.svg"} {
		if !slices.Contains(installed, file) {
			t.Errorf("%s is not there: %q", file, installed)
		}
	}
	for _, says := range []string{"Depends: git (>= 1:2.39), tmux (>= 3.2)", "Conflicts: paw", "Version: 1.2.3"} {
		if out := dpkg("-s", "paw-cli"); !strings.Contains(out, says) {
			t.Errorf("dpkg -s: no %q in\n%s", says, out)
		}
	}
	dpkg("-P", "paw-cli")
	if _, err := os.Stat(filepath.Join(root, "usr")); err == nil {
		t.Errorf("left: %q", files(t, filepath.Join(root, "usr")))
	}
}

// Each command has a man page that man shows without a warning, and `git paw --help` finds the page
// of paw.
func testManPages(t *testing.T) {
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("no man here")
	}
	prefix := t.TempDir()
	if out, err := installer(t, prefix); err != nil {
		t.Fatal(err, out)
	}
	env := []string{"PATH=" + prefix + "/bin:/usr/bin:/bin", "HOME=" + t.TempDir(), "LC_ALL=C.UTF-8", "MANPAGER=cat", "PAGER=cat", "MANWIDTH=1000"}
	show := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if page := show("git", "paw", "--help"); !strings.Contains(page, "paw recover") || !strings.Contains(page, "EXIT STATUS") {
		t.Errorf("git paw --help:\n%s", page)
	}
	for _, name := range topicNames() {
		if name == "agents" {
			continue
		}
		text, _ := topicNamed(name)
		title, _, _ := strings.Cut(text, "\n")
		page := show("man", "--warnings", "7", "paw-"+name)
		for _, want := range []string{"PAW-" + strings.ToUpper(name) + "(7)", title, "paw(1)"} {
			if !strings.Contains(page, want) {
				t.Errorf("paw-%s(7): no %q in\n%s", name, want, page)
			}
		}
		if strings.Contains(page, "warning") {
			t.Errorf("paw-%s(7):\n%s", name, page)
		}
	}
	for _, cmd := range rootForDocs().Commands() {
		if cmd.Hidden || cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		page := show("man", "--warnings", "paw-"+cmd.Name())
		for _, want := range []string{"PAW-" + strings.ToUpper(cmd.Name()), cmd.Short, "OPTIONS", "EXIT STATUS", "paw 1.2.3"} {
			if !strings.Contains(page, want) {
				t.Errorf("paw-%s(1): no %q in\n%s", cmd.Name(), want, page)
			}
		}
		if strings.Contains(page, "warning") {
			t.Errorf("paw-%s(1):\n%s", cmd.Name(), page)
		}
	}
}

// TestRenameModule copies the project under another module path: the copy builds, its tests find
// the files they name, and no file contains the old path.
func TestRenameModule(t *testing.T) {
	clone := filepath.Join(t.TempDir(), "clone")
	inClone := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = clone
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if out, err := exec.Command("git", "clone", "-q", "--no-hardlinks", "../..", clone).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	inClone("sh", ".ci/rename-module", "example.org/some/paw")
	if got := inClone("go", "list", "-m"); got != "example.org/some/paw" {
		t.Errorf("the module is called %s", got)
	}
	if left := inClone("sh", "-c", `git grep -nE '^\s*([a-z]+ )?"paw/(cmd|orchestrator|session|tmux|worktree|config)[/"]' -- '*.go' || true`); left != "" {
		t.Errorf("imports of the old path:\n%s", left)
	}
	if out := inClone("go", "run", "./cmd/paw", "version"); !strings.HasPrefix(out, "paw ") {
		t.Errorf("paw version: %q", out)
	}
	inClone("go", "test", "./session", "./session/turn", "./config")
	cmd := exec.Command("sh", ".ci/rename-module", "example.org/again")
	cmd.Dir = clone
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "changes that are not committed") {
		t.Errorf("renamed over changes: %v\n%s", err, out)
	}
}
