package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Spec says what to launch and where. Paths are absolute.
type Spec struct {
	Executable string // path that LookPath found for Program
	Worktree   string // worktree of the agent, where the CLI runs
	// Since is when the agent was made. Paths of worktrees are used again: a conversation that
	// began before belongs to another agent.
	Since        time.Time
	RepoPath     string // main worktree
	GitCommonDir string
	GitDir       string // git directory of the agent's worktree
	StateDir     string // folder of the agent for the files of a launch
	// ConversationID is the conversation to start, to resume or to look up.
	ConversationID string
	// Prompt is the first prompt of a first start, or "".
	Prompt string
	// Env is the environment of the CLI; nil stands for paw's own.
	Env []string
	// Look is what was read for all agents that one command looks at; nil if it looks at this one.
	Look *Look
	// Recent lets History read the newest part of a long record only, as far as the driver can.
	Recent bool
	// GitWritable opens both git directories to a CLI whose sandbox makes them read-only.
	GitWritable bool
	// Args are further arguments of this launch, before the prompt; CLI adds the configured ones.
	Args  []string
	Agent string
	// Hook is the absolute path of paw, which the CLI's hooks call as `Hook hook CLI EVENT` with
	// JSON on standard input; "" for no hooks. Launch, Resume and Fork add these hooks to the
	// user's own, for this launch only.
	Hook string
}

// Look keeps what drivers have read for one look at many agents, so that each of them need not read
// it again.
type Look struct{ readings sync.Map }

// Once returns what read returned for the first agent of the look that asked by that name.
func Once[T any](l *Look, name string, read func() T) T {
	if l == nil {
		return read()
	}
	reading, _ := l.readings.LoadOrStore(name, sync.OnceValue(read))
	return reading.(func() T)()
}

// Resolved is Resolved, once for each path within a look, and once for the folder of several paths.
func (s Spec) Resolved(path string) string {
	return Once(s.Look, "resolved "+path, func() string {
		folder := filepath.Dir(path)
		below := filepath.Join(Once(s.Look, "folder "+folder, func() string { return Resolved(folder) }), filepath.Base(path))
		if info, err := os.Lstat(below); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return below
		}
		return Resolved(path)
	})
}

// Command is a process to start in Spec.Worktree. Argv[0] is absolute, and no shell reads the
// arguments.
type Command struct {
	Argv  []string
	Env   []string // KEY=value, added to Spec.Env
	Unset []string // names of variables to remove from Spec.Env
	Files []File   // files to write before the start
}

// File is a file that a launch needs, below Spec.StateDir and with mode 0600.
type File struct {
	Path    string
	Content []byte
}

// Conversation is the information about one conversation in a CLI's own files.
type Conversation struct {
	Found      bool   // the CLI has something under this id
	Resumable  bool   // Resume opens the conversation
	Transcript string // file of the conversation, "" where it has no file of its own
	// Prompts is a file of JSON lines that gets each prompt, with the conversation's id, as soon as
	// the CLI takes it; "" where the transcript gets it as soon.
	Prompts string
	Reason  string // why the conversation cannot be resumed, or what the CLI asks before it resumes
	NewID   bool   // the id cannot be used again: a fresh start needs another one
}

// QueuedMark is a file in Spec.StateDir that exists while a prompt waits behind a turn or has
// joined it. Hooks of a CLI that does not report the begin of such a prompt then report tool calls
// too, so that the begin is noticed.
const QueuedMark = "queued"

// ConversationError means that a conversation id cannot be put on a command line, or that the CLI
// cannot resume at all.
type ConversationError struct {
	CLI    string
	ID     string
	Reason string
}

func (e *ConversationError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("%s: %s", e.CLI, e.Reason)
	}
	return fmt.Sprintf("%s: conversation %q: %s", e.CLI, e.ID, e.Reason)
}

// longestID bounds ids with room to spare: those of today's CLIs have at most 36 characters.
const longestID = 128

// CheckID refuses an id that could be read as an option, lead out of its folder or match several
// files. Ids are read from files that other programs write.
func CheckID(cli, id string) error {
	var reason string
	switch {
	case id == "":
		reason = "no conversation id"
	case len(id) > longestID:
		reason = "longer than an id can be"
	case strings.HasPrefix(id, "-") || strings.HasPrefix(id, "."):
		reason = "begins like an option or a path"
	case strings.ContainsFunc(id, func(r rune) bool {
		return !Alphanumeric(r) && !strings.ContainsRune("-_.", r)
	}):
		reason = "has a character no id has"
	default:
		return nil
	}
	return &ConversationError{CLI: cli, ID: id, Reason: reason}
}

// Alphanumeric reports whether r is an ASCII letter or digit.
func Alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
