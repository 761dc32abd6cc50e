package config

import "slices"

// Command is a text from a repository that can run, or changes what runs.
type Command struct {
	Key  string `json:"key"`  // such as worktree.setup or clis.x.command
	Text string `json:"text"` // what the file says, lists and tables as JSON
}

// commands returns what among a repository's settings needs trust; now is the configuration without them.
func commands(assignments []assignment, now Config) []Command {
	var result []Command
	for _, a := range assignments {
		if a.setting.trust != nil && a.setting.trust(a.value, a.inForce(now)) {
			result = append(result, Command{Key: a.key(), Text: a.text()})
		}
	}
	return result
}

// allowed leaves out of a repository's settings those in which a repository has no say, and names them, and those in which
// the user's word holds. A preset of the user holds as a whole: under its name the user knows what is started.
func (l *Loaded) allowed(assignments []assignment) (kept []assignment, ignored []string) {
	for _, a := range assignments {
		switch a.setting.repository {
		case usersAlone:
			ignored = append(ignored, a.key())
		case yields:
			if !l.byUser(a) {
				kept = append(kept, a)
			}
		default:
			kept = append(kept, a)
		}
	}
	return kept, ignored
}

// byUser reports whether the user's file says something in the key of an assignment, or in its preset.
func (l *Loaded) byUser(a assignment) bool {
	if a.path[0] == "presets" {
		_, own := l.Presets[a.path[1]]
		return own
	}
	return slices.ContainsFunc(l.Sources, func(s Source) bool { return slices.Contains(s.Keys, a.key()) })
}

// withoutUntrusted leaves out what the user has not trusted. The settings of a
// program belong together: a trusted command without its arguments is not what
// anyone agreed to, so one untrusted text leaves out all of them.
func withoutUntrusted(assignments []assignment, untrusted []Command) []assignment {
	left := map[string]bool{}
	for _, a := range assignments {
		for _, c := range untrusted {
			if a.key() == c.Key {
				left[unit(a)] = true
			}
		}
	}
	var kept []assignment
	for _, a := range assignments {
		if !left[unit(a)] {
			kept = append(kept, a)
		}
	}
	return kept
}

// unit names what is trusted or left out together.
func unit(a assignment) string {
	if a.path[0] == "clis" {
		return joinKey(a.path[:2])
	}
	return a.key()
}
