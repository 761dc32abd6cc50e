package main

import (
	"slices"
	"testing"
)

// Agents and sessions that are added or started at the same moment without a name get different
// names.
func TestAutomaticNamesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.okAll(w.atOnce(4, func(int) []string { return []string{"add", "--cli", "demo"} }))
	var names []string
	for _, a := range w.view().Sessions[0].Agents {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	if want := []string{"demo", "demo_2", "demo_3", "demo_4", "demo_5"}; !slices.Equal(names, want) {
		t.Errorf("agents %v, want %v", names, want)
	}
}
