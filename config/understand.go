package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// understand checks every key and value of a document, in the order of the
// text, and returns what it sets on top of what is below. The first mistake is
// the error; where keys that are not known are all, the rest comes with it.
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

// assignments are what the known keys set; of the others it returns the first one.
func (d *document) assignments() (result []assignment, unknown *Error, err error) {
	seen := map[string]bool{}
	for _, k := range d.keys {
		s, length, err := d.resolve(k)
		var e *Error
		if errors.As(err, &e) && e.Unknown {
			unknown = cmp.Or(unknown, e)
			continue
		}
		if err != nil {
			return nil, unknown, err
		}
		if s == nil {
			continue
		}
		a := assignment{setting: s, path: k.path[:length]}
		if seen[a.key()] {
			continue
		}
		seen[a.key()] = true
		if a.value, err = d.convert(s, a.path); err != nil {
			return nil, unknown, err
		}
		result = append(result, a)
	}
	return result, unknown, nil
}

// resolve finds the setting that a key belongs to and how many parts of the key
// lead there; a table on the way gives none.
func (d *document) resolve(k keyAt) (*setting, int, error) {
	for i := range k.path {
		path := k.path[:i+1]
		s, known := findSetting(path)
		if !known {
			key := joinKey(path)
			return nil, 0, d.fail(k.at[i], &Error{Key: key, Nearest: nearestKey(path), Message: "unknown key " + key, Unknown: true})
		}
		if s != nil {
			return s, i + 1, nil
		}
		if _, ok := d.value(path).(map[string]any); !ok {
			return nil, 0, d.fail(k.at[i], problemf("must be a table").of(joinKey(path)))
		}
		if i == 1 { // all keys of three parts have a chosen name in the middle
			if p := checkChosenName(path[0], path[1]); p != nil {
				return nil, 0, d.fail(k.at[i], p.of(joinKey(path)))
			}
		}
	}
	return nil, 0, nil
}

// as is a value of a type that passes a check; kind names the type in the error.
func as[T any](d *document, key string, at int, value any, kind string, check func(T) *problem) (T, error) {
	typed, ok := value.(T)
	p := problemf("must be %s", kind)
	if ok {
		p = check(typed)
	}
	if p != nil {
		return typed, d.fail(at, p.of(key))
	}
	return typed, nil
}

// convert turns the value at a path into what its setting stores.
func (d *document) convert(s *setting, path []string) (any, error) {
	k, _ := d.find(path)
	key, value, at := joinKey(path), d.value(path), k.at[len(path)-1]
	if len(k.path) == len(path) {
		at = k.value
	}
	switch s.sample().(type) {
	case *string:
		return as(d, key, at, value, "a string", s.text)
	case *int:
		number, err := as(d, key, at, value, "a whole number", s.checkNumber)
		return int(number), err
	case *bool:
		return as(d, key, at, value, "true or false", func(bool) *problem { return nil })
	case *[]string:
		return d.list(s, key, value, at, k.elements)
	default:
		return d.variables(s, path, value, at)
	}
}

func (d *document) list(s *setting, key string, value any, at int, elements []int) ([]string, error) {
	values, err := as(d, key, at, value, "a list of strings", func(values []any) *problem {
		if s.filled && (len(values) == 0 || values[0] == "") {
			return problemf("must name a program")
		}
		return nil
	})
	list := make([]string, len(values))
	for i := 0; err == nil && i < len(values); i++ {
		list[i], err = as(d, key, elements[i], values[i], "a list of strings", s.text)
	}
	return list, err
}

func (d *document) variables(s *setting, path []string, value any, at int) (map[string]string, error) {
	table, err := as(d, joinKey(path), at, value, "a table of strings", func(map[string]any) *problem { return nil })
	variables := make(map[string]string, len(table))
	for _, k := range d.keys { // in the order of the text
		if err != nil || len(k.path) <= len(path) || !slices.Equal(k.path[:len(path)], path) {
			continue
		}
		name, key := k.path[len(path)], joinKey(k.path[:len(path)+1])
		if p := checkVariable(name); p != nil {
			return nil, d.fail(k.at[len(path)], p.of(key))
		}
		variables[name], err = as(d, key, k.value, table[name], "a string", s.text)
	}
	return variables, err
}

// complete checks what only the whole of a document can tell: that a program of
// the user's own has a command, and that a preset's branches fit its programs.
// below is what applies without the document.
func (d *document) complete(assignments []assignment, below Config) error {
	for _, k := range d.keys {
		if len(k.path) < 2 {
			continue
		}
		name := k.path[1]
		switch k.path[0] {
		case "clis":
			if d.hasCommand(name, assignments, below) {
				continue
			}
			p := problemf("a cli that paw does not know needs a command")
			p.nearest = Nearest(name, builtinCLIs)
			return d.fail(k.at[1], p.of(joinKey(k.path[:2])))
		case "presets":
			if p := checkPairs(name, assignments); p != nil {
				at, _ := d.find([]string{"presets", name, "branches"})
				return d.fail(at.value, p.of(joinKey(at.path)))
			}
		}
	}
	return nil
}

func (d *document) hasCommand(name string, assignments []assignment, below Config) bool {
	if slices.Contains(builtinCLIs, name) || len(below.CLIs[name].Command) > 0 {
		return true
	}
	return slices.ContainsFunc(assignments, func(a assignment) bool {
		return a.setting.key == "clis.*.command" && a.path[1] == name
	})
}

// checkPairs: branches go with one program, or with as many, one to one.
func checkPairs(name string, assignments []assignment) *problem {
	c := Config{Presets: map[string]Preset{}}
	for _, a := range assignments {
		if a.path[0] == "presets" && a.path[1] == name {
			a.store(&c)
		}
	}
	clis, branches := len(c.Presets[name].CLI), len(c.Presets[name].Branches)
	if clis < 2 || branches == 0 || clis == branches {
		return nil
	}
	return &problem{what: fmt.Sprintf("%d branches do not pair with %d clis", branches, clis)}
}
