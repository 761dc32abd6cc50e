//go:build clis

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// asker is a server of the Model Context Protocol with a tool that asks the user something.
const asker = `import { createInterface } from 'node:readline';
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
let call;
createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  const answer = (result) => send({ id: m.id, result });
  if (m.method === 'initialize') answer({ protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asker', version: '1' } });
  else if (m.method === 'tools/list') answer({ tools: [{ name: 'ask', description: 'asks', inputSchema: { type: 'object', properties: {} } }] });
  else if (m.method === 'tools/call') {
    call = m.id;
    send({ id: 'asked', method: 'elicitation/create', params: { message: 'May it be deployed?', requestedSchema: { type: 'object', properties: {} } } });
  } else if (m.id === 'asked') send({ id: call, result: { content: [{ type: 'text', text: JSON.stringify(m.result) }] } });
  else if (m.id !== undefined && m.method) answer({});
});
`

// TestCLIsElicitation: while the server of a tool asks the user, the agent waits with the question
// in the server's words, until the question is answered or dismissed.
func TestCLIsElicitation(t *testing.T) {
	w := newCLIWorld(t, "claude")
	server, servers, settings := filepath.Join(w.root, "asker.mjs"), filepath.Join(w.root, "servers.json"), filepath.Join(w.root, "settings.json")
	w.write(w.root, "asker.mjs", asker)
	w.write(w.root, "servers.json", fmt.Sprintf(`{"mcpServers":{"asker":{"type":"stdio","command":"node","args":[%q]}}}`, server))
	w.write(w.root, "settings.json", `{"permissions":{"allow":["mcp__asker__ask"]}}`)
	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", fmt.Sprintf("[clis.claude]\nargs = [\"--settings\", %q, \"--mcp-config\", %q]\n", settings, servers))
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	w.work("do: say Hello.")
	for _, key := range []string{"Enter", "Escape"} {
		before := w.last().Number
		w.send("do: tool ToolSearch {\"query\":\"select:mcp__asker__ask\"}\ndo: tool mcp__asker__ask\ndo: run sleep 4\ndo: say Asked.")
		a := w.awaitState("waiting_input")
		if text(a.Reason) != "asker: May it be deployed?" || a.StateSource != "record" && a.StateSource != "hook" {
			t.Errorf("it waits by %s: %s", a.StateSource, text(a.Reason))
		}
		if out := w.pawInput("never into a question", "send", "claude"); out.code != 3 {
			t.Errorf("send: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
		out := w.paw("answer", "claude", "yes")
		t.Logf("answer: exit code %d, %s%s", out.code, out.stdout, out.stderr)
		w.await("the dialog is on the screen", func() bool { return strings.Contains(w.visible(), "Accept") })
		w.press(key)
		w.await("it works on", func() bool { return w.agent("claude").State == "running" })
		if one := w.finished(before); one.Number != before+1 || text(one.Message) != "Asked." {
			t.Errorf("turn %d: %s", one.Number, text(one.Message))
		}
	}
}
