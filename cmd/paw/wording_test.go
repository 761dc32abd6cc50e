package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// rawPrompts are the places that need a prompt byte for byte: they compare it with a CLI's record,
// or print it in --json. All other places call Words or Task.
var rawPrompts = []string{"orchestrator/typing/", "orchestrator/transcript/", "orchestrator/queue/gather.go", "orchestrator/turns/cut.go", "orchestrator/cli/claude/turns.go", "orchestrator/selftest/", "cmd/paw/turns.go", "session/turn/"}

// TestPromptsAreReadInWords finds code that shows a prompt as the CLI got it, with markers and
// texts that paw has added.
func TestPromptsAreReadInWords(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if convertsPrompt(n) && !anyPrefix(name, rawPrompts) {
					t.Errorf("%s: shows a prompt as the CLI got it; take Words or Task of it", set.Position(n.Pos()))
				}
			case *ast.BasicLit:
				for _, own := range []string{"[paw wait ", "I have reviewed your changes", "Your work conflicts with the branch", "You take over the work of another"} {
					if strings.Contains(n.Value, own) && name != filepath.Join("session", "turn", "prompt.go") {
						t.Errorf("%s: the begin of a prompt that paw writes is in session/turn/prompt.go alone", set.Position(n.Pos()))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// convertsPrompt reports whether an expression is string(X.Prompt).
func convertsPrompt(call *ast.CallExpr) bool {
	to, ok := call.Fun.(*ast.Ident)
	if !ok || to.Name != "string" || len(call.Args) != 1 {
		return false
	}
	field, ok := call.Args[0].(*ast.SelectorExpr)
	return ok && field.Sel.Name == "Prompt"
}

func anyPrefix(name string, prefixes []string) bool {
	for _, one := range prefixes {
		if strings.HasPrefix(filepath.ToSlash(name), one) {
			return true
		}
	}
	return false
}
