// Package agent is what paw knows of each AI coding CLI: how it is launched, how its conversation is resumed, where it
// keeps that conversation, and how it tells of its turns. It reads the CLI's own files and starts nothing but the CLI
// itself: for its version and, where files do not say, for its conversations.
package agent

import (
	"context"
	"time"

	"paw/session/history"
	"paw/session/turn"
)

// CLI is one AI coding program.
type CLI interface {
	// Name is the name the user types, such as "claude".
	Name() string
	// Program is what LookPath finds: a name to look up on PATH, or an absolute path.
	Program() string
	// Version asks the program for its version: "2.1.197", or its first line where that has no number.
	Version(ctx context.Context, executable string, env []string) (string, error)
	// NewConversation returns an id for a conversation that does not exist yet, or "" where the CLI picks its own.
	NewConversation() string
	// Launch is the command of a first start. A Spec.Prompt that cannot be given as an argument is a *PromptError.
	Launch(Spec) (Command, error)
	// Resume is the command that opens Spec.ConversationID again. It ignores Spec.Prompt: a prompt is never replayed.
	Resume(Spec) (Command, error)
	// Conversation looks Spec.ConversationID up in the CLI's own files.
	Conversation(context.Context, Spec) (Conversation, error)
	// Learn returns the ids of the interactive conversations that began in Spec.Worktree after Spec.Since, the one used
	// last at the end: those of a CLI that picks its own ids, and for claude those that /clear began. It returns none for
	// the other CLIs.
	Learn(context.Context, Spec) ([]string, error)
	// Environment names the variables that decide where the CLI keeps its conversations. They are recorded at launch,
	// also as unset, and are the same again when a conversation is looked up or resumed.
	Environment() []string
	// Facts describes the CLI for `paw clis`.
	Facts() Facts

	// Events says what one call of a hook means: name and payload are what `paw hook CLI NAME` got as its argument and
	// on its standard input. A call that means nothing gives none.
	Events(name string, payload []byte) ([]turn.Event, error)
	// Observe reads what the CLI's own record says about its conversation now, above all about the end of the turn last,
	// if that is open and no hook told. It writes nothing and starts nothing. last is nil for an agent without turns.
	Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error)
	// History reads the conversation Spec.ConversationID from the CLI's own record. It changes nothing, works while the CLI
	// runs and when it does not, and starts nothing but opencode itself. A conversation that is not there is a
	// *ConversationError; one without a message has none. A CLI without a record that can be read gives ErrNoTranscript.
	History(context.Context, Spec) (Transcript, error)
	// Headless is the command of one turn without a terminal, with Spec.Prompt, in the conversation Spec.ConversationID if
	// that exists. It reports to no hooks. A CLI without such a mode gives ErrNoHeadless.
	Headless(Spec) (Command, error)
	// HeadlessLine is what a user wants to read of one line of such a turn's standard output while it runs, with its line
	// ends; "" for nothing.
	HeadlessLine(line []byte) string
	// HeadlessResult is the answer, from the whole standard output. The error is a *TurnError when the turn failed.
	HeadlessResult(stdout []byte, exitCode int) (message string, err error)
	// Fork is the command that starts a copy of the conversation from, under the id Spec.ConversationID where paw chooses
	// ids, with Spec.Prompt if there is one. ErrCannotFork where the CLI has no such thing.
	Fork(s Spec, from string) (Command, error)
	// Literal is the text to paste so that the CLI takes it for a prompt, and not for a command of its own or the shell's.
	// The error is a *PromptError where no text does that.
	Literal(prompt string) (string, error)
	// Pastes are the parts in which a text is pasted into the input box of a pane of so many rows.
	Pastes(text string, rows int) []string
	// Canonical is a prompt without what this CLI, harmlessly, changes in it: a prompt that arrived is the one that was
	// sent when the two have the same Canonical.
	Canonical(prompt string) string
	// Ready says how to know that the CLI takes typed input.
	Ready() Ready
	// Screen recognizes what the CLI shows. What it does not know for certain it leaves out.
	Screen(Screenshot) Screen
}

// Spec says what to launch and where. Paths are absolute.
type Spec struct {
	Executable string // what LookPath returned for Program
	Worktree   string // the agent's worktree, where the CLI runs
	// Since is when the agent was made. Paths of worktrees are used again: what began before is not the agent's.
	Since        time.Time
	RepoPath     string // the main worktree
	GitCommonDir string
	GitDir       string // the worktree's own git directory
	StateDir     string // the agent's folder for files that a launch needs
	// ConversationID is the id to start with, to resume or to look up.
	ConversationID string
	// Prompt is the first prompt of a first start, or "".
	Prompt string
	// Env is the environment that the CLI gets. nil is paw's own.
	Env []string
	// GitWritable opens both git directories to a CLI that shuts them.
	GitWritable bool
	// Args are further arguments of this launch, put before the prompt. Those of the configuration come without it.
	Args    []string
	Session string
	Agent   string
	// Hook is the absolute path of the program that the CLI's hooks are to call, as `Hook hook CLI EVENT` with JSON on
	// standard input; "" for none. Launch, Resume and Fork add those hooks to the user's own, for this launch alone.
	Hook string
}

// Command is a process to start in Spec.Worktree. Argv[0] is absolute and nothing of it ever goes through a shell.
type Command struct {
	Argv  []string
	Env   []string // KEY=value, added to Spec.Env
	Unset []string // names, taken out of Spec.Env
	Files []File   // to be written before the start
}

// File is a file that a launch needs. It lies under Spec.StateDir and is for its owner alone (0600).
type File struct {
	Path    string
	Content []byte
}

// Conversation is what a CLI's own files say about one conversation id.
type Conversation struct {
	Found      bool   // the CLI has something under this id
	Resumable  bool   // Resume opens it
	Transcript string // the file that holds it, "" where it is not a file of its own
	// Prompts is a file of JSON lines that has each prompt as soon as the CLI took it from the user, in a line with the
	// conversation's id; "" where the transcript has it as soon.
	Prompts string
	Reason  string // why it is not resumable, or what the CLI asks before it resumes
	NewID   bool   // the id is burnt: a fresh start needs another one
}

// unseenTurns is what is told of a CLI whose turns nothing shows.
const unseenTurns = "only those that paw makes"

// Facts is what `paw clis` tells about a CLI.
type Facts struct {
	ChoosesID bool   // paw chooses the conversation id
	Resume    string // how exactly a conversation comes back
	Fork      string // whether one conversation can branch into two
	Headless  string // the one-shot mode
	Turns     string // what shows the end of a turn
	Unseen    bool   // nothing does: its only turns are those that paw makes itself
	OwnHooks  bool   // its hooks come with options of the command that paw makes: one that the agent itself runs has none
	LateHooks bool   // its hooks report nothing before the first prompt
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
