package acp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/inbox"
	"paw/orchestrator/cli/internal/plain"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
	"paw/session/turn"
)

// kind begins the names of the files of an agent's pane, in the agent's folder of state.
const kind = "acp"

// Known lists the commands of agents that speak the protocol, by the names that users type.
var Known = map[string][]string{
	"auggie": {"auggie", "--acp"},
	"cline":  {"cline", "--acp"},
	"cursor": {"cursor-agent", "acp"},
	"droid":  {"droid", "exec", "--output-format", "acp"},
	"gemini": {"gemini", "--acp"},
	"goose":  {"goose", "acp"},
	"junie":  {"junie", "--acp=true"},
	"kimi":   {"kimi", "acp"},
	"kiro":   {"kiro-cli", "acp"},
	"vibe":   {"vibe-acp"},
}

type driver struct {
	cli.Named
	plain.Reader
	OneShot
	command []string
}

// Driver returns the driver of an agent, with the command that has it speak the protocol.
func Driver(name string, command []string) cli.Driver {
	return driver{cli.Named{Of: name, Known: cli.Facts{
		ChoosesID: true, Reports: 1, Rare: slices.Equal(command, Known[name]), Metered: true, OwnHooks: true, Resume: "where the agent can", Turns: "exact, from the protocol",
		Ready: cli.Ready{Event: true, Box: true, Clear: []string{"C-u"}},
	}}, plain.Reader{Who: name}, OneShot{CLI: name}, command}
}

func (d driver) Program() string { return d.command[0] }

// launch has the arguments of paw __acp, which Main reads.
type launch struct {
	Name, State, ID, Hook string
	Prompt                string   // of the only turn, which has no terminal; "" for a pane
	Before                string   // the agent's own id of the conversation; "" for a new one, or that of the record
	Again                 bool     // the record exists
	Agent                 []string // command of the agent
}

// argv returns the command line of the launch; launchOf reads its arguments.
func (l launch) argv() []string {
	program, err := os.Executable()
	if err != nil {
		program = l.Hook
	}
	again := "new"
	if l.Again {
		again = "again"
	}
	return append([]string{program, "__acp", l.Name, l.State, l.ID, again, l.Hook, l.Prompt, l.Before}, l.Agent...)
}

func launchOf(words []string) (launch, bool) {
	if len(words) < 8 {
		return launch{}, false
	}
	return launch{
		Name: words[0], State: words[1], ID: words[2], Again: words[3] == "again", Hook: words[4], Prompt: words[5], Before: words[6], Agent: words[7:],
	}, true
}

// folder returns the folder of the conversations of paw's agent.
func (l launch) folder() string { return filepath.Join(l.State, kind) }

// Launch leaves the first prompt to the channel.
func (d driver) Launch(s cli.Spec) (cli.Command, error) {
	if s.Prompt != "" {
		return cli.Command{}, &cli.PromptError{CLI: d.Name(), Send: true, Reason: "takes prompts once it runs"}
	}
	return d.start(s, false), nil
}

func (d driver) Resume(s cli.Spec) (cli.Command, error) {
	s.Prompt = ""
	return d.start(s, true), nil
}

func (d driver) start(s cli.Spec, again bool) cli.Command {
	agent := slices.Concat([]string{s.Executable}, d.command[1:], s.Args)
	l := launch{Name: d.Name(), State: s.StateDir, ID: s.ConversationID, Hook: s.Hook, Prompt: s.Prompt, Again: again, Agent: agent}
	return cli.Command{Argv: l.argv(), Files: inbox.Of(s, kind).Files()}
}

func (driver) file(s cli.Spec) string {
	return filepath.Join(launch{State: s.StateDir}.folder(), s.ConversationID+".jsonl")
}

// lastSession returns the session that the agent has opened last for a conversation.
func lastSession(file string) (last Session) {
	_ = records.EachLine(file, func(e plain.Entry) bool {
		var one Session
		if e.Type == plain.TypeSession && json.Unmarshal([]byte(e.Content), &one) == nil {
			last = one
		}
		return true
	})
	return last
}

// Conversation finds the record of an id; the agent must be able to open its conversation again.
func (d driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	file := d.file(s)
	found, err := records.Lookup(file, d.Name()+" has no conversation of this id", func(e plain.Entry) bool { return e.Role == history.RoleUser })
	if last := lastSession(file); found.Resumable && last.ID != "" && !last.Loads {
		found.Resumable, found.NewID, found.Reason = false, true, d.Name()+" cannot open a conversation again"
	}
	return found, err
}

func (d driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	return plain.History(ctx, d, s)
}

// Uses reads the usage that the agent has told at the end of each turn.
func (d driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	var before tokens // sums at the turn before
	return records.Uses(ctx, d, s, plain.TypeUsage, func(e plain.Entry) (id string, u cli.Use) {
		var t tokens
		if e.Type != plain.TypeUsage || json.Unmarshal([]byte(e.Content), &t) != nil || !t.possible() {
			return "", cli.Use{}
		}
		if last := before; t.Sums {
			if before = t; t.Total >= last.Total {
				t = tokens{Total: t.Total - last.Total, Output: t.Output - last.Output, CacheRead: t.CacheRead - last.CacheRead, CacheWrite: t.CacheWrite - last.CacheWrite}
			}
		}
		return "", cli.Use{At: e.Timestamp, Input: max(0, t.Total-t.Output-t.CacheRead-t.CacheWrite), CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output}
	})
}

// Observe reads the end of the record, which has every event that hooks report.
func (d driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	return plain.ObserveFile(d.file(s), s, last)
}

// channel gives prompts and answers to a launch.
type channel struct {
	inbox.Channel
	record string
}

func (d driver) Channel(s cli.Spec) cli.Channel { return channel{inbox.Of(s, kind), d.file(s)} }

// Submit gives a prompt to the program, which begins with it or queues it.
func (c channel) Submit(ctx context.Context, prompt string, _ cli.Screen) error {
	return c.Put(ctx, string(encoded(order{Prompt: prompt})))
}

// Permission returns the open question, with the answers that the agent offers.
func (c channel) Permission(context.Context) (cli.Permission, bool) {
	var open plain.Entry
	_ = records.EachBack(c.record, func(e plain.Entry) bool {
		if e.Event == plain.Waiting {
			open = e
		}
		return e.Type != plain.TypeEvent
	})
	return cli.Permission{ID: open.ID, Question: open.Question, Details: open.Details, Options: open.Options}, open.ID != ""
}

// Reply waits until the question is answered, and reports ErrNotHandedOver if another answer came first.
func (c channel) Reply(ctx context.Context, id string, took cli.Option) error {
	now, waits := c.Permission(ctx)
	at := slices.Index(now.Options, took)
	if !waits || now.ID != id || at < 0 {
		return cli.ErrNotHandedOver
	}
	if err := c.Put(ctx, string(encoded(order{Question: id, Answer: at}))); err != nil {
		return err
	}
	given := ""
	poll.Until(ctx, poll.Tick, answerPatience, func() bool {
		var answered bool
		given, answered = c.answerTo(id)
		return answered
	})
	if given != took.Label {
		return cli.ErrNotHandedOver
	}
	return nil
}

// answerPatience is how long the program may take to record an answer that it has got.
const answerPatience = 10 * time.Second

// answerTo returns the recorded answer to a question.
func (c channel) answerTo(id string) (label string, answered bool) {
	_ = records.EachBack(c.record, func(e plain.Entry) bool {
		if e.Event == plain.Answered && e.ID == id {
			label, answered = e.Answer, true
		}
		return !answered && (e.Event != plain.Waiting || e.ID != id)
	})
	return label, answered
}
