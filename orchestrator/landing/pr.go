package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosting"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/objects"
)

// PullOptions are the options of paw pr.
type PullOptions struct {
	Turn       string // turn whose end is pushed, "" for the present state
	Base       string // branch to merge into, "" for the session's target
	Message    string // title and text; "" makes them from the turns
	Edit       func(ctx context.Context, draft string) (string, error)
	Draft, Web bool
	DryRun     bool
	Terminal   worktree.Terminal
}

type puller struct {
	work
	options PullOptions
	source  *source
	version func(made []turns.Turn) string // version of the CLI
	done    *Pulled

	push, base worktree.Remote
	there      string           // commit of the branch on the remote, "" for none
	baseThere  string           // commit of the base on the remote
	program    *hosting.Program // gh or glab, nil for none
	open       *hosting.Opened  // the request that is open already, as far as it is known before the push
	request    hosting.Request

	facts  messageFacts
	own    bool   // the agent has made commits
	edited string // title and text that the user has edited
}

// PullRequest pushes the branch of an agent, with a commit for what is not committed, and creates a
// pull request. It touches neither the agent's worktree nor its index nor its branch, and pushes
// nothing else. If somebody else has pushed to the remote's branch, it refuses.
func PullRequest(ctx context.Context, h *app.App, s *session.Session, agentName string, o PullOptions) (*Pulled, error) {
	if !o.DryRun {
		unlock, err := h.Hold(ctx, h.Locks.Pull, s.Name, agentName)
		if err != nil {
			return nil, err
		}
		defer unlock()
		if s, err = h.Load(s.Name); err != nil { // with what another paw has pushed meanwhile
			return nil, err
		}
	}
	w, err := workOf(ctx, h, s, agentName, "pr")
	if err != nil {
		return nil, err
	}
	w.turn, w.into = o.Turn, o.Base
	p := &puller{work: w, options: o}
	base, err := w.branchFor(ctx)
	if err != nil {
		return nil, err
	}
	p.done = &Pulled{Session: s.Name, Agent: agentName, Branch: w.Record.Branch, Base: base}
	if o.DryRun {
		var drop func()
		if p.Repo, drop, err = p.Repo.WithScratch(); err != nil {
			return nil, err
		}
		defer drop()
	} else {
		p.version = w.cliVersion(ctx)
	}
	if p.source, err = p.lookAtSource(ctx); err != nil {
		return nil, err
	}
	steps := []func(context.Context) error{p.lookAtRemote, p.lookAtWork, p.words, p.commit, p.plan}
	if !o.DryRun {
		steps = append(steps, p.deliver, p.ask)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			p.keepWords(p.edited)
			return nil, err
		}
		if p.done.Nothing {
			break
		}
	}
	return p.done, nil
}

// lookAtRemote finds the remote, its branches, and the program that can create a pull request.
func (p *puller) lookAtRemote(ctx context.Context) (err error) {
	var n int
	if p.push, p.base, n, err = p.Repo.Remotes().For(ctx, p.done.Branch, p.done.Base); err != nil {
		return err
	}
	if p.push.Name == "" {
		why := "there is no remote to push to"
		if n > 0 {
			why = fmt.Sprintf("there are %d remotes, and remote.pushDefault names none", n)
		}
		return errs.New(errs.Usage, "%s: %s", p.Record.Name, why).Hint("git remote -v")
	}
	p.done.Remote = p.push.Name
	if err := p.lookAtServer(ctx); err != nil {
		return err
	}
	branches := []string{p.done.Branch}
	if p.push == p.base {
		branches = append(branches, p.done.Base)
	}
	found, head, err := p.Repo.Remotes().Has(ctx, p.options.Terminal, p.push.Address, branches...)
	if err != nil {
		return errs.New(errs.Failed, "%s: %w", p.push.Name, err)
	}
	p.there, p.baseThere = found[p.done.Branch], found[p.done.Base]
	if p.push == p.base && p.baseThere == "" {
		e := errs.New(errs.Usage, "branch %s: %s has none of that name to ask for a pull request into", p.done.Base, p.push.Name)
		if p.options.Base == "" && p.done.Base != p.Session.Target { // the open request's, whose branch has been deleted
			return e.Hint("%s", p.line(app.With("base", p.Session.Target)))
		}
		if head != "" {
			return e.Hint("%s", p.lineInto(head))
		}
		return e.Hint("git push %s %s", errs.Quote(p.push.Name), errs.Quote(p.done.Base))
	}
	return nil
}

