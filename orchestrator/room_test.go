package orchestrator

import "testing"

// TestLowMemory: the note comes below 1 GiB for each agent, and where the kernel says how much is free.
func TestLowMemory(t *testing.T) {
	const memory = "MemTotal:       8000000 kB\nMemFree:          10000 kB\nMemAvailable:    2097151 kB\n"
	const said = "2047 MiB of memory are free, and 2 new agents may need 1 GiB each; [agents] max_running limits how many run"
	for _, c := range []struct {
		memory string
		agents int
		want   string
	}{
		{memory, 2, said}, {memory, 1, ""}, {memory, 0, ""}, {"MemTotal: 8000000 kB\n", 9, ""}, {"", 9, ""},
	} {
		if got := lowMemory(c.memory, c.agents); got != c.want {
			t.Errorf("%d agents, %q: %q, want %q", c.agents, c.memory, got, c.want)
		}
	}
}
