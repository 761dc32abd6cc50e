package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guides are the pages, or sections of pages, whose commands the test runs; each function prepares
// what a guide presupposes.
var guides = map[string]func(w *world){
	"first-day": nil, "troubleshooting/Tags": nil, "troubleshooting/Reporting": nil, "clis/demo": nil, "landing": nil,
	"troubleshooting/After": func(w *world) {
		w.start("demo")
		w.ok(w.paw("send", "demo", "do: write new.txt hello\ndo: hang"))
		w.awaitFile(w.root + "/shop.paw/shop/demo/new.txt")
		killServer(w.socket)
	},
	"over-night": func(w *world) {
		withForge(w)
		w.commits("tests/run.sh", "true\n")
		w.write(w.repo, "task.md", "make it shorter\n")
	},
	"desk/Answer": func(w *world) {
		w.start("demo")
		w.ok(w.paw("send", "demo", "do: ask May I run npm test?"))
		waitFor(w.t, "demo asks", func() bool { return w.agent("demo").State == "waiting_input" })
	},
	"concepts/What paw writes": func(w *world) { w.start("demo") },
	"cookbook/1.":              func(w *world) { w.configure("[land]\nchecks = [\"true\"]\n") },
	"cookbook/2.":              withForge,
	"cookbook/3.": func(w *world) {
		withForge(w)
		w.start("api")
	},
	"cookbook/4.": func(w *world) {
		w.start("api")
		w.did("api", "do: write REVIEW.md fine")
	},
	"cookbook/5.": func(w *world) {
		w.start("api")
		w.did("api", "do: run seq 20 > parse.go")
	},
	"cookbook/6.": func(w *world) {
		w.commits("Makefile", "test:\n\ttest ! -e broken\n")
		w.start("api")
		w.did("api", "do: write fine x")
		w.did("api", "do: write broken x")
	},
	"cookbook/7.": func(w *world) { w.write(w.repo, "task.md", "make it shorter\n") },
	"cookbook/8.": func(w *world) {
		w.configure(strings.Join(configLines(w.t, "cookbook/8."), "\n"))
		w.start("api", "web")
	},
	"cookbook/9.": func(w *world) {
		w.start("api", "web")
		w.did("api", "first")
		w.did("api", "second")
		for _, agent := range []string{"api", "web"} {
			w.ok(w.paw("send", agent, "do: write "+agent+".txt 1\ndo: hang"))
			w.awaitFile(w.root + "/shop.paw/shop/" + agent + "/" + agent + ".txt")
		}
		w.ok(w.paw("send", "api", "and then the tests"))
		killServer(w.socket)
	},
	"cookbook/10.": func(w *world) {
		w.commits("Makefile", "test:\n\ttrue\n")
		w.start("api")
	},
}

// withForge gives the repository a remote with the branch main and pull request 7, and a gh that
// knows the pull request and issues.
func withForge(w *world) {
	w.commits(".gitattributes", "NOTES.md merge=union\n")
	server := filepath.Join(w.root, "server/acme/shop.git")
	w.git(w.root, "init", "-q", "--bare", "-b", "main", server)
	w.git(w.repo, "remote", "add", "origin", "git@github.com:acme/shop.git")
	w.script(w.root+"/bin", "ssh", "#!/bin/sh\nfor command; do :; done\ncd "+w.root+"/server\neval \"$(echo \"$command\" | sed \"s|'/|'|\")\"")
	w.env = append(w.env, "GIT_SSH="+w.root+"/bin/ssh")
	w.git(w.repo, "push", "-q", "-u", "origin", "main", "main:refs/pull/7/head", "main:feat/login")
	w.script(w.root+"/bin", "gh", `#!/bin/sh
case "$1 $2" in
"issue view") printf '{"number":%s,"title":"Fix %s","body":"It fails.","author":{"login":"ann"}}' "$3" "$3" ;;
"pr view") printf '{"number":7,"title":"Login","body":"","author":{"login":"ann"},"headRefName":"feat/login","headRefOid":"`+strings.TrimSpace(w.git(w.repo, "rev-parse", "HEAD"))+`","isCrossRepository":false,"state":"OPEN","baseRefName":"main","statusCheckRollup":[{"context":"ci","state":"FAILURE","targetUrl":""}]}' ;;
"api --hostname") case "$*" in *graphql*) echo '[{"path":"a","line":1,"comments":{"nodes":[{"body":"Why?"}]}}]' ;; *) echo '{}' ;; esac ;;
"pr list") echo '[{"url":"https://github.com/acme/shop/pull/7","headRepositoryOwner":{"login":"acme"}}]' ;;
*) exit 2 ;;
esac`)
}

