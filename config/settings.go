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
// A * in the key stands for a name that the user chooses. Values have the type of the field of
// Config that the key names: string, int, bool, []string or map[string]string.
type setting struct {
	key string
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

// settings lists all keys of a configuration file; docs/configuration.md lists the same.
var settings = []setting{
	{key: "default_cli", text: checkCLIName, repository: replaces},

	{key: "worktree.path", text: checkTemplate, repository: yields, trust: func(v, _ any) bool { return !besideRepository(v.(string)) }},
	{key: "worktree.copy", text: checkPattern, repository: replaces},
	{key: "worktree.link", text: checkPattern, repository: replaces},
	{key: "worktree.include", repository: replaces},
	{key: "worktree.ports", zero: true, repository: replaces, trust: differs},
	{key: "worktree.env", text: checkValue, name: checkOwnVariable, repository: replaces, trust: always},
	{key: "worktree.setup_seconds", repository: replaces, trust: differs},
	{key: "worktree.teardown", text: checkText, repository: replaces, trust: set},
	{key: "worktree.teardown_seconds", repository: replaces, trust: differs},
	{key: "worktree.min_free", zero: true, repository: yields, trust: differs},
	{key: "worktree.setup", text: checkText, repository: replaces, trust: set},

	// A server at another path gets the user's terminal.
	{key: "tmux.socket", text: checkSocket, repository: yields, trust: func(v, _ any) bool { return filepath.IsAbs(v.(string)) }},
	{key: "tmux.layout", text: oneOf(LayoutTiled, LayoutWindows), repository: yields},

	{key: "tmux.bell", repository: usersAlone},
	{key: "tmux.counts", repository: usersAlone},

	// More time makes CLIs wait; less time or size leaves turns without a snapshot.
	{key: "turns.snapshot_seconds", repository: replaces, trust: differs},
	{key: "turns.snapshot_mib", repository: replaces, trust: differs},

	{key: "agents.max_depth", repository: replaces, trust: raises},
	{key: "agents.max_children", repository: replaces, trust: raises},
	{key: "agents.max_running", zero: true, repository: usersAlone},
	{key: "agents.brief_kib", repository: replaces, trust: raises},

	{key: "land.checks", text: checkFilled, repository: replaces, trust: always},

	{key: "notify.events", text: oneOf(NotifyWaiting, NotifyFinished, NotifyError, NotifyLimit, NotifyHeld), repository: usersAlone},
	{key: "notify.command", text: checkText, repository: usersAlone},
	{key: "notify.desktop", repository: usersAlone},
	{key: "notify.osc", text: oneOf("", "9", "777", "99"), repository: usersAlone},
	{key: "notify.webhook", text: checkWebhook, repository: usersAlone},
	{key: "notify.dwell", zero: true, repository: usersAlone},

	{key: "queue.max", repository: lowers, trust: always},
	{key: "queue.starts", repository: lowers, trust: always},
	{key: "queue.keep_days", repository: usersAlone},

	{key: "limits.then", text: checkThen, repository: usersAlone},
	{key: "limits.times", repository: usersAlone},
	{key: "limits.prompt", text: checkText, repository: usersAlone},

	{key: "clis.*.command", text: checkText, filled: true, repository: replaces, trust: always},
	{key: "clis.*.acp", text: checkText, filled: true, repository: replaces, trust: always},
	{key: "clis.*.resume", text: checkText, repository: replaces, trust: always},
	{key: "clis.*.args", text: checkText, repository: replaces, trust: always},
	// The other keys of a CLI that the user has not set up need trust already.
	{key: "clis.*.hooks", text: oneOf(HooksClaude, HooksNone), repository: replaces, trust: func(v, now any) bool { return now != "" && differs(v, now) }},
	{key: "clis.*.prompt", text: oneOf(PromptArg, PromptSend), repository: replaces, trust: func(v, now any) bool { return now != "" && differs(v, now) }},
	{key: "clis.*.env", text: checkText, repository: replaces, trust: always},
	{key: "clis.*.git_writable", repository: replaces, trust: set},

	{key: "presets.*.cli", text: checkCLIItem, repository: yields},
	{key: "presets.*.branches", text: checkRevision, repository: yields},
	{key: "presets.*.base", text: checkBase, repository: yields},

	// A prompt makes an agent act with the user's rights.
	{key: "prompts.*", text: checkFilled, repository: yields, trust: always},
	// Programs run on hosts with the user's rights there, and secrets are sent to them.
	{key: "hosts.*.ssh", text: checkDestination, repository: usersAlone},
	{key: "hosts.*.repos", text: checkRemotePath, name: checkCheckout, repository: usersAlone},
	{key: "hosts.*.paw", text: checkRemoteProgram, repository: usersAlone},
	{key: "hosts.*.env", text: checkVariable, repository: usersAlone},
	{key: "hosts.*.patience", repository: usersAlone},
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
// the same last name in another table, or a similar one if the key stands in none.
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
	if len(table) > 0 {
		return elsewhere[name]
	}
	return elsewhere[Nearest(name, lastNames)]
}

// sample returns a zero value of the setting's type.
func (s setting) sample() any {
	field, _ := new(Config).slot(strings.Split(s.key, "."))
	return field.Interface()
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

// slot returns the field for the setting at a path: of the configuration, or of a copy of one of its
// CLIs, presets, prompts and hosts, which save puts back.
func (c *Config) slot(path []string) (field reflect.Value, save func()) {
	field, save = reflect.ValueOf(c).Elem(), func() {}
	for _, name := range path {
		if field.Kind() == reflect.Struct {
			field = fieldOf(field, name)
			continue
		}
		table, key, one := field, reflect.ValueOf(name), reflect.New(field.Type().Elem()).Elem()
		if known := table.MapIndex(key); known.IsValid() {
			one.Set(known)
		}
		field, save = one, func() { table.SetMapIndex(key, one) }
	}
	return field, save
}

// fieldOf returns the field of a struct that has a name in TOML.
func fieldOf(table reflect.Value, name string) reflect.Value {
	for of, field := range table.Fields() {
		if tag, _, _ := strings.Cut(of.Tag.Get("toml"), ","); tag == name {
			return field
		}
	}
	panic("config: no field for the setting " + name)
}

// inForce returns the setting's value in a configuration.
func (a assignment) inForce(c Config) any {
	field, _ := c.slot(a.path)
	return field.Interface()
}

// store sets the value in a configuration. Tables of variables are merged; any other value replaces
// the one before.
func (a assignment) store(c *Config) {
	field, save := c.slot(a.path)
	value := a.value
	if variables, ok := value.(map[string]string); ok {
		// A new map: the table of a CLI may be shared with another Config.
		merged := map[string]string{}
		maps.Copy(merged, field.Interface().(map[string]string))
		maps.Copy(merged, variables)
		value = merged
	}
	field.Set(reflect.ValueOf(value))
	save()
}
