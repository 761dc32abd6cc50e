package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosting"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// PullOptions is what the user asked of one pull request.
type PullOptions struct {
	Turn       string // number of the turn whose end it is about, "" for the state of the moment
	Base       string // branch that it is meant for, "" for the target of the session
	Message    string // title and, below it, text; "" makes them from the turns
	Edit       func(ctx context.Context, draft string) (string, error)
	Draft, Web bool
	DryRun     bool
	Terminal   worktree.Terminal
}

// Pulled is a pull request, or what there is of it.
type Pulled struct {
	Session, Agent      string
	Branch, Base        string // on the server
	Remote              string
	Commit              string // that the branch of the remote is at
	Title, Text         string
	Commits             int  // that the branch has and its base here has not
	Uncommitted         int  // files that the agent had not committed, in the last commit
	Nothing             bool // the base has all of it already
	Pushed              bool // false when the remote had it
	Address             string
	Asked, Open, ByHand bool     // asked for now; was open before; to be asked for in the browser
	Plan                []string // the steps, for a dry run
}

// puller is a pull request on its way.
type puller struct {
	work
	options PullOptions
	source  *source
	version func(made []turns.Turn) string // of the CLI
	done    *Pulled

	push, base worktree.Remote
	there      string           // commit of the branch on the remote, "" for none
	baseThere  string           // of its base
	program    *hosting.Program // nil where there is none
	request    hosting.Request

	facts  messageFacts
	own    bool   // the agent has commits of its own
	again  bool   // some of it has landed in the base already, in other commits
	edited string // title and text as the user left them
}

// PullRequest pushes the branch of an agent, with what it has not committed as a commit of its own, and asks for a pull request.
// Its worktree, index and branch are not touched, and nothing else is pushed. A branch of the remote that somebody else has
// pushed to is refused.
func PullRequest(ctx context.Context, h *app.App, s *session.Session, agentName string, o PullOptions) (*Pulled, error) {
	w, err := workOf(ctx, h, s, agentName)
	if err != nil {
		return nil, err
	}
	base, err := w.branchFor(o.Base)
	if err != nil {
		return nil, err
	}
	p := &puller{work: w, options: o, done: &Pulled{Session: s.Name, Agent: agentName, Branch: w.agent.Branch, Base: base}}
	if o.DryRun {
		var drop func()
		if p.m, drop, err = p.m.WithScratch(); err != nil {
			return nil, err
		}
		defer drop()
	} else {
		p.version = w.cliVersion(ctx)
	}
	steps := []func(context.Context) error{p.lookAtAgent, p.lookAtRemote, p.lookAtWork, p.words, p.commit, p.plan}
	if !o.DryRun {
		steps = append(steps, p.deliver, p.ask)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			p.keepWords("pr", p.edited)
			return nil, err
		}
		if p.done.Nothing {
			break
		}
	}
	return p.done, nil
}

// lookAtAgent takes the state of the agent.
func (p *puller) lookAtAgent(ctx context.Context) (err error) {
	p.source, err = p.lookAtSource(ctx, p.options.Turn, "pr")
	return err
}

// lookAtRemote finds where the branch goes, what is there, and who can ask for a pull request.
func (p *puller) lookAtRemote(ctx context.Context) (err error) {
	if p.push, p.base, err = p.m.Remotes().For(ctx, p.done.Branch, p.done.Base); err != nil {
		return err
	}
	if p.push.Name == "" {
		return errs.New(errs.Usage, "%s: there is no remote to push to, or several and remote.pushDefault names none", p.agent.Name).Hint("git remote -v")
	}
	p.done.Remote = p.push.Name
	branches := []string{p.done.Branch}
	if p.push == p.base {
		branches = append(branches, p.done.Base)
	}
	found, head, err := p.m.Remotes().Has(ctx, p.options.Terminal, p.push.Address, branches...)
	if err != nil {
		return errs.New(errs.Failed, "%s: %w", p.push.Name, err)
	}
	p.there, p.baseThere = found[p.done.Branch], found[p.done.Base]
	if p.push == p.base && p.baseThere == "" {
		e := errs.New(errs.Usage, "branch %s: %s has none of that name to ask for a pull request into", p.done.Base, p.push.Name)
		if head != "" {
			return e.Hint("paw pr %s --base %s", p.name(), errs.Quote(head))
		}
		return e.Hint("git push %s %s", errs.Quote(p.push.Name), errs.Quote(p.done.Base))
	}
	from, ok := hosting.PlaceOf(p.push.Address)
	into, both := hosting.PlaceOf(p.base.Address)
	if !ok || !both {
		return nil
	}
	p.request = hosting.Request{From: from, Into: into, Branch: p.done.Branch, Base: p.done.Base, Draft: p.options.Draft, Web: p.options.Web}
	if name := hosting.ProgramFor(into.Kind); name != "" {
		if path, err := cli.LookPath(name, p.home.Env); err == nil {
			p.program = &hosting.Program{Name: name, Path: path, Dir: p.session.RepoPath, Env: p.home.Env}
		}
	}
	return nil
}