// lookAtWork finds the commits of the branch that its base lacks. It refuses a push that would lose
// commits of other people.
func (p *puller) lookAtWork(ctx context.Context) error {
	tip, err := p.Repo.Refs().BranchTip(ctx, p.done.Base)
	if err != nil || tip == "" {
		tip = p.Record.BaseCommit
	}
	t := target{branch: p.done.Base, tip: tip}
	l, err := p.landsOn(ctx, t, p.source.Twin, false)
	if err != nil {
		return err
	}
	b, err := p.lookAtBrought(ctx, t, p.source, l)
	if err != nil {
		return err
	}
	if p.done.Uncommitted, err = p.changed(ctx, p.source.Head, p.source.State); err != nil {
		return err
	}
	p.facts, p.own, p.done.Commits = p.factsFor(b, p.source.State, p.options.Message, p.version), len(b.commits) > 0, len(b.commits)
	p.facts.Files = p.filesBetween(ctx, p.source.Head, p.source.State)
	if p.done.Nothing = l.Nothing || p.done.Uncommitted+len(b.commits) == 0; p.done.Nothing {
		if p.options.DryRun {
			return nil
		}
		return p.source.keep(ctx)
	}
	if _, err := p.refuseClaims(ctx, t, p.source, "not pushed"); err != nil || p.there == "" || slices.Contains(p.Record.Pushed, p.there) {
		return err
	}
	if ours, err := p.Repo.Objects().Contains(ctx, p.source.Head, p.there); err != nil || ours {
		return err
	}
	return p.moved()
}

// words sets the title and the text of the request.
func (p *puller) words(ctx context.Context) (err error) {
	text := p.facts.words("- ")
	if p.options.Edit != nil && !p.options.DryRun {
		if text, err = edited(ctx, p.options.Edit, text, "is pushed"); err != nil {
			return err
		}
		p.edited = text
		p.facts.Asked = p.edited
	}
	title, body, _ := strings.Cut(strings.TrimSpace(text), "\n")
	p.done.Title, p.done.Text = display.Title(title), strings.TrimSpace(body)
	p.request.Title, p.request.Body = p.done.Title, p.done.Text
	return nil
}

// commit sets the commit to push: the branch's, or a new one on top with what is not committed. A
// commit that was pushed before is used again if it is the same.
func (p *puller) commit(ctx context.Context) (err error) {
	if p.done.Commit = p.source.Head; p.done.Uncommitted == 0 {
		return nil
	}
	p.done.Commits++
	tree, err := p.Repo.Objects().TreeOf(ctx, p.source.State)
	if err != nil {
		return err
	}
	for _, commit := range slices.Backward(p.Record.Pushed) {
		same, err := p.Repo.Objects().IsCommitOf(ctx, commit, tree, p.source.Head)
		if p.done.Commit = commit; same || err != nil {
			return err
		}
	}
	facts := p.facts
	if p.own { // the user's words are about the whole request
		facts.Asked, facts.Commits = "", nil
	}
	facts.State = ""
	p.done.Commit, err = p.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: tree, Parents: []string{p.source.Head}, Message: facts.message()})
	return err
}