// commits commits a file in the main checkout.
func (w *world) commits(name, content string) {
	w.t.Helper()
	w.write(w.repo, name, content)
	w.git(w.repo, "add", name)
	w.git(w.repo, "commit", "-qm", name)
}

// did sends an agent a prompt and waits for the end of the turn.
func (w *world) did(agent, prompt string) {
	w.t.Helper()
	w.ok(w.paw("send", agent, prompt))
	w.ok(w.paw("wait", agent))
}

// The commands of each guide work one after the other, with the demo CLI instead of other CLIs.
func TestGuidesWork(t *testing.T) {
	t.Parallel()
	for name, before := range guides {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.terminal("true") // puts paw into a folder for PATH
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

// guideLines returns the commands of a guide.
func guideLines(t *testing.T, guide string) []string {
	t.Helper()
	var lines []string
	for _, one := range indentedLines(t, guide) {
		command, _, _ := strings.Cut(one, "   ")
		if strings.HasPrefix(command, "paw ") || strings.HasPrefix(command, "git ") {
			lines = append(lines, command)
		}
	}
	return lines
}

// configLines returns the lines of a guide that belong into a configuration.
func configLines(t *testing.T, guide string) []string {
	t.Helper()
	return slices.DeleteFunc(indentedLines(t, guide), func(line string) bool {
		return !strings.HasPrefix(line, "[") && !strings.Contains(line, " = ")
	})
}

// indentedLines returns the lines set as code on a page or, for PAGE/HEADING, in the section whose
// heading begins with HEADING.
func indentedLines(t *testing.T, guide string) (lines []string) {
	t.Helper()
	page, section, _ := strings.Cut(guide, "/")
	content, err := os.ReadFile(filepath.Join("../../docs", page+".md"))
	if err != nil {
		t.Fatal(err)
	}
	within := section == ""
	for line := range strings.Lines(string(content)) {
		if heading, is := strings.CutPrefix(line, "## "); is && section != "" {
			within = strings.HasPrefix(heading, section)
		}
		if code, is := strings.CutPrefix(line, "    "); is && within {
			lines = append(lines, strings.TrimRight(code, "\n"))
		}
	}
	return lines
}

// withDemo replaces the CLIs of a command line by the demo CLI.
func withDemo(line string) string {
	return cliFlag.ReplaceAllStringFunc(line, func(flag string) string {
		var items []string
		for item := range strings.SplitSeq(strings.TrimPrefix(flag, "--cli "), ",") {
			name, _, _ := strings.Cut(item, "=")
			if strings.HasPrefix(line, "paw race ") { // names its agents
				name = ""
			}
			items = append(items, strings.TrimPrefix(name+"=demo", "="))
		}
		if strings.Contains(line, "--branches ") { // the branches name the agents
			return "--cli demo"
		}
		return "--cli " + strings.Join(items, ",")
	})
}

var cliFlag = regexp.MustCompile(`--cli [\w=,]+`)

// follow runs a line of a guide, after the work is over that a reader would wait for.
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
	if strings.HasPrefix(line, "paw rewind ") || strings.HasPrefix(line, "paw land ") {
		waitFor(w.t, "no turn is under way, and none is to come, before "+line, func() bool {
			return !strings.Contains(w.paw("status", "--json").stdout, `"state":"running"`) && !strings.Contains(w.paw("status").stdout, "\nqueue: ")
		})
	}
	if strings.HasPrefix(line, "paw send ") {
		w.answerAll()
	}
	out := w.run(w.repo, []string{"PATH=" + w.root + "/bin:" + os.Getenv("PATH"), "EDITOR=true"}, "sh", "-c", withDemo(line))
	if out.code != 0 {
		w.t.Fatalf("%s: exit code %d\n%s%s", line, out.code, out.stdout, out.stderr)
	}
	if asked := regexp.MustCompile(`^paw send (\w+) "do: ask (.*)"$`).FindStringSubmatch(line); asked != nil {
		waitFor(w.t, asked[2], func() bool {
			return strings.Contains(w.paw("status").stdout, asked[2])
		})
	}
}

// answerAll answers each open question with yes.
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

// TestDocsLinksLead: every link in the documents leads to a file that exists, and to a heading of
// that file.
func TestDocsLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	found := 0
	for _, name := range append(pages(t), "CONTRIBUTING.md", "CHANGELOG.md") {
		file := filepath.Join("../..", name)
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

// hasHeading reports whether a document has a heading with this anchor.
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
