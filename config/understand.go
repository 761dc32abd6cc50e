package config

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// understand checks every key and value of a document, in the order of the text, and returns its
// assignments; below is the configuration without the document. The error is the first mistake; if
// all mistakes are unknown keys, the assignments of the known ones are returned with it.
func (d *document) understand(below Config) ([]assignment, error) {
	result, unknown, err := d.assignments()
	if err == nil {
		err = d.complete(result, below)
	}
	if unknown == nil {
		return result, err
	}
	unknown.Unknown = err == nil
	return result, unknown
}

// assignments returns the assignments of known keys, and the error of the first unknown key.
func (d *document) assignments() (result []assignment, unknown *Error, err error) {
	seen := map[string]bool{}
	for _, key := range d.meta.Keys() {
		s, path, err := d.resolve(key)
		if e, ok := errors.AsType[*Error](err); ok && e.Unknown {
			unknown = cmp.Or(unknown, e)
			continue
		}
		if err != nil {
			return nil, unknown, err
		}
		a := assignment{setting: s, path: path}
		if s == nil || seen[a.key()] {
			continue
		}
		seen[a.key()] = true
		if a.value, err = d.convert(s, key, path); err != nil {
			return nil, unknown, err
		}
		result = append(result, a)
	}
	return result, unknown, nil
}

// resolve returns the setting that a key belongs to, and the setting's path. s is nil for a table
// that holds settings.
func (d *document) resolve(key toml.Key) (s *setting, path []string, err error) {
	for i := range key {
		path = key[:i+1]
		s, known := findSetting(path)
		if i == 1 && path[0] == "prompts" {
			if p := checkChosenName(path[0], path[1]); p != nil {
				return nil, nil, d.fail(key, p.of(joinKey(path)))
			}
		}
		if s != nil {
			return s, path, nil
		}
		name := joinKey(path)
		if !known {
			return nil, nil, d.fail(key, &Error{Key: name, Nearest: nearestKey(path), Message: "unknown key " + name, Unknown: true})
		}
		if _, ok := d.value(path).(map[string]any); !ok {
			return nil, nil, d.fail(key, problemf("must be a table").of(name))
		}
		if i == 1 { // Only these tables hold tables of tables.
			if p := checkChosenName(path[0], path[1]); p != nil {
				return nil, nil, d.fail(key, p.of(name))
			}
		}
	}
	return nil, nil, nil
}

// convert returns the value at a path in the type of its setting.
func (d *document) convert(s *setting, key toml.Key, path []string) (value any, err error) {
	raw := d.value(path)
	var p *problem
	switch s.sample().(type) {
	case string:
		value, p = as(raw, "a string", s.text)
	case int:
		var number int64
		number, p = as(raw, "a whole number", s.checkNumber)
		value = int(number)
	case bool:
		value, p = as(raw, "true or false", func(bool) *problem { return nil })
	case []string:
		value, p = s.list(raw)
	default:
		var table map[string]any
		if table, p = as(raw, "a table of strings", func(map[string]any) *problem { return nil }); p == nil {
			return d.variables(s, path, table)
		}
	}
	if p != nil {
		return nil, d.fail(key, p.of(joinKey(path)))
	}
	return value, nil
}

// as returns a value of type T that passes check; kind is the type's name in messages.
func as[T any](value any, kind string, check func(T) *problem) (T, *problem) {
	typed, ok := value.(T)
	if !ok {
		return typed, problemf("must be %s", kind)
	}
	return typed, check(typed)
}

func (s *setting) list(value any) ([]string, *problem) {
	values, p := as(value, "a list of strings", func(values []any) *problem {
		if s.filled && (len(values) == 0 || values[0] == "") {
			return problemf("must name a program")
		}
		return nil
	})
	list := make([]string, len(values))
	for i := 0; p == nil && i < len(values); i++ {
		list[i], p = as(values[i], "a list of strings", s.text)
	}
	return list, p
}

// variables returns the entries of a table at a path. The error is the first mistake in the text.
func (d *document) variables(s *setting, path []string, table map[string]any) (map[string]string, error) {
	variables := make(map[string]string, len(table))
	for _, key := range d.meta.Keys() {
		if len(key) <= len(path) || !slices.Equal(key[:len(path)], path) {
			continue
		}
		name := key[len(path)]
		checkName := s.name
		if checkName == nil {
			checkName = checkVariable
		}
		p := checkName(name)
		if p == nil {
			variables[name], p = as(table[name], "a string", s.text)
		}
		if p != nil {
			return nil, d.fail(key, p.of(joinKey(key[:len(path)+1])))
		}
	}
	return variables, nil
}

// complete checks rules about several keys: a CLI that is not built in has a command, one kind of it, the branches
// of a preset match its CLIs, a host has a destination. below is the configuration without the
// document.
func (d *document) complete(assignments []assignment, below Config) error {
	own := Default()
	for _, a := range assignments {
		a.store(&own)
	}
	for _, key := range d.meta.Keys() {
		if len(key) < 2 {
			continue
		}
		name := key[1]
		at, of, p := key, key[:2], (*problem)(nil)
		switch preset := own.Presets[name]; {
		case key[0] == "clis" && !slices.Contains(builtinCLIs, name) && !slices.Contains(acpCLIs, name) && !runnable(own.CLIs[name]) && !runnable(below.CLIs[name]):
			p = problemf("a cli that paw does not know needs a command, or acp")
			p.nearest = Nearest(name, builtinCLIs)
		case key[0] == "clis" && contradicts(own.CLIs[name]) != "":
			p = problemf("%s", contradicts(own.CLIs[name]))
		case key[0] == "hosts" && own.Hosts[name].SSH+below.Hosts[name].SSH == "":
			p = problemf("a host needs ssh, the name that ssh knows it by")
		case key[0] == "presets" && len(preset.CLI) > 1 && len(preset.Branches) > 0 && len(preset.CLI) != len(preset.Branches):
			of = toml.Key{key[0], name, "branches"}
			at, p = of, problemf("%d branches do not pair with %d clis", len(preset.Branches), len(preset.CLI))
		}
		if p != nil {
			return d.fail(at, p.of(joinKey(of)))
		}
	}
	return nil
}

// runnable reports whether a table says what to start.
func runnable(c CLI) bool { return len(c.Command)+len(c.ACP) > 0 }

// SettingsPlace stands for the path of a file of settings with paw's hooks, in the words and variables of a CLI that calls hooks as
// claude does.
const SettingsPlace = "{settings}"

// contradicts says which keys of a table do not go together, "" for none.
func contradicts(c CLI) string {
	has := func(words []string, place string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, place) })
	}
	always := slices.Concat(c.Args, slices.Collect(maps.Values(c.Env)))
	alone := len(c.Resume) > 0 && has(c.Command, "{id}") && !has(c.Resume, SettingsPlace) // resume follows the program alone
	switch {
	case len(c.ACP) > 0 && (len(c.Command)+len(c.Resume) > 0 || c.Hooks == HooksClaude || c.Prompt != ""):
		return "acp goes with neither command, resume, prompt nor hooks"
	case c.Hooks == HooksClaude && len(c.Command) > 0 && !has(always, SettingsPlace) && (alone || !has(c.Command, SettingsPlace)):
		return "with hooks, " + SettingsPlace + " has to stand in command (and in resume, where command has an {id}), args or env"
	}
	return ""
}
