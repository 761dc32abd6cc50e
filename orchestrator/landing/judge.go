package landing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/session"
	"paw/worktree/objects"
)

// Judge says what the check of a race makes of the end of a turn, merged with the target as it would
// land. The check runs with the protected paths as the target has them. It changes nothing but the
// check worktree; an error says that the state cannot be taken or the check did not run.
func Judge(ctx context.Context, h *app.App, s *session.Session, r *session.Race, agentName string, turn int) (session.Verdict, error) {
	v := session.Verdict{Turn: turn}
	w, err := workOf(ctx, h, s, agentName, "check")
	if err != nil {
		return v, err
	}
	w.turn = strconv.Itoa(turn)
	branch, err := w.branchFor(ctx)
	if err != nil {
		return v, err
	}
	l := &landing{work: w, options: Options{As: Squash}, target: target{branch: branch}}
	var done func()
	l.Repo, done = l.Repo.Writing()
	defer done()
	if err := l.look(ctx); err != nil {
		return v, err
	}
	if l.lands, err = l.landsNow(ctx, l.target, l.source.Twin, false); err != nil {
		return v, err
	}
	if len(l.lands.Conflicts) > 0 {
		v.Result, v.Why = session.RaceConflict, "conflicts with "+branch+" in "+few(l.lands.Conflicts, namedPaths)
		return v, nil
	}
	tree := l.lands.Tree
	if l.lands.Nothing {
		tree = l.tip
	}
	protected, err := l.describe(ctx, &v, r, tree)
	if err != nil {
		return v, err
	}
	if tree, err = l.Repo.Objects().TreeWith(ctx, tree, l.tip, protected); err != nil {
		return v, err
	}
	commit, err := l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: tree, Parents: []string{l.tip}, Message: "paw: race\n", Own: true})
	if err != nil {
		return v, err
	}
	return v, l.verdict(ctx, &v, r, tree, commit)
}

// describe adds to a verdict what a landing would change, and returns the protected paths of that.
func (l *landing) describe(ctx context.Context, v *session.Verdict, r *session.Race, tree string) (protected []string, err error) {
	paths, err := l.Repo.Objects().ChangedPaths(ctx, l.tip, tree)
	if err != nil {
		return nil, err
	}
	lines, err := l.Repo.Objects().Lines(ctx, [][2]string{{l.tip, tree}})
	if err != nil {
		return nil, err
	}
	v.Added, v.Deleted = lines[0].Added, lines[0].Deleted
	for _, flag := range []struct {
		text string
		is   bool
	}{{"tests touched", slices.ContainsFunc(paths, testPath().MatchString)}, {"CI touched", slices.ContainsFunc(paths, ciPath().MatchString)}, {"nothing changed", len(paths) == 0}} {
		if flag.is {
			v.Flags = append(v.Flags, flag.text)
		}
	}
	if len(r.Protect) == 0 {
		return nil, nil
	}
	return l.Repo.Objects().ChangedIn(ctx, l.tip, tree, r.Protect)
}

// Paths that decide what a check says, in the layouts that projects use.
var (
	testPath = lazyregexp.New(`(?i)(^|/)(tests?|specs?|__tests__|testdata)/|[._-](test|spec)s?\.[a-z]+$|(^|/)test_[^/]*\.py$|Tests?\.[a-z]+$`)
	ciPath   = lazyregexp.New(`^(\.github|\.gitlab|\.circleci|\.buildkite|\.ci|ci)/|(^|/)(\.gitlab-ci\.yml|\.travis\.yml|Jenkinsfile|azure-pipelines\.yml|bitbucket-pipelines\.yml)$`)
)

// verdict runs the check of a race on a commit of a tree, until its runs differ or all are done.
func (l *landing) verdict(ctx context.Context, v *session.Verdict, r *session.Race, tree, commit string) error {
	c := l.work.checker(false)
	c.Commands, c.Limit = r.Check, r.Timeout
	passed, n := 0, max(1, r.Repeat)
	for i := range n {
		c.Fresh = i > 0
		err := c.Run(ctx, commit)
		failed, ok := errors.AsType[*checks.Error](err)
		switch {
		case ok:
			v.Why = failed.Error()
		case err != nil:
			return err
		default:
			passed++
		}
		if passed > 0 && passed < i+1 {
			c.Forget(tree)
			v.Result, v.Why = session.RaceFlaky, fmt.Sprintf("%d of %d runs: %s", passed, i+1, strings.TrimSpace(v.Why))
			return nil
		}
	}
	v.Result = session.RacePass
	if passed == 0 {
		v.Result = session.RaceFail
	}
	return nil
}