// plan sets the steps for a dry run, and notes what comes along.
func (p *puller) plan(ctx context.Context) error {
	p.noteAncestors(ctx)
	if how := p.source.badEnd(ctx, p.work); how != "" {
		p.App.Notef("%s: %s, and what it left is in the request", p.name(), how)
	}
	what := fmt.Sprintf("push %s of %s to %s, as its branch %s", errs.Counted(p.done.Commits, "commit"), p.name(), p.push.Name, p.done.Branch)
	what += p.done.uncommitted()
	how := "say where to ask for a pull request into " + p.done.Base
	if p.program != nil {
		how = fmt.Sprintf("ask with %s for a pull request into %s", p.program.Name, p.done.Base)
	}
	if p.open != nil && p.open.Base != p.done.Base {
		how = fmt.Sprintf("pull request %d goes into %s, as %s is merged", p.open.Number, p.done.Base, p.open.Base)
	}
	p.done.Plan = []string{what, how, "title: " + p.done.Title}
	return nil
}

// noteAncestors notes commits of the base that the remote lacks: they are part of the branch, and
// so are pushed with it.
func (p *puller) noteAncestors(ctx context.Context) {
	tip, err := p.Repo.Refs().BranchTip(ctx, p.done.Base)
	if err != nil || tip == "" || p.baseThere == "" {
		return
	}
	since, err := p.Repo.Objects().MergeBase(ctx, tip, p.source.Head)
	if err != nil || since == "" {
		return
	}
	more, err := p.Repo.Objects().CommitsSince(ctx, since, p.baseThere) // fails if this repository lacks the remote's commit
	if err == nil && len(more) > 0 {
		p.App.Notef("%s of %s that %s does not have come along, and are in the request", errs.Counted(len(more), "commit"), p.done.Base, p.push.Name)
	}
}

// moved returns the error for a remote branch that has commits of somebody else.
func (p *puller) moved() error {
	return errs.New(errs.Refused, "%s: not pushed, %s has commits of somebody else on %s", p.name(), p.push.Name, p.done.Branch).
		Hint("git fetch %s %s", errs.Quote(p.push.Name), errs.Quote(p.done.Branch)).Hint("git log %s..FETCH_HEAD", cmp.Or(p.done.Commit, p.source.Head)[:12])
}

// deliver pushes. The record says first that the commit is paw's own, and a ref keeps the commit.
func (p *puller) deliver(ctx context.Context) error {
	if p.there == p.done.Commit {
		return nil
	}
	if !slices.Contains(p.Record.Pushed, p.done.Commit) {
		if err := p.remember(ctx); err != nil {
			return err
		}
		p.App.Step("pr.recorded")
	}
	at := p.Record.WorktreePath                                         // a pre-push hook tests the files that it finds
	if p.options.Turn != "" || strings.HasPrefix(p.push.Address, ".") { // it has not these files, or such a path leads elsewhere from there
		at = ""
	}
	err := p.Repo.Remotes().Push(ctx, p.options.Terminal, at, p.push.Name, p.done.Branch, p.done.Commit, p.there)
	if err != nil {
		return p.notPushed(err)
	}
	p.done.Pushed = true
	p.App.Step("pr.pushed")
	return nil
}

// notPushed returns the error of a push. Its hint is for a remote with a branch that excludes one of this name.
func (p *puller) notPushed(err error) error {
	if errors.Is(err, worktree.ErrPushRejected) {
		return p.moved()
	}
	e := errs.New(errs.Failed, "%s: not pushed to %s: %w", p.name(), p.push.Name, err)
	if errors.Is(err, worktree.ErrPushNoBranch) {
		return e.Hint("git push %s %s:%s", errs.Quote(p.push.Name), p.done.Commit, errs.Quote("refs/heads/"+strings.ReplaceAll(p.done.Branch, "/", "-")))
	}
	return e
}

// remember records the commit that is about to be pushed.
func (p *puller) remember(ctx context.Context) error {
	prefix := turn.PushedPrefix(p.Record.TurnSession)
	refs, err := p.Repo.Refs().List(ctx, prefix)
	if err != nil {
		return err
	}
	if _, err := p.Repo.Refs().Create(ctx, turn.PushedRef(p.Record.TurnSession, nextBelow(refs, prefix)), p.done.Commit); err != nil {
		return err
	}
	return p.App.UpdateAgent(ctx, p.Session.Name, p.Record.Name, func(w *session.Agent) { w.Pushed = append(w.Pushed, p.done.Commit) })
}
