package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosting"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Send types a prompt into an agent's pane, and waits for the hook event that confirms its arrival.
// It never types into a dialog.
func Send(ctx context.Context, h *app.App, s *session.Session, agentName, prompt string, wait bool) (*typing.Sent, error) {
	if err := observe.RefuseHalfMoved(ctx, h, s, agentName); err != nil {
		return nil, err
	}
	defer children.ClaimAll(h, s.Name)
	return typing.Send(ctx, h, s, agentName, prompt, wait)
}

// SendAgain sends an agent the prompts that were queued in its CLI when the CLI ended, each once
// even if several processes call it, and calls each for every prompt that was sent.
func SendAgain(ctx context.Context, h *app.App, s *session.Session, agentName string, wait bool, each func(*typing.Sent)) error {
	if err := observe.RefuseHalfMoved(ctx, h, s, agentName); err != nil {
		return err
	}
	defer children.ClaimAll(h, s.Name)
	turns.CloseDead(ctx, h, s, agentName)
	for _, one := range h.Texts().LostPrompts(s.Name, agentName) {
		sent, err := typing.SendAgain(ctx, h, s, agentName, one, wait)
		if err != nil {
			return err
		}
		if sent != nil {
			each(sent)
		}
	}
	return nil
}

// SendBack types to an agent the reason why its work cannot land. It returns an error and types
// nothing if the agent is in a turn, waits for an answer, or has text in its input box.
func SendBack(ctx context.Context, h *app.App, s *session.Session, agentName, prompt string) (*typing.Sent, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	if s, err = h.Load(s.Name); err != nil { // read again, for the landings since
		return nil, err
	}
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	f, err := observe.With(ctx, h, s, observe.AskTmux(h), observe.WhereUnknown)
	if err != nil {
		return nil, err
	}
	for _, one := range observe.LiveFacts(h, f) {
		if one.Record.Name == agentName && one.Ready() != live.Due {
			return nil, errs.New(errs.Refused, "%s: not sent back, it is %s", agentName, one.Status.InWords()).Hint("paw attach %s %s", s.Name, agentName)
		}
	}
	if _, err := typing.NewPaneWriter(h).Ready(ctx, s, w); err != nil {
		return nil, errs.New(errs.Refused, "%s: not sent back, its input box is not empty", agentName).Hint("paw attach %s %s", s.Name, agentName)
	}
	return Send(ctx, h, s, agentName, prompt, true)
}

// Asked is an issue or a pull request for an agent to work on.
type Asked struct {
	Words  string // title and text, quoted as those of a stranger
	Base   string // commit of the pull request
	Branch string // branch of the pull request in this repository, "" if the pull request comes from a fork
}

// threads reads issues and pull requests of a repository from its server.
type threads struct {
	m       *worktree.Manager
	remote  worktree.Remote
	place   hosting.Place
	program hosting.Program
}

// FromIssue returns the text of an issue of the repository in dir, for a prompt.
func FromIssue(ctx context.Context, h *app.App, dir, word string) (string, error) {
	t, number, err := threadsOf(ctx, h, dir, "--issue", word)
	if err != nil {
		return "", err
	}
	issue, err := t.program.Issue(ctx, t.place, number)
	if err != nil {
		return "", errs.New(errs.Failed, "issue %d of %s: %w", number, t.place.Path, err).Hint("%s issue view %d", t.program.Name, number)
	}
	return quotedThread(issue), nil
}

// IssuesWith returns the numbers of the open issues with a label, of the repository in dir, the
// oldest first.
func IssuesWith(ctx context.Context, h *app.App, dir, label string) ([]string, error) {
	t, err := serverOf(ctx, h, dir, "--issues", label)
	if err != nil {
		return nil, err
	}
	numbers, err := t.program.IssuesWith(ctx, t.place, label)
	if err != nil {
		return nil, errs.New(errs.Failed, "issues of %s: %w", t.place.Path, err).Hint("%s issue list", t.program.Name)
	}
	return numbers, nil
}

