// Package config merges the defaults, the user's config.toml, the .paw.toml of a repository and the
// PAW_* variables. A later source wins over an earlier one, except for keys where a repository may
// not override the user.
//
// Package config knows the places of paw's files, and nothing of git, tmux or running a program.
//
// One invariant: a text that came with a repository and could run, or change what runs, is in a
// Config only after the user has trusted exactly that text.
package config

import "strings"

// Config holds the settings in force, after all sources are merged.
type Config struct {
	// DefaultCLI names the CLI of an agent that is started without --cli.
	DefaultCLI string            `toml:"default_cli" json:"default_cli"`
	Worktree   Worktree          `toml:"worktree" json:"worktree"`
	Tmux       Tmux              `toml:"tmux" json:"tmux"`
	Turns      Turns             `toml:"turns" json:"turns"`
	Agents     Agents            `toml:"agents" json:"agents"`
	Land       Land              `toml:"land" json:"land"`
	Notify     Notify            `toml:"notify" json:"notify"`
	Queue      Queue             `toml:"queue" json:"queue"`
	Limits     Limits            `toml:"limits" json:"limits"`
	CLIs       map[string]CLI    `toml:"clis,omitempty" json:"clis"`
	Presets    map[string]Preset `toml:"presets,omitempty" json:"presets"`
	// Prompts maps names to prompts that are used again.
	Prompts map[string]string `toml:"prompts,omitempty" json:"prompts"`
	Hosts   map[string]Host   `toml:"hosts,omitempty" json:"hosts"`
}

// Worktree says where worktrees are, and what a new worktree is given.
type Worktree struct {
	// Path is the template that [Config.WorktreePath] expands.
	Path string `toml:"path" json:"path"`
	// Copy and Link list patterns of ignored files in the main checkout.
	Copy []string `toml:"copy" json:"copy"`
	Link []string `toml:"link" json:"link"`
	// Include copies the ignored files listed in the main checkout's .worktreeinclude.
	Include bool `toml:"include" json:"include"`
	// Ports is the number of consecutive ports that each agent gets, 0 for none.
	Ports int `toml:"ports" json:"ports"`
	// Env maps variables of each agent to templates for [Filling.Fill].
	Env map[string]string `toml:"env,omitempty" json:"env,omitempty"`
	// Setup is a shell command that runs in each new worktree, "" for none.
	Setup string `toml:"setup" json:"setup"`
	// SetupSeconds limits how long copying files and Setup may take.
	SetupSeconds int `toml:"setup_seconds" json:"setup_seconds"`
	// Teardown is a shell command that runs in a worktree before its removal, "" for none.
	Teardown string `toml:"teardown" json:"teardown"`
	// TeardownSeconds limits how long Teardown may run.
	TeardownSeconds int `toml:"teardown_seconds" json:"teardown_seconds"`
	// MinFree is the space, in MiB, that copying files must leave free on the disk of the
	// worktrees; 0 copies without a check.
	MinFree int `toml:"min_free" json:"min_free"`
}

// Tmux names the tmux server, and says how panes are arranged and what they show.
type Tmux struct {
	// Socket is "" for the user's own server, a name (tmux -L) or an absolute path (tmux -S).
	Socket string `toml:"socket" json:"socket"`
	// Layout is LayoutTiled or LayoutWindows.
	Layout string `toml:"layout" json:"layout"`
	// Bell rings the terminal when an agent begins to wait for the user.
	Bell bool `toml:"bell" json:"bell"`
	// Counts shows the number of agents in each state in tmux's status line.
	Counts bool `toml:"counts" json:"counts"`
}

// Values of Tmux.Layout.
const (
	LayoutTiled   = "tiled"   // all agents in one window
	LayoutWindows = "windows" // each agent in a window of its own
)

// Turns limits a snapshot that a hook of a CLI waits for.
type Turns struct {
	SnapshotSeconds int `toml:"snapshot_seconds" json:"snapshot_seconds"`
	SnapshotMiB     int `toml:"snapshot_mib" json:"snapshot_mib"` // limit in units of 1024 * 1024 bytes
}

