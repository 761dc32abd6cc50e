package config

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"paw/config/disk"
)

// setting describes one key of the configuration; Default has the values of keys that no file sets.
// A * in the key stands for a name that the user chooses. Values have the type that target points
// to: string, int, bool, []string or map[string]string.
type setting struct {
	key    string
	target func(*entry) any
	// text checks a string, each string of a list, and each value of a table.
	text func(string) *problem
	// name checks each key of a table; nil means checkVariable.
	name func(string) *problem
	// filled forbids an empty list.
	filled bool
	// zero allows the number 0.
	zero bool
	// repository says whether a repository's value overrides the user's.
	repository authority
	// trust reports whether a repository's value needs the user's trust; now is the value without
	// it. A nil trust means never.
	trust func(value, now any) bool
}

// authority says whether a repository's value overrides the user's. The user's value wins for keys
// that concern more than the project.
type authority int

const (
	_          authority = iota // zero value, which a test refuses
	replaces                    // the repository's value wins, since a repository knows the project
	yields                      // the repository's value counts if the user has set none
	lowers                      // the repository's number counts if it is lower
	usersAlone                  // the user alone sets it: a repository can neither silence nor redirect notices
)

// entry holds the value that one key changes: the configuration, and the CLI, preset, prompt or
// host of the key.
type entry struct {
	config *Config
	cli    *CLI
	preset *Preset
	prompt *string
	host   *Host
}

