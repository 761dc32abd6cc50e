package config

import (
	"encoding/json"
	"maps"
	"strings"
)

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
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(a.value); err != nil {
		panic("config: a value of strings cannot fail to encode: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
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
	switch target := a.setting.target(e).(type) {
	case *string:
		*target = a.value.(string)
	case *int:
		*target = a.value.(int)
	case *bool:
		*target = a.value.(bool)
	case *[]string:
		*target = a.value.([]string)
	case *map[string]string:
		// A new map: a program's table may be shared with another Config.
		merged := map[string]string{}
		maps.Copy(merged, *target)
		maps.Copy(merged, a.value.(map[string]string))
		*target = merged
	}
}
