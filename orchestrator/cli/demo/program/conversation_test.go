package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFolder(t *testing.T) {
	for _, test := range []struct{ env, want string }{
		{"XDG_STATE_HOME=/s HOME=/h", "/s/paw/demo"},
		{"HOME=/h", "/h/.local/state/paw/demo"},
		{"XDG_STATE_HOME=relative HOME=/h", "/h/.local/state/paw/demo"},
		{"XDG_STATE_HOME= HOME=/h HOME=/i", "/i/.local/state/paw/demo"},
	} {
		got, err := Folder(strings.Fields(test.env))
		if err != nil {
			t.Errorf("%s: %v", test.env, err)
		}
		expect(t, test.env, got, test.want)
	}
	if _, err := Folder([]string{}); err == nil {
		t.Error("no error without HOME")
	}
}

func TestConversationFile(t *testing.T) {
	p := newPlace(t)
	if code, _, errw := p.main("", "--session-id", "a", "-p", "do: say hi"); code != 0 {
		t.Fatal(errw)
	}
	content, err := os.ReadFile(p.transcript("a"))
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for line := range strings.Lines(string(content)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := time.Parse(time.RFC3339Nano, m["timestamp"].(string)); err != nil {
			t.Error(err)
		}
		if role, ok := m["role"]; ok {
			roles = append(roles, role.(string)+"="+m["content"].(string))
		}
	}
	expect(t, "messages", strings.Join(roles, " | "), "user=do: say hi | assistant=hi")
	expect(t, "events", p.events("a"), "start turn_start turn_end exit")

	info, err := os.Stat(p.transcript("a"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "file mode", info.Mode().Perm(), 0o600)
	info, err = os.Stat(filepath.Dir(p.transcript("a")))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "directory mode", info.Mode().Perm(), 0o700)
}

func TestSessionIDIsTakenOnce(t *testing.T) {
	p := newPlace(t)
	p.main("", "--session-id", "a", "-p", "do: say hi")
	before := p.events("a")
	code, out, errw := p.main("", "--session-id", "a", "-p", "do: say again")
	expect(t, "exit code", code, 1)
	expect(t, "output", out, "")
	expect(t, "error", errw, "demo: error: conversation a: exists already\n")
	expect(t, "events", p.events("a"), before)
}

func TestResumeOfUnknown(t *testing.T) {
	p := newPlace(t)
	for _, id := range []string{"nobody", "", "../demo/a", "a b"} {
		code, out, errw := p.main("", "--resume", id)
		expect(t, "exit code", code, 1)
		expect(t, "output", out, "")
		expect(t, "error", errw, "No conversation found with session ID: "+id+"\n")
	}
}

func TestResumeAfterTornLine(t *testing.T) {
	p := newPlace(t)
	p.main("", "--session-id", "a", "-p", "do: say one")
	f, err := os.OpenFile(p.transcript("a"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"role":"user","cont`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	code, _, errw := p.main("", "--resume", "a", "-p", "do: say two")
	if code != 0 {
		t.Fatal(errw)
	}
	expect(t, "events", p.events("a"), "start turn_start turn_end exit start turn_start turn_end exit")
	entries := p.entries("a")
	expect(t, "turn", entries[len(entries)-1].Turn, 2)
}

func TestFork(t *testing.T) {
	p := newPlace(t)
	p.main("", "--session-id", "a", "-p", "do: say one")
	before := p.events("a")
	if code, _, errw := p.main("", "--session-id", "b", "--fork", "a", "-p", "do: say two"); code != 0 {
		t.Fatal(errw)
	}
	expect(t, "events of the original", p.events("a"), before)
	expect(t, "events of the copy", p.events("b"), before+" start turn_start turn_end exit")
	entries := p.entries("b")
	expect(t, "turn", entries[len(entries)-1].Turn, 2)
	for _, from := range []string{"nobody", "../demo/a"} {
		code, _, errw := p.main("", "--session-id", "c", "--fork", from)
		expect(t, "exit code", code, 1)
		expect(t, "error", errw, "No conversation found with session ID: "+from+"\n")
	}
	code, _, errw := p.main("", "--session-id", "b", "--fork", "a")
	expect(t, "exit code", code, 1)
	expect(t, "error", errw, "demo: error: conversation b: exists already\n")
	code, _, _ = p.main("", "--resume", "b", "--fork", "a")
	expect(t, "exit code of a resumed fork", code, 2)
}
