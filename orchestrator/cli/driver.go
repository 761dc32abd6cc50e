package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"

	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// Driver is what paw knows of one AI coding program: a folder of its own has it. What only some programs can do, or do in
// a way of their own, are the interfaces below; CLI says what holds for the others.
type Driver interface {
	// Name is the name the user types, such as "claude".
	Name() string
	// Program is what LookPath finds: a name to look up on PATH, or an absolute path.
	Program() string
	// Facts describes the CLI for `paw clis`.
	Facts() Facts
	// Environment names the variables that decide where the CLI keeps its conversations. They are recorded at launch,
	// also as unset, and are the same again when a conversation is looked up or resumed.
	Environment() []string
	// NewConversation returns an id for a conversation that does not exist yet, or "" where the CLI picks its own.
	NewConversation() string
	// Launch is the command of a first start. A Spec.Prompt that cannot be given as an argument is a *PromptError.
	Launch(Spec) (Command, error)
	// Resume is the command that opens Spec.ConversationID again. It ignores Spec.Prompt: a prompt is never replayed.
	Resume(Spec) (Command, error)
	// Conversation looks Spec.ConversationID up in the CLI's own files.
	Conversation(context.Context, Spec) (Conversation, error)
}

// Named has the name and the program of a driver whose program is called as its user calls it.
type Named string

// Name is the name itself.
func (n Named) Name() string { return string(n) }

// Program is the name.
func (n Named) Program() string { return string(n) }

// Versioned is a driver whose program is not asked with --version.
type Versioned interface {
	// Version is that of the program: "2.1.197", or the first line of what it says where that has no number.
	Version(ctx context.Context, executable string, env []string) (string, error)
}

// Identifier is a driver whose program has ids that are not like those of the others.
type Identifier interface {
	// CheckID refuses an id that no conversation of the CLI can have. CLI asks it before each method that gets one.
	CheckID(id string) error
}

// EnvironmentMarker is a driver whose program, or the launch of it, sets variables for what it runs in turn.
type EnvironmentMarker interface {
	// Marks are the variables by which programs know that the CLI runs them, and those that only a launch of it has. An
	// agent that got them from another one would take itself for a part of that.
	Marks() []string
}

// Forker is a driver whose program can go on with a copy of a conversation.
type Forker interface {
	// Fork is the command that starts a copy of the conversation from, under the id Spec.ConversationID where paw chooses
	// ids, with Spec.Prompt if there is one.
	Fork(s Spec, from string) (Command, error)
}

// ConversationFinder is a driver whose program begins conversations under ids that paw has not chosen.
type ConversationFinder interface {
	// Learn returns the ids of the interactive conversations that began in Spec.Worktree after Spec.Since, the one used
	// last at the end.
	Learn(context.Context, Spec) ([]string, error)
}

// TranscriptReader is a driver whose program keeps a record of what was said.
type TranscriptReader interface {
	// History reads the conversation Spec.ConversationID from the CLI's own record. It changes nothing, works while the CLI
	// runs and when it does not, and starts nothing but opencode itself. A conversation that is not there is a
	// *ConversationError; one without a message has none.
	History(context.Context, Spec) (Transcript, error)
}

// UsageReader is a driver whose program keeps a record of what its model took.
type UsageReader interface {
	// Uses are what the answers of the conversation Spec.ConversationID took, in the order of the record.
	Uses(context.Context, Spec) ([]Use, error)
}

// Reporter is a driver whose program has hooks.
type Reporter interface {
	// Event says what one call of a hook means: name and payload are what `paw hook CLI NAME` got as its argument and
	// on its standard input. That of a call that means nothing has no kind.
	Event(name string, payload []byte) (turn.Event, error)
}

// Awaiting is a driver whose program keeps its user waiting until the hooks of an end have ended.
type Awaiting interface {
	// AwaitsEnd reports whether the hook of that name is one of them. Its program needs nothing of paw's answer, and no
	// work of the agent begins before it calls another hook.
	AwaitsEnd(name string) bool
}

// Observer is a driver whose program keeps a record that tells whether it works.
type Observer interface {
	// Observe reads what the CLI's own record says about the conversation Spec.ConversationID now, above all about the end
	// of the turn last, if that is open and no hook told. It writes nothing and starts nothing. last is nil for an agent
	// without turns.
	Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error)
}

// StatusLine is the name of the call of `paw hook CLI` that is no hook: what it prints, the CLI shows.
const StatusLine = "StatusLine"

