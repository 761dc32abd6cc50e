package typing

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Prompts and answers reach a CLI from here alone: by keys, or by its channel.
func TestOneWayToACLI(t *testing.T) {
	ways := map[string]string{"Type": "pane.go", "Submit": "sender.go", "Reply": "answer.go"}
	found := map[string]int{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == "../../cmd/paw/internal" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".."):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 || path == "../../orchestrator/selftest/player.go" { // which plays the user
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && ways[f.Sel.Name] != "" {
				found[f.Sel.Name]++
				if path != "../../orchestrator/typing/"+ways[f.Sel.Name] {
					t.Errorf("%s: calls %s, which belongs into %s", path, f.Sel.Name, ways[f.Sel.Name])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for way, file := range ways {
		if found[way] != 1 {
			t.Errorf("%s is called %d times, once in %s", way, found[way], file)
		}
	}
}
