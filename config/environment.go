package config

import (
	"strconv"
	"strings"
)

// variables are the PAW_* variables that are configuration, with the key that
// each one overrides. Other PAW_* variables tell an agent who it is.
var variables = []struct{ name, key string }{
	{"PAW_DEFAULT_CLI", "default_cli"},
	{"PAW_WORKTREE_PATH", "worktree.path"},
	{"PAW_WORKTREE_SETUP", "worktree.setup"},
	{"PAW_TMUX_SOCKET", "tmux.socket"},
	{"PAW_TMUX_LAYOUT", "tmux.layout"},
	{"PAW_SNAPSHOT_SECONDS", "turns.snapshot_seconds"},
	{"PAW_SNAPSHOT_MIB", "turns.snapshot_mib"},
	{"PAW_MAX_DEPTH", "agents.max_depth"},
	{"PAW_MAX_CHILDREN", "agents.max_children"},
	{"PAW_BRIEF_KIB", "agents.brief_kib"},
}

// applyEnvironment stores what the variables say; an empty one says nothing.
func applyEnvironment(c *Config, getenv func(string) string) ([]Source, error) {
	var sources []Source
	for _, v := range variables {
		text := getenv(v.name)
		if text == "" {
			continue
		}
		path := strings.Split(v.key, ".")
		s, _ := findSetting(path)
		a := assignment{setting: s, path: path, value: text}
		if s.text != nil {
			if p := s.text(text); p != nil {
				return nil, p.of(v.name)
			}
		} else {
			number, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, problemf("%q is not a whole number", text).of(v.name)
			}
			if p := s.checkNumber(number); p != nil {
				return nil, p.of(v.name)
			}
			a.value = int(number)
		}
		a.store(c)
		sources = append(sources, Source{Name: v.name, Keys: []string{v.key}})
	}
	return sources, nil
}
