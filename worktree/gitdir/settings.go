package gitdir

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
)

// Core holds the settings needed to find a repository and to read its files.
type Core struct {
	Bare       string // value of core.bare, "" if not set
	Worktree   string // value of core.worktree as an absolute path, "" if not set
	IgnoreCase bool
	RefStorage string // value of extensions.refStorage in lower case, "" if not set
	SHA256     bool   // object ids are hashes of 32 bytes
}

// ReadCore reads the settings of a repository, and those of its main worktree.
func ReadCore(commonDir string) (Core, error) {
	var c Core
	perWorktree := false
	for _, name := range []string{"config", "config.worktree"} {
		if name == "config.worktree" && !perWorktree {
			break
		}
		content, err := disk.ReadFile(filepath.Join(commonDir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Core{}, err
		}
		eachSetting(string(content), func(key, value string) {
			switch key {
			case "core.bare":
				c.Bare = value
			case "core.worktree":
				c.Worktree = AbsoluteFrom(commonDir, value)
			case "core.ignorecase":
				c.IgnoreCase = isTrue(value)
			case "extensions.refstorage":
				c.RefStorage = strings.ToLower(value)
			case "extensions.objectformat":
				c.SHA256 = strings.EqualFold(value, "sha256")
			case "extensions.worktreeconfig":
				perWorktree = isTrue(value)
			}
		})
	}
	return c, nil
}

// RefsInFiles reports whether the ref store has the classic format of files.
func (c Core) RefsInFiles() bool { return c.RefStorage == "" || c.RefStorage == "files" }

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// eachSetting calls f for every "section.key" without a subsection, in lower case. A key without
// "=" has the value "true".
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

// settingValue removes quotes, comments and backslashes.
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

// ConfigFiles returns the files with git's settings for a worktree, without those that they include.
func ConfigFiles(admin string) []string {
	common, home := Common(admin), os.Getenv("HOME")
	return []string{
		filepath.Join(common, "config"), filepath.Join(admin, "config.worktree"), os.Getenv("GIT_CONFIG_GLOBAL"),
		filepath.Join(userGit(), "config"), filepath.Join(home, ".gitconfig"), "/etc/gitconfig",
	}
}

// AttributeFiles returns the files with attributes outside of a worktree, without one that a setting names.
func AttributeFiles(admin string) []string {
	return []string{filepath.Join(Common(admin), "info/attributes"), filepath.Join(userGit(), "attributes"), "/etc/gitattributes"}
}

func userGit() string {
	return filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(os.Getenv("HOME"), ".config")), "git")
}

// InConfig reports whether one of the files with settings for the git directory of a worktree, or the common one, has one
// of some texts, which are in lower case.
func InConfig(admin string, texts ...string) bool {
	return slices.ContainsFunc(ConfigFiles(admin), func(file string) bool {
		content, _ := disk.ReadFile(file)
		low := strings.ToLower(string(content))
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(low, text) })
	})
}
