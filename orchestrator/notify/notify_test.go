package notify

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func some() Notice {
	return Notice{
		Version: 1, Event: "waiting", Session: "shop", Agent: "api", CLI: "claude", Turn: 4, State: "waiting_input", Words: "waits for you",
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Text: "Bash: rm -rf \"$HOME\"; `id`\x1b]0;x\x07\n\u202eand", Repo: "/src/shop",
	}
}

func TestWebhookTellsNamesAlone(t *testing.T) {
	var got, kind string
	answer := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got, kind = r.Method+" "+r.URL.Path+" "+string(body), r.Header.Get("Content-Type")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(answer)
	}))
	defer server.Close()
	if err := some().Webhook(t.Context(), server.URL+"/in"); err != nil {
		t.Fatal(err)
	}
	want := `POST /in {"version":1,"event":"waiting","session":"shop","agent":"api","cli":"claude","turn":4,"state":"waiting_input","at":"2026-01-02T03:04:05Z"}`
	if got != want || kind != "application/json" {
		t.Errorf("%s\n%s, want\n%s", kind, got, want)
	}
	for _, answer = range []int{http.StatusTemporaryRedirect, http.StatusInternalServerError} {
		if err := some().Webhook(t.Context(), server.URL+"/in"); err == nil || !strings.HasPrefix(got, "POST /in ") {
			t.Errorf("%d: %v, %s", answer, err, got)
		}
	}
}

func TestWebhookThatDoesNotAnswer(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	if err := some().Webhook(t.Context(), server.URL); err == nil {
		t.Error("no error")
	}
}

func TestSequences(t *testing.T) {
	const title, body = "shop/api waits for you", "Bash: rm -rf \"$HOME\"; `id` and"
	for osc, want := range map[string]string{
		"9":   "\x1b]9;" + title + ": " + body + "\x1b\\",
		"777": "\x1b]777;notify;" + title + ";" + strings.ReplaceAll(body, ";", ",") + "\x1b\\",
		"99":  "\x1b]99;i=paw:d=0;" + title + "\x1b\\\x1b]99;i=paw:d=1:p=body;" + body + "\x1b\\",
		"":    "",
	} {
		if got := some().Sequence(osc); got != want {
			t.Errorf("%s: %q, want %q", osc, got, want)
		}
	}
}

// What people and models write reaches the programs as data alone.
func TestProgramsGetTheNoticeAsItIs(t *testing.T) {
	dir := t.TempDir()
	env := []string{"PATH=" + dir + ":/usr/bin:/bin", "DIR=" + dir}
	if err := some().Command(t.Context(), `cat > "$DIR/json"`, env); err != nil {
		t.Fatal(err)
	}
	json, _ := os.ReadFile(filepath.Join(dir, "json"))
	for _, part := range []string{`"event":"waiting"`, `"repo_path":"/src/shop"`, "`id`"} {
		if !strings.Contains(string(json), part) {
			t.Errorf("%s is not in %s", part, json)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte("#!/bin/sh\nprintf '%s|' \"$@\" > \"$DIR/shown\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := some().Desktop(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	shown, _ := os.ReadFile(filepath.Join(dir, "shown"))
	if want := "--app-name=paw|--|" + some().Title() + "|" + some().Body() + "|"; string(shown) != want {
		t.Errorf("%q, want %q", shown, want)
	}
	if err := some().Command(t.Context(), "echo no luck >&2; exit 3", env); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("%v", err)
	}
}
