package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxCircle limits the files of one package that need each other in a circle. Whoever reads one of
// them has to read all.
const maxCircle = 8

// TestFilesNeedEachOtherOneWay looks at which file of a package uses what another one declares.
func TestFilesNeedEachOtherOneWay(t *testing.T) {
	checked := 0
	for _, p := range listedPackages(t) {
		if !strings.HasPrefix(p.path, "paw/") || len(p.files) == 0 {
			continue
		}
		checked++
		needs := p.needs(t)
		for _, circle := range circles(needs) {
			if len(circle) > maxCircle {
				t.Errorf("%s: %d files need each other in a circle, the limit is %d: %s\none circle: %s",
					p.path, len(circle), maxCircle, strings.Join(circle, " "), strings.Join(shortestCircle(needs, circle), "\n\tneeds "))
			}
		}
	}
	if checked < 40 {
		t.Errorf("looked at %d packages", checked)
	}
}

func TestCircles(t *testing.T) {
	needs := map[string]map[string]string{
		"a": {"b": "B"}, "b": {"c": "C"}, "c": {"b": "B", "d": "D"}, "d": {},
		"e": {"f": "F"}, "f": {"g": "G"}, "g": {"e": "E"},
	}
	if got := fmt.Sprint(circles(needs)); got != "[[b c] [e f g]]" {
		t.Errorf("circles: %s", got)
	}
	if got := fmt.Sprint(shortestCircle(needs, []string{"e", "f", "g"})); got != "[e f for F g for G e for E]" {
		t.Errorf("the circle of e: %s", got)
	}
}

// goPackage is a package as go list names it.
type goPackage struct {
	path, export, dir string
	files             []string
	exports           map[string]string // files of export data, by the path of each package
}

// listedPackages returns the packages of the module and all that they import.
func listedPackages(t *testing.T) (all []goPackage) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", `{{.ImportPath}}|{{.Export}}|{{.Dir}}|{{join .GoFiles " "}}`, "./...")
	cmd.Dir, cmd.Stderr = filepath.Join("..", ".."), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal("go list:", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		exports[part[0]] = part[1]
		all = append(all, goPackage{part[0], part[1], part[2], strings.Fields(part[3]), exports})
	}
	return all
}

// needs returns for each file of a package the files that it needs, each with a name that it uses.
func (p goPackage) needs(t *testing.T) map[string]map[string]string {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.files {
		file, err := parser.ParseFile(set, filepath.Join(p.dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	conf := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		if p.exports[path] == "" {
			return nil, errors.New(path + ": no export data")
		}
		return os.Open(p.exports[path])
	})}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	checked, err := conf.Check(p.path, set, files, info)
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string]map[string]string{}
	for use, object := range info.Uses {
		if object.Pkg() != checked {
			continue
		}
		if v, is := object.(*types.Var); is && !v.IsField() && v.Parent() != checked.Scope() { // a local variable
			continue
		}
		from, to := filepath.Base(set.Position(use.Pos()).Filename), filepath.Base(set.Position(object.Pos()).Filename)
		if needs[from] == nil {
			needs[from] = map[string]string{}
		}
		if named := needs[from][to]; from != to && (named == "" || object.Name() < named) {
			needs[from][to] = object.Name()
		}
	}
	return needs
}

// circles returns the strongly connected components of two files and more.
func circles(needs map[string]map[string]string) (found [][]string) {
	reach := map[string]map[string]bool{}
	for from := range needs {
		reach[from] = neededBy(needs, from)
	}
	seen := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(needs)) {
		if seen[from] || !reach[from][from] {
			continue
		}
		var circle []string
		for _, to := range slices.Sorted(maps.Keys(reach[from])) {
			if reach[to][from] {
				circle, seen[to] = append(circle, to), true
			}
		}
		found = append(found, circle)
	}
	return found
}

// neededBy returns the files that one needs, directly or through others.
func neededBy(needs map[string]map[string]string, from string) map[string]bool {
	seen, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for to := range needs[at] {
			if !seen[to] {
				seen[to], next = true, append(next, to)
			}
		}
	}
	return seen
}

// shortestCircle returns the shortest circle through the first file, and the name that ties each
// file to the one before.
func shortestCircle(needs map[string]map[string]string, circle []string) []string {
	ways := [][]string{{circle[0]}}
	at, seen := []string{circle[0]}, map[string]bool{}
	for i := 0; i < len(ways); i++ {
		for _, to := range circle {
			name := needs[at[i]][to]
			if name == "" || seen[to] {
				continue
			}
			way := append(slices.Clone(ways[i]), to+" for "+name)
			if to == circle[0] {
				return way
			}
			seen[to], ways, at = true, append(ways, way), append(at, to)
		}
	}
	return nil
}
