//go:build clis

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCLIsMCP has real CLIs call paw's commands as tools, with the settings of docs/agents.md.
func TestCLIsMCP(t *testing.T) {
	paw, err := exec.LookPath("paw")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("claude", func(t *testing.T) {
		w := newCLIWorld(t, "claude")
		servers := filepath.Join(w.root, "servers.json")
		w.write(w.root, "servers.json", fmt.Sprintf(`{"mcpServers":{"paw":{"command":%q,"args":["mcp"]}}}`, paw))
		w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml",
			fmt.Sprintf("[clis.claude]\nargs = [\"--mcp-config\", %q, \"--allowedTools\", \"mcp__paw\"]\n", servers))
		playTools(w, "do: tool ToolSearch {\"query\":\"select:mcp__paw__spawn,mcp__paw__wait,mcp__paw__diff,mcp__paw__done\"}\n")
	})
	t.Run("codex", func(t *testing.T) {
		w := newCLIWorld(t, "codex")
		config := filepath.Join(w.root, "home/.codex/config.toml")
		w.write(filepath.Dir(config), "config.toml", w.readFile("../home/.codex/config.toml")+fmt.Sprintf(`
[mcp_servers.paw]
command = %q
args = ["mcp"]
env_vars = ["PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH"]
default_tools_approval_mode = "approve"
`, paw))
		playTools(w, "")
	})
}

// playTools: the parent starts a child and waits for it, looks at its work, and reports, all by tools.
func playTools(w *cliWorld, load string) {
	w.ok(w.paw("start", "--cli", w.cli, "--detach"))
	w.send(load + "do: tool mcp__paw__spawn {\"cli\":\"kid=demo\",\"prompt\":\"do: write by-kid.txt by the child\"}\ndo: tool mcp__paw__wait {}\ndo: say I wait.")
	told := func() string { return w.agent(w.cli).State }
	w.await("the parent has been told of its child", func() bool { return w.last().Number == 2 && w.last().State == "finished" && told() == "idle" })
	if prompt := w.last().Prompt; !strings.HasPrefix(prompt, "[paw wait ") || !strings.Contains(prompt, "kid (demo): ") {
		w.t.Errorf("the parent's second prompt: %q", prompt)
	}
	w.send(load + "do: tool mcp__paw__diff {\"agent\":\"kid\"}\ndo: tool mcp__paw__done {\"message\":\"Looked\"}")
	if done := w.awaitState("completed"); text(done.Reason) != "Looked" {
		w.t.Errorf("completed: %s", text(done.Reason))
	}
	seen := false
	for _, e := range w.model.Last(1000) {
		seen = seen || strings.Contains(e.Result, "by-kid.txt")
	}
	if !seen {
		w.t.Errorf("the model was not shown what the child has done: %+v", w.model.Last(4))
	}
}
