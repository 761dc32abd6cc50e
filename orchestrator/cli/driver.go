package cli

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"paw/config/display"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// Driver describes one AI coding program; each has a folder of its own. It embeds Named, which has the methods for what its
// program cannot do.
type Driver interface {
	// Name returns the name that the user types, such as "claude".
	Name() string
	// Program returns a name to look up on PATH, or an absolute path.
	Program() string
	// Launch returns the command of a first start, or a *PromptError where Spec.Prompt cannot be an
	// argument.
	Launch(Spec) (Command, error)
	// Resume returns the command that opens Spec.ConversationID again. It ignores Spec.Prompt: a
	// prompt is never replayed.
	Resume(Spec) (Command, error)
	// Conversation looks Spec.ConversationID up in the CLI's own files.
	Conversation(context.Context, Spec) (Conversation, error)

	// Named has all of the following.

	// Facts returns what does not depend on a launch.
	Facts() Facts
	// CheckID refuses an id that no conversation of the CLI can have. CLI calls it before every
	// method that is given an id.
	CheckID(id string) error
	// Fork returns the command that starts a copy of the conversation from, with Spec.Prompt if
	// there is one. The copy gets the id Spec.ConversationID where paw chooses ids.
	Fork(s Spec, from string) (Command, error)
	// Learn returns the ids of the interactive conversations that began in Spec.Worktree after
	// Spec.Since, the one used last at the end.
	Learn(context.Context, Spec) ([]string, error)
	// HeldBy returns the pid of a running process that has the conversation Spec.ConversationID open, 0 for none.
	HeldBy(Spec) int
	// History reads the conversation Spec.ConversationID from the CLI's own record, whether the CLI
	// runs or not. It changes nothing, and starts no program (the driver of opencode runs
	// opencode). A conversation that does not exist is a *ConversationError; one without messages
	// gives an empty Transcript.
	History(context.Context, Spec) (Transcript, error)
	// Uses returns the tokens and the cost of each answer of the conversation Spec.ConversationID,
	// in the order of the record.
	Uses(context.Context, Spec) ([]Use, error)
	// Event translates one call of a hook: name is the argument and payload the standard input of
	// `paw hook CLI NAME`. A call without meaning gives an Event without a kind.
	Event(name string, payload []byte) (turn.Event, error)
	// Decide waits until the question of a call of Event is over. It returns what the hook prints, "" where paw did not answer.
	Decide(ctx context.Context, s Spec, name string, payload []byte) string
	// Rests stores a KindIdle: from then on Observe tells how the open turn ended.
	Rests(s Spec, e turn.Event) error
	// Observe reads what the CLI's record says about the conversation Spec.ConversationID now:
	// above all the end of the open turn last where no hook reported one. It writes nothing and
	// starts nothing. last is nil for an agent without turns.
	Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error)
	// Gauge stores the payload of one status line call of a launch, for Uses and Observe. The
	// Gauged that it returns is valid also with an error.
	Gauge(s Spec, launch string, payload []byte) (Gauged, error)
	// Windows returns the limits as last told, also those that have been reset since.
	Windows(Spec) []session.Window
	// Away returns the background processes that have a conversation of the agent or run in its
	// worktree.
	Away(Spec) []Away
	// Headless returns the command of one turn with Spec.Prompt, in the conversation
	// Spec.ConversationID if that exists. The command calls no hooks of paw.
	Headless(Spec) (Command, error)
	// HeadlessLine returns what a user wants to read of one line of standard output while the turn
	// runs, line ends included; "" for nothing. The event has the conversation where the CLI has
	// chosen it, a question that waits for an answer (KindInput), or that it was answered.
	HeadlessLine(line []byte) (string, turn.Event)
	// HeadlessResult returns the answer, read from the whole standard output, or a *TurnError when
	// the turn failed.
	HeadlessResult(stdout []byte, exitCode int) (message string, err error)
	// Literal returns the text to paste so that the CLI takes prompt for a prompt and not for one
	// of its commands or for a shell command, or a *PromptError where no text does.
	Literal(prompt string) (string, error)
	// Pastes splits text into the parts that are pasted one by one into the input box of a pane
	// with that many rows.
	Pastes(text string, rows int) []string
	// Canonical returns prompt without the harmless changes that this CLI makes: a recorded prompt
	// is the one that was sent when both have the same Canonical.
	Canonical(prompt string) string
	// Screen recognizes the CLI's screen, and leaves unset what is not certain.
	Screen(Screenshot) Screen
	// Channel returns the channel of the running launch whose files are in Spec.StateDir.
	Channel(Spec) Channel
	// HeadlessChannel returns the channel of a headless turn, by which its questions are answered.
	HeadlessChannel(Spec) Channel
}

