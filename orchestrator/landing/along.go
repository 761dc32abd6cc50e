package landing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/errs"
)

// along names work that lands although it is another agent's: this agent began in the midst of it.
// It returns "" for none.
func (c *composer) along(ctx context.Context, tree string) (string, error) {
	from := c.agent.From
	switch {
	case from == nil:
		return "", nil
	case from.Agent == "":
		return c.alongHanded(ctx, tree)
	}
	base, err := c.asker.base(ctx, c.sides)
	if err != nil {
		return "", err
	}
	start := cmp.Or(from.Snapshot, c.agent.BaseCommit)
	if has, err := c.m.Objects().Contains(ctx, base, start); has || err != nil {
		return "", err
	}
	files, err := c.changed(ctx, base, start)
	if files == 0 || err != nil {
		return "", err
	}
	name := from.Agent
	if !strings.Contains(name, ":") { // an agent of this session
		name = c.session.Name + "/" + name
	}
	return fmt.Sprintf("work of %s that %s began with: %s", name, c.agent.Name, errs.Counted(files, "file")), nil
}

// alongHanded names the files of the user's uncommitted changes that land with the agent's work, ""
// for none.
func (c *composer) alongHanded(ctx context.Context, tree string) (string, error) {
	snapshot := c.agent.Handed()
	head, err := c.m.Objects().SnapshotHead(ctx, snapshot)
	if err != nil {
		return "", err
	}
	handed, err := c.m.Objects().ChangedPaths(ctx, head, snapshot)
	if err != nil {
		return "", err
	}
	lands, err := c.m.Objects().ChangedPaths(ctx, c.asker.t.tip, tree)
	if err != nil {
		return "", err
	}
	base, err := c.asker.base(ctx, c.sides)
	if err != nil {
		return "", err
	}
	lacks, err := c.m.Objects().ChangedPaths(ctx, base, snapshot)
	if err != nil {
		return "", err
	}
	handed = slices.DeleteFunc(handed, func(path string) bool { return !slices.Contains(lands, path) || !slices.Contains(lacks, path) })
	if len(handed) == 0 {
		return "", nil
	}
	return fmt.Sprintf("what you had not committed when %s began: %s (%s)", c.agent.Name, errs.Counted(len(handed), "file"), few(handed, namedPaths)), nil
}
