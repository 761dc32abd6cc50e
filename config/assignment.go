package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
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