// Agents limits how many agents run, how many an agent may start, and how much of a conversation is
// handed to another agent.
type Agents struct {
	MaxDepth    int `toml:"max_depth" json:"max_depth"`       // how deep children may be nested below an agent that the user started
	MaxChildren int `toml:"max_children" json:"max_children"` // number of children that one agent may have
	MaxRunning  int `toml:"max_running" json:"max_running"`   // number of agents that run at the same time, in all sessions; 0 for no limit
	BriefKiB    int `toml:"brief_kib" json:"brief_kib"`       // KiB of a conversation that is handed over
}

// Land lists the checks that work must pass before it lands.
type Land struct {
	// Checks are shell commands that run on the state that would land, in this order.
	Checks []string `toml:"checks" json:"checks"`
}

// Notify says when and how notices are sent to the user outside of the panes.
type Notify struct {
	// Events lists the events that send a notice: NotifyWaiting and the others.
	Events []string `toml:"events" json:"events"`
	// Command is a shell command that reads a notice as JSON from its standard input, "" for none.
	Command string `toml:"command" json:"command"`
	// Desktop sends notices to the desktop: notify-send, osascript.
	Desktop bool `toml:"desktop" json:"desktop"`
	// OSC is the number of the escape sequence that makes the terminal show a notice: "9", "777" or
	// "99"; "" for none.
	OSC string `toml:"osc" json:"osc"`
	// Webhook is a URL to which a notice is posted without its text, "" for none.
	Webhook string `toml:"webhook" json:"webhook"`
	// Dwell is how long, in seconds, a state must last before its notice is sent.
	Dwell int `toml:"dwell" json:"dwell"`
}

// Any reports whether at least one way to send notices is set.
func (n Notify) Any() bool { return n.Command != "" || n.Desktop || n.OSC != "" || n.Webhook != "" }

// Values of Notify.Events.
const (
	NotifyWaiting  = "waiting"  // an agent waits for an answer
	NotifyFinished = "finished" // a turn is finished
	NotifyError    = "error"    // a turn has failed
	NotifyLimit    = "limit"    // a usage limit is reached
	NotifyHeld     = "held"     // a task of the queue is held, but not by the user
)

// Queue limits what the queue of a session starts.
type Queue struct {
	// Max is the number of agents that may work for the queue at the same time.
	Max int `toml:"max" json:"max"`
	// Starts is the number of launches and prompts that the queue may make in one session.
	Starts int `toml:"starts" json:"starts"`
	// KeepDays is how many days tasks that are over stay in the list, with their prompts.
	KeepDays int `toml:"keep_days" json:"keep_days"`
}

// Limits says what to do when a usage limit has ended a turn.
type Limits struct {
	// Then is ThenTell, ThenContinue, or ThenHandOver followed by the CLIs of which one takes over.
	Then string `toml:"then" json:"then"`
	// Times is how often in a row Then is done for one turn.
	Times int `toml:"times" json:"times"`
	// Prompt is the text that is typed after the limit is lifted.
	Prompt string `toml:"prompt" json:"prompt"`
}

// HandOver returns the CLIs of which one takes over; nil for the other values of Then.
func (l Limits) HandOver() []string {
	clis, hands := strings.CutPrefix(l.Then, ThenHandOver)
	if !hands {
		return nil
	}
	return strings.Split(strings.ReplaceAll(clis, " ", ""), ",")
}

// Values of Limits.Then; ThenHandOver is followed by the names of CLIs.
const (
	ThenTell     = "tell"
	ThenContinue = "continue"
	ThenHandOver = "handover:"
)

