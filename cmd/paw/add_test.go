package main

import (
	"os"
	"slices"
	"testing"
)

// Whatever is added or started at the same moment gets names of its own, where nobody asked for one.
func TestAutomaticNamesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	const callers = 4
	outs := make(chan output, callers)
	begin := make(chan struct{})
	for range callers {
		go func() {
			<-begin
			outs <- w.run(w.repo, []string{"PAW_TEST_MAIN=1"}, self, "add", "--cli", "demo")
		}()
	}
	close(begin)
	for range callers {
		w.ok(<-outs)
	}
	var names []string
	for _, a := range w.view().Sessions[0].Agents {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	if want := []string{"demo", "demo_2", "demo_3", "demo_4", "demo_5"}; !slices.Equal(names, want) {
		t.Errorf("agents %v, want %v", names, want)
	}
}
