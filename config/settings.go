package config

import (
	"path/filepath"
	"strings"
)

// setting is one key that may be set. A * in its key stands for a name the user
// chooses. The type behind the target says which values it takes: string, whole
// number, boolean, list of strings or table of strings.
type setting struct {
	key    string
	target func(*entry) any
	// text checks a string, each string of a list or each value of a table.
	text func(string) *problem
	// filled refuses an empty list.
	filled bool
	// zero lets a number be 0.
	zero bool
	// runs tells which values can run something, or change what runs, and so
	// need trust when they come with a repository. Nil means none.
	runs func(value any) bool
	// loosens tells whether a limit that comes with a repository needs trust, now being the one that is in force.
	loosens func(value, now int) bool
}

// entry is what one setting is stored into: the configuration itself, and the
// program or preset that its key names.
type entry struct {
	config *Config
	cli    *CLI
	preset *Preset
}

// settings are all keys of a configuration file; the docs list the same ones.
var settings = []setting{
	{key: "default_cli", text: checkCLIName, target: func(e *entry) any { return &e.config.DefaultCLI }},

	{key: "worktree.path", text: checkTemplate, runs: func(v any) bool { return !besideRepository(v.(string)) },
		target: func(e *entry) any { return &e.config.Worktree.Path }},
	{key: "worktree.copy", text: checkPattern, target: func(e *entry) any { return &e.config.Worktree.Copy }},
	{key: "worktree.link", text: checkPattern, target: func(e *entry) any { return &e.config.Worktree.Link }},
	{key: "worktree.setup", text: checkText, runs: func(v any) bool { return v != "" },
		target: func(e *entry) any { return &e.config.Worktree.Setup }},

	// A server at a foreign path is handed the user's terminal.
	{key: "tmux.socket", text: checkSocket, runs: func(v any) bool { return filepath.IsAbs(v.(string)) },
		target: func(e *entry) any { return &e.config.Tmux.Socket }},
	{key: "tmux.layout", text: oneOf(LayoutTiled, LayoutWindows), target: func(e *entry) any { return &e.config.Tmux.Layout }},

	{key: "tmux.bell", target: func(e *entry) any { return &e.config.Tmux.Bell }},
	{key: "tmux.counts", target: func(e *entry) any { return &e.config.Tmux.Counts }},
	// It fills the disk, and keeps what a user may have typed.
	{key: "tmux.log", runs: func(v any) bool { return v == true }, target: func(e *entry) any { return &e.config.Tmux.Log }},

	// More seconds make CLIs wait, less of either leaves work out of snapshots.
	{key: "turns.snapshot_seconds", loosens: differs, target: func(e *entry) any { return &e.config.Turns.SnapshotSeconds }},
	{key: "turns.snapshot_mib", loosens: differs, target: func(e *entry) any { return &e.config.Turns.SnapshotMiB }},

	{key: "agents.max_depth", loosens: raises, target: func(e *entry) any { return &e.config.Agents.MaxDepth }},
	{key: "agents.max_children", loosens: raises, target: func(e *entry) any { return &e.config.Agents.MaxChildren }},
	{key: "agents.brief_kib", loosens: raises, target: func(e *entry) any { return &e.config.Agents.BriefKiB }},

	{key: "land.checks", text: checkText, runs: always, target: func(e *entry) any { return &e.config.Land.Checks }},

	{key: "notify.events", text: oneOf(NotifyWaiting, NotifyFinished, NotifyError, NotifyLimit), target: func(e *entry) any { return &e.config.Notify.Events }},
	{key: "notify.command", text: checkText, runs: func(v any) bool { return v != "" }, target: func(e *entry) any { return &e.config.Notify.Command }},
	{key: "notify.desktop", target: func(e *entry) any { return &e.config.Notify.Desktop }},
	{key: "notify.osc", text: oneOf("", "9", "777", "99"), target: func(e *entry) any { return &e.config.Notify.OSC }},
	{key: "notify.webhook", text: checkWebhook, runs: func(v any) bool { return v != "" }, target: func(e *entry) any { return &e.config.Notify.Webhook }},
	{key: "notify.dwell", zero: true, target: func(e *entry) any { return &e.config.Notify.Dwell }},

	{key: "clis.*.command", text: checkText, filled: true, runs: always, target: func(e *entry) any { return &e.cli.Command }},
	{key: "clis.*.resume", text: checkText, runs: always, target: func(e *entry) any { return &e.cli.Resume }},
	{key: "clis.*.args", text: checkText, runs: always, target: func(e *entry) any { return &e.cli.Args }},
	{key: "clis.*.prompt", text: oneOf(PromptArg, PromptSend), target: func(e *entry) any { return &e.cli.Prompt }},
	{key: "clis.*.env", text: checkText, runs: always, target: func(e *entry) any { return &e.cli.Env }},
	{key: "clis.*.git_writable", runs: func(v any) bool { return v == true }, target: func(e *entry) any { return &e.cli.GitWritable }},

	{key: "presets.*.cli", text: checkCLIItem, target: func(e *entry) any { return &e.preset.CLI }},
	{key: "presets.*.branches", text: checkRevision, target: func(e *entry) any { return &e.preset.Branches }},
	{key: "presets.*.base", text: checkBase, target: func(e *entry) any { return &e.preset.Base }},
}

func always(any) bool { return true }

func raises(value, now int) bool  { return value > now }
func differs(value, now int) bool { return value != now }

// checkChosenName checks the part of a key that the user chooses.
func checkChosenName(table, name string) *problem {
	if table == "clis" {
		return checkCLIName(name)
	}
	return checkPresetName(name)
}

// matches reports whether the first len(path) parts of the setting's key fit.
func (s setting) matches(path []string) bool {
	parts := strings.Split(s.key, ".")
	if len(path) > len(parts) {
		return false
	}
	for i, name := range path {
		if parts[i] != "*" && parts[i] != name {
			return false
		}
	}
	return true
}

func (s setting) length() int { return strings.Count(s.key, ".") + 1 }

// findSetting returns the setting at a path, or nil; known tells whether the
// path is at least a table on the way to one.
func findSetting(path []string) (found *setting, known bool) {
	for i := range settings {
		if !settings[i].matches(path) {
			continue
		}
		if settings[i].length() == len(path) {
			return &settings[i], true
		}
		known = true
	}
	return nil, known
}

// nearestKey returns the known key that comes closest to an unknown one: first
// among its neighbours, then one of the same last name in another table.
func nearestKey(path []string) string {
	last := len(path) - 1
	var neighbours, lastNames, all []string
	for _, s := range settings {
		parts := strings.Split(s.key, ".")
		if len(parts) > last && s.matches(path[:last]) {
			neighbours = append(neighbours, parts[last])
		}
		if !strings.Contains(s.key, "*") {
			lastNames = append(lastNames, parts[len(parts)-1])
			all = append(all, s.key)
		}
	}
	if name := Nearest(path[last], neighbours); name != "" && name != "*" {
		return joinKey(append(path[:last:last], name))
	}
	if name := Nearest(path[last], lastNames); name != "" {
		for i := range lastNames {
			if lastNames[i] == name {
				return all[i]
			}
		}
	}
	return ""
}

// sample returns a pointer of the type that the setting's values are stored as.
func (s setting) sample() any {
	return s.target(&entry{config: &Config{}, cli: &CLI{}, preset: &Preset{}})
}