// settings lists all keys of a configuration file; docs/configuration.md lists the same.
var settings = []setting{
	{key: "default_cli", text: checkCLIName, repository: replaces, target: func(e *entry) any { return &e.config.DefaultCLI }},

	{key: "worktree.path", text: checkTemplate, repository: yields, trust: func(v, _ any) bool { return !besideRepository(v.(string)) },
		target: func(e *entry) any { return &e.config.Worktree.Path }},
	{key: "worktree.copy", text: checkPattern, repository: replaces, target: func(e *entry) any { return &e.config.Worktree.Copy }},
	{key: "worktree.link", text: checkPattern, repository: replaces, target: func(e *entry) any { return &e.config.Worktree.Link }},
	{key: "worktree.include", repository: replaces, target: func(e *entry) any { return &e.config.Worktree.Include }},
	{key: "worktree.ports", zero: true, repository: replaces, trust: differs, target: func(e *entry) any { return &e.config.Worktree.Ports }},
	{key: "worktree.env", text: checkValue, name: checkOwnVariable, repository: replaces, trust: always,
		target: func(e *entry) any { return &e.config.Worktree.Env }},
	{key: "worktree.teardown", text: checkText, repository: replaces, trust: set, target: func(e *entry) any { return &e.config.Worktree.Teardown }},
	{key: "worktree.teardown_seconds", repository: replaces, trust: differs, target: func(e *entry) any { return &e.config.Worktree.TeardownSeconds }},
	{key: "worktree.min_free", zero: true, repository: yields, trust: differs, target: func(e *entry) any { return &e.config.Worktree.MinFree }},
	{key: "worktree.setup", text: checkText, repository: replaces, trust: set, target: func(e *entry) any { return &e.config.Worktree.Setup }},

	// A server at another path gets the user's terminal.
	{key: "tmux.socket", text: checkSocket, repository: yields, trust: func(v, _ any) bool { return filepath.IsAbs(v.(string)) },
		target: func(e *entry) any { return &e.config.Tmux.Socket }},
	{key: "tmux.layout", text: oneOf(LayoutTiled, LayoutWindows), repository: yields, target: func(e *entry) any { return &e.config.Tmux.Layout }},

	{key: "tmux.bell", repository: usersAlone, target: func(e *entry) any { return &e.config.Tmux.Bell }},
	{key: "tmux.counts", repository: usersAlone, target: func(e *entry) any { return &e.config.Tmux.Counts }},
	// A log can fill the disk, and keeps what the user types.
	{key: "tmux.log", repository: yields, trust: set, target: func(e *entry) any { return &e.config.Tmux.Log }},

	// More time makes CLIs wait; less time or size leaves turns without a snapshot.
	{key: "turns.snapshot_seconds", repository: replaces, trust: differs, target: func(e *entry) any { return &e.config.Turns.SnapshotSeconds }},
	{key: "turns.snapshot_mib", repository: replaces, trust: differs, target: func(e *entry) any { return &e.config.Turns.SnapshotMiB }},

	{key: "agents.max_depth", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.MaxDepth }},
	{key: "agents.max_children", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.MaxChildren }},
	{key: "agents.brief_kib", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.BriefKiB }},

	{key: "land.checks", text: checkFilled, repository: replaces, trust: always, target: func(e *entry) any { return &e.config.Land.Checks }},

	{key: "notify.events", text: oneOf(NotifyWaiting, NotifyFinished, NotifyError, NotifyLimit, NotifyHeld), repository: usersAlone,
		target: func(e *entry) any { return &e.config.Notify.Events }},
	{key: "notify.command", text: checkText, repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.Command }},
	{key: "notify.desktop", repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.Desktop }},
	{key: "notify.osc", text: oneOf("", "9", "777", "99"), repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.OSC }},
	{key: "notify.webhook", text: checkWebhook, repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.Webhook }},
	{key: "notify.dwell", zero: true, repository: usersAlone, target: func(e *entry) any { return &e.config.Notify.Dwell }},

	{key: "queue.max", repository: lowers, trust: always, target: func(e *entry) any { return &e.config.Queue.Max }},
	{key: "queue.starts", repository: lowers, trust: always, target: func(e *entry) any { return &e.config.Queue.Starts }},

	{key: "limits.then", text: checkThen, repository: usersAlone, target: func(e *entry) any { return &e.config.Limits.Then }},
	{key: "limits.times", repository: usersAlone, target: func(e *entry) any { return &e.config.Limits.Times }},
	{key: "limits.prompt", text: checkText, repository: usersAlone, target: func(e *entry) any { return &e.config.Limits.Prompt }},

	{key: "clis.*.command", text: checkText, filled: true, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Command }},
	{key: "clis.*.resume", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Resume }},
	{key: "clis.*.args", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Args }},
	// The other keys of a CLI that the user has not set up need trust already.
	{key: "clis.*.prompt", text: oneOf(PromptArg, PromptSend), repository: replaces, trust: func(v, now any) bool { return now != "" && differs(v, now) },
		target: func(e *entry) any { return &e.cli.Prompt }},
	{key: "clis.*.env", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Env }},
	{key: "clis.*.git_writable", repository: replaces, trust: set, target: func(e *entry) any { return &e.cli.GitWritable }},

	{key: "presets.*.cli", text: checkCLIItem, repository: yields, target: func(e *entry) any { return &e.preset.CLI }},
	{key: "presets.*.branches", text: checkRevision, repository: yields, target: func(e *entry) any { return &e.preset.Branches }},
	{key: "presets.*.base", text: checkBase, repository: yields, target: func(e *entry) any { return &e.preset.Base }},

	// A prompt makes an agent act with the user's rights.
	{key: "prompts.*", text: checkFilled, repository: yields, trust: always, target: func(e *entry) any { return e.prompt }},
	// Programs run on hosts with the user's rights there, and secrets are sent to them.
	{key: "hosts.*.ssh", text: checkDestination, repository: usersAlone, target: func(e *entry) any { return &e.host.SSH }},
	{key: "hosts.*.repos", text: checkRemotePath, name: checkCheckout, repository: usersAlone, target: func(e *entry) any { return &e.host.Repos }},
	{key: "hosts.*.paw", text: checkRemoteProgram, repository: usersAlone, target: func(e *entry) any { return &e.host.Paw }},
	{key: "hosts.*.env", text: checkVariable, repository: usersAlone, target: func(e *entry) any { return &e.host.Env }},
	{key: "hosts.*.patience", repository: usersAlone, target: func(e *entry) any { return &e.host.Patience }},
}

func always(_, _ any) bool { return true }

// set asks for trust when a value runs something or loosens a guard: when the repository sets one,
// and when it removes the user's.
func set(value, now any) bool {
	nothing := reflect.Zero(reflect.TypeOf(value)).Interface()
	return value != nothing || now != nothing
}

func raises(value, now any) bool  { return value.(int) > now.(int) }
func differs(value, now any) bool { return value != now }

// chosen lists the tables whose first key is a name that the user chooses.
var chosen = []string{"clis", "presets", "prompts", "hosts"}

// checkChosenName checks the name of a CLI, a preset, a prompt or a host in a key.
func checkChosenName(table, name string) *problem {
	switch table {
	case "clis":
		return checkCLIName(name)
	case "prompts":
		return checkPromptName(name)
	case "hosts":
		return checkHostName(name)
	}
	return checkPresetName(name)
}

