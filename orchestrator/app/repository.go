package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"paw/config/disk"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
)

// ErrGone is the cause of an error about a session whose repository is gone.
var ErrGone = errors.New("is gone")

// ManagerOf returns the worktree manager of a session's repository. For a repository that is gone
// the error says how to go on.
func (h *App) ManagerOf(ctx context.Context, s *session.Session) (*worktree.Manager, error) {
	repository, err := Discover(s)
	m := h.Manager(repository)
	if !Gone(s) {
		return m, err
	}
	if here, places := h.Place().Moved(ctx, s); len(places) > 0 {
		return m, errs.New(errs.Failed, "%s: its repository was moved from %s to %s", s.Name, s.RepoPath, RootIn(here)).Hint("paw recover %s", s.Name)
	}
	if err == nil {
		return m, errs.New(errs.Failed, "%s: its repository %w, there is another one at %s", s.Name, ErrGone, s.RepoPath).
			Hint("paw purge %s", s.Name)
	}
	if there := movedTo(s); there != "" {
		return m, errs.New(errs.Failed, "%s: its repository was moved from %s to %s", s.Name, s.RepoPath, there).
			Hint("cd %s && paw recover %s", errs.Quote(there), s.Name)
	}
	return m, errs.New(errs.Failed, "%s: its repository %s %w (if it was moved, run paw recover %s in it)", s.Name, s.RepoPath, ErrGone, s.Name).
		Hint("paw purge %s", s.Name)
}

// movedTo returns where the repository of a session is now, as git has noted in a worktree that was linked to it again. It is ""
// where none is.
func movedTo(s *session.Session) string {
	for _, w := range s.Agents {
		if admin, err := gitdir.Linked(w.WorktreePath, "", ""); err == nil {
			if there, err := gitdir.Discover(gitdir.Common(admin)); err == nil {
				return RootIn(there)
			}
		}
	}
	return ""
}

// Discover finds the repository of a session. The record tells where the main checkout is, which a
// git directory in another place does not.
func Discover(s *session.Session) (gitdir.Repository, error) {
	repository, err := gitdir.Discover(s.GitCommonDir)
	if err != nil || repository.Path != "" || repository.Bare {
		return repository, err
	}
	if main, err := gitdir.Discover(s.RepoPath); err == nil && main.CommonDir == repository.CommonDir {
		repository.Path = main.Path
	}
	return repository, nil
}