// StatusLine is the name under which `paw hook CLI` is called for a status line instead of a hook:
// the CLI shows what the call prints.
const StatusLine = "StatusLine"

// Gauged is the outcome of one call of a status line.
type Gauged struct {
	Own   string // command line of the user's own status line, "" for none
	Words string // text for the status line of a user who has none
}

// Away is a process of a CLI that works for an agent outside of the agent's pane.
type Away struct {
	PID          int
	Conversation string
	End          Command // the program's own command that ends the process, without Argv if it has none
}

// Facts describes a CLI.
type Facts struct {
	ChoosesID bool     // paw chooses the conversation id, else the CLI does
	RunPicks  bool     // in a headless turn the CLI chooses the id of a new conversation all the same
	Resume    string   // how a conversation is resumed, in words for the user
	Turns     string   // how the end of a turn is noticed, in words for the user
	Rare      bool     // one of many, shown only where it is installed
	Unseen    bool     // nothing shows the end of a turn: only prompts that paw itself runs count as turns
	Reports   int      // form of what a program of paw in the CLI reports, raised with each change of it; 0 for hooks of the CLI's own
	OwnHooks  bool     // hooks are set by options of the command: a CLI that the agent itself runs has none
	LateHooks bool     // the hooks report nothing before the first prompt
	Leaves    []string // files that the CLI writes into a worktree by itself
	Moves     bool     // a conversation can be moved out of its pane into a background process (see Away)
	Returns   bool     // a conversation that is resumed goes on in the folder that it was in, and not in the worktree
	Metered   bool     // the CLI's record has the tokens of each answer
	// SilentErrors means that no hook reports a turn that ended with an error; the CLI's record
	// does.
	SilentErrors bool
	Version      string   // version of a CLI that is a part of paw, "" for others, which are asked
	EscapeAgain  []string // texts on the screen where a second Escape has to confirm the first that interrupts a turn
	// Environment names the variables that decide where the CLI keeps its conversations. Their
	// values, also that one is unset, are recorded at launch and set again when a conversation is
	// looked up or resumed.
	Environment []string
	// Marks names the variables by which programs know that this CLI runs them, and those that
	// paw's launch of it sets. They are removed before another agent starts: it would take itself
	// for a part of this CLI.
	Marks []string
	// AwaitsEnd names the hooks that run at the end of a turn, before the next prompt. The CLI needs
	// no answer from such a hook, and the agent does no work until another hook was called.
	AwaitsEnd []string
	Ready     Ready // by which signs the CLI takes typed input
}

// UnseenTurns is Facts.Turns of a CLI whose turns nothing shows.
const UnseenTurns = "only those that paw makes"

// Trimmed cuts off the blanks around a prompt, as every CLI does. One of them may be the space that
// paw puts before a prompt that would else be a command.
func Trimmed(prompt string) string { return strings.TrimRightFunc(TrimLeft(prompt), unicode.IsSpace) }

// Canonical replaces tabs by four spaces, drops invisible characters and composes others, as the input boxes of several CLIs do.
func Canonical(prompt string) string {
	return display.Decomposed(Trimmed(strings.ReplaceAll(WithoutInvisible(prompt), "\t", "    ")))
}

// WithoutInvisible removes format characters, such as marks of direction.
func WithoutInvisible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

