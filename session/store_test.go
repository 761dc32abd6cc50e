package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLoadReturnsWhatWasSaved(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, full())
	if diff := cmp.Diff(full(), mustLoad(t, st, "demo")); diff != "" {
		t.Error(diff)
	}
}

// After tmux died the record is all there is to go by.
func TestLoadedRecordHasAllThatRecoveryNeeds(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, full())
	s := mustLoad(t, st, "demo")
	if s.Name == "" || s.RepoPath == "" || s.ProjectName == "" || s.GitCommonDir == "" || len(s.Agents) != 3 {
		t.Errorf("got %+v", s)
	}
	for _, w := range s.Agents {
		if w.Name == "" || w.CLI == "" || w.Branch == "" || w.WorktreePath == "" || w.TurnSession == "" || w.Phase == "" {
			t.Errorf("got %+v", w)
		}
	}
}

func TestSavingAgainReplaces(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, full())
	s := minimal("demo", "/elsewhere")
	s.Status = StatusStopped
	mustSave(t, st, s)
	if diff := cmp.Diff(s, mustLoad(t, st, "demo")); diff != "" {
		t.Error(diff)
	}
}

func TestSaveFillsInVersionAndUTC(t *testing.T) {
	st := newStore(t)
	s := minimal("demo", "/r")
	s.CreatedAt = time.Now().In(time.FixedZone("far", 5*3600))
	mustSave(t, st, s)
	if s.Version != Version || s.CreatedAt.Location() != time.UTC {
		t.Errorf("got version %d, time %v", s.Version, s.CreatedAt)
	}
	if diff := cmp.Diff(s, mustLoad(t, st, "demo")); diff != "" {
		t.Error(diff)
	}
}

func TestLoadOfAMissingSessionIsNone(t *testing.T) {
	st := newStore(t)
	if s, err := st.Load("demo"); s != nil || err != nil {
		t.Errorf("without a folder: got %v, %v", s, err)
	}
	mustSave(t, st, minimal("other", "/r"))
	if s, err := st.Load("demo"); s != nil || err != nil {
		t.Errorf("beside another: got %v, %v", s, err)
	}
}

func TestDelete(t *testing.T) {
	st := newStore(t)
	ctx := within(t, deadline)
	if err := st.Delete(ctx, "demo", nil); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	mustSave(t, st, minimal("demo", "/r"))
	mustSave(t, st, minimal("demo_2", "/r"))
	for range 2 {
		if err := st.Delete(ctx, "demo", nil); err != nil {
			t.Error(err)
		}
		if s, err := st.Load("demo"); s != nil || err != nil {
			t.Errorf("got %v, %v", s, err)
		}
	}
	mustLoad(t, st, "demo_2")
}

func TestCreateRefusesATakenName(t *testing.T) {
	st := newStore(t)
	ctx := within(t, deadline)
	if err := st.Create(ctx, minimal("demo", "/one"), nil); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, st, "broken", "{")
	mustWrite(t, st, "newer", `{"version": 2}`)
	for name, owner := range map[string]string{"demo": "/one", "broken": "", "newer": ""} {
		before := read(t, st, name)
		err := st.Create(ctx, minimal(name, "/two"), nil)
		var taken *TakenError
		if !errors.As(err, &taken) || taken.Name != name || taken.RepoPath != owner {
			t.Errorf("%s: got %v", name, err)
		}
		if read(t, st, name) != before {
			t.Errorf("%s: the record changed", name)
		}
	}
}

func TestUpdate(t *testing.T) {
	st := newStore(t)
	ctx := within(t, deadline)
	if _, err := st.Update(ctx, "demo", func(*Session) error { return nil }); !errors.Is(err, ErrNotFound) {
		t.Errorf("missing: got %v", err)
	}
	mustSave(t, st, full())

	got, err := st.Update(ctx, "demo", func(s *Session) error {
		s.Agent("codex").AddConversation("c1")
		return nil
	})
	if err != nil || got.Agent("codex").Conversation() != "c1" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(got, mustLoad(t, st, "demo")); diff != "" {
		t.Error(diff)
	}
	soon, err := st.UpdateSoon(ctx, "demo", func(s *Session) error { s.Generation++; return nil })
	if err != nil || soon.Generation != got.Generation+1 {
		t.Fatalf("soon: got %+v, %v", soon, err)
	}
	if diff := cmp.Diff(soon, mustLoad(t, st, "demo")); diff != "" {
		t.Error(diff)
	}

	before, no := read(t, st, "demo"), errors.New("no")
	for what, change := range map[string]func(*Session) error{
		"an error":    func(s *Session) error { s.Generation = 99; return no },
		"a new name":  func(s *Session) error { s.Name = "other"; return nil },
		"no status":   func(s *Session) error { s.Status = ""; return nil },
		"a bad agent": func(s *Session) error { s.Agents[0].Name = "a/b"; return nil },
	} {
		if s, err := st.Update(ctx, "demo", change); err == nil || s != nil {
			t.Errorf("%s: got %v, %v", what, s, err)
		}
		if read(t, st, "demo") != before {
			t.Errorf("%s: the record changed", what)
		}
	}
	if _, err := st.Update(ctx, "demo", func(*Session) error { return no }); err != no {
		t.Errorf("got %v, want the error of the change itself", err)
	}
}