// lookAtWork finds what the branch has that its base has not, and refuses what would lose commits of others.
func (p *puller) lookAtWork(ctx context.Context) error {
	tip, err := p.m.Refs().BranchTip(ctx, p.done.Base)
	if err != nil || tip == "" {
		tip = p.agent.BaseCommit
	}
	c := &composer{work: p.work, source: p.source, asked: p.options.Message, version: p.version}
	if err := c.lookAtBoth(ctx, target{branch: p.done.Base, tip: tip}); err != nil {
		return err
	}
	facts, own, err := c.lookAtWork(ctx, &composed{})
	if err != nil {
		return err
	}
	if p.done.Uncommitted, err = p.changed(ctx, p.source.head, p.source.state); err != nil {
		return err
	}
	p.again = c.sides.near != nil
	p.facts, p.own, p.done.Commits = facts, len(own) > 0, len(own)
	if p.done.Nothing = p.done.Uncommitted+len(own) == 0; p.done.Nothing {
		return nil
	}
	if p.there == "" || slices.Contains(p.agent.Pushed, p.there) {
		return nil
	}
	if ours, err := p.m.Objects().Contains(ctx, p.source.head, p.there); err != nil || ours {
		return err
	}
	return p.moved()
}

// words are the title and the text of the request.
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
	p.done.Title, p.done.Text = oneLine(title), strings.TrimSpace(body)
	p.request.Title, p.request.Body = p.done.Title, p.done.Text
	return nil
}

// commit is the commit to push: that of the branch, or one on top of it with what is not committed. What was pushed before is
// taken again as long as it is the same.
func (p *puller) commit(ctx context.Context) (err error) {
	if p.done.Commit = p.source.head; p.done.Uncommitted == 0 {
		return nil
	}
	p.done.Commits++
	tree, err := p.m.Objects().TreeOf(ctx, p.source.state)
	if err != nil {
		return err
	}
	for _, commit := range slices.Backward(p.agent.Pushed) {
		same, err := p.m.Objects().IsCommitOf(ctx, commit, tree, p.source.head)
		if p.done.Commit = commit; same || err != nil {
			return err
		}
	}
	facts := p.facts
	if p.own { // the words of all of it are those of the request
		facts.Asked, facts.Commits = "", nil
	}
	sign, err := p.m.Objects().SignsCommits(ctx)
	if err != nil {
		return err
	}
	p.done.Commit, err = p.m.Objects().Commit(ctx, worktree.NewCommit{Tree: tree, Parents: []string{p.source.head}, Message: facts.message(), Sign: sign})
	return err
}

// plan says what will be done.
func (p *puller) plan(ctx context.Context) error {
	p.noteAncestors(ctx)
	if p.again {
		p.home.Notef("what has landed in %s before is in the request once more; paw update %s --session %s, and again, leaves it out",
			p.done.Base, p.agent.Name, p.session.Name)
	}
	what := fmt.Sprintf("push %s of %s to %s, as its branch %s", errs.Counted(p.done.Commits, "commit"), p.name(), p.push.Name, p.done.Branch)
	what += p.done.uncommitted()
	how := "say where to ask for a pull request into " + p.done.Base
	if p.program != nil {
		how = fmt.Sprintf("ask with %s for a pull request into %s", p.program.Name, p.done.Base)
	}
	p.done.Plan = []string{what, how, "title: " + p.done.Title}
	return nil
}

// noteAncestors says that commits of the base which the remote does not have come along: they are part of the branch.
func (p *puller) noteAncestors(ctx context.Context) {
	tip, err := p.m.Refs().BranchTip(ctx, p.done.Base)
	if err != nil || tip == "" || p.baseThere == "" {
		return
	}
	since, err := p.m.Objects().MergeBase(ctx, tip, p.source.head)
	if err != nil || since == "" {
		return
	}
	more, err := p.m.Objects().CommitsSince(ctx, since, p.baseThere) // an error: what the remote has is not here
	if err == nil && len(more) > 0 {
		p.home.Notef("%s of %s that %s does not have come along, and are in the request", errs.Counted(len(more), "commit"), p.done.Base, p.push.Name)
	}
}

