package main

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// waiting lists the functions whose arguments say how long paw waits, or how long it lets something
// take.
var waiting = []string{
	"context.WithTimeout", "context.WithTimeoutCause", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick", "time.Sleep",
	"poll.Sleep", "poll.Until",
}

// TestWaitsHaveNames keeps the times that paw waits named constants or settings: the constants and
// their comments are the list of all waits. A pause between two looks is given in ticks of package
// poll.
func TestWaitsHaveNames(t *testing.T) {
	tools := filepath.Join(projectRoot, "cmd", "paw", "internal") + string(filepath.Separator)
	calls := 0
	eachProductFile(t, func(path string, set *token.FileSet, file *ast.File) {
		if strings.HasPrefix(path, tools) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || !slices.Contains(waiting, selected(call.Fun)) {
				return true
			}
			calls++
			for _, argument := range call.Args {
				ast.Inspect(argument, func(n ast.Node) bool {
					if e, is := n.(ast.Expr); is && unitOfTime(selected(e)) {
						t.Errorf("%s: %s waits for a time without a name", set.Position(e.Pos()), selected(call.Fun))
					}
					_, inner := n.(*ast.FuncLit)
					return !inner && !isSetting(n)
				})
			}
			return true
		})
	})
	if calls < 50 {
		t.Errorf("found %d calls that wait", calls)
	}
}

// isSetting reports whether an expression makes a time of a number of seconds, as settings are.
func isSetting(n ast.Node) bool {
	product, is := n.(*ast.BinaryExpr)
	if !is || product.Op != token.MUL {
		return false
	}
	made, is := product.X.(*ast.CallExpr)
	return is && selected(made.Fun) == "time.Duration"
}

// selected returns "package.Name" for such an expression.
func selected(e ast.Expr) string {
	if s, is := e.(*ast.SelectorExpr); is {
		if of, is := s.X.(*ast.Ident); is {
			return of.Name + "." + s.Sel.Name
		}
	}
	return ""
}

func unitOfTime(name string) bool {
	return slices.Contains([]string{"time.Nanosecond", "time.Microsecond", "time.Millisecond", "time.Second", "time.Minute", "time.Hour"}, name)
}