// pattern returns the key of the setting at a path, with * for a name that the user chose.
func pattern(path []string) string {
	if len(path) < 2 || !slices.Contains(chosen, path[0]) {
		return joinKey(path)
	}
	if len(path) == 2 {
		return path[0] + ".*"
	}
	return path[0] + ".*." + joinKey(path[2:])
}

// findSetting returns the setting at a path, or nil. known is also true for a table that holds
// settings.
func findSetting(path []string) (found *setting, known bool) {
	key := pattern(path)
	for i := range settings {
		rest, below := strings.CutPrefix(settings[i].key, key)
		if below && rest == "" {
			return &settings[i], true
		}
		known = known || below && rest[0] == '.'
	}
	return nil, known
}

// nearestKey returns the known key that is nearest to an unknown one: of the same table, else with
// the same last name in another table.
func nearestKey(path []string) string {
	table, name := path[:len(path)-1], path[len(path)-1]
	above := ""
	if len(table) > 0 {
		above = pattern(table) + "."
	}
	var neighbours, lastNames []string
	elsewhere := map[string]string{}
	for _, s := range settings {
		if rest, ok := strings.CutPrefix(s.key, above); ok {
			neighbour, _, _ := strings.Cut(rest, ".")
			neighbours = append(neighbours, neighbour)
		}
		if last := s.key[strings.LastIndexByte(s.key, '.')+1:]; !strings.Contains(s.key, "*") && elsewhere[last] == "" {
			lastNames = append(lastNames, last)
			elsewhere[last] = s.key
		}
	}
	if nearest := Nearest(name, neighbours); nearest != "" {
		return joinKey(append(slices.Clip(table), nearest))
	}
	return elsewhere[Nearest(name, lastNames)]
}

// sample returns a pointer to a zero value of the setting's type.
func (s setting) sample() any {
	return s.target(&entry{config: &Config{}, cli: &CLI{}, preset: &Preset{}, prompt: new(string), host: &Host{}})
}

// assignment is one value set for one setting.
type assignment struct {
	setting *setting
	path    []string
	value   any // string, int, bool, []string or map[string]string
}

func (a assignment) key() string { return joinKey(a.path) }

// text returns the value as the user is asked to trust it. Lists and tables are JSON, so that each
// argument's start and end can be seen.
func (a assignment) text() string {
	if s, ok := a.value.(string); ok {
		return s
	}
	return strings.TrimSuffix(string(readableJSON(a.value, "")), "\n")
}

// readableJSON encodes strings, numbers, lists and tables, without escaping & < >. The result ends
// with a line break.
func readableJSON(value any, indent string) []byte {
	text, err := disk.JSON(value, indent)
	if err != nil {
		panic("config: such a value cannot fail to encode: " + err.Error())
	}
	return text
}

// entry returns where the setting at a path is stored, with copies of the CLI, preset, prompt and
// host.
func (c *Config) entry(path []string) *entry {
	e := &entry{config: c, cli: &CLI{}, preset: &Preset{}, prompt: new(string), host: &Host{}}
	switch path[0] {
	case "clis":
		*e.cli = c.CLIs[path[1]]
	case "presets":
		*e.preset = c.Presets[path[1]]
	case "prompts":
		*e.prompt = c.Prompts[path[1]]
	case "hosts":
		*e.host = c.Hosts[path[1]]
	}
	return e
}

// inForce returns the setting's value in a configuration.
func (a assignment) inForce(c Config) any {
	return reflect.ValueOf(a.setting.target(c.entry(a.path))).Elem().Interface()
}

// store sets the value in a configuration. Tables of variables are merged; any other value replaces
// the one before.
func (a assignment) store(c *Config) {
	e := c.entry(a.path)
	value := a.value
	target := reflect.ValueOf(a.setting.target(e)).Elem()
	if variables, ok := value.(map[string]string); ok {
		// A new map: the table of a CLI may be shared with another Config.
		merged := map[string]string{}
		maps.Copy(merged, target.Interface().(map[string]string))
		maps.Copy(merged, variables)
		value = merged
	}
	target.Set(reflect.ValueOf(value))
	switch a.path[0] {
	case "clis":
		c.CLIs[a.path[1]] = *e.cli
	case "presets":
		c.Presets[a.path[1]] = *e.preset
	case "prompts":
		c.Prompts[a.path[1]] = *e.prompt
	case "hosts":
		c.Hosts[a.path[1]] = *e.host
	}
}
