package worktree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// movers are the functions that have git move HEAD, an index or files, or refs that may be those of a checkout. Where somebody
// may work, that is only done with a journal.
var movers = map[string]string{
	"worktree/move.go:moveRef":                  "with a journal, or for a branch without files",
	"worktree/move.go:filesAndIndex":            "with a journal",
	"worktree/rewind.go:toGoal":                 "with a journal",
	"worktree/putback.go:writeOut":              "with a journal",
	"worktree/goal.go:headAndIndex":             "with a journal",
	"worktree/goal.go:ignoredByGoal":            "a folder of its own",
	"worktree/create.go:fill":                   "a worktree that is new",
	"worktree/fromsnapshot.go:FromSnapshot":     "a worktree that is new",
	"worktree/snapshot/judge.go:asCheckedOut":   "a folder of its own",
	"worktree/objects/history.go:TreeOfEntries": "a scratch index",
	"worktree/create.go:createRefs":             "branches that are new",
	"worktree/remove.go:DeleteBranches":         "branches that are checked out nowhere",
	"worktree/refs/refs.go:Apply":               "refs of paw's own, which nobody has checked out",
}

// movingCommands are git's commands that move one of these.
var movingCommands = []string{
	"am", "apply", "checkout", "checkout-index", "cherry-pick", "clean", "merge", "mv", "pull", "read-tree", "rebase", "reset", "restore",
	"revert", "rm", "sparse-checkout", "stash", "switch", "symbolic-ref", "update-ref",
}

// TestFilesMoveWithAJournal finds whatever moves HEAD, an index or files on another way.
func TestFilesMoveWithAJournal(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "bench") {
			return errSkip(err, d)
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			return findMovers(filepath.ToSlash(strings.TrimPrefix(path, "../")), path, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if movers[name] == "" {
			t.Errorf("%s moves what somebody may work with: only a move with a journal does (journal.go)", name)
		}
	}
	for name := range movers {
		if !found[name] {
			t.Errorf("%s moves nothing any more", name)
		}
	}
}

func errSkip(err error, d fs.DirEntry) error {
	if err != nil || !d.IsDir() {
		return err
	}
	return fs.SkipDir
}

// findMovers finds the functions of a file that run such a command, or put a file in the place of an index.
func findMovers(name, path string, found map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		ast.Inspect(function, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && movesByCall(call) {
				found[name+":"+function.Name.Name] = true
			}
			return true
		})
	}
	return nil
}

func movesByCall(call *ast.CallExpr) bool {
	called := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		called = f.Name
	case *ast.SelectorExpr:
		called = f.Sel.Name
	}
	texts := literals(call.Args)
	switch called {
	case "Run", "Output", "Line", "Input", "Stream", "Quietly", "plainly", "Asked", "apartly":
		return slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(movingCommands, text) })
	case "Rename", "WriteFile":
		return slices.Contains(texts, "index")
	}
	return false
}

// literals are the texts among some arguments, and among those of calls in them.
func literals(args []ast.Expr) (texts []string) {
	for _, arg := range args {
		switch a := arg.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(a.Value); err == nil && a.Kind == token.STRING {
				texts = append(texts, text)
			}
		case *ast.CallExpr:
			texts = append(texts, literals(a.Args)...)
		}
	}
	return texts
}
