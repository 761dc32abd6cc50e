package tmux

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every connection to a tmux server goes through endpoint, which knows where the server is and refuses a socket that another user
// could have put there: nothing else of paw runs tmux, or says -L or -S.
func TestOneWayToAServer(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == "../cmd/paw/internal" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".."):
			return fs.SkipDir // tools for developers, which paw has not in it
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, found := range waysAround(file, filepath.Dir(path) == "../tmux") {
			if path != "../tmux/"+found.allowed {
				t.Errorf("%s: %s belongs into tmux/%s", path, found.what, found.allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

type wayAround struct{ what, allowed string }

// waysAround finds what runs tmux, and in package tmux what says which server is meant.
func waysAround(file *ast.File, inTmux bool) (found []wayAround) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "LookPath" || strings.HasPrefix(f.Sel.Name, "Command") || f.Sel.Name == "StartProcess") {
				for _, arg := range n.Args {
					if text(arg) == "tmux" {
						found = append(found, wayAround{f.Sel.Name + ` of "tmux"`, "call.go"})
					}
				}
			}
			// capture-pane has a -S of its own.
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "onPane" {
				return false
			}
		case *ast.BasicLit:
			if said := text(n); inTmux && (said == "-L" || said == "-S") {
				found = append(found, wayAround{strconv.Quote(said), "socket.go"})
			}
		}
		return true
	})
	return found
}

// text is a string constant, "" for anything else.
func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}
