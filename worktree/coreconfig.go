package worktree

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"paw/config/disk"
)

// core is what finding a repository needs from its own configuration; reading
// it here keeps git out of `paw status`.
type core struct {
	bare       string // "" when not set
	worktree   string // absolute, "" when not set
	ignoreCase bool
}

func readCore(commonDir string) (core, error) {
	var c core
	perWorktree := false
	for _, name := range []string{"config", "config.worktree"} {
		if name == "config.worktree" && !perWorktree {
			break
		}
		err := eachSettingIn(filepath.Join(commonDir, name), func(key, value string) {
			switch key {
			case "core.bare":
				c.bare = value
			case "core.worktree":
				c.worktree = absoluteFrom(commonDir, value)
			case "core.ignorecase":
				c.ignoreCase = isTrue(value)
			case "extensions.worktreeconfig":
				perWorktree = isTrue(value)
			}
		})
		if err != nil {
			return core{}, err
		}
	}
	if c.worktree != "" {
		c.worktree = resolved(c.worktree)
	}
	return c, nil
}

// isBare follows git's guess where the configuration is silent.
func (c core) isBare(commonDir string) bool {
	if c.bare != "" {
		return isTrue(c.bare)
	}
	return c.worktree == "" && filepath.Base(commonDir) != ".git"
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// eachSettingIn is eachSetting of a file; one that is missing has none.
func eachSettingIn(path string, f func(key, value string)) error {
	content, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	eachSetting(string(content), f)
	return err
}

// eachSetting calls f for every "section.key" without a subsection, in lower
// case. A key without "=" has the value "true".
func eachSetting(content string, f func(key, value string)) {
	section := ""
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			end := strings.IndexByte(line, ']')
			if end < 0 {
				continue
			}
			section = strings.ToLower(line[1:end])
			if line = strings.TrimSpace(line[end+1:]); line == "" {
				continue
			}
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			value = "true"
		}
		f(section+"."+strings.ToLower(strings.TrimSpace(key)), settingValue(value))
	}
}

// settingValue removes quotes and comments, and resolves backslashes.
func settingValue(raw string) string {
	var value strings.Builder
	quoted := false
	raw = strings.TrimSpace(raw)
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(raw):
			i++
			value.WriteByte(raw[i])
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(value.String())
		default:
			value.WriteByte(c)
		}
	}
	return value.String()
}
