package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/config"
)

// played is a client whose ssh is a script that plays a host. The word of the request is $word there, the marker $marker.
func played(t *testing.T, script string) (Client, Host) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "ssh")
	text := "#!/bin/sh\nfor last; do :; done\nword=${last##* }\nmarker=$(printf %s== \"$word\" | tr _- /+ | base64 -d 2>/dev/null | sed 's/.*\"marker\":\"\\([^\"]*\\)\".*/\\1/')\n" + script
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return Client{Path: path, Env: os.Environ(), State: filepath.Join(dir, "state")}, Host{Name: "gpu", Host: config.Host{SSH: "gpu-box", Patience: 5}}
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		name, script string
		want         string
		wrong        string // in the error
		reached      bool   // the error is none of reaching the host
	}{
		{"plain", `echo "$marker"; echo '{}'`, "{}\n", "", true},
		{"behind a greeting", `echo Welcome; printf 'no line end'; echo "$marker"; echo '{}'`, "{}\n", "", true},
		{"the marker twice", `echo "$marker"; echo a; echo "$marker"; echo b`, "a\nMARKER\nb\n", "", true},
		{"ssh fails", `echo 'ssh: connect to host gpu-box port 22: Connection refused' >&2; exit 255`, "", "Connection refused", false},
		{"ssh fails in the middle", `echo "$marker"; echo '{'; exit 255`, "", "the connection was lost", false},
		{"no paw", `echo 'sh: paw: not found' >&2; exit 127`, "", "no paw answers there (sh: paw: not found)", false},
		{"no marker", `echo '{}'`, "", "no paw answers", false},
		{"paw refuses", `echo "$marker"; echo 'paw: error: r: not here' >&2; exit 10`, "", "gpu: r: not here", true},
		{"paw refuses as JSON", `echo "$marker"; echo '{"error":"r: not here"}' >&2; exit 10`, "", "gpu: r: not here", true},
		{"escapes in what it says", `echo "$marker"; printf 'paw: error: \033]0;x\007evil\n' >&2; exit 1`, "", "gpu: evil", true},
		{"a greeting without end", `yes`, "", "prints without end", true},
		{"an answer without end", `echo "$marker"; yes`, "", "does not end", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, h := played(t, tt.script)
			var random string
			text, err := c.Read(context.Background(), h, "", "status", "--json")
			if tt.wrong != "" {
				var lost *NotReached
				if err == nil || !strings.Contains(err.Error(), tt.wrong) || errors.As(err, &lost) == tt.reached {
					t.Errorf("error %v", err)
				}
				return
			}
			if i := strings.Index(string(text), "paw-"); i >= 0 {
				random = string(text[i : i+28])
			}
			if got := strings.ReplaceAll(string(text), random, "MARKER"); err != nil || random != "" && got != tt.want || random == "" && string(text) != tt.want {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// Every login shell hands on the word as it is: whatever is in a request, no character of the word means anything to a shell.
func TestWordIsPlain(t *testing.T) {
	r := NewRequest("a b/$(touch x)", "send", "demo", "'; rm -rf ~ \" \n ü \x1b[0m !!")
	word := r.Word()
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		t.Errorf("%q", word)
	}
	got, err := ParseRequest(word)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "!", "e30", Request{Version: 2, Args: []string{"x"}}.Word(), Request{Version: 1}.Word()} {
		if _, err := ParseRequest(bad); err == nil {
			t.Errorf("%q is a request", bad)
		}
	}
}

func TestThere(t *testing.T) {
	repos := map[string]string{"/src/shop": "src/shop", "/src": "all/", "/": "root"}
	for here, want := range map[string]string{"/src/shop": "src/shop", "/src/shop/sub": "src/shop", "/src/shopping": "all", "/srcs": "root"} {
		if there, ok := There(repos, here); !ok || there != want {
			t.Errorf("%s: %q, %v", here, there, ok)
		}
	}
	if _, ok := There(map[string]string{"/src": "x"}, "/srcs"); ok {
		t.Error("/srcs is not below /src")
	}
}

// Of a host that does not answer the last answer is known, with its age; ssh's failure is no answer.
func TestLastAnswerIsKept(t *testing.T) {
	c, h := played(t, `if [ -e `+"$0.away"+` ]; then echo 'no route' >&2; exit 255; fi; echo "$marker"; echo '{"version":1,"sessions":[{"name":"shop","status":"active","agents":[{"name":"a","state":"idle"}]}]}'`)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := func() time.Time { return at }
	places := []Place{{Host: h, Dir: "src"}}
	first := c.Statuses(context.Background(), places, now)
	if first[0].Err != nil || len(first[0].Sessions()) != 1 {
		t.Fatalf("%+v", first)
	}
	if err := os.WriteFile(c.Path+".away", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at = at.Add(3 * time.Hour)
	second := c.Statuses(context.Background(), places, now)
	var lost *NotReached
	if !errors.As(second[0].Err, &lost) || !second[0].AsOf.Equal(at.Add(-3*time.Hour)) || !bytes.Equal(second[0].Status, bytes.TrimSpace(first[0].Status)) && len(second[0].Sessions()) != 1 {
		t.Errorf("%+v", second[0])
	}
	other := c.Statuses(context.Background(), []Place{{Host: h, Dir: "elsewhere"}}, now)
	if other[0].Status != nil {
		t.Errorf("of another checkout nothing is known: %s", other[0].Status)
	}
}

// What a host says is read as far as it is understood, and never commands a terminal.
func TestSessionsOfAnAnswer(t *testing.T) {
	for text, want := range map[string][]map[string]string{
		``:   nil,
		`[]`: nil,
		`{"version":1,"sessions":[{"name":"a\u001b[2Jb","status":"active","agents":[{"name":"x","state":"idle","turns_completed":"many","new_field":1,"reason":null}]}]}`: {
			{"name": "ab", "status": "active", "agent": "x idle  0 "}},
		`{"version":2,"sessions":[{"name":"s","status":"active","repo_path":{"moved":1},"agents":[{"name":"x","state":"resting","cli":"claude"}]}]}`: {
			{"name": "s", "status": "active", "agent": "x resting  0 "}},
	} {
		var got []map[string]string
		for _, s := range (Answer{Status: []byte(text)}).Sessions() {
			a := s.List("agents")[0]
			got = append(got, map[string]string{
				"name": s.Text("name"), "status": s.Text("status"),
				"agent": fmt.Sprint(a.Text("name"), " ", a.Text("state"), " ", a.Text("cli"), " ", a.Number("turns_completed"), " ", a.Text("reason")),
			})
			if s.Text("repo_path") != "" {
				t.Errorf("%s: a repository of another type: %q", text, s.Text("repo_path"))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestSocketsAreTheUsersAlone(t *testing.T) {
	dir := t.TempDir()
	if got := SocketsIn(dir); got != filepath.Join(dir, "paw") {
		t.Errorf("%q", got)
	}
	if err := os.Chmod(filepath.Join(dir, "paw"), 0o770); err != nil {
		t.Fatal(err)
	}
	if got := SocketsIn(dir); got != "" {
		t.Errorf("a folder that a group can write: %q", got)
	}
	linked := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(linked, "paw")); err != nil {
		t.Fatal(err)
	}
	if got := SocketsIn(linked); got != "" {
		t.Errorf("a link: %q", got)
	}
	long := Client{Sockets: "/" + strings.Repeat("x", longestSocket)}
	if got := long.socket(Host{Name: "a"}); got != "" {
		t.Errorf("too long for an address: %q", got)
	}
}

// TestConnectionIsOfItsConfiguration: another configuration of ssh, or another home, never uses a connection that was made before.
func TestConnectionIsOfItsConfiguration(t *testing.T) {
	t.Cleanup(resolved.Clear)
	c, h := played(t, `cat "$0.conf"`)
	c.Sockets = "/tmp"
	socket := func(c Client, conf string) string {
		resolved.Clear()
		if err := os.WriteFile(c.Path+".conf", []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		return c.socket(h)
	}
	first := socket(c, "hostname one\n")
	if again := socket(c, "hostname one\n"); again != first || first == "" {
		t.Errorf("the same configuration: %q, then %q", first, again)
	}
	if other := socket(c, "hostname two\n"); other == first {
		t.Error("another machine has the same connection")
	}
	c.State += "/other"
	if other := socket(c, "hostname one\n"); other == first {
		t.Error("another home has the same connection")
	}
}

// TestCutCommandWaitsForNothing cuts a command whose output another process holds open, as ssh's master does for its clients: the command
// ends with its client, however long it would wait for output that comes late.
func TestCutCommandWaitsForNothing(t *testing.T) {
	c, h := played(t, `sleep 600 & echo $! > "$0.holder"; echo begun; wait`)
	t.Cleanup(func() {
		if pid, err := os.ReadFile(c.Path + ".holder"); err == nil {
			_ = exec.Command("kill", strings.TrimSpace(string(pid))).Run()
		}
	})
	ctx, cut := context.WithCancel(t.Context())
	cmd := c.command(ctx, h, nil, NewRequest("", "status").line(h))
	cmd.WaitDelay = time.Hour
	cmd.Stdout = writes(func([]byte) { cut() })
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run() }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("it waits for output that nobody reads")
	}
}

// writes is a writer that calls a function.
type writes func([]byte)

func (w writes) Write(text []byte) (int, error) { w(text); return len(text), nil }
