package config

import (
	"fmt"
	"slices"
)

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
