package config

// Command is a text from a repository that can run, or changes what runs.
type Command struct {
	Key  string `json:"key"`  // such as worktree.setup or clis.x.command
	Text string `json:"text"` // what the file says, lists and tables as JSON
}

// commands returns what among a repository's settings needs trust; now is the configuration without them.
func commands(assignments []assignment, now Config) []Command {
	var result []Command
	for _, a := range assignments {
		loosens := a.setting.loosens != nil && a.setting.loosens(a.value.(int), *a.setting.target(&entry{config: &now}).(*int))
		if loosens || a.setting.runs != nil && a.setting.runs(a.value) {
			result = append(result, Command{Key: a.key(), Text: a.text()})
		}
	}
	return result
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
