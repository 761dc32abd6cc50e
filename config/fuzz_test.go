package config

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

var seeds = []string{
	"", everything, "worktree.copi = 1\n", "[clis.x]\ncommand = ['x']\nenv = { A = \"\"\"\n\"\"\"\" }\n", "[[presets.a]]\n",
	"a = [[1, 2], {b = [1979-05-27T07:32:00Z, 1979-05-27 07:32:00]}, '''x''''' ]\n[\"q.\\\"\".'r']\nc = {}\n",
	"\xef\xbb\xbfdefault_cli = \"\\u0041\" # x\r\n", "\xff\xfea=1", "a = \"\\", "[a", "a = {", "a.b.c = {d.e = 1, # x\n f=2,}\n",
	"worktree.setup = 'make'\nclis.codex.git_writable = true\nworktree.path = '/x'\n", "=", "\x00", "a=1\n\xff",
}

// FuzzLoad: no text makes Load panic, an error in a file has a place in it, and
// nothing untrusted is in the result.
func FuzzLoad(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, seed, "3", "tiled")
		f.Add("clis.x.command = ['x']\n", seed, "", "")
	}
	p := newPlace(f)
	f.Fuzz(func(t *testing.T, user, repository, number, word string) {
		p.user(t, user)
		p.repository(t, repository)
		getenv := environment("PAW_MAX_DEPTH="+number, "PAW_SNAPSHOT_MIB="+number, "PAW_TMUX_LAYOUT="+word,
			"PAW_TMUX_SOCKET="+word, "PAW_WORKTREE_PATH="+word, "PAW_DEFAULT_CLI="+word)
		l, err := Load(p.Paths, p.repo, getenv)
		if again, errAgain := Load(p.Paths, p.repo, getenv); !cmp.Equal(l, again) || (err == nil) != (errAgain == nil) ||
			err != nil && err.Error() != errAgain.Error() {
			t.Errorf("the same files gave two answers: %v and %v", err, errAgain)
		}
		checkPlace(t, err, map[string]string{p.ConfigFile: user, repositoryFile(p.repo): repository})
		if err != nil {
			return
		}
		if l.RepositoryMistake != nil {
			checkPlace(t, l.RepositoryMistake, map[string]string{repositoryFile(p.repo): repository})
		}
		checkLeftOut(t, p, l)
		if _, err := l.WorktreePath("/home/u/shop", "s", "a"); err != nil {
			t.Errorf("a template that was accepted does not expand: %v", err)
		}
	})
}

func checkPlace(t *testing.T, err error, texts map[string]string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		return
	}
	text, isFile := texts[e.File]
	if e.File == "" {
		if e.Line != 0 || !strings.HasPrefix(e.Key, "PAW_") || !strings.Contains(e.Error(), e.Key) {
			t.Errorf("error without a file: %+v", *e)
		}
		return
	}
	if lines := strings.Count(text, "\n") + 1; !isFile || e.Line < 1 || e.Line > lines || e.Message == "" {
		t.Errorf("error at %s:%d of %d lines: %q", e.File, e.Line, lines, e.Message)
	}
}

// checkLeftOut: nothing that belongs to an untrusted text is said to be set by
// the repository, and an untrusted set-up is not in force.
func checkLeftOut(t *testing.T, p place, l Loaded) {
	t.Helper()
	for _, c := range l.Untrusted {
		unit := c.Key
		if strings.HasPrefix(unit, "clis.") {
			unit = strings.Join(strings.Split(unit, ".")[:2], ".") + "."
		}
		for _, s := range l.Sources {
			if s.Name == repositoryFile(p.repo) && slices.ContainsFunc(s.Keys, func(key string) bool { return strings.HasPrefix(key, unit) }) {
				t.Errorf("%s is untrusted and the repository sets %v", c.Key, s.Keys)
			}
		}
		if c.Key == "worktree.setup" && l.Worktree.Setup == c.Text && !userSets(t, p, c.Text) {
			t.Errorf("untrusted set-up %q is in force", c.Text)
		}
	}
}

func userSets(t *testing.T, p place, text string) bool {
	t.Helper()
	user, err := Load(p.Paths, "", environment())
	if err != nil {
		t.Fatal(err)
	}
	return user.Worktree.Setup == text
}

// What a value holds counts neither as a part nor as the length of a key.
func TestBoundsAreThoseOfKeys(t *testing.T) {
	long, deep := strings.Repeat("x", 2*longestKey), strings.Repeat("a.", 2*deepest)+strings.Repeat("[{", deepest)
	for _, text := range []string{
		"# " + long + deep + "\n[a] # " + long + " ] = \nb = 1\n",
		"a = '" + long + deep + "'\nb = [1]\n",
		"a = \"" + long + `\"` + deep + "\"\n",
		"a = '''" + long + "\n" + deep + "'\n'''''\nb = 1\n",
		"a = \"\"\"\n" + long + `\"""` + deep + "\"\"\"\"\nb = 1\n",
		"a = ['" + long + "', '" + long + "']\nb = [\n  '" + long + deep + "' # " + deep + "\n]\n",
		"a = [{}, '" + long + "']\nb = [{c = 1}, '" + long + "']\nd = {e = ['" + long + "'], f = '" + long + "'}\n",
		strings.Repeat("a.b.c = {d = [1, 2.5, 'x']}\n", 100),
		strings.Repeat("[a.b.c]\nd = [[1], [2]]\n", 100),
		strings.Repeat("a.", deepest) + "a = 1\n",
		"a = " + strings.Repeat("[", deepest) + strings.Repeat("]", deepest) + "\n",
		strings.Repeat("a", longestKey) + "= 1\n",
	} {
		if offset, excess := beyondBounds(text); excess != "" {
			t.Errorf("%s at %d of %.200q", excess, offset, text)
		}
	}
}

// FuzzBounds: no key of a text that is within the bounds is deeper or longer than they allow.
func FuzzBounds(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > largestFile {
			return
		}
		if _, excess := beyondBounds(text); excess != "" { // also what is not valid must end
			return
		}
		var values map[string]any
		meta, err := decode(text, &values)
		if err != nil {
			return
		}
		for _, k := range meta.Keys() {
			if parts := 2*deepest + 1; len(k) > parts || len(strings.Join(k, "")) > parts*longestKey {
				t.Errorf("a key of %d parts and %d bytes", len(k), len(strings.Join(k, "")))
			}
		}
	})
}

// decode is toml.Decode without the panics that the library reports its own
// mistakes by.
func decode(text string, values *map[string]any) (meta toml.MetaData, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("panic")
		}
	}()
	return toml.Decode(text, values)
}

func TestConfigurationThatIsPrintedCanBeReadAgain(t *testing.T) {
	p := newPlace(t)
	p.user(t, everything)
	for _, c := range []Config{Default(), p.load(t).Config} {
		f, err := os.Create(p.ConfigFile)
		if err != nil {
			t.Fatal(err)
		}
		if err := toml.NewEncoder(f).Encode(c); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, p.load(t).Config); diff != "" {
			t.Error(diff)
		}
	}
}