// Gone reports whether the session's repository does not exist any more: there is none, or another one.
func Gone(s *session.Session) bool {
	_, err := os.Lstat(s.GitCommonDir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && Replaced(s)
}

// RootIn returns the main worktree of a repository or, without one, its git directory.
func RootIn(repository gitdir.Repository) string {
	if repository.Path != "" {
		return repository.Path
	}
	return repository.CommonDir
}

// Manager returns a worktree manager with paw's locks and messages.
func (h *App) Manager(repository gitdir.Repository) *worktree.Manager {
	holders := lockHolders{filepath.Base(h.Executable), h.Notef, h.Store}
	return &worktree.Manager{
		Repository: repository,
		Locks: func(ctx context.Context) (func(), error) {
			ctx, cancel := context.WithTimeout(ctx, LockWait)
			defer cancel()
			unlock, err := h.Locks.Repository(ctx, repository.CommonDir)
			if err != nil {
				return nil, h.RecordError("", err)
			}
			return unlock, nil
		},
		Settings: func(read func() (worktree.Settings, error)) (worktree.Settings, error) {
			return h.settingsOf(repository.CommonDir, read)
		},
		Busy:      func(path string) error { return holders.busy(repository.CommonDir, path) },
		Waits:     func(path string) bool { return holders.waits(repository.CommonDir, path) },
		Unsettled: holders.unsettled,
	}
}

// settingsOf returns the settings of a repository, which one call of read tells.
func (h *App) settingsOf(commonDir string, read func() (worktree.Settings, error)) (worktree.Settings, error) {
	if h.settings == nil {
		return read()
	}
	once, _ := h.settings.LoadOrStore(commonDir, sync.OnceValues(read))
	return once.(func() (worktree.Settings, error))()
}

// ConfiguredFor returns h with the configuration of the session's repository, which may not be the
// user's current one.
func (h *App) ConfiguredFor(s *session.Session) (*App, error) {
	repository, err := Discover(s)
	if err != nil || repository.Path == h.configured {
		return h, nil //nolint:nilerr // the caller that needs the repository reports that it is gone
	}
	other := *h
	if err := other.Configure(repository.Path); err != nil && (h.Forgives == nil || !h.Forgives(err)) {
		return &other, err
	}
	other.TellMistake()
	return &other, nil
}

// IndexLocked returns the refusal for an index that another git has locked; again is the command to
// repeat later.
func IndexLocked(locked *worktree.IndexLockedError, what, again string) error {
	return errs.New(errs.Locked, "%s: %w", what, locked).Hint("%s", again)
}

// NewIndex returns the command that rebuilds an index which git could not read, "" for other
// errors. It keeps files, but unstages everything.
func NewIndex(err error) string {
	checkout, file := worktree.CorruptIndex(err)
	if file == "" {
		return ""
	}
	return fmt.Sprintf("rm %s && git -C %s reset", errs.Quote(file), errs.Quote(checkout))
}

// Trust returns the command after which git works in a repository of another user, "" for other
// errors.
func Trust(err error) string { return git.Trust(err) }

// RefusingHook returns the command that shows the hook which refused to change a branch, "" for
// other errors.
func RefusingHook(err error) string {
	var refused *refs.HookError
	if !errors.As(err, &refused) {
		return ""
	}
	return fmt.Sprintf(`cat "$(git --git-dir %s rev-parse --git-path hooks/reference-transaction)"`, errs.Quote(refused.CommonDir))
}

// Unmoved explains why the files of the worktree at place did not move. what names the operation,
// and again is the command to repeat when another git is done.
func Unmoved(err error, what, again, place string) error {
	var named *errs.Error
	var refused *git.ConflictError
	var half *worktree.HalfMovedError
	var locked *worktree.IndexLockedError
	var notSaved *snapshot.NotSavedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &half):
		return errs.New(errs.Failed, "%s: %w", what, err).Hint("%s", strings.TrimSpace("paw recover "+half.Session))
	case errors.As(err, &notSaved) && !errors.Is(err, syscall.ENOSPC):
		return Unfiltered(errs.New(errs.Refused, "%s: %w", what, err), "git -C "+errs.Quote(notSaved.Path)+" add -- "+errs.Quote(notSaved.Name))
	case errors.As(err, &locked):
		return IndexLocked(locked, what, again)
	case errors.As(err, &named):
		e := errs.New(named.Kind, "%s: %w", what, err)
		e.Hints = named.Hints
		return e
	case errors.As(err, &refused):
		return errs.New(errs.Refused, "%s: %w", what, err).Hint("%s", cmp.Or(refused.Hint, "git -C "+errs.Quote(place)+" status --ignored"))
	case errors.Is(err, worktree.ErrBranchMoved):
		return errs.New(errs.Locked, "%s: %w meanwhile", what, err).Hint("%s", again)
	}
	kind := errs.Failed
	if filter, _ := git.RefusingFilter(err); filter != "" {
		kind = errs.Refused
	}
	return Unfiltered(errs.New(kind, "%s: %w", what, err), "")
}

// RefusingFilter returns the command that makes the required filter optional whose failure made git
// fail, "" for other errors, and for a worktree that could not be made: its files are not to be without the filter.
func RefusingFilter(err error) string {
	name, checkout := git.RefusingFilter(err)
	if name == "" || !disk.Exists(checkout) {
		return ""
	}
	return fmt.Sprintf("git -C %s config %s false", errs.Quote(checkout), errs.Quote("filter."+name+".required"))
}

