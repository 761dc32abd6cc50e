package orchestrator

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// Watch observes sessions repeatedly, for commands that keep showing them.
type Watch struct {
	home    *app.App
	options StatusOptions

	followed map[string]int // by agent, the turn for which FollowUnseen has started a process

	stamps map[string]fileStamp // by path, of the files that the last look has read, as they were before it
}

// NewWatch returns a Watch of the selected sessions.
func NewWatch(h *app.App, o StatusOptions) *Watch {
	return &Watch{home: h, options: o, followed: map[string]int{}}
}

// Look returns the states of sessions and agents now, as Status does.
func (w *Watch) Look(ctx context.Context) (statuses []observe.SessionStatus, problems []error, err error) {
	before := maps.Clone(w.stamps)
	for path := range before {
		before[path] = stampOf(path)
	}
	sessions, problems, err := selectSessions(w.home, w.options)
	if err != nil {
		return nil, problems, err
	}
	all := observe.Several(ctx, w.home, sessions, observe.AskTmux(w.home), w.options.closeness())
	w.stamps = map[string]fileStamp{}
	for _, path := range writtenTo(w.home, all) {
		w.stamps[path] = before[path] // none for a file that is read for the first time: it counts as changed, and is read again
	}
	tags := map[string]map[string][]int{}
	for _, f := range all {
		st := observe.StatusOf(w.home, *f)
		noteGone(&st)
		FollowUnseen(w.home, st, w.followed)
		addTags(ctx, w.home, &st, tags)
		statuses = append(statuses, st)
	}
	return statuses, problems, nil
}

// Status returns the states of sessions and agents. It writes nothing, starts one tmux client per
// socket and no git, and one more tmux client if the state of some agent only shows on its screen.
// Unreadable records come back as problems beside the sessions that can be read.
func Status(ctx context.Context, h *app.App, o StatusOptions) (statuses []observe.SessionStatus, problems []error, err error) {
	return NewWatch(h, o).Look(ctx)
}

// fileStamp holds the time and size of a file, which change when the file is written; zero for a file that is not there.
type fileStamp struct {
	at   int64 // nanoseconds since 1970
	size int64
}

func stampOf(path string) fileStamp {
	var info unix.Stat_t
	if unix.Lstat(path, &info) != nil {
		return fileStamp{}
	}
	return fileStamp{info.Mtim.Nano(), info.Size}
}

// Changed reports whether a file of the shown sessions has changed since the last look: records,
// turn logs, hook reports. Events that change no file, such as the end of a pane, only show in a
// look. It starts no process.
func (w *Watch) Changed() bool {
	for path, was := range w.stamps {
		if stampOf(path) != was {
			return true
		}
	}
	return w.stamps == nil
}

// writtenTo returns the files and directories that events of the sessions change.
func writtenTo(h *app.App, all []*observe.Facts) []string {
	paths := []string{h.Paths.SessionsDir} // replacing a record changes its directory
	for _, f := range all {
		paths = append(paths, h.Queues().Folder(f.Session.Name), checks.RunningFile(h, f.Session))
		for _, a := range f.Agents {
			turns := h.TurnDir(f.Session.Name, a.Record.Name).Path
			paths = append(paths, turns)
			if a.Turns.Visible && a.Turns.HooksSeen.IsZero() {
				paths = append(paths, h.StateDir(f.Session.Name, a.Record.Name)) // where the first hook report leaves a mark
			}
			if last := a.Turns.Last; last != nil {
				paths = append(paths, filepath.Join(turns, turn.LogName(last.Number, last.Type)))
			}
		}
	}
	return paths
}

// Group says what an agent needs from the user, the most urgent group first.
type Group int

// Groups of agents, in order of urgency.
const (
	NeedsYou Group = iota // the agent waits for an answer, has failed, has crashed, or has reached a usage limit
	ToReview              // the agent has finished turns that the user has not seen
	Working
	Quiet
)

// GroupOf returns the group of an agent.
func GroupOf(ag observe.AgentStatus) Group {
	if ag.Limit != nil || ag.CutTurn != 0 {
		return NeedsYou
	}
	switch ag.State {
	case session.StateWaitingInput, session.StateError:
		return NeedsYou
	case session.StateSuspended:
		if ag.Cause != session.CauseStopped && ag.Cause != session.CauseClosed { // the user knows of a stop
			return NeedsYou
		}
	case session.StateRunning, session.StateWaitingChildren, session.StateUnknown:
		return Working
	case session.StateIdle, session.StateCompleted:
	}
	if ag.ToReview > 0 {
		return ToReview
	}
	return Quiet
}

// Urgent is an agent that needs the user and can be attached to.
type Urgent struct {
	Session *session.Session
	Agent   observe.AgentStatus
	Group   Group
}