// TrimLeft cuts off leading white space as JavaScript's trim does: the byte order mark included.
func TrimLeft(prompt string) string {
	return strings.TrimLeftFunc(prompt, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// Typable returns the part of a prompt that may be pasted into a terminal, without the characters
// that act as keys: an ESC would begin a key or end the paste, and the rest would be typed.
// Controls (C0, DEL, C1) are dropped, as terminals do with pasted text, except line feed and tab;
// each line end becomes a line feed, each byte that is no UTF-8 becomes U+FFFD. dropped counts the
// controls.
func Typable(prompt string) (text string, dropped int) {
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(prompt)
	text = strings.Map(func(r rune) rune { // r is U+FFFD for a byte that is no UTF-8
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			dropped++
			return -1
		}
		return r
	}, lines)
	return text, dropped
}

// Transcript is one conversation in its order, read from the CLI's own record.
//
// Prompts of the user and answers of the model are user and assistant messages. The CLI's own
// words, such as an API error, an interrupt or a prompt that the CLI gave itself, are system
// messages; instructions and context that the CLI adds for the model are left out. A tool call is
// followed by its result, unless the call was cut off.
type Transcript struct {
	ID       string
	Messages []history.Message
	Skipped  int // lines and records that were not understood and may have been messages
}

// Use has the tokens and the cost of one answer of a model, from the CLI's own record.
type Use struct {
	At         time.Time
	Input      int64 // tokens, without those from a cache
	CacheRead  int64 // tokens read from a cache
	CacheWrite int64 // tokens written into a cache
	Output     int64 // tokens, those of the model's thinking included
	Cost       float64
	Priced     bool // Cost is known, in US dollars
}

// Spent adds up tokens as the CLIs' records count them, and US dollars where a record has them.
type Spent struct {
	Input      int64   `json:"input_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Output     int64   `json:"output_tokens"`
	Answers    int     `json:"answers"`
	Cost       float64 `json:"-"`
	Priced     bool    `json:"-"` // Cost is known of at least one answer
}

// Add adds the tokens and the cost of one answer.
func (s *Spent) Add(u Use) {
	s.Input, s.CacheRead, s.CacheWrite, s.Output = s.Input+u.Input, s.CacheRead+u.CacheRead, s.CacheWrite+u.CacheWrite, s.Output+u.Output
	s.Cost, s.Priced, s.Answers = s.Cost+u.Cost, s.Priced || u.Priced, s.Answers+1
}

// Channel is a way into a running CLI beside its terminal, made for programs: nothing is typed, and
// a half-typed text or an open menu stays as it is.
type Channel interface {
	// Open reports whether the CLI answers on the channel now. It returns at once when the channel
	// does not exist, and after a time limit when the CLI is silent.
	Open(ctx context.Context) bool
	// Submit hands a prompt over and returns when the CLI has it; seen is the CLI's screen. The
	// error is ErrNotHandedOver when the CLI has certainly not got the prompt.
	Submit(ctx context.Context, prompt string, seen Screen) error
	// Permission returns the first permission that the CLI waits for; false where it waits for none
	// that can be granted here.
	Permission(ctx context.Context) (Permission, bool)
	// Reply answers a permission by one of its options, or grants it once or refuses it as the option
	// means. The error is ErrNotHandedOver where the CLI no longer waits for it.
	Reply(ctx context.Context, id string, took Option) error
}

// Permission is a request of a CLI for the user's permission.
type Permission struct {
	ID       string // id of the request, never used again
	Question string // text of the request, as the CLI's hook reports it
	Details  string // as a Question has them
	// Options are all answers, each of which Reply can give; nil where only the screen has them, and Reply
	// gives yes and no.
	Options []Option
}

// ErrNotHandedOver means that a CLI has certainly got nothing by its channel.
var ErrNotHandedOver = errors.New("nothing was handed over")

// NoChannel implements Channel for a program without one.
type NoChannel struct{ noChannel }

type noChannel struct{}

func (noChannel) Open(context.Context) bool                     { return false }
func (noChannel) Submit(context.Context, string, Screen) error  { return ErrNotHandedOver }
func (noChannel) Permission(context.Context) (Permission, bool) { return Permission{}, false }
func (noChannel) Reply(context.Context, string, Option) error   { return ErrNotHandedOver }
