package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// setting is one key that may be set. A * in the key stands for a name that the user chooses. The
// type that target points to is the type of the values: string, whole number, boolean, list of
// strings or table of strings.
type setting struct {
	key    string
	target func(*entry) any
	// text checks a string, each string of a list and each value of a table.
	text func(string) *problem
	// name checks each key of a table, which is the name of a variable where name is nil.
	name func(string) *problem
	// filled refuses an empty list.
	filled bool
	// zero accepts 0 as a number.
	zero bool
	// repository says what a value counts that a repository sets.
	repository authority
	// trust reports whether a value that a repository sets needs the user's trust; now is the value in
	// force. No value needs trust where trust is nil.
	trust func(value, now any) bool
}

// authority says what a value counts that a repository sets. The user's value holds against the
// repository's wherever the key is about more than the project.
type authority int

const (
	_          authority = iota // not decided, which a test refuses
	replaces                    // the repository's value wins: it knows the project
	yields                      // the repository's value counts where the user says nothing
	lowers                      // the repository's number counts where it is lower than the one in force
	usersAlone                  // a repository has no say: it can neither silence nor redirect notices
)

// entry is where one setting is stored: the configuration, and the CLI, preset, prompt or host of the key.
type entry struct {
	config *Config
	cli    *CLI
	preset *Preset
	prompt *string
	host   *Host
}

// settings are all keys of a configuration file; docs/configuration.md lists the same ones.
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

	// A server at a foreign path is handed the user's terminal.
	{key: "tmux.socket", text: checkSocket, repository: yields, trust: func(v, _ any) bool { return filepath.IsAbs(v.(string)) },
		target: func(e *entry) any { return &e.config.Tmux.Socket }},
	{key: "tmux.layout", text: oneOf(LayoutTiled, LayoutWindows), repository: yields, target: func(e *entry) any { return &e.config.Tmux.Layout }},

	{key: "tmux.bell", repository: usersAlone, target: func(e *entry) any { return &e.config.Tmux.Bell }},
	{key: "tmux.counts", repository: usersAlone, target: func(e *entry) any { return &e.config.Tmux.Counts }},
	// A log fills the disk, and keeps what a user may have typed.
	{key: "tmux.log", repository: yields, trust: set, target: func(e *entry) any { return &e.config.Tmux.Log }},

	// More seconds make CLIs wait, less of either leaves turns without a snapshot.
	{key: "turns.snapshot_seconds", repository: replaces, trust: differs, target: func(e *entry) any { return &e.config.Turns.SnapshotSeconds }},
	{key: "turns.snapshot_mib", repository: replaces, trust: differs, target: func(e *entry) any { return &e.config.Turns.SnapshotMiB }},

	{key: "agents.max_depth", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.MaxDepth }},
	{key: "agents.max_children", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.MaxChildren }},
	{key: "agents.brief_kib", repository: replaces, trust: raises, target: func(e *entry) any { return &e.config.Agents.BriefKiB }},

	{key: "land.checks", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.config.Land.Checks }},

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
	// Of a CLI that the user has not set up, the other keys need trust already.
	{key: "clis.*.prompt", text: oneOf(PromptArg, PromptSend), repository: replaces, trust: func(v, now any) bool { return now != "" && differs(v, now) },
		target: func(e *entry) any { return &e.cli.Prompt }},
	{key: "clis.*.env", text: checkText, repository: replaces, trust: always, target: func(e *entry) any { return &e.cli.Env }},
	{key: "clis.*.git_writable", repository: replaces, trust: set, target: func(e *entry) any { return &e.cli.GitWritable }},

	{key: "presets.*.cli", text: checkCLIItem, repository: yields, target: func(e *entry) any { return &e.preset.CLI }},
	{key: "presets.*.branches", text: checkRevision, repository: yields, target: func(e *entry) any { return &e.preset.Branches }},
	{key: "presets.*.base", text: checkBase, repository: yields, target: func(e *entry) any { return &e.preset.Base }},

	// What an agent is asked decides what it does with the rights of the user.
	{key: "prompts.*", text: checkPrompt, repository: yields, trust: always, target: func(e *entry) any { return e.prompt }},
	// Programs run on hosts as the user there, and secrets go to them.
	{key: "hosts.*.ssh", text: checkDestination, repository: usersAlone, target: func(e *entry) any { return &e.host.SSH }},
	{key: "hosts.*.repos", text: checkRemotePath, name: checkCheckout, repository: usersAlone, target: func(e *entry) any { return &e.host.Repos }},
	{key: "hosts.*.paw", text: checkRemoteProgram, repository: usersAlone, target: func(e *entry) any { return &e.host.Paw }},
	{key: "hosts.*.env", text: checkVariable, repository: usersAlone, target: func(e *entry) any { return &e.host.Env }},
	{key: "hosts.*.patience", repository: usersAlone, target: func(e *entry) any { return &e.host.Patience }},
}

func always(_, _ any) bool { return true }

// set asks for trust where a value runs something or loosens a guard: where the repository sets
// one, and where the repository takes the user's away.
func set(value, now any) bool {
	nothing := reflect.Zero(reflect.TypeOf(value)).Interface()
	return value != nothing || now != nothing
}

func raises(value, now any) bool  { return value.(int) > now.(int) }
func differs(value, now any) bool { return value != now }

// chosen are the tables whose keys begin with names that the user chooses.
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

// pattern writes a path as a setting has its key: with a * for the name that the user chooses.
func pattern(path []string) string {
	if len(path) < 2 || !slices.Contains(chosen, path[0]) {
		return joinKey(path)
	}
	if len(path) == 2 {
		return path[0] + ".*"
	}
	return path[0] + ".*." + joinKey(path[2:])
}

// findSetting returns the setting at a path, or nil; known says whether the path is that of a
// setting or of a table above one.
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

// nearestKey returns the known key that comes closest to an unknown one: first of the same table,
// then of the same last name in another one.
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

// sample returns a pointer to an empty value of the setting's type.
func (s setting) sample() any {
	return s.target(&entry{config: &Config{}, cli: &CLI{}, preset: &Preset{}, prompt: new(string), host: &Host{}})
}

// assignment is one value for one setting.
type assignment struct {
	setting *setting
	path    []string
	value   any // string, int, bool, []string or map[string]string
}

func (a assignment) key() string { return joinKey(a.path) }

// text writes the value as the user is asked to trust it. Lists and tables are JSON, which says
// exactly where each argument begins and ends.
func (a assignment) text() string {
	if s, ok := a.value.(string); ok {
		return s
	}
	return strings.TrimSuffix(string(readableJSON(a.value, "")), "\n")
}

// readableJSON encodes strings, numbers, lists and tables. The result ends with a line break and
// has & < > as they are.
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

// entry returns where the settings at a path are stored, with copies of the CLI, the preset, the prompt and the host.
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

// inForce returns the value that a configuration has for the setting.
func (a assignment) inForce(c Config) any {
	return reflect.ValueOf(a.setting.target(c.entry(a.path))).Elem().Interface()
}

// store puts the value into a configuration. Tables of variables are merged; every other value
// replaces the one before.
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
