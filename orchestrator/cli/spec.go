package cli

import "time"

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

// QueuedMark is the file in Spec.StateDir that says that a prompt waits behind a turn, or joined it. While it is there the
// hooks of a CLI that does not report when it begins with such a prompt report tools, so that the begin is not missed.
const QueuedMark = "queued"
