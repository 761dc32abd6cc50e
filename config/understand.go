package config

import "slices"

// understand checks every key and value of a document, in the order of the
// text, and returns what it sets. The first mistake is the error.
func (d *document) understand() ([]assignment, error) {
	var result []assignment
	seen := map[string]bool{}
	for _, k := range d.keys {
		s, length, err := d.resolve(k)
		if err != nil {
			return nil, err
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
			return nil, err
		}
		result = append(result, a)
	}
	return result, nil
}

// resolve finds the setting that a key belongs to and how many parts of the key
// lead there; a table on the way gives none.
func (d *document) resolve(k keyAt) (*setting, int, error) {
	for i := range k.path {
		path := k.path[:i+1]
		s, known := findSetting(path)
		if !known {
			key := joinKey(path)
			return nil, 0, d.fail(k.at[i], &Error{Key: key, Nearest: nearestKey(path), Message: "unknown key " + key})
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

// convert turns the value at a path into what its setting stores.
func (d *document) convert(s *setting, path []string) (any, error) {
	k, _ := d.find(path)
	key, at := joinKey(path), k.at[len(path)-1]
	if len(k.path) == len(path) {
		at = k.value
	}
	switch s.sample().(type) {
	case *string:
		text, ok := d.value(path).(string)
		if !ok {
			return nil, d.fail(at, problemf("must be a string").of(key))
		}
		if p := s.text(text); p != nil {
			return nil, d.fail(at, p.of(key))
		}
		return text, nil
	case *int:
		number, ok := d.value(path).(int64)
		if !ok {
			return nil, d.fail(at, problemf("must be a whole number").of(key))
		}
		if p := checkNumber(number); p != nil {
			return nil, d.fail(at, p.of(key))
		}
		return int(number), nil
	case *bool:
		yes, ok := d.value(path).(bool)
		if !ok {
			return nil, d.fail(at, problemf("must be true or false").of(key))
		}
		return yes, nil
	case *[]string:
		return d.list(s, path, at, k.elements)
	default:
		return d.variables(s, path, at)
	}
}

func (d *document) list(s *setting, path []string, at int, elements []int) (any, error) {
	key := joinKey(path)
	values, ok := d.value(path).([]any)
	if !ok {
		return nil, d.fail(at, problemf("must be a list of strings").of(key))
	}
	if s.filled && (len(values) == 0 || values[0] == "") {
		return nil, d.fail(at, problemf("must name a program").of(key))
	}
	list := make([]string, len(values))
	for i, value := range values {
		text, ok := value.(string)
		if !ok {
			return nil, d.fail(elements[i], problemf("must be a list of strings").of(key))
		}
		if p := s.text(text); p != nil {
			return nil, d.fail(elements[i], p.of(key))
		}
		list[i] = text
	}
	return list, nil
}

func (d *document) variables(s *setting, path []string, at int) (any, error) {
	table, ok := d.value(path).(map[string]any)
	if !ok {
		return nil, d.fail(at, problemf("must be a table of strings").of(joinKey(path)))
	}
	variables := make(map[string]string, len(table))
	for _, k := range d.keys { // in the order of the text
		if len(k.path) <= len(path) || !slices.Equal(k.path[:len(path)], path) {
			continue
		}
		name := k.path[len(path)]
		key := joinKey(k.path[:len(path)+1])
		if p := checkVariable(name); p != nil {
			return nil, d.fail(k.at[len(path)], p.of(key))
		}
		text, ok := table[name].(string)
		if !ok {
			return nil, d.fail(k.value, problemf("must be a string").of(key))
		}
		if p := s.text(text); p != nil {
			return nil, d.fail(k.value, p.of(key))
		}
		variables[name] = text
	}
	return variables, nil
}