func TestRecordsThatCannotBeReadAreNeverOverwritten(t *testing.T) {
	for content, isNewer := range map[string]bool{"": false, "{": false, `{"version": 7, "status": 1}`: true} {
		st := newStore(t)
		ctx := within(t, deadline)
		mustWrite(t, st, "demo", content)
		_, load := st.Load("demo")
		_, update := st.Update(ctx, "demo", func(*Session) error { t.Error("change was called"); return nil })
		for what, err := range map[string]error{
			"load":   load,
			"save":   st.Save(ctx, minimal("demo", "/r")),
			"update": update,
			"delete": st.Delete(ctx, "demo", nil),
		} {
			var newer *VersionError
			var corrupt *CorruptError
			if isNewer != errors.As(err, &newer) || isNewer == errors.As(err, &corrupt) {
				t.Errorf("%s of %q: got %v", what, content, err)
			}
		}
		if got := read(t, st, "demo"); got != content {
			t.Errorf("%q became %q", content, got)
		}
	}
}

func TestSetAsideCorrupt(t *testing.T) {
	st := newStore(t)
	if to, err := st.SetAsideCorrupt("demo"); to != "" || err != nil {
		t.Errorf("missing: got %q, %v", to, err)
	}
	mustSave(t, st, minimal("demo", "/r"))
	if to, err := st.SetAsideCorrupt("demo"); to != "" || err != nil {
		t.Errorf("good: got %q, %v", to, err)
	}
	mustLoad(t, st, "demo")
	mustWrite(t, st, "newer", `{"version": 2}`)
	var newer *VersionError
	if to, err := st.SetAsideCorrupt("newer"); to != "" || !errors.As(err, &newer) {
		t.Errorf("newer: got %q, %v", to, err)
	}

	kept := map[string]string{}
	for _, content := range []string{"", "{", "third"} {
		mustWrite(t, st, "demo", content)
		to, err := st.SetAsideCorrupt("demo")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(to, filepath.Join(st.Dir, "demo.json.corrupt-2")) || !strings.HasSuffix(to, "Z") {
			t.Errorf("moved to %s", to)
		}
		kept[to] = content
		if s, err := st.Load("demo"); s != nil || err != nil {
			t.Errorf("got %v, %v", s, err)
		}
	}
	if len(kept) != 3 {
		t.Errorf("one replaced another: %v", kept)
	}
	for path, content := range kept {
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
	if err := st.Create(within(t, deadline), minimal("demo", "/r"), nil); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
}

func TestInjectedFoldersAreTheOnlyOnesUsed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"} {
		t.Setenv(name, home)
	}
	t.Chdir(home)
	one, two := newStoreIn(t.TempDir()), newStoreIn(t.TempDir())
	if err := one.Create(within(t, deadline), minimal("demo", "/one"), nil); err != nil {
		t.Fatal(err)
	}
	if s, err := two.Load("demo"); s != nil || err != nil {
		t.Errorf("one store sees the other's: %v, %v", s, err)
	}
	if err := two.Create(within(t, deadline), minimal("demo", "/two"), nil); err != nil {
		t.Error(err)
	}
	if s := mustLoad(t, one, "demo"); s.RepoPath != "/one" {
		t.Errorf("got %v", s)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 0 {
		t.Errorf("written elsewhere: %v, %v", entries, err)
	}
}

// Without a folder records would land in whatever directory paw was called from.
func TestAStoreNeedsItsFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := within(t, deadline)
	for what, st := range map[string]Store{"no folders": {}, "no locks": {Dir: "s"}, "no sessions": {LocksDir: "l"}} {
		if err := st.Save(ctx, minimal("demo", "/r")); err == nil {
			t.Errorf("%s: saved", what)
		}
	}
	if _, err := (Store{LocksDir: "l"}).Load("demo"); err == nil {
		t.Error("loaded without a folder")
	}
	if _, _, err := (Store{LocksDir: "l"}).List(); err == nil {
		t.Error("listed without a folder")
	}
	if _, err := os.Stat("demo.json"); err == nil {
		t.Error("a record landed in the current directory")
	}
}

func TestBadNamesNeverReachTheDisk(t *testing.T) {
	st := newStore(t)
	ctx := within(t, deadline)
	for _, name := range []string{"", "../evil", "a/b", "a-b", strings.Repeat("a", 65)} {
		_, load := st.Load(name)
		_, update := st.Update(ctx, name, func(*Session) error { return nil })
		_, aside := st.SetAsideCorrupt(name)
		for what, err := range map[string]error{
			"load": load, "update": update, "set aside": aside, "delete": st.Delete(ctx, name, nil),
			"save": st.Save(ctx, minimal(name, "/r")), "create": st.Create(ctx, minimal(name, "/r"), nil),
		} {
			if _, ok := errors.AsType[*NameError](err); !ok {
				t.Errorf("%s %q: got %v", what, name, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Dir(st.Dir)); err == nil {
		t.Error("a folder was made")
	}
}

func newStoreIn(dir string) Store {
	return Store{Dir: filepath.Join(dir, "sessions"), LocksDir: filepath.Join(dir, "locks")}
}

// mustWrite puts a file where the record of a session would be.
func mustWrite(t *testing.T, st Store, name, content string) {
	t.Helper()
	if err := os.MkdirAll(st.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(st.Dir, name+".json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, st Store, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(st.Dir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What a save left that was killed goes with the record, however young it is; until then doctor can name it.
func TestDeleteTakesTheLitterOfSaves(t *testing.T) {
	st := Store{Dir: t.TempDir(), LocksDir: t.TempDir()}
	old := time.Now().Add(-time.Hour)
	left := map[string]bool{".one.json123": true, ".one.json99": false, ".other.json5": true, ".one.txt7": true, "one.json.corrupt-2": true}
	for name, aged := range left {
		file := filepath.Join(st.Dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if aged {
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{filepath.Join(st.Dir, ".one.json123"), filepath.Join(st.Dir, ".other.json5")}
	if got := st.Litter(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if err := st.Delete(t.Context(), "one", nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(st.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != ".one.txt7 .other.json5 one.json.corrupt-2" {
		t.Errorf("left: %s", got)
	}
}