// Urgents returns the agents that need the user or have turns to review, and that have a pane or
// are on another host. Those that wait for an answer come first, and within a group the longest
// wait.
func Urgents(statuses []observe.SessionStatus) []Urgent {
	var all []Urgent
	for _, st := range statuses {
		for _, ag := range st.Agents {
			group := GroupOf(ag)
			if group <= ToReview && (ag.PaneID != "" || st.Session.Host != "") && st.Status == session.StatusActive {
				all = append(all, Urgent{Session: st.Session, Agent: ag, Group: group})
			}
		}
	}
	waits := func(u Urgent) int {
		if u.Agent.State == session.StateWaitingInput {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Urgent) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(waits(a), waits(b)), CompareNeed(a.Agent, b.Agent))
	})
	return all
}

// CompareNeed orders agents in equal states as the desk does: by group, and of those that need the
// user or have turns to review the longest wait first. Others are equal.
func CompareNeed(a, b observe.AgentStatus) int {
	group, other := GroupOf(a), GroupOf(b)
	if group != other || group > ToReview {
		return cmp.Compare(group, other)
	}
	return sinceOf(a).Compare(sinceOf(b))
}

// sinceOf returns the time since which an agent is in its state, a far future one if unknown.
func sinceOf(ag observe.AgentStatus) time.Time {
	if ag.Since == nil {
		return time.Unix(1<<40, 0)
	}
	return *ag.Since
}

// Next returns the agent of any session that needs the user most, or nil and a sentence about the
// agents of this repository. If the current pane is that of an urgent agent, it returns the one
// after it, so that repeated calls visit all of them. far returns the sessions of other machines.
func Next(ctx context.Context, h *app.App, far func() []observe.SessionStatus) (next *Urgent, nobody string, problems []error, err error) {
	statuses, problems, err := Status(ctx, h, StatusOptions{All: true})
	if err != nil {
		return nil, "", problems, err
	}
	statuses = append(statuses, far()...)
	if next = nextOf(Urgents(statuses), h.Getenv("TMUX_PANE")); next != nil {
		return next, "", problems, nil
	}
	if err := crashed(statuses); err != nil {
		return nil, "", problems, err
	}
	here, _ := h.Place().Sessions()
	return nil, nobodyNeedsYou(statuses, here), problems, nil
}

// crashed returns the error for agents that need the user and have no pane to show, nil if there are
// none.
func crashed(statuses []observe.SessionStatus) error {
	var names, lines []string
	for _, st := range statuses {
		for _, ag := range st.Agents {
			if ag.State == session.StateSuspended && ag.PaneID == "" && GroupOf(ag) == NeedsYou {
				names, lines = append(names, st.Session.Name+"/"+ag.Record.Name), append(lines, "paw recover "+st.Session.Name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	word := "was suspended, and has no pane"
	if len(names) > 1 {
		word = "were suspended, and have no pane"
	}
	return errs.WithHints(errs.New(errs.NotFound, "%s: %s", named(names), word), app.Once(lines)...)
}

// nobodyNeedsYou returns the sentence that no agent needs the user, with the states of the agents
// in the sessions of this repository, or of all sessions if it has none.
func nobodyNeedsYou(statuses []observe.SessionStatus, here []*session.Session) string {
	shown := slices.DeleteFunc(slices.Clone(statuses), func(st observe.SessionStatus) bool {
		return !slices.ContainsFunc(here, func(s *session.Session) bool { return s.Name == st.Session.Name })
	})
	if len(shown) == 0 {
		shown = statuses
	}
	var words []string
	by := map[string][]string{}
	for _, st := range shown {
		for _, ag := range st.Agents {
			word := ag.InWords()
			if by[word] == nil {
				words = append(words, word)
			}
			by[word] = append(by[word], ag.Record.Name)
		}
	}
	text, sign := "nobody needs you", "; "
	for _, word := range words {
		text, sign = text+sign+named(by[word])+": "+word, ", "
	}
	return text
}

// maxNamed limits the agents that a sentence names; more are only counted.
const maxNamed = 3

func named(names []string) string {
	if len(names) > maxNamed {
		return errs.Counted(len(names), "agent")
	}
	return strings.Join(names, ", ")
}

// nextOf returns the first of the agents or, if one of them has the pane here, the one after it.
func nextOf(all []Urgent, here string) *Urgent {
	if len(all) == 0 {
		return nil
	}
	at := slices.IndexFunc(all, func(u Urgent) bool { return here != "" && u.Agent.PaneID == here })
	return &all[(at+1)%len(all)]
}

// WaitingIn returns the agent of a session that has waited longest for an answer, "" if none waits.
func WaitingIn(ctx context.Context, h *app.App, s *session.Session) string {
	statuses, _, err := Status(ctx, h, StatusOptions{Name: s.Name})
	if err != nil {
		return ""
	}
	for _, u := range Urgents(statuses) {
		if u.Agent.State == session.StateWaitingInput {
			return u.Agent.Record.Name
		}
	}
	return ""
}