// Gauger is a driver whose program tells a status line what a conversation has cost and how near the limits of the subscription are.
type Gauger interface {
	// Gauge keeps what one call of the status line was told, in a launch, for Uses and Observe. What it returns counts also where it
	// could not be kept.
	Gauge(s Spec, launch string, payload []byte) (Gauged, error)
	// Windows are what was told last of the limits, also of those that have begun anew since.
	Windows(Spec) []session.Window
}

// Gauged is what a status line was told.
type Gauged struct {
	Own   string // command line of the user's own status line, "" for none
	Words string // what is to be shown where there is none
}

// Leaver is a driver whose program can take a conversation out of the pane that it was started in, and go on with it there.
type Leaver interface {
	// Away are the processes that work for an agent outside of its pane: with a conversation of the agent, or in its worktree.
	Away(Spec) []Away
	// EndAway is the command by which the program itself ends such a process, false where it has none.
	EndAway(Spec, Away) (Command, bool)
}

// Away is a process of a CLI that works for an agent outside of the agent's pane.
type Away struct {
	PID          int
	Conversation string
	Job          string // by which the program's own commands know the process
}

// Headless is a driver whose program can run one turn without a terminal.
type Headless interface {
	// Headless is the command of one turn without a terminal, with Spec.Prompt, in the conversation Spec.ConversationID if
	// that exists. It reports to no hooks.
	Headless(Spec) (Command, error)
	// HeadlessLine is what a user wants to read of one line of such a turn's standard output while it runs, with its line
	// ends; "" for nothing.
	HeadlessLine(line []byte) string
	// HeadlessResult is the answer, from the whole standard output. The error is a *TurnError when the turn failed.
	HeadlessResult(stdout []byte, exitCode int) (message string, err error)
}

// Typed is a driver whose program shows when it takes typed input, or takes some prompts for commands.
type Typed interface {
	// Ready says how to know that the CLI takes typed input.
	Ready() Ready
	// Literal is the text to paste so that the CLI takes it for a prompt, and not for a command of its own or the shell's.
	// The error is a *PromptError where no text does that.
	Literal(prompt string) (string, error)
}

// Paster is a driver whose program changes what is pasted at once.
type Paster interface {
	// Pastes are the parts in which a text is pasted into the input box of a pane of so many rows.
	Pastes(text string, rows int) []string
	// Canonical is a prompt without what this CLI, harmlessly, changes in it: a prompt that arrived is the one that was
	// sent when the two have the same Canonical.
	Canonical(prompt string) string
}

// Screener is a driver that reads the screen of its program.
type Screener interface {
	// Screen recognizes what the CLI shows. What it does not know for certain it leaves out.
	Screen(Screenshot) Screen
	// Question is what the screen asks in a turn. It is false for everything else, above all for menus, for dialogs of a
	// start, and where the options cannot be read.
	Question(Screenshot) (Question, bool)
}

// Facts is what `paw clis` tells about a CLI.
type Facts struct {
	ChoosesID bool   // paw chooses the conversation id
	Resume    string // how exactly a conversation comes back
	Turns     string // what shows the end of a turn
	Unseen    bool   // nothing does: its only turns are those that paw makes itself
	OwnHooks  bool   // its hooks come with options of the command that paw makes: one that the agent itself runs has none
	LateHooks bool   // its hooks report nothing before the first prompt
	Metered   bool   // its record says what its model took
	// SilentErrors: no hook tells that an error has ended a turn, its record does.
	SilentErrors bool
}

// UnseenTurns is what is told of a CLI whose turns nothing shows.
const UnseenTurns = "only those that paw makes"

// Trimmed is a prompt without blanks around it, which every CLI cuts off: among them is the space with which paw makes
// text of what would be a command.
func Trimmed(prompt string) string { return strings.TrimRightFunc(TrimLeft(prompt), unicode.IsSpace) }

