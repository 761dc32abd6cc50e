package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const jsonPage = "../../docs/json.md"

// example matches a command line on the page about JSON, and the object below the line.
var example = regexp.MustCompile("(?m)^    (paw .*)\n\n```json\n([^`]*)```$")

// jsonSteps are the command lines of docs/json.md in an order in which they work, with what is
// needed before; as is the agent that runs the line, "" for the user.
var jsonSteps = []struct {
	line, as string
	before   func(w *world)
}{
	{line: "paw send api --json \"add a search box\""},
	{line: "paw wait api --json"},
	{line: "paw turns api --json"},
	{line: "paw turns nobody --json"},
	{line: "paw log api --json"},
	{line: "paw diff api --json"},
	{line: "paw log --grep \"search box\" --json"},
	{line: "paw usage api --json"},
	{line: "paw path api --json"},
	{line: "paw env api --json"},
	{line: "paw blame api NOTES.md --json"},
	{line: "paw review api --on NOTES.md:1 \"a heading, please\" --json"},
	{line: "paw status --json", before: func(w *world) { w.did("web", "do: write README.md a shop") }},
	{line: "paw forecast --json", before: func(w *world) { w.did("api", "do: write README.md a search") }},
	{line: "paw check api --json true"},
	{line: "paw bisect api --json \"test ! -e NOTES.md\""},
	{line: "paw pr api --dry-run --json"},
	{line: "paw land api --dry-run --json"},
	{line: "paw land api --json"},
	{line: "paw land --list --json"},
	{line: "paw land web --json"},
	{line: "paw update docs --json"},
	{line: "paw rewind api 1 --json"},
	{line: "paw interrupt api --json", before: func(w *world) { w.ok(w.paw("send", "api", "do: sleep 600")) }},
	{line: "paw answer web --json", before: func(w *world) {
		w.ok(w.paw("send", "web", "do: ask Run npm test?"))
		waitFor(w.t, "web asks", func() bool { return w.agent("web").State == "waiting_input" })
	}},
	{line: "paw queue --json", before: func(w *world) { w.ok(w.paw("queue", "add", "web", "now the tests")) }},
	{line: "paw spawn --cli child=demo --prompt \"write the tests\" --json", as: "api"},
	{line: "paw wait --notify --json", as: "api"},
	{line: "paw stop docs --json"},
	{line: "paw run docs --prompt \"say hello\" --json"},
	{line: "paw recover docs --json"},
	{line: "paw remove docs --json", before: func(w *world) { w.ready("docs") }},
	{line: "paw race --json", before: func(w *world) {
		w.ok(w.paw("queue", "go", "--all"))
		w.write(w.repo, "task.md", "do: write search.go package search")
		w.ok(w.paw("race", "--cli", "demo", "--prompt-file", "task.md", "--check", "test -e search.go"))
		waitFor(w.t, "the race is decided", func() bool { return strings.Contains(w.paw("race", "--json").stdout, `"result":"pass"`) })
	}},
	{line: "paw clis --json"},
	{line: "paw version --json"},
	{line: "paw doctor --json"},
	{line: "paw config --json"},
	{line: "paw host list --json"},
}

