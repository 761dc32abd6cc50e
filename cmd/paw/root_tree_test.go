package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestOneCommandIsThatOfTheWholeTree: a command built alone, for speed, equals the same command in
// the whole tree.
func TestOneCommandIsThatOfTheWholeTree(t *testing.T) {
	flags := func(cmd *cobra.Command) (all []string) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
		return all
	}
	whole := rootForDocs()
	for _, one := range allCommands {
		for _, word := range append([]string{one.name}, aliases[one.name]...) {
			want, _, err := whole.Find([]string{word})
			if err != nil || want.Name() != one.name {
				t.Fatalf("%s: the whole tree finds %s, %v", word, want.Name(), err)
			}
			root := newRoot(&invocation{printer: printer{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}}, word)
			got, _, err := root.Find([]string{word})
			if err != nil || got.CommandPath() != want.CommandPath() || got.Short != want.Short || !slices.Equal(flags(got), flags(want)) {
				t.Errorf("%s: found %q with flags %v, %v", word, got.CommandPath(), flags(got), err)
			}
			if n := len(root.Commands()); n != 1 {
				t.Errorf("%s: %d commands were made", word, n)
			}
		}
	}
	for _, word := range []string{"", "help", "--color", "sttus", "__complete"} {
		if n := len(newRoot(&invocation{}, word).Commands()); n != len(allCommands) {
			t.Errorf("%q: %d commands, want all %d", word, n, len(allCommands))
		}
	}
}
