package turns

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
)

// Outside is work of an agent that no turn has.
type Outside struct {
	Text string // such as "it works in /src/other, not in its worktree"
	Line string // command that takes the work in
}

// OutsideOf returns where an agent works, and its last turn may have left work, outside of its worktree.
func OutsideOf(ctx context.Context, a app.Agent) (all []Outside) {
	last, err := a.TurnDir().Last()
	if err != nil {
		return nil
	}
	if last == nil {
		last = &turn.Record{}
	}
	own, common := a.Record.WorktreePath, a.Session.GitCommonDir
	folder := worktree.Outside(cmp.Or(observe.AskRecord(ctx, a, last).Folder, last.Folder), own, common)
	if folder != "" {
		all = append(all, Outside{fmt.Sprintf(session.ReasonElsewhere, folder), takeIn(ctx, own, common, folder)})
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(last.Strays))) {
		stray, there := worktree.StrayNamed(own, common, name)
		worksThere := folder != "" && worktree.Outside(folder, stray.Path, common) == ""
		if there && !worksThere {
			all = append(all, Outside{fmt.Sprintf(session.ReasonStray, stray.Path), takeIn(ctx, own, common, stray.Path)})
		}
	}
	return all
}

// String is the text, with the command.
func (o Outside) String() string {
	if o.Line == "" {
		return o.Text
	}
	return o.Text + "; this takes it in: " + o.Line
}

// OutsideLines returns the commands that take in work of OutsideOf, and the one that brings the agent's CLI back.
func OutsideLines(ctx context.Context, a app.Agent) (lines []string) {
	for _, one := range OutsideOf(ctx, a) {
		if one.Line != "" {
			lines = append(lines, one.Line)
		}
	}
	name, agent := a.Session.Name, a.Record.Name
	if c, known := a.App.CLIs.Get(a.Record.CLI); known && c.Facts().Returns {
		return append(lines, errs.Line("paw attach %s %s", name, agent)) // only its model takes it back
	}
	return append(lines, errs.Line("paw stop %s %s --only && paw recover %s", name, agent, name))
}

// takeIn returns the command that brings the work in a folder of another worktree into the agent's, "" where the folder is in
// no worktree of the repository.
func takeIn(ctx context.Context, own, common, folder string) string {
	head, err := git.In(folder).Line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil || filepath.Clean(head) != filepath.Clean(common) {
		return ""
	}
	in := "git -C " + errs.Quote(folder)
	merge := "git -C " + errs.Quote(own) + ` merge "$(` + in + ` rev-parse HEAD)"`
	if dirty, err := git.In(folder).Line(ctx, "status", "--porcelain"); err == nil && dirty == "" {
		return merge
	}
	return fmt.Sprintf("%s add -A && %s commit -m %s && %s", in, in, errs.Quote("work in "+filepath.Base(folder)), merge)
}
