package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/session/turn"
)

// hookEvents lists the events that paw listens to. None is called for tools: the rollout file shows
// that a permission was granted. StopFailure belongs to coming versions; today's codex ignores it
// and reports an API error in the rollout file only.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PermissionRequest", "Stop", "StopFailure", "Interrupt", "SessionEnd",
}

// timeoutOf returns the time limit of a hook in seconds. codex cuts the limit of SessionEnd and
// Interrupt to 3 s, and hashes the cut value.
func timeoutOf(event string) int {
	if event == "SessionEnd" || event == "Interrupt" {
		return 3
	}
	return hooks.PatienceFor(event, "UserPromptSubmit", "Stop", "StopFailure")
}

// hooks returns the options that add paw's hooks to the user's own, for one launch. codex asks the
// user about each unknown hook, and runs one whose hash is in hooks.state; the hash is computed as
// in codex 0.169 (hooks/src/config_rules.rs).
func (c driver) hooks(s cli.Spec) ([]string, error) {
	if s.Hook == "" {
		return nil, nil
	}
	if !utf8.ValidString(s.Hook) {
		return nil, fmt.Errorf("codex: hooks: %q is not UTF-8, as its configuration must be", s.Hook)
	}
	var options, trusted []string
	for _, event := range hookEvents {
		command, timeout := hooks.Command(s, c.Name(), event), timeoutOf(event)
		options = append(options, "-c", fmt.Sprintf(`hooks.%s=[{hooks=[{type="command",command=%s,timeout=%d}]}]`,
			event, tomlString(command), timeout))
		trusted = append(trusted, fmt.Sprintf(`"/<session-flags>/config.toml:%s:0:0"={trusted_hash="%s"}`, snake(event), trustedHash(event, command, timeout)))
	}
	return append(options, "-c", "hooks.state={"+strings.Join(trusted, ",")+"}"), nil
}

// trustedHash returns codex's hash of a hook: of its JSON with sorted keys and without spaces.
func trustedHash(event, command string, timeout int) string {
	content := hooks.JSON(map[string]any{
		"event_name": snake(event),
		"hooks":      []any{map[string]any{"async": false, "command": command, "timeout": timeout, "type": "command"}},
	})
	// encoding/json always escapes U+2028 and U+2029; codex does not.
	text := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(content))
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// snake converts SessionStart to session_start.
func snake(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// tomlString quotes text as a basic string of TOML.
func tomlString(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// Event counts the work of codex's own subagents as the agent's work.
func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var p hooks.Payload
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	p.AgentID = ""
	if name == "Interrupt" {
		return p.Event(turn.KindInterrupt), nil
	}
	return p.Named(name), nil
}
