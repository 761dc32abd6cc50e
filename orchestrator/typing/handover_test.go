package typing

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/session"
)

// TestAPromptBehindNewBeginsAConversation: the channel leads to the conversation of the last prompt. Where the screen shows that
// the user has begun another one, what is sent is typed there; elsewhere it takes the channel.
func TestAPromptBehindNewBeginsAConversation(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(out, `{"directory":"/shop/one"}`)
	}))
	defer server.Close()
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	s, w := &session.Session{Name: "shop"}, &session.Agent{Name: "one", CLI: "opencode", WorktreePath: "/shop/one", ConversationIDs: []string{"ses_1"}}
	dir := h.StateDir(s.Name, w.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf(`{"url":%q,"password":"sesame"}`, server.URL)
	if err := os.WriteFile(filepath.Join(dir, "opencode-server.json"), []byte(at), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := clis.New(nil).Get("opencode")
	one := &sender{Agent: h.Agent(s, w), cli: c, ready: c.Facts().Ready, screen: cli.Screen{Box: cli.BoxEmpty, Fresh: true}}
	if one.reach(t.Context()) {
		t.Error("a prompt for a new conversation goes to the old one")
	}
	one.screen.Fresh = false
	if !one.reach(t.Context()) {
		t.Error("the conversation is on the screen, and the prompt is typed")
	}
}
