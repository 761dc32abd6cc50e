package forge

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosting"
	"paw/session/turn"
	"paw/worktree"
)

// Asked is an issue or a pull request for an agent to work on.
type Asked struct {
	Words  string // title and text, quoted as those of a stranger
	Base   string // commit of the pull request
	Branch string // branch of the pull request in this repository, "" if the pull request comes from a fork
}

// FromIssue returns the text of an issue of the repository in dir, for a prompt.
func FromIssue(ctx context.Context, h *app.App, dir, word string) (string, error) {
	t, number, err := threadOf(ctx, h, dir, "--issue", word)
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
	t, number, err := threadOf(ctx, h, dir, "--pr", word)
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

// threadOf returns the server of a repository, and the number of the issue or pull request that word
// names.
func threadOf(ctx context.Context, h *app.App, dir, flag, word string) (*server, int, error) {
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
