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

// Limits of the product's own code. A type or a file beyond its limit holds more than one concept; a
// function beyond it does not fit a screen.
const (
	maxMethods  = 60  // methods declared on one type
	maxLines    = 400 // lines of one file
	maxFunction = 60  // lines of one function
)

func TestNoTypeFileOrFunctionHasTooMuch(t *testing.T) {
	methods := map[string]int{}
	files := 0
	eachProductFile(t, func(path string, set *token.FileSet, file *ast.File) {
		files++
		if lines := set.File(file.FileStart).LineCount(); lines > maxLines {
			t.Errorf("%s: %d lines, the limit is %d", path, lines, maxLines)
		}
		for _, one := range file.Decls {
			f, is := one.(*ast.FuncDecl)
			if !is {
				continue
			}
			if lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; lines > maxFunction {
				t.Errorf("%s: %s has %d lines, the limit is %d", path, f.Name.Name, lines, maxFunction)
			}
			if f.Recv != nil {
				methods[filepath.Dir(path)+": "+receiver(f.Recv.List[0].Type)]++
			}
		}
	})
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, the limit is %d", name, n, maxMethods)
		}
	}
	if methods[filepath.Join(projectRoot, "cmd", "paw")+": invocation"] == 0 {
		t.Errorf("looked at %d files, and found no method of invocation", files)
	}
}

// projectRoot is the top of the project, from the folder of this package.
var projectRoot = filepath.Join("..", "..")

// eachProductFile parses each Go file of the project that is no test.
func eachProductFile(t *testing.T, f func(path string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(projectRoot, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err == nil {
			f(path, set, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// receiver returns the name of the type that a method is declared on.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