// CLI holds the settings of one CLI: changes to one built into paw, or the whole definition of
// another.
type CLI struct {
	// Command is the program with its first arguments; required for a CLI that is not built into
	// paw.
	Command []string `toml:"command,omitempty" json:"command,omitempty"`
	// Resume lists the arguments that resume a conversation, with {id} for its id.
	Resume []string `toml:"resume,omitempty" json:"resume,omitempty"`
	// ACP is the program, with its arguments, that speaks the Agent Client Protocol on standard input
	// and output. It replaces Command.
	ACP []string `toml:"acp,omitempty" json:"acp,omitempty"`
	// Args lists further arguments for every launch.
	Args []string `toml:"args,omitempty" json:"args,omitempty"`
	// Hooks is HooksClaude for a CLI of the user's own that calls hooks as claude does; {settings} in its words and variables stands for
	// the file of settings that has paw's.
	Hooks string `toml:"hooks,omitempty" json:"hooks,omitempty"`
	// Prompt is PromptArg, PromptSend, or "" for the CLI's default.
	Prompt string `toml:"prompt,omitempty" json:"prompt,omitempty"`
	// Env holds variables added to the CLI's environment.
	Env map[string]string `toml:"env,omitempty" json:"env,omitempty"`
	// GitWritable makes the git directories writable inside the CLI's sandbox.
	GitWritable bool `toml:"git_writable,omitempty" json:"git_writable,omitempty"`
}

// Values of CLI.Hooks. A CLI without the key has HooksNone.
const (
	HooksClaude = "claude"
	HooksNone   = "none"
)

// Values of CLI.Prompt.
const (
	PromptArg  = "arg"  // paw passes the first prompt as the last argument
	PromptSend = "send" // paw types the first prompt once the CLI is ready
)

// Preset is a named set of agents to start.
type Preset struct {
	CLI      []string `toml:"cli,omitempty" json:"cli,omitempty"`           // items of the form [AGENT=]CLI
	Branches []string `toml:"branches,omitempty" json:"branches,omitempty"` // as many as CLI, one for each; or, with one CLI, one agent per branch
	Base     string   `toml:"base,omitempty" json:"base,omitempty"`         // commit or branch that new branches start from, "" for HEAD
}

// Host is another machine that runs paw, reached by ssh.
type Host struct {
	// SSH is the destination: a name of the user's ssh configuration, or [USER@]HOST.
	SSH string `toml:"ssh,omitempty" json:"ssh"`
	// Repos maps the path of a main checkout on this machine to the path of a checkout on the host,
	// absolute or relative to the home folder.
	Repos map[string]string `toml:"repos,omitempty" json:"repos,omitempty"`
	// Paw is the path of the program paw on the host, absolute or relative to the home folder.
	Paw string `toml:"paw,omitempty" json:"paw,omitempty"`
	// Env names the variables that are passed on when an agent is launched on the host.
	Env []string `toml:"env,omitempty" json:"env,omitempty"`
	// Patience is how long, in seconds, a command waits for an answer of the host; 0 means
	// DefaultPatience.
	Patience int `toml:"patience,omitempty" json:"patience,omitempty"`
}

// DefaultPatience is how long, in seconds, a command waits for an answer of a host.
const DefaultPatience = 2

// Default returns the configuration without any file or variable.
func Default() Config {
	return Config{
		DefaultCLI: "claude",
		Worktree:   Worktree{Path: "{parent}/{repo}.paw/{session}/{agent}", Include: true, SetupSeconds: 900, TeardownSeconds: 120, MinFree: 2048},
		Tmux:       Tmux{Layout: LayoutTiled, Bell: true, Counts: true},
		Turns:      Turns{SnapshotSeconds: 3, SnapshotMiB: 512},
		Agents:     Agents{MaxDepth: 3, MaxChildren: 8, BriefKiB: 64},
		Notify:     Notify{Events: []string{NotifyWaiting, NotifyFinished, NotifyError, NotifyLimit, NotifyHeld}, Dwell: 5},
		Queue:      Queue{Max: 3, Starts: 50, KeepDays: 14},
		Limits:     Limits{Then: ThenTell, Times: 2, Prompt: "The usage limit has reset. Go on where you stopped."},
		CLIs:       map[string]CLI{},
		Presets:    map[string]Preset{},
		Prompts:    map[string]string{},
		Hosts:      map[string]Host{},
	}
}
