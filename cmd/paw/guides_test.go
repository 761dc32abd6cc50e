package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// guides are pages that say what to do; before runs what has to have happened before their first line.
var guides = map[string]func(w *world){
	"first-day": nil, "answer": nil, "troubleshooting": nil, "coming-from": nil, "demo": nil,
	"after-a-crash": func(w *world) {
		w.start("demo")
		w.ok(w.paw("send", "demo", "do: write new.txt hello\ndo: hang"))
		w.awaitFile(w.root + "/shop.paw/shop/demo/new.txt")
		killServer(w.socket)
	},
}

// Each command of the guides works where it stands, one after the other, with the demo CLI in the place of others.
func TestGuidesWork(t *testing.T) {
	for name, before := range guides {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.terminal("true") // which puts paw into a folder for PATH
			killServer(filepath.Join(w.root, "o"))
			if before != nil {
				before(w)
			}
			lines := guideLines(t, name)
			if len(lines) == 0 {
				t.Fatal("there are no commands")
			}
			for _, line := range lines {
				w.follow(line)
			}
		})
	}
}

// guideLines are the commands of a guide, as they are typed.
func guideLines(t *testing.T, name string) []string {
	var lines []string
	for _, one := range snippets(t, "docs/"+name+".md") {
		command, _, _ := strings.Cut(one.text, "   ")
		if (strings.HasPrefix(command, "paw ") || strings.HasPrefix(command, "git ")) && isIndented(t, one) {
			lines = append(lines, command)
		}
	}
	return lines
}

// isIndented reports whether a snippet is a line of its own.
func isIndented(t *testing.T, s snippet) bool {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", s.file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.HasPrefix(strings.Split(string(content), "\n")[s.line-1], "    ")
}

// namedCLIs are the CLIs that guides name in --cli.
var namedCLIs = strings.NewReplacer("--cli claude,codex", "--cli claude=demo,codex=demo", "--cli claude ", "--cli demo ", "--cli claude\n", "--cli demo\n")

// follow does what a line of a guide says, once nothing is under way that the reader would see and wait for.
func (w *world) follow(line string) {
	w.t.Helper()
	if session, found := strings.CutPrefix(line, "paw attach "); found {
		terminal := w.terminal("paw attach " + session)
		terminal.awaits("[paw-")
		killServer(terminal.socket)
		return
	}
	waitFor(w.t, "no agent is starting, before "+line, func() bool {
		return !strings.Contains(w.paw("status", "--json").stdout, `"state":"unknown"`)
	})
	if strings.HasPrefix(line, "paw rewind ") {
		waitFor(w.t, "no turn is under way, before "+line, func() bool {
			return !strings.Contains(w.paw("status", "--json").stdout, `"state":"running"`)
		})
	}
	if strings.HasPrefix(line, "paw send ") {
		w.answerAll()
	}
	out := w.run(w.repo, []string{"PATH=" + w.root + "/bin:" + os.Getenv("PATH")}, "sh", "-c", strings.TrimSpace(namedCLIs.Replace(line+"\n")))
	if out.code != 0 {
		w.t.Fatalf("%s: exit code %d\n%s%s", line, out.code, out.stdout, out.stderr)
	}
	if asked := regexp.MustCompile(`^paw send (\w+) "do: ask (.*)"$`).FindStringSubmatch(line); asked != nil {
		waitFor(w.t, asked[2], func() bool {
			return strings.Contains(w.paw("status").stdout, asked[2])
		})
	}
}

// answerAll says yes to each question that is open.
func (w *world) answerAll() {
	w.t.Helper()
	for _, session := range w.view().Sessions {
		for _, a := range session.Agents {
			if a.State == "waiting_input" {
				w.ok(w.tmux("send-keys", "-t", *a.PaneID, "y"))
				waitFor(w.t, a.Name+" goes on", func() bool { return w.agent(a.Name).State == "idle" })
			}
		}
	}
}

// TestDemoStepsAreDocumented: docs/demo.md has each step that the demo CLI names in its help.
func TestDemoStepsAreDocumented(t *testing.T) {
	help := run([]string{"paw", "demo-agent", "--help"}, nil, nil, &strings.Builder{}, &strings.Builder{})
	if help != 0 {
		t.Fatal("demo-agent --help failed")
	}
	var usage strings.Builder
	run([]string{"paw", "demo-agent", "--help"}, nil, nil, &usage, &usage)
	page, err := os.ReadFile("../../docs/demo.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile(`(?m)^  ([a-z]+(?: [A-Z]+)*)(?:  |$)`).FindAllStringSubmatch(usage.String(), -1)
	if len(steps) < 12 {
		t.Fatalf("only %d steps in the help: %q", len(steps), steps)
	}
	for _, step := range steps {
		if !strings.Contains(string(page), fmt.Sprintf("| `%s` |", step[1])) {
			t.Errorf("docs/demo.md has no step %s", step[1])
		}
	}
}

// TestDocsLinksLead: a link in the documents leads to a file that there is, and to a heading of it.
func TestDocsLinksLead(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	found := 0
	for _, file := range append(files, "../../README.md") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range link.FindAllStringSubmatch(string(content), -1) {
			if strings.Contains(one[1], "://") {
				continue
			}
			found++
			target := file
			if one[1] != "" {
				target = filepath.Join(filepath.Dir(file), one[1])
			}
			text, err := os.ReadFile(target)
			if err != nil {
				t.Errorf("%s: %s leads nowhere", file, one[0])
			} else if one[2] != "" && !hasHeading(string(text), one[2][1:]) {
				t.Errorf("%s: %s: there is no such heading", file, one[0])
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d links were found", found)
	}
}

// hasHeading reports whether a document has a heading with that anchor.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		name = regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(name, "")
		if strings.ReplaceAll(name, " ", "-") == anchor {
			return true
		}
	}
	return false
}
