package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// full is a record with every field set and three agents.
func full() *Session {
	s := &Session{
		Version:      1,
		Name:         "demo",
		RepoPath:     "/home/u/my project",
		GitCommonDir: "/home/u/my project/.git",
		ProjectName:  "my project",
		CreatedAt:    time.Date(2026, 3, 1, 12, 30, 15, 123456789, time.UTC),
		Status:       StatusActive,
		Generation:   3,
		BaseCommit:   "1111111111111111111111111111111111111111",
		Tmux:         Tmux{Session: "paw-demo", Socket: "/tmp/tmux-1000/default", ServerPID: 4711, ServerStarted: 1772366400},
		Agents: []Agent{{
			Name:            "claude",
			CLI:             "claude",
			Branch:          "paw/demo/claude",
			WorktreePath:    "/home/u/my project.paw/demo/claude",
			TurnSession:     "demo_claude",
			BranchCreated:   true,
			PaneID:          "%5",
			Command:         []string{"/usr/bin/claude", "--settings", `{"a":"<b> & 'c'"}`, "two\nlines", "项目"},
			Environment:     map[string]string{"CLAUDE_CONFIG_DIR": "/home/u/.claude", "EMPTY": ""},
			ConversationIDs: []string{"0001", "0002"},
			TranscriptPath:  "/home/u/.claude/projects/x/0002.jsonl",
			Phase:           PhaseLive,
			TurnHighWater:   12,
			BaseCommit:      "2222222222222222222222222222222222222222",
		}},
	}
	s.Agents = append(s.Agents,
		Agent{
			Name: "codex", CLI: "codex", Branch: "feat/x", WorktreePath: "/w/codex", TurnSession: "demo_codex",
			Parent: "claude", Phase: PhaseStopping, Command: []string{"codex"},
		},
		Agent{Name: "demo", CLI: "demo", Branch: "main", WorktreePath: "/w/demo", TurnSession: "demo_demo", Phase: PhaseCreating})
	return s
}

// Every version a paw ever wrote has a record here; it must load for ever.
func TestRecordsOfAllVersionsLoad(t *testing.T) {
	for version := 1; version <= Version; version++ {
		path := filepath.Join("testdata", fmt.Sprintf("record-v%d.json", version))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode("demo", path, data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(full(), got); diff != "" {
			t.Errorf("version %d: %s", version, diff)
		}
	}
}

func TestRecordIsWrittenAsDocumented(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("record-v%d.json", Version)))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // stable although maps are not
		got, err := encode(full())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestEmptyIsNeverNull(t *testing.T) {
	s := minimal("demo", "/r")
	s.Agents = []Agent{{Name: "a"}}
	for _, s := range []*Session{s, minimal("demo", "/r")} {
		data, err := encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("null")) {
			t.Errorf("null in %s", data)
		}
		s.Version = Version
		got, err := decode("demo", "p", withVersion(t, data, Version))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRecordTruncatedAnywhereIsCorrupt(t *testing.T) {
	data, err := encode(full())
	if err != nil {
		t.Fatal(err)
	}
	whole := len(bytes.TrimRight(data, "\n"))
	for n := range whole {
		_, err := decode("demo", "/s/demo.json", data[:n])
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || corrupt.Name != "demo" || corrupt.Path != "/s/demo.json" {
			t.Fatalf("first %d bytes: got %v", n, err)
		}
	}
}

func TestCorruptRecords(t *testing.T) {
	good, err := encode(full())
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) string {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("no %s in the record", old)
		}
		return strings.Replace(string(good), old, with, 1)
	}
	tests := map[string]struct{ data, reason string }{
		"zero bytes":       {"", "empty"},
		"only space":       {" \n\t", "empty"},
		"zeroes":           {strings.Repeat("\x00", 512), "not JSON at byte 1"},
		"null":             {"null", "no version"},
		"list":             {"[]", "unexpected array instead of a record"},
		"text":             {`"demo"`, "unexpected string instead of a record"},
		"two records":      {string(good) + string(good), "not JSON"},
		"no version":       {replace(`"version": 1`, `"other": 1`), "no version"},
		"version 0":        {replace(`"version": 1`, `"version": 0`), "no version"},
		"version is text":  {replace(`"version": 1`, `"version": "1"`), "unexpected string in version"},
		"other name":       {replace(`"session_name": "demo"`, `"session_name": "other"`), `names session "other"`},
		"no name":          {replace(`"session_name"`, `"session_nam"`), `names session ""`},
		"name is a number": {replace(`"session_name": "demo"`, `"session_name": 5`), "unexpected number in session_name"},
		"bad status":       {replace(`"status": "active"`, `"status": "paused"`), `unknown status "paused"`},
		"bad phase":        {replace(`"phase": "live"`, `"phase": "alive"`), `agent "claude": unknown phase "alive"`},
		"worktrees an object": {
			`{"version":1,"session_name":"demo","status":"active","worktrees":{}}`, "unexpected object in worktrees",
		},
		"worktrees of text": {
			`{"version":1,"session_name":"demo","status":"active","worktrees":["a"]}`, "unexpected string in worktrees",
		},
		"high water is text": {replace(`"turn_high_water": 12`, `"turn_high_water": "12"`), "turn_high_water"},
		"environment a list": {replace(`"environment": {}`, `"environment": ["A=b"]`), "unexpected array in worktrees"},
		"time is a word":     {replace("2026-03-01T12:30:15.123456789Z", "yesterday"), "created_at is not a time"},
		"time is a number":   {replace(`"2026-03-01T12:30:15.123456789Z"`, "5"), "created_at is not a time"},
		"agent with a path":  {replace(`"agent": "codex"`, `"agent": "../codex"`), "only letters"},
		"agent twice":        {replace(`"agent": "codex"`, `"agent": "claude"`), "there twice"},
		"bad turn session":   {replace(`"turn_session": "demo_codex"`, `"turn_session": "a/b"`), "turn_session"},
		"bad parent":         {replace(`"parent": "claude"`, `"parent": "-"`), "parent"},
		"relative repo":      {replace(`"/home/u/my project"`, `"my project"`), "repo_path: not an absolute path"},
		"relative worktree":  {replace(`"/w/codex"`, `"../w"`), "worktree_path: not an absolute path"},
		"relative common":    {replace(`"/home/u/my project/.git"`, `".git"`), "git_common_dir: not an absolute path"},
	}
	for name, tt := range tests {
		_, err := decode("demo", "/s/demo.json", []byte(tt.data))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(corrupt.Reason, tt.reason) {
			t.Errorf("%s: got %v, want %q", name, err, tt.reason)
			continue
		}
		for _, goWord := range []string{"session.", "struct", "Go ", "time.Time", "[]string", "UnmarshalJSON"} {
			if strings.Contains(err.Error(), goWord) {
				t.Errorf("%s: a user would read %q", name, err)
			}
		}
	}
}

