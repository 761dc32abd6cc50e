package live

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatesAreDecidedInOnePlace fails where product code outside of state.go and turnstate.go makes a state: where a constant of
// session.State is put into a field, a variable or a result. Comparing with one, and lists of them, are no decisions.
func TestStatesAreDecidedInOnePlace(t *testing.T) {
	root := filepath.Join("..", "..")
	decides := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(source, []byte("State")) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if made := statesMade(file); made > 0 {
			decides[filepath.ToSlash(name)] = made
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, least := range map[string]int{"orchestrator/live/state.go": 10, "orchestrator/live/turnstate.go": 5} {
		if decides[place] < least {
			t.Errorf("%s makes %d states: this test does not see them any more", place, decides[place])
		}
		delete(decides, place)
	}
	for name, made := range decides {
		t.Errorf("%s makes a state %d times; what it knows is a fact of live.Observation, for live.State", name, made)
	}
}

// statesMade counts where a file makes a state.
func statesMade(file *ast.File) int {
	made := 0
	count := func(values ...ast.Expr) {
		for _, v := range values {
			if isState(file, v) {
				made++
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if field, ok := n.Key.(*ast.Ident); ok && field.Name == "State" {
				count(n.Value)
			}
		case *ast.AssignStmt:
			count(n.Rhs...)
		case *ast.ReturnStmt:
			count(n.Results...)
		case *ast.ValueSpec:
			count(n.Values...)
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Or" {
				count(n.Args...)
			}
		}
		return true
	})
	return made
}

// isState reports whether an expression is a constant of session.State.
func isState(file *ast.File, e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if of, ok := e.X.(*ast.Ident); ok && of.Name == "session" {
			name = e.Sel.Name
		}
	case *ast.Ident:
		if file.Name.Name == "session" {
			name = e.Name
		}
	}
	return strings.HasPrefix(name, "State") && len(name) > len("State")
}

func TestStatesMadeAreFound(t *testing.T) {
	for body, want := range map[string]int{
		`st = session.AgentStatus{State: session.StateIdle}`:  1,
		`st.State = session.StateIdle`:                        1,
		`return session.StateIdle`:                            1,
		`var s = session.StateIdle`:                           1,
		`st.State = cmp.Or(session.StateIdle, s)`:             1,
		`if st.State == session.StateIdle { }`:                0,
		`switch st.State { case session.StateIdle: }`:         0,
		`slices.Contains([]session.State{session.StateIdle})`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := statesMade(file); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}