// uncommitted says what the last commit is, where the agent has not made it.
func (d *Pulled) uncommitted() string {
	if d.Uncommitted == 0 {
		return ""
	}
	return fmt.Sprintf("; what it has not committed, %s, is the last one", errs.Counted(d.Uncommitted, "file"))
}

// moved refuses to push over commits of somebody else.
func (p *puller) moved() error {
	return errs.New(errs.Refused, "%s: not pushed, %s has commits of somebody else on %s", p.name(), p.push.Name, p.done.Branch).
		Hint("git fetch %s %s", errs.Quote(p.push.Name), errs.Quote(p.done.Branch)).Hint("git log %s..FETCH_HEAD", cmp.Or(p.done.Commit, p.source.head)[:12])
}

// deliver pushes. The record says before that the commit there will be paw's own, and a ref keeps it.
func (p *puller) deliver(ctx context.Context) error {
	if p.there == p.done.Commit {
		return nil
	}
	if !slices.Contains(p.agent.Pushed, p.done.Commit) {
		if err := p.remember(ctx); err != nil {
			return err
		}
		p.home.Step("pr.recorded")
	}
	err := p.m.Remotes().Push(ctx, p.options.Terminal, p.push.Name, p.done.Branch, p.done.Commit, p.there)
	if errors.Is(err, worktree.ErrPushRejected) {
		return p.moved()
	}
	if err != nil {
		return errs.New(errs.Failed, "%s: not pushed to %s: %w", p.name(), p.push.Name, err)
	}
	p.done.Pushed = true
	p.home.Step("pr.pushed")
	return nil
}

// remember keeps what is about to be pushed.
func (p *puller) remember(ctx context.Context) error {
	prefix := turn.PushedPrefix(p.agent.TurnSession)
	refs, err := p.m.Refs().List(ctx, prefix)
	if err != nil {
		return err
	}
	if err := p.m.Refs().CreateAll(ctx, map[string]string{turn.PushedRef(p.agent.TurnSession, nextBelow(refs, prefix)): p.done.Commit}); err != nil {
		return err
	}
	return p.home.UpdateAgent(ctx, p.session.Name, p.agent.Name, func(w *session.Agent) { w.Pushed = append(w.Pushed, p.done.Commit) })
}

// ask asks for the pull request, unless there is one, or says where that can be done.
func (p *puller) ask(ctx context.Context) error {
	byHand := p.request.From.Address(p.done.Branch, p.request.Into, p.done.Base)
	if p.program == nil {
		p.done.ByHand, p.done.Address = true, byHand
		return nil
	}
	open, err := p.program.Find(ctx, p.request)
	if err == nil && open != "" {
		p.done.Open, p.done.Address = true, open
		return p.keepAddress(ctx)
	}
	if err == nil {
		p.done.Address, err = p.program.Ask(ctx, p.request)
	}
	if err != nil {
		return errs.New(errs.Failed, "%s: %s has %s, but there is no pull request: %w", p.name(), p.push.Name, p.done.Branch, err).
			Hint("%s", byHand)
	}
	p.done.Asked = true
	p.home.Step("pr.asked")
	return p.keepAddress(ctx)
}

// keepAddress records where the pull request is: the desk shows it. There is none yet while the form in the browser is open.
func (p *puller) keepAddress(ctx context.Context) error {
	if p.done.Address == "" || p.agent.PullRequest == p.done.Address {
		return nil
	}
	return p.home.UpdateAgent(ctx, p.session.Name, p.agent.Name, func(w *session.Agent) { w.PullRequest = p.done.Address })
}

// String says what was done.
func (d *Pulled) String() string {
	name := d.Session + "/" + d.Agent
	if d.Nothing {
		return fmt.Sprintf("%s: nothing to ask for, %s has all of it", name, d.Base)
	}
	text := fmt.Sprintf("%s has %s of %s already", d.Remote, d.Branch, name)
	if d.Pushed {
		text = fmt.Sprintf("pushed %s to %s as %s: %s", name, d.Remote, d.Branch, errs.Counted(d.Commits, "commit"))
	}
	text += d.uncommitted()
	switch {
	case d.ByHand && d.Address == "":
		return text + "\nask for a pull request into " + d.Base + " on the server" + d.words()
	case d.ByHand:
		return text + "\nask for a pull request: " + d.Address + d.words()
	case d.Open:
		return text + "\nopen already: " + d.Address
	case d.Address == "":
		return text + "\nthe browser asks for a pull request"
	}
	return text + "\n" + d.Address
}

// words are the title and text for whoever types them in the browser.
func (d *Pulled) words() string {
	return strings.TrimRight("\n\n"+d.Title+"\n\n"+d.Text, "\n")
}
