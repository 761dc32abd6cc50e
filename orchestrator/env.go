package orchestrator

import "sort"

// sortedEnv lists variables as KEY=value, in a stable order.
func sortedEnv(set map[string]string) []string {
	env := make([]string, 0, len(set))
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	sort.Strings(env)
	return env
}