// TrimLeft cuts what CLIs in JavaScript cut off the begin of a prompt.
func TrimLeft(prompt string) string {
	return strings.TrimLeftFunc(prompt, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// Typable is what of a prompt may go to a terminal: no character of it acts as a key there. An ESC would begin a key, or
// end the paste that the prompt is part of, and all that follows it would be typed. As terminals do with what is pasted,
// controls (C0, DEL, C1) are left out but for line feed and tab; each line end becomes a line feed, and each byte that is
// no UTF-8 becomes U+FFFD, which is what a CLI would make of it. dropped counts the controls.
func Typable(prompt string) (text string, dropped int) {
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(prompt)
	var b strings.Builder
	b.Grow(len(lines))
	for _, r := range lines { // a byte that is no UTF-8 comes as U+FFFD
		if isControl(r) {
			dropped++
			continue
		}
		b.WriteRune(r)
	}
	return b.String(), dropped
}

func isControl(r rune) bool {
	return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0)
}

// Transcript is one conversation as the CLI's own record has it, in the order of the conversation.
//
// What a user typed and what the model said are user and assistant messages. The CLI's own words, such as an error of the
// API, the mark of an interrupt or a prompt that the CLI gave itself, are system messages; instructions and context that
// it adds for the model are none. A tool call has its result behind it; one that was cut off has none.
type Transcript struct {
	ID       string
	Messages []history.Message
	Skipped  int // lines and records that were not understood, and may have been messages
	// Unknown are the types of records that paw has never seen and that hold no message, with how many there are of each:
	// nothing that was said is missing, but a new version of the CLI writes something new.
	Unknown map[string]int
}

// Use is what one answer of a model took, as the CLI's own record says it.
type Use struct {
	At         time.Time
	Input      int64 // tokens that were read anew
	CacheRead  int64 // that came from a cache
	CacheWrite int64 // that were put into one
	Output     int64 // with what the model thought
	Cost       float64
	Priced     bool // the CLI says what it cost, in US dollars
}

// Spent is what models took: tokens as the CLI's own record counts them, and dollars where it says them.
type Spent struct {
	Input      int64   `json:"input_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Output     int64   `json:"output_tokens"`
	Answers    int     `json:"answers"`
	Cost       float64 `json:"-"`
	Priced     bool    `json:"-"` // Cost is known of at least one answer
}

// Add adds one answer.
func (s *Spent) Add(u Use) {
	s.Input, s.CacheRead, s.CacheWrite, s.Output = s.Input+u.Input, s.CacheRead+u.CacheRead, s.CacheWrite+u.CacheWrite, s.Output+u.Output
	s.Cost, s.Priced, s.Answers = s.Cost+u.Cost, s.Priced || u.Priced, s.Answers+1
}

// Channel is a way into a running CLI that was made for programs, beside its terminal: nothing is typed, and what the user has
// half typed or opened stays as it is.
type Channel interface {
	// Open reports whether the CLI answers on the channel now. A channel that is missing says so at once, one that is silent
	// after some time.
	Open(ctx context.Context) bool
	// Submit hands a prompt over and returns when the CLI has it; seen is what its screen shows. The error is ErrNotHandedOver
	// where it certainly has not.
	Submit(ctx context.Context, prompt string, seen Screen) error
	// Permission is the permission that the CLI waits for first, false where it waits for none that can be granted here.
	Permission(ctx context.Context) (Permission, bool)
	// Reply grants a permission once, or refuses it. The error is ErrNotHandedOver where the CLI does not wait for it.
	Reply(ctx context.Context, id string, grant bool) error
}

// Permission is one that a CLI waits for.
type Permission struct {
	ID       string // of this request, never used again
	Question string // as the CLI's hook tells of it
}

// ErrNotHandedOver says for certain that a CLI got nothing by its channel.
var ErrNotHandedOver = errors.New("nothing was handed over")

// Channeled is a driver whose program has a channel.
type Channeled interface {
	// Channel is that of the running launch of Spec.StateDir.
	Channel(Spec) Channel
}

// noChannel is that of a program without one.
type noChannel struct{}

func (noChannel) Open(context.Context) bool                     { return false }
func (noChannel) Submit(context.Context, string, Screen) error  { return ErrNotHandedOver }
func (noChannel) Permission(context.Context) (Permission, bool) { return Permission{}, false }
func (noChannel) Reply(context.Context, string, bool) error     { return ErrNotHandedOver }

// StreamConversation finds the conversation that a headless turn belongs to in its standard output: the first id that
// the stream of JSON names (thread_id of codex's thread.started, sessionID of opencode, session_id of the others). It
// is "" where there is none, also for an output that is no JSON.
func StreamConversation(stdout []byte) string {
	for raw := range bytes.Lines(stdout) {
		var line struct {
			Thread   string `json:"thread_id"`
			Session  string `json:"session_id"`
			Opencode string `json:"sessionID"`
		}
		if json.Unmarshal(raw, &line) != nil {
			continue
		}
		for _, id := range []string{line.Thread, line.Session, line.Opencode} {
			if CheckID("", id) == nil {
				return id
			}
		}
	}
	return ""
}
