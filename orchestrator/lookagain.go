package orchestrator

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"paw/orchestrator/live"
	"paw/session"
	"paw/tmux"
)

// lookInterval is how often somebody looks at the children of a waiting parent without having been told of an end. A
// killed CLI calls no hook, and a killed hook tells nobody.
const lookInterval = 5 * time.Second

// needed are the variables without which another paw would not find what this one has written.
var needed = []string{
	"HOME", "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR",
}

// watchWaits has tmux let somebody look at what the parents in a session wait for, every few seconds and for as long as
// they wait. No process of paw stays for that. Where tmux does not do it, the next command or event finds an end.
func (p *Paw) watchWaits(ctx context.Context, s *session.Session, parents []string) {
	f, err := p.observe(ctx, s)
	if err != nil || f.tmuxID == "" {
		return
	}
	for _, a := range f.agents {
		if a.pane != nil && !a.pane.Dead && slices.Contains(parents, a.record.Agent) {
			p.lookLater(ctx, s, a.record.Agent, watch{session: f.tmuxID, pane: a.pane.ID, mark: uuid.NewString()})
		}
	}
}

// watch is one chain of looks at what a parent waits for.
type watch struct {
	session, pane string // ids of tmux, those of the parent
	mark          string
}

// parseWatch reads the arguments of a look.
func parseWatch(args []string) (w watch, ok bool) {
	if len(args) != 3 {
		return watch{}, false
	}
	return watch{session: "$" + args[0], pane: "%" + args[1], mark: args[2]}, true
}

// lookLater has tmux start one look. Only the newest chain of a parent goes on.
func (p *Paw) lookLater(ctx context.Context, s *session.Session, parent string, w watch) {
	env := map[string]string{}
	for _, name := range needed {
		if value := p.getenv(name); value != "" {
			env[name] = value
		}
	}
	err := p.tmuxFor(s).SetTimer(ctx, w.session, tmux.Timer{
		Pane: w.pane, Mark: w.mark, After: lookInterval, Program: p.Executable, Env: env,
		Words: []string{"__look", s.Name, parent, strings.TrimPrefix(w.session, "$"), strings.TrimPrefix(w.pane, "%"), w.mark},
	})
	if err != nil && ctx.Err() == nil {
		p.logHook("paw", "look", err)
	}
}

// Look is one look at what a parent waits for; it tells the parent where nobody else did, and orders the next look first.
// One that finds the parent busy leaves it to the next. The arguments are those of lookLater.
func (p *Paw) Look(ctx context.Context, sessionName, parent string, args []string) error {
	w, ok := parseWatch(args)
	if !ok {
		return failf(KindUsage, "look: %s: not a watch", strconv.Quote(strings.Join(args, " ")))
	}
	began, launch := p.Now(), p.runningLaunch(sessionName, parent)
	s, err := p.load(sessionName)
	if err == nil {
		p, err = p.configuredFor(s)
	}
	if err != nil {
		return withoutGone(err)
	}
	if record := s.Worktree(parent); record == nil || !owed(*record) || launch == 0 {
		return nil // recover looks on when it brings the parent back
	}
	if mark, err := p.tmuxFor(s).TimerMark(ctx, w.pane); err != nil || mark != w.mark {
		return err
	}
	p.lookLater(ctx, s, parent, w)
	d := &deliverer{Paw: p, session: sessionName, parent: parent, began: began, launch: launch, keyboard: p.paneKeyboard()}
	if _, err = d.once(ctx, live.Unasked); withoutGone(err) != nil {
		p.logHook("paw", "look", err)
	}
	return withoutGone(err)
}