func TestNewerRecordIsNotRead(t *testing.T) {
	for _, data := range []string{
		`{"version": 2}`,
		`{"version": 9, "session_name": ["demo"], "worktrees": "moved", "status": {}}`,
	} {
		_, err := decode("demo", "/s/demo.json", []byte(data))
		var newer *VersionError
		if !errors.As(err, &newer) || newer.Version < 2 || newer.Name != "demo" {
			t.Errorf("%s: got %v", data, err)
		}
	}
}

func TestUnknownFieldsAreTolerated(t *testing.T) {
	data, err := encode(full())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), `"agent": "claude"`, `"agent": "claude", "colour": {"r": [1]}`, 1)
	text = strings.Replace(text, `"version": 1`, `"version": 1, "later": null, "more": [{}]`, 1)
	got, err := decode("demo", "p", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), got); diff != "" {
		t.Error(diff)
	}
}

// JSON cannot hold such bytes: they would come back as something else.
func TestTextThatIsNotUTF8IsRefused(t *testing.T) {
	for what, spoil := range map[string]func(*Session){
		"repository":  func(s *Session) { s.RepoPath = "/r\xff" },
		"worktree":    func(s *Session) { s.Agents[0].WorktreePath = "/r\xff" },
		"branch":      func(s *Session) { s.Agents[0].Branch = "b\xff" },
		"command":     func(s *Session) { s.Agents[0].Command[1] = "\xff" },
		"environment": func(s *Session) { s.Agents[0].Environment["A"] = "\xff" },
	} {
		s := full()
		spoil(s)
		if data, err := encode(s); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
			t.Errorf("%s: got %v, %s", what, err, data)
		}
	}
}

// FuzzLoad feeds Load whatever a disk may hold.
func FuzzLoad(f *testing.F) {
	good, err := encode(full())
	if err != nil {
		f.Fatal(err)
	}
	for n := 0; n <= len(good); n += 97 {
		f.Add(good[:n])
	}
	for _, seed := range []string{"", "null", "{}", `{"version":1}`, `{"version":2}`, "[[[[", `{"version":1e99}`, "\xff\x00"} {
		f.Add([]byte(seed))
	}
	st := Store{Dir: f.TempDir(), LocksDir: f.TempDir()}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(st.Dir, "demo.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := st.Load("demo")
		if err != nil {
			if s != nil || !IsUnreadable(err) {
				t.Fatalf("got %v, %v", s, err)
			}
			return
		}
		if s == nil {
			t.Fatal("the record is there and was not found")
		}
		again, err := encode(s)
		if err != nil {
			return // the year 10000 in UTC, which JSON cannot write again
		}
		back, err := decode("demo", "p", again)
		if err != nil {
			t.Fatalf("%v in %s", err, again)
		}
		if diff := cmp.Diff(s, back); diff != "" {
			t.Error(diff)
		}
	})
}

func withVersion(t *testing.T, data []byte, version int) []byte {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	fields["version"] = version
	out, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