// Unfiltered adds a hint to the error of a required filter that refuses a file: the command that
// makes the filter optional. Other errors get the hint otherwise, if it is not "".
func Unfiltered(err error, otherwise string) error {
	if otherwise = cmp.Or(RefusingFilter(err), otherwise); otherwise == "" {
		return err
	}
	return errs.WithHints(err, otherwise)
}

// PlansOf returns the plans of the worktrees that paw makes for agents.
func PlansOf(s *session.Session, agents []session.Agent) []worktree.Plan {
	plans := make([]worktree.Plan, 0, len(agents))
	for _, w := range agents {
		if !w.Here {
			plans = append(plans, PlanOf(s, w))
		}
	}
	return plans
}

// PlanOf returns the worktree plan of one agent.
func PlanOf(s *session.Session, w session.Agent) worktree.Plan {
	return worktree.Plan{
		Agent: w.Name, Branch: w.Branch, Path: w.WorktreePath, Base: w.BaseCommit,
		CreateBranch: w.BranchCreated, Owner: OwnerOf(s, w.Name),
	}
}

// OwnerPrefix begins the lock reason of worktrees that paw made.
const OwnerPrefix = "paw "

// OwnerOf returns the lock reason of a worktree that paw made. The session's name in it is for
// people: two users may have sessions of the same name in a repository.
func OwnerOf(s *session.Session, agentName string) string {
	return strings.TrimSpace(OwnerPrefix + s.Name + "/" + agentName + " " + s.ID)
}

// Conflict turns a refusal of package worktree into an *errs.Error with its hint.
func Conflict(err error) error {
	var c *git.ConflictError
	if !errors.As(err, &c) {
		return err
	}
	e := errs.New(errs.Failed, "%w", err)
	e.Instead = errs.Instead{Of: c.Branch, By: c.Free}
	if c.Hint != "" {
		return e.Hint("%s", c.Hint)
	}
	if c.Folder != "" && strings.HasPrefix(c.Branch, BranchPrefix) { // paw chose the name
		return e.Hint("git branch -m %s %s", errs.Quote(c.Folder), errs.Quote(c.Aside))
	}
	return e
}

// RequireSpace refuses new worktrees whose copied files would leave less free disk space than
// worktree.min_free.
func (h *App) RequireSpace(ctx context.Context, m *worktree.Manager, draft *session.Session) error {
	least := h.Config.Worktree.MinFree
	if least == 0 || len(draft.Agents) == 0 {
		return nil
	}
	w := &draft.Agents[0]
	space, err := m.Setups().CopySpace(ctx, w.WorktreePath, h.Agent(draft, w).Setup(nil), len(draft.Agents), int64(least)<<20)
	if err != nil {
		return err
	}
	all := space.Copy * int64(len(draft.Agents))
	if all == 0 || space.Free-all >= int64(least)<<20 {
		return nil
	}
	return errs.New(errs.Refused, "%s: what worktree.copy names takes %d MiB for %s, and of %d MiB that are free %d have to stay so (worktree.min_free)",
		space.At, all>>20, errs.Counted(len(draft.Agents), "agent"), space.Free>>20, least).Hint("df -h %s", errs.Quote(space.At))
}

// BranchPrefix begins the names of branches that paw chooses itself.
const BranchPrefix = "paw/"

// AutomaticBranch returns the default branch of an agent.
func AutomaticBranch(sessionName, agentName string) string {
	return BranchPrefix + sessionName + "/" + agentName
}

// MadeByPaw reports whether paw made the agent's branch in this session or, by its name, in an
// earlier one of the same name.
func MadeByPaw(sessionName string, w session.Agent) bool {
	return w.BranchCreated || w.Branch == AutomaticBranch(sessionName, w.Name)
}
