package orchestrator

import (
	"os"
	"slices"
	"strconv"
	"syscall"

	"paw/orchestrator/live"
	"paw/session"
)

// Claim is why somebody looks whether a parent is to be told of its children.
type Claim struct {
	OwnEnd  bool   // its own turn has ended
	Leaving string // a child whose CLI is about to exit, "" for none
	Hook    int    // process to wait for: a CLI waits for its hook, and takes no input until then
}

// arguments are those of the hidden command that carries the claim out.
func (c Claim) arguments(sessionName, parent string) []string {
	args := []string{"__deliver", sessionName, parent}
	if c.OwnEnd {
		args = append(args, "--own-end")
	}
	if c.Leaving != "" {
		args = append(args, "--leaving", c.Leaving)
	}
	if c.Hook != 0 {
		args = append(args, "--hook", strconv.Itoa(c.Hook))
	}
	return args
}

// occasion is that of the look that carries the claim out.
func (c Claim) occasion() live.Occasion {
	if c.OwnEnd {
		return live.OwnEnd
	}
	return live.Told
}

// owed tells whether an agent waits and nothing was typed for it yet.
func owed(w session.Worktree) bool { return w.Wait != nil && w.Wait.TypedAt == nil }

// claimAfter looks after whoever is owed something now that an agent came to an
// end of its turn, of its CLI or of its place in the session. The record is read
// after that end was written: a parent that begins to wait later finds the end
// itself.
func (p *Paw) claimAfter(sessionName, agentName string, c Claim) {
	s, err := p.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Worktrees {
		one := c
		switch {
		case !owed(w):
			continue
		case w.Agent == agentName && c.Leaving == "":
			one.OwnEnd = true
		case w.Agent == agentName || !slices.Contains(w.Wait.Children, agentName):
			continue
		}
		p.claim(sessionName, w.Agent, one)
	}
}

// claimAll looks after everybody in a session who is owed something: the user is
// there, or an agent that speaks for itself.
func (p *Paw) claimAll(sessionName string) {
	s, err := p.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Worktrees {
		if owed(w) {
			p.claim(sessionName, w.Agent, Claim{})
		}
	}
}

// claim lets a process of its own carry a claim out, since a CLI waits for its
// hooks and a user for a command. Should it never start, the wait is still owed.
func (p *Paw) claim(sessionName, parent string, c Claim) {
	start := p.deliverer
	if start == nil {
		start = func(sessionName, parent string, c Claim) error {
			return p.startDetached(c.arguments(sessionName, parent))
		}
	}
	if err := start(sessionName, parent, c); err != nil {
		p.logHook("paw", "deliver", err)
	}
}

// startDetached starts paw with these arguments in a session of its own, so that
// the end of a pane does not end it.
func (p *Paw) startDetached(args []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	process, err := os.StartProcess(p.Executable, append([]string{p.Executable}, args...), &os.ProcAttr{
		Dir: "/", Env: p.Env, Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	go process.Wait() //nolint:errcheck // where paw lives on, it leaves no zombie
	return nil
}
