package queue

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"paw/config"
	"paw/config/display"
	"paw/orchestrator/checks"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
)

// Size limits of a plan and of a prompt, in bytes.
const (
	maxPlan   = 4 << 20
	maxPrompt = 1 << 20
)

// New is a task to queue, with its prompt.
type New struct {
	session.Task
	Prompt string
	place  string // FILE:LINE of a plan, "" for none
}

// located says of an error about one of the tasks where its plan has that task.
func located(tasks []New, err error) error {
	bad, ok := errors.AsType[*taskError](err)
	if !ok {
		return err
	}
	said, ok := errors.AsType[*errs.Error](bad.error)
	if place := tasks[bad.index].place; ok && place != "" {
		e := errs.New(said.Kind, "%s: %w", place, said)
		e.Hints = said.Hints
		return e
	}
	return bad.error
}

// planFile is a plan as its author writes it.
type planFile struct {
	Max  int        `toml:"max"`
	Task []planTask `toml:"task"`
}

type planTask struct {
	ID         string   `toml:"id"`
	Prompt     string   `toml:"prompt"`
	PromptFile string   `toml:"prompt_file"`
	Agent      string   `toml:"agent"`
	CLI        []string `toml:"cli"`
	After      []string `toml:"after"`
	From       string   `toml:"from"`
	Base       string   `toml:"base"`
	Brief      bool     `toml:"brief"`
	Check      []string `toml:"check"`
	Retries    int      `toml:"retries"`
	Timeout    string   `toml:"timeout"`
}

// planKeys lists the keys of a task in a plan, for suggestions.
var planKeys = []string{"id", "prompt", "prompt_file", "agent", "cli", "after", "from", "base", "brief", "check", "retries", "timeout"}

// ReadPlan reads the tasks of a plan, and how many agents to keep at work, 0 where the plan does
// not say.
func ReadPlan(path string) ([]New, int, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, 0, errs.New(errs.Usage, "--plan %s: no such file", path).Hint("ls %s", errs.Quote(filepath.Dir(path)))
	case errors.Is(err, syscall.EISDIR):
		return nil, 0, errs.New(errs.Usage, "--plan %s: is a folder, not a file", path).Hint("ls %s", errs.Quote(path))
	case err != nil:
		return nil, 0, err
	case len(text) > maxPlan:
		return nil, 0, errs.New(errs.Usage, "%s: is larger than %d MiB", path, maxPlan>>20)
	}
	wrong := func(line int, format string, args ...any) error {
		return errs.New(errs.Usage, "%s:%d: %s", path, line, fmt.Sprintf(format, args...))
	}
	var plan planFile
	meta, err := toml.Decode(string(text), &plan)
	if bad, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, 0, wrong(bad.Position.Line, "%s", display.FirstLine(bad.Message))
	}
	if err != nil {
		return nil, 0, errs.New(errs.Usage, "%s: %w", path, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		key := unknown[0]
		what, near := "unknown key "+key.String(), ""
		if len(key) == 2 && key[0] == "task" {
			near = config.Nearest(key[1], planKeys)
		}
		if near != "" {
			what += fmt.Sprintf(" (did you mean %s?)", near)
		}
		return nil, 0, wrong(lineOf(string(text), key[len(key)-1]), "%s", what)
	}
	if meta.IsDefined("max") && plan.Max < 1 {
		return nil, 0, wrong(lineOf(string(text), "max"), "max = %d: not a number from 1 on", plan.Max)
	}
	lines := taskLines(string(text))
	var tasks []New
	for i, t := range plan.Task {
		line := 1
		if i < len(lines) {
			line = lines[i]
		}
		one, err := t.task(filepath.Dir(path))
		if err != nil {
			return nil, 0, wrong(line, "%s", err)
		}
		one.place = fmt.Sprintf("%s:%d", path, line)
		tasks = append(tasks, one)
	}
	if len(tasks) == 0 {
		return nil, 0, errs.New(errs.Usage, "%s: has no [[task]]", path)
	}
	return tasks, plan.Max, nil
}

// task converts a task of a plan; relative files are looked up in the plan's folder.
func (p planTask) task(dir string) (New, error) {
	t := New{Prompt: p.Prompt, Task: session.Task{
		ID: p.ID, Kind: session.AgentTask, Agent: p.Agent, CLIs: p.CLI, After: p.After, From: p.From, Base: p.Base, Brief: p.Brief,
		Check: p.Check, Retries: p.Retries,
	}}
	if p.Timeout != "" {
		var err error
		if t.Timeout, err = time.ParseDuration(p.Timeout); err != nil || t.Timeout <= 0 {
			return t, fmt.Errorf("timeout %q: not a time, such as 90s or 10m", p.Timeout)
		}
	}
	if p.PromptFile != "" {
		path := p.PromptFile
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return t, fmt.Errorf("prompt_file %s: %w", p.PromptFile, err)
		}
		if p.Prompt != "" {
			return t, errors.New("prompt and prompt_file: give one of them")
		}
		t.Prompt = strings.TrimSuffix(string(text), "\n")
	}
	if p.Agent != "" {
		t.Kind = session.PromptTask
	}
	return t, t.fault()
}

// fault returns an error of a task that can be told from the task alone.
func (t New) fault() error {
	name := cmp.Or(t.ID, "a task")
	typable, _ := cli.Typable(t.Prompt)
	switch {
	case !utf8.ValidString(t.Prompt):
		return fmt.Errorf("%s: the prompt is not UTF-8", name)
	case strings.TrimSpace(typable) == "":
		return fmt.Errorf("%s: the prompt is empty", name)
	case len(t.Prompt) > maxPrompt:
		return fmt.Errorf("%s: the prompt is larger than %d MiB", name, maxPrompt>>20)
	case t.Kind == session.PromptTask && len(t.CLIs)+len(t.From)+len(t.Base) > 0:
		return fmt.Errorf("%s: the prompt goes to agent %s, which has its CLI and its place", name, t.Agent)
	case t.From != "" && t.Base != "":
		return fmt.Errorf("%s: from and base exclude each other", name)
	case t.Retries < 0:
		return fmt.Errorf("%s: retries %d: not a number from 0 on", name, t.Retries)
	case t.On != "" && t.On != session.OnCI:
		return fmt.Errorf("%s: on %s: not ci", name, t.On)
	case t.On != "" && (t.Kind != session.PromptTask || len(t.Check) > 0):
		return fmt.Errorf("%s: on ci takes an agent, whose pull request it is, and no check", name)
	case t.Push && t.On == "":
		return fmt.Errorf("%s: push goes with on ci", name)
	case t.Retries > 0 && len(t.Check) == 0 && t.On == "":
		return fmt.Errorf("%s: retries without a check", name)
	}
	if err := checks.RefuseEmpty(t.Check); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if t.ID == "" {
		return nil
	}
	return session.ValidateTaskID(t.ID)
}

// lineOf returns the first line that sets a key.
func lineOf(text, key string) int {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if name, _, set := strings.Cut(line, "="); set && strings.Trim(strings.TrimSpace(name), `"'`) == key {
			return n
		}
	}
	return 1
}

// taskLines returns the lines at which the tasks of a plan begin.
func taskLines(text string) []int {
	var lines []int
	n := 0
	for line := range strings.Lines(text) {
		if n++; strings.HasPrefix(strings.ReplaceAll(line, " ", ""), "[[task]]") {
			lines = append(lines, n)
		}
	}
	return lines
}
