package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
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
	// repository says how the value of a repository combines with the user's.
	repository authority
	// trust tells which values of a repository need the user's trust, now being the one in force; nil means none.
	trust func(value, now any) bool
}

// authority says what a repository's value of a key counts. Every key has one: the user's settings hold against those of a
// repository wherever they are about more than the project.
type authority int

const (
	_          authority = iota // a key without a decision, which a test refuses
	replaces                    // the repository's value wins: it knows the project
	yields                      // the repository's value counts where the user says nothing
	usersAlone                  // a repository has no say: it can neither silence nor redirect what the user is told
)

// entry is what one setting is stored into: the configuration itself, and the
// program or preset that its key names.
type entry struct {
	config *Config
	cli    *CLI
	preset *Preset
}

// settings are all keys of a configuration file; the docs list the same ones.
var settings = []setting{
	{key: "default_cli", text: checkCLIName, repository: replaces, target: func(e *entry) any { return &e.config.DefaultCLI }},

	{key: "worktree.path", text: checkTemplate, repository: yields, trust: func(v, _ any) bool { return !besideRepository(v.(string)) },
		target: func(e *entry) any { return &e.config.Worktree.Path }},
	{key: "worktree.copy", text: checkPattern, repository: replaces, target: func(e *entry) any { return &e.config.Worktree.Copy }},
	{key: "worktree.link", text: checkPattern, repository: replaces, target: func(e *entry) any { return &e.config.Worktree.Link }},
	{key: "worktree.setup", text: checkText, repository: replaces, trust: set, target: func(e *entry) any { return &e.config.Worktree.Setup }},

	// A server at a foreign path is handed the user's terminal.
	{key: "tmux.socket", text: checkSocket, repository: yields, trust: func(v, _ any) bool { return filepath.IsAbs(v.(string)) },
		target: func(e *entry) any { return &e.config.Tmux.Socket }},
	{key: "tmux.layout", text: oneOf(LayoutTiled, LayoutWindows), repository: yields, target: func(e *entry) any { return &e.config.Tmux.Layout }},

	{key: "tmux.bell", repository: usersAlone, target: func(e *entry) any { return &e.config.Tmux.Bell }},
	{key: "tmux.counts", repository: usersAlone, target: func(e *entry) any { return &e.config.Tmux.Counts }},
	// It fills the disk, and keeps what a user may have typed.
	{key: "tmux.log", repository: yields, trust: set, target: func(e *entry) any { return &e.config.Tmux.Log }},

	// More seconds make CLIs wait, less of either leaves work out of snapshots.
	{key: "turns.snapshot_seconds", repository: replaces, trust: differs, target: func(e *entry) any { return &e.config.Turns.SnapshotSeconds }},
	{key: "turns.snapshot_mib", repository: replaces, trust: differs, target: func(e *entry) any { return &e.config.Turns.SnapshotMiB }},

	{key: "agents.max_depth", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.MaxDepth }},
	{key: "agents.max_children", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.MaxChildren }},
	{key: "agents.brief_kib", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.BriefKiB }},

	{key: "land.checks", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.config.Land.Checks }},

	{key: "notify.events", text: oneOf(NotifyWaiting, NotifyFinished, NotifyError, NotifyLimit), repository: usersAlone,
		target: func(e *entry) any { return &e.config.Notify.Events }},
	{key: "notify.command", text: checkText, repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.Command }},
	{key: "notify.desktop", repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.Desktop }},
	{key: "notify.osc", text: oneOf("", "9", "777", "99"), repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.OSC }},
	{key: "notify.webhook", text: checkWebhook, repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.Webhook }},
	{key: "notify.dwell", zero: true, repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.Dwell }},

	{key: "clis.*.command", text: checkText, filled: true, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Command }},
	{key: "clis.*.resume", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Resume }},
	{key: "clis.*.args", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Args }},
	// Of a CLI that the user has not set up, the other keys need trust already.
	{key: "clis.*.prompt", text: oneOf(PromptArg, PromptSend), repository: replaces, trust: func(v, now any) bool { return now != "" && differs(v, now) },
		target: func(e *entry) any { return &e.cli.Prompt }},
	{key: "clis.*.env", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Env }},
	{key: "clis.*.git_writable", repository: replaces, trust: set, target: func(e *entry) any { return &e.cli.GitWritable }},

	{key: "presets.*.cli", text: checkCLIItem, repository: yields, target: func(e *entry) any { return &e.preset.CLI }},
	{key: "presets.*.branches", text: checkRevision, repository: yields, target: func(e *entry) any { return &e.preset.Branches }},
	{key: "presets.*.base", text: checkBase, repository: yields, target: func(e *entry) any { return &e.preset.Base }},
}

func always(_, _ any) bool { return true }

// set is for what runs something or loosens a guard: the repository wants it, or takes the user's away.
func set(value, now any) bool {
	nothing := reflect.Zero(reflect.TypeOf(value)).Interface()
	return value != nothing || now != nothing
}

func raises(value, now any) bool  { return value.(int) > now.(int) }
func differs(value, now any) bool { return value != now }

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

// assignment is one value for one setting.
type assignment struct {
	setting *setting
	path    []string
	value   any // string, int, bool, []string or map[string]string
}

func (a assignment) key() string { return joinKey(a.path) }

// text is the value as the user is asked to trust it. Lists and tables are
// JSON, which says exactly where each argument begins and ends.
func (a assignment) text() string {
	if s, ok := a.value.(string); ok {
		return s
	}
	return strings.TrimSuffix(string(readableJSON(a.value, "")), "\n")
}

// readableJSON encodes strings, lists and tables of them and numbers, ends with
// a line break, and leaves & < > as they are.
func readableJSON(value any, indent string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		panic("config: such a value cannot fail to encode: " + err.Error())
	}
	return b.Bytes()
}

// inForce is the value that a configuration has.
func (a assignment) inForce(c Config) any {
	e := &entry{config: &c, cli: &CLI{}, preset: &Preset{}}
	switch a.path[0] {
	case "clis":
		*e.cli = c.CLIs[a.path[1]]
	case "presets":
		*e.preset = c.Presets[a.path[1]]
	}
	return reflect.ValueOf(a.setting.target(e)).Elem().Interface()
}

// store puts the value into a configuration. Tables of variables are merged;
// everything else replaces what was there.
func (a assignment) store(c *Config) {
	e := &entry{config: c}
	switch a.path[0] {
	case "clis":
		cli := c.CLIs[a.path[1]]
		e.cli = &cli
		defer func() { c.CLIs[a.path[1]] = cli }()
	case "presets":
		preset := c.Presets[a.path[1]]
		e.preset = &preset
		defer func() { c.Presets[a.path[1]] = preset }()
	}
	value := a.value
	target := reflect.ValueOf(a.setting.target(e)).Elem()
	if variables, ok := value.(map[string]string); ok {
		// A new map: a program's table may be shared with another Config.
		merged := map[string]string{}
		maps.Copy(merged, target.Interface().(map[string]string))
		maps.Copy(merged, variables)
		value = merged
	}
	target.Set(reflect.ValueOf(value))
}