// TestJSONPage: each object of docs/json.md has the fields that its command prints, and no others.
// `make commands` writes those anew that have other fields.
func TestJSONPage(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	told := map[string]string{}
	for _, one := range example.FindAllStringSubmatch(page, -1) {
		told[one[1]] = one[2]
	}
	w := newWorld(t)
	withForge(w)
	w.configure("[worktree]\nports = 2\nenv = { PORT = \"{port}\" }\n")
	w.start("api", "web", "docs")
	w.terminal("true") // puts paw into a folder for PATH
	for _, step := range jsonSteps {
		if step.before != nil {
			step.before(w)
		}
		env := []string{"PATH=" + w.root + "/bin:" + os.Getenv("PATH")}
		if step.as != "" {
			env = append(env, asAgent(step.as)...)
		}
		out := w.run(w.repo, env, "sh", "-c", step.line)
		text := out.stdout
		if text == "" {
			text = out.stderr
		}
		var printed, there any
		if err := json.Unmarshal([]byte(w.fromHome(text)), &printed); err != nil {
			t.Fatalf("%s: exit code %d: %v\n%s%s", step.line, out.code, err, out.stdout, out.stderr)
		}
		block, found := told[step.line]
		if !found {
			t.Errorf("docs/json.md has nothing about %s", step.line)
			continue
		}
		delete(told, step.line)
		err := json.Unmarshal([]byte(block), &there)
		if *drawPicture && (err != nil || differentFields("", printed, there) != nil) {
			drawn := laidOut(firstOnly(decoded(t, w.fromHome(text))), "", 110) + "\n"
			page = strings.Replace(page, "    "+step.line+"\n\n```json\n"+block, "    "+step.line+"\n\n```json\n"+drawn, 1)
			continue
		}
		if err != nil {
			t.Errorf("docs/json.md: %s: %v", step.line, err)
			continue
		}
		for _, wrong := range differentFields("", printed, there) {
			t.Errorf("docs/json.md: %s: %s; make commands writes the object anew", step.line, wrong)
		}
	}
	for line := range told {
		t.Errorf("docs/json.md: nothing tests %s", line)
	}
	if *drawPicture {
		if err := os.WriteFile(jsonPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fromHome replaces the temporary paths of a test by the paths of a user, as the page shows them.
func (w *world) fromHome(text string) string {
	return strings.NewReplacer(w.socket, "/tmp/tmux-1000/default", pawForTests(), "/usr/local/bin/paw", w.root+"/home", "/home/me", w.root, "/home/me/src").Replace(text)
}

// differentFields compares the fields of an object that was printed with those on the page. Lists
// count as the fields of all their items; what is null or empty on one side differs in nothing.
func differentFields(path string, printed, there any) (wrong []string) {
	switch printed := printed.(type) {
	case map[string]any:
		there, ok := there.(map[string]any)
		if !ok || slices.Contains([]string{".variables", ".hosts", ".config.worktree.env", ".config.clis", ".config.presets", ".config.prompts", ".config.hosts"}, path) { // names of the user
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(printed)) {
			if value, found := there[name]; !found {
				wrong = append(wrong, path+"."+name+" is printed and is not there")
			} else {
				wrong = append(wrong, differentFields(path+"."+name, printed[name], value)...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(there)) {
			if _, found := printed[name]; !found {
				wrong = append(wrong, path+"."+name+" is there and is not printed")
			}
		}
	case []any:
		there, ok := there.([]any)
		for i := range min(len(printed), len(there)) {
			if ok {
				wrong = append(wrong, differentFields(path+"[]", printed[i], there[i])...)
			}
		}
	}
	return wrong
}

// member is a field of an object whose order is kept.
type member struct {
	name  string
	value any
}

// decoded returns a JSON value with objects as []member.
func decoded(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var next func() any
	next = func() any {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'):
			all := []member{}
			for d.More() {
				name, _ := d.Token()
				all = append(all, member{name.(string), next()})
			}
			d.Token()
			return all
		case json.Delim('['):
			all := []any{}
			for d.More() {
				all = append(all, next())
			}
			d.Token()
			return all
		}
		return token
	}
	return next()
}

// firstOnly leaves out all items of a list of objects but the first.
func firstOnly(value any) any {
	switch value := value.(type) {
	case []member:
		for i := range value {
			value[i].value = firstOnly(value[i].value)
		}
	case []any:
		if len(value) > 0 {
			if _, isObject := value[0].([]member); isObject {
				return []any{firstOnly(value[0])}
			}
		}
	}
	return value
}

// laidOut writes a value in lines of a width: members of an object that do not fit on one line are
// broken between two members.
func laidOut(value any, indent string, width int) string {
	if short := compact(value); len(indent)+len(short) <= width {
		return short
	}
	inner := indent + " "
	broken := func(open, end string, parts []string) string {
		text, length := open, len(indent)+1
		for i, part := range parts {
			if i < len(parts)-1 {
				part += ","
			}
			first, _, many := strings.Cut(part, "\n")
			if i > 0 && length+len(first) > width {
				text, length = text+"\n"+inner, len(inner)
			}
			if text, length = text+part, length+len(part); many {
				length = width
			}
		}
		return text + end
	}
	var parts []string
	switch value := value.(type) {
	case []member:
		for _, m := range value {
			parts = append(parts, strconv.Quote(m.name)+":"+laidOut(m.value, inner, width-len(m.name)-4))
		}
		return broken("{", "}", parts)
	case []any:
		for _, item := range value {
			parts = append(parts, laidOut(item, inner, width))
		}
		return broken("[", "]", parts)
	}
	return compact(value)
}

// compact writes a value on one line.
func compact(value any) string {
	var parts []string
	switch value := value.(type) {
	case []member:
		for _, m := range value {
			parts = append(parts, strconv.Quote(m.name)+":"+compact(m.value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		for _, item := range value {
			parts = append(parts, compact(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return strings.TrimRight(out.String(), "\n")
}

// TestJSONPageNamesFields: docs/json.md names every field that a command can print, also those that
// the examples do not have.
func TestJSONPageNamesFields(t *testing.T) {
	content, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "fetched.go" { // what paws of two machines tell each other
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if kind, named := typeOf(literal); ok && named && (kind == "object" || kind == "field") {
				addFields(fields, literal, kind == "field")
			}
			return true
		})
	}
	if len(fields) < 100 {
		t.Errorf("only %d fields were found", len(fields))
	}
	for name := range fields {
		if !strings.Contains(string(content), fmt.Sprintf("%q", name)) && !strings.Contains(string(content), "`"+name+"`") {
			t.Errorf("docs/json.md: nothing about %s", name)
		}
	}
}

// typeOf returns the name of the type of a literal.
func typeOf(literal *ast.CompositeLit) (name string, ok bool) {
	if literal == nil {
		return "", false
	}
	ident, ok := literal.Type.(*ast.Ident)
	if !ok {
		return "", false
	}
	return ident.Name, true
}

// addFields adds the name of a field, or of the fields of an object.
func addFields(fields map[string]bool, literal *ast.CompositeLit, one bool) {
	all := literal.Elts
	if one {
		all = []ast.Expr{literal}
	}
	for _, element := range all {
		if of, ok := element.(*ast.CompositeLit); ok && len(of.Elts) == 2 {
			if name, ok := of.Elts[0].(*ast.BasicLit); ok && name.Kind == token.STRING {
				text, _ := strconv.Unquote(name.Value)
				fields[text] = true
			}
		}
	}
}
