package states

import (
	"context"
	"slices"
	"strings"

	"paw/worktree/objects"
)

// lookAtByHand finds a commit of the worktree that the branch has, in the history that the user sees, and notes that it stands for its twin: what
// has become of it there since, it is no work to land.
func (s *Store) lookAtByHand(ctx context.Context, l *Lands) error {
	commit, err := s.newestIn(ctx, l.Tip, l.Steps)
	if err != nil || commit == "" {
		return err
	}
	made := slices.IndexFunc(l.Steps, func(step Step) bool { return step.Commit == commit })
	if back, err := s.keptBack(ctx, l, l.Steps[made]); back || err != nil {
		return err
	}
	return s.standFor(ctx, l, map[string]string{l.Steps[made].Made: commit})
}

// keptBack reports whether the user's git, which knows of no landing, has kept in that merge what the worktree has taken back since the last
// one. What the user has changed since is the user's.
func (s *Store) keptBack(ctx context.Context, l *Lands, made Step) (bool, error) {
	if !slices.Contains(l.Once, l.Steps[0].From) {
		return false, nil
	}
	out, err := s.plain.Home().Output(ctx, "rev-list", "--first-parent", "--ancestry-path", "--reverse", made.Commit+".."+l.Tip, "--")
	if err != nil || out == "" {
		return false, err
	}
	merge, landed, then := strings.Fields(out)[0], l.Steps[0].From, made.Made
	all, err := s.objects.PathsOf(ctx, [][2]string{{landed, then}, {landed, merge}, {merge, then}, {merge, l.Tip}})
	if err != nil {
		return false, err
	}
	kept := false
	for path := range all[0] {
		if all[3][path] {
			return false, nil
		}
		kept = kept || !all[1][path] && all[2][path]
	}
	return kept, nil
}

// newestIn returns the newest commit of some steps that a tip has in the history that the user sees, "" for none.
func (s *Store) newestIn(ctx context.Context, tip string, steps []Step) (string, error) {
	var commits []string
	for _, step := range steps {
		if step.Commit != "" {
			commits = append(commits, step.Commit)
		}
	}
	in, err := s.In(ctx, commits, tip)
	for _, commit := range slices.Backward(commits) {
		if in[commit] && s.plain.Has(ctx, commit) {
			return commit, nil
		}
	}
	return "", err
}

// In returns which of some commits any of some tips has in the history that the user sees, or are not there, with one git process.
func (s *Store) In(ctx context.Context, commits []string, tips ...string) (map[string]bool, error) {
	if len(commits) == 0 || len(tips) == 0 {
		return nil, nil
	}
	out, err := s.plain.Home().Output(ctx, slices.Concat([]string{"rev-list", "--ignore-missing"}, commits, []string{"--not"}, tips, []string{"--"})...)
	if err != nil {
		return nil, err
	}
	in, lacks := map[string]bool{}, strings.Fields(out)
	for _, commit := range commits {
		in[commit] = !slices.Contains(lacks, commit)
	}
	return in, nil
}

// side returns a state as a commit to merge, which has a commit of the worktree that the other side has, "" for none.
func (s *Store) side(ctx context.Context, twin, byHand string) (string, error) {
	if byHand == "" {
		return twin, nil
	}
	return s.objects.Commit(ctx, objects.NewCommit{Tree: twin + "^{tree}", Parents: []string{twin, byHand}, Message: "paw: side\n", Own: true})
}

// sideOf is side for a commit that was got: the user's git may have brought commits of the worktree there.
func (s *Store) sideOf(ctx context.Context, twin, got string) (string, error) {
	ahead, err := s.Ahead(ctx, got, twin)
	if err != nil {
		return "", err
	}
	byHand, err := s.newestIn(ctx, got, ahead[0].Steps)
	if err != nil {
		return "", err
	}
	return s.side(ctx, twin, byHand)
}