// FromPull returns the text of a pull request of the repository in dir, for a prompt, with its
// commit and branch.
func FromPull(ctx context.Context, h *app.App, dir, word string, terminal worktree.Terminal) (Asked, error) {
	t, number, err := threadsOf(ctx, h, dir, "--pr", word)
	if err != nil {
		return Asked{}, err
	}
	pull, err := t.program.Pull(ctx, t.place, number)
	if err != nil {
		return Asked{}, errs.New(errs.Failed, "pull request %d of %s: %w", number, t.place.Path, err).Hint("%s pr view %d", t.program.Name, number)
	}
	asked := Asked{Words: quotedThread(pull), Base: pull.Commit}
	if err := t.m.Remotes().Fetch(ctx, terminal, t.remote.Name, pull.Ref(t.place.Kind)); err != nil {
		return Asked{}, errs.New(errs.Failed, "pull request %d: %w", number, err)
	}
	if !t.m.Objects().Has(ctx, pull.Commit) {
		return Asked{}, errs.New(errs.Failed, "pull request %d: %s does not have its commit %.12s; it may just have moved", number, t.remote.Name, pull.Commit).Hint("git fetch %s", t.remote.Name)
	}
	if pull.Fork || pull.Branch == "" {
		return asked, nil
	}
	asked.Branch = pull.Branch
	tip, err := t.m.Refs().BranchTip(ctx, pull.Branch)
	if err != nil || tip == "" {
		return asked, err
	}
	if whole, err := t.m.Objects().Contains(ctx, tip, pull.Commit); err != nil || whole {
		return asked, err
	}
	name := errs.Quote(pull.Branch)
	return Asked{}, errs.New(errs.Refused, "branch %s: is behind pull request %d here, or has gone another way", pull.Branch, number).
		Hint("git fetch %s %s:%s", t.remote.Name, name, name)
}

// threadsOf returns the server of serverOf, and the number of the issue or pull request that word
// names.
func threadsOf(ctx context.Context, h *app.App, dir, flag, word string) (*threads, int, error) {
	t, err := serverOf(ctx, h, dir, flag, word)
	if err != nil {
		return nil, 0, err
	}
	number, ok := hosting.NumberIn(word, t.place)
	if !ok {
		return nil, 0, errs.New(errs.Usage, "%s %s: neither a number nor the address of one of %s", flag, word, t.place.Page()).Hint("%s %s list", t.program.Name, map[string]string{"--issue": "issue", "--pr": "pr"}[flag])
	}
	return t, number, nil
}

// serverOf finds the server of a repository and the program that asks it; word is the value of a flag.
func serverOf(ctx context.Context, h *app.App, dir, flag, word string) (*threads, error) {
	repository, err := gitdir.Discover(dir)
	if err != nil {
		return nil, err
	}
	t := &threads{m: h.Manager(repository)}
	branch := t.m.Refs().CurrentBranch()
	if _, t.remote, _, err = t.m.Remotes().For(ctx, branch, branch); err != nil {
		return nil, err
	}
	if t.remote.Name == "" {
		return nil, errs.New(errs.Usage, "%s %s: this repository has no remote, or several and none is that of its branch", flag, word).Hint("git remote -v")
	}
	var known bool
	t.place, known = hosting.PlaceOf(t.remote.Address)
	name := hosting.ProgramFor(t.place.Kind)
	if !known || name == "" {
		return nil, errs.New(errs.Usage, "%s %s: %s is neither on GitHub nor on GitLab, as far as its address tells", flag, word, t.remote.Name).Hint("git remote -v")
	}
	path, err := cli.LookPath(name, h.Env)
	if err != nil {
		return nil, errs.New(errs.Missing, "%s %s: %s is not installed, which reads it from %s", flag, word, name, t.place.Host).Hint("git remote -v")
	}
	t.program = hosting.Program{Name: name, Path: path, Dir: repository.Path, Env: h.Env}
	return t, nil
}

// seen returns a text without the Unicode tag characters (U+E0000 to U+E007F), which a model reads
// and neither browsers nor terminals show.
func seen(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0000 && r <= 0xE007F {
			return -1
		}
		return r
	}, text)
}

// quotedThread returns an issue or a pull request as part of a prompt, with every line quoted: no
// line can then be taken for words of the user or of paw.
func quotedThread(t hosting.Thread) string {
	lines := []string{display.Words(seen(t.Title))}
	if text := strings.TrimSpace(display.Printable(seen(t.Text))); text != "" {
		lines = append(append(lines, ""), strings.Split(text, "\n")...)
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	return fmt.Sprintf("%s\n\n%s", turn.ThreadLine(t.Pull, t.Number, cmp.Or(display.Words(t.Author), "nobody known")), strings.Join(lines, "\n"))
}
