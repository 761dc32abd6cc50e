package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// geminiSystemSettings names the file whose settings win over the user's.
const geminiSystemSettings = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"

// geminiSettings is a copy of the system's settings with the clean-up of old conversations off. A resumed conversation
// leaves a second file that gemini takes for a broken one; the next start in the project would then delete the
// conversation itself (google-gemini/gemini-cli#27368, #28767).
func geminiSettings(s Spec) (File, error) {
	if !filepath.IsAbs(s.StateDir) {
		return File{}, fmt.Errorf("gemini: settings: no folder for them: %q", s.StateDir)
	}
	system := getenv(s.Env, geminiSystemSettings)
	if system == "" {
		system = "/etc/gemini-cli/settings.json"
		if runtime.GOOS == "darwin" {
			system = "/Library/Application Support/GeminiCli/settings.json"
		}
	}
	settings, general := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	content, err := os.ReadFile(system)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = []byte("{}"), nil
	}
	if err == nil {
		err = json.Unmarshal(withoutComments(content), &settings)
	}
	if raw, ok := settings["general"]; ok && err == nil {
		err = json.Unmarshal(raw, &general)
	}
	if err == nil && (settings == nil || general == nil) {
		err = errors.New("null is no object")
	}
	if err != nil {
		return File{}, fmt.Errorf("gemini: system settings %s: %w", system, err)
	}
	general["sessionRetention"] = json.RawMessage(`{"enabled":false}`)
	if settings["general"], err = json.Marshal(general); err != nil {
		return File{}, fmt.Errorf("gemini: settings: %w", err)
	}
	merged, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return File{}, fmt.Errorf("gemini: settings: %w", err)
	}
	return File{Path: filepath.Join(s.StateDir, "gemini-system-settings.json"), Content: append(merged, '\n')}, nil
}

// withoutComments blanks the // and /* */ comments that gemini allows in its settings.
func withoutComments(content []byte) []byte {
	out := bytes.Clone(content)
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(out[i:], []byte("//")):
			i = blank(out, i, "\n")
		case bytes.HasPrefix(out[i:], []byte("/*")):
			i = blank(out, i, "*/")
		}
	}
	return out
}

// blank makes spaces of a comment that begins at start and ends with end or the text, and returns its last byte.
func blank(text []byte, start int, end string) int {
	stop := len(text)
	if n := bytes.Index(text[start+2:], []byte(end)); n >= 0 {
		stop = start + 2 + n + len(end)
	}
	for i := start; i < stop; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	return stop - 1
}
