// Package config merges the defaults, the user's config.toml, the .paw.toml of a repository and the
// PAW_* variables. A later source wins over an earlier one, except where the user's word holds
// against a repository.
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
	// Prompts are texts of prompts that are used again, by their names.
	Prompts map[string]string `toml:"prompts,omitempty" json:"prompts"`
	Hosts   map[string]Host   `toml:"hosts,omitempty" json:"hosts"`
}

// Worktree says where worktrees lie, and what a new one is given.
type Worktree struct {
	// Path is the template that [Config.WorktreePath] expands.
	Path string `toml:"path" json:"path"`
	// Copy and Link are patterns of ignored files, relative to the main checkout and inside of it.
	Copy []string `toml:"copy" json:"copy"`
	Link []string `toml:"link" json:"link"`
	// Include copies the ignored files that a .worktreeinclude in the main checkout names.
	Include bool `toml:"include" json:"include"`
	// Ports is how many consecutive ports each agent gets, 0 for none.
	Ports int `toml:"ports" json:"ports"`
	// Env are variables of each agent, as the templates that [Fill] expands.
	Env map[string]string `toml:"env,omitempty" json:"env,omitempty"`
	// Setup is a shell command to run in each new worktree, "" for none.
	Setup string `toml:"setup" json:"setup"`
	// Teardown is a shell command to run in each worktree before it goes, "" for none.
	Teardown string `toml:"teardown" json:"teardown"`
	// TeardownSeconds is how long Teardown may take.
	TeardownSeconds int `toml:"teardown_seconds" json:"teardown_seconds"`
	// MinFree is how many MiB copies have to leave free on the disk of the worktrees; 0 copies without a look.
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
	// Counts shows in tmux's status line how many agents are in each state.
	Counts bool `toml:"counts" json:"counts"`
	// Log keeps the output of the panes of agents in files.
	Log bool `toml:"log" json:"log"`
}

// The values of Tmux.Layout.
const (
	LayoutTiled   = "tiled"   // all agents in one window
	LayoutWindows = "windows" // one window per agent
)

// Turns limits a snapshot that a hook of a CLI waits for.
type Turns struct {
	SnapshotSeconds int `toml:"snapshot_seconds" json:"snapshot_seconds"`
	SnapshotMiB     int `toml:"snapshot_mib" json:"snapshot_mib"` // 1024 * 1024 bytes
}

// Agents limits the agents that agents start, and the conversation that one hands over.
type Agents struct {
	MaxDepth    int `toml:"max_depth" json:"max_depth"`       // generations below the first
	MaxChildren int `toml:"max_children" json:"max_children"` // children of one agent
	BriefKiB    int `toml:"brief_kib" json:"brief_kib"`       // 1024 bytes of a conversation
}

// Land says what work has to pass before it lands.
type Land struct {
	// Checks are shell commands that run on what would land, in this order.
	Checks []string `toml:"checks" json:"checks"`
}

// Notify says when and how the user gets notices outside of the panes.
type Notify struct {
	// Events are the events that a notice is sent of: NotifyWaiting and the others.
	Events []string `toml:"events" json:"events"`
	// Command is a shell command that gets a notice as JSON on its standard input, "" for none.
	Command string `toml:"command" json:"command"`
	// Desktop sends notices to the desktop: notify-send, osascript.
	Desktop bool `toml:"desktop" json:"desktop"`
	// OSC is the number of the escape sequence that has a terminal show a notice: "9", "777" or "99";
	// "" for none.
	OSC string `toml:"osc" json:"osc"`
	// Webhook is a URL that a notice without its text is posted to, "" for none.
	Webhook string `toml:"webhook" json:"webhook"`
	// Dwell is for how many seconds a state has to last before a notice of it is sent.
	Dwell int `toml:"dwell" json:"dwell"`
}

// Any reports whether there is any way to send a notice.
func (n Notify) Any() bool { return n.Command != "" || n.Desktop || n.OSC != "" || n.Webhook != "" }

// The values of Notify.Events.
const (
	NotifyWaiting  = "waiting"  // an agent waits for an answer
	NotifyFinished = "finished" // a turn is finished
	NotifyError    = "error"    // a turn has failed
	NotifyLimit    = "limit"    // a usage limit is reached
	NotifyHeld     = "held"     // a task of the queue is held, and not by the user
)

// Queue limits what the queue of a session begins.
type Queue struct {
	// Max is how many agents the queue keeps at work at the same time.
	Max int `toml:"max" json:"max"`
	// Starts is how many launches and prompts a queue makes in one session.
	Starts int `toml:"starts" json:"starts"`
}

// Limits says what to do about a turn that a usage limit has ended.
type Limits struct {
	// Then is ThenTell, ThenContinue, or ThenHandOver with the CLIs of which one takes over.
	Then string `toml:"then" json:"then"`
	// Times is how often in a row that is done for one turn.
	Times int `toml:"times" json:"times"`
	// Prompt is what is typed once the limit is lifted.
	Prompt string `toml:"prompt" json:"prompt"`
}

// HandOver are the CLIs of which one takes over, none for the other values of Then.
func (l Limits) HandOver() []string {
	clis, hands := strings.CutPrefix(l.Then, ThenHandOver)
	if !hands {
		return nil
	}
	return strings.Split(strings.ReplaceAll(clis, " ", ""), ",")
}

// The values of Limits.Then; the names of CLIs come behind the last one.
const (
	ThenTell     = "tell"
	ThenContinue = "continue"
	ThenHandOver = "handover:"
)

// CLI holds the settings of one CLI: changes to one that paw knows, or all there is about another.
type CLI struct {
	// Command is the program and its first arguments; a CLI that paw does not know always has one.
	Command []string `toml:"command,omitempty" json:"command,omitempty"`
	// Resume are the arguments that resume the conversation {id}.
	Resume []string `toml:"resume,omitempty" json:"resume,omitempty"`
	// Args are further arguments of every launch.
	Args []string `toml:"args,omitempty" json:"args,omitempty"`
	// Prompt is PromptArg, PromptSend, or "" for the way that paw knows.
	Prompt string `toml:"prompt,omitempty" json:"prompt,omitempty"`
	// Env are variables added to the environment.
	Env map[string]string `toml:"env,omitempty" json:"env,omitempty"`
	// GitWritable opens the git directories to the CLI's sandbox.
	GitWritable bool `toml:"git_writable,omitempty" json:"git_writable,omitempty"`
}

// The values of CLI.Prompt.
const (
	PromptArg  = "arg"  // the first prompt is the last argument
	PromptSend = "send" // the first prompt is typed once the CLI is ready
)

// Preset is a named set of agents to start.
type Preset struct {
	CLI      []string `toml:"cli,omitempty" json:"cli,omitempty"`           // items [AGENT=]CLI
	Branches []string `toml:"branches,omitempty" json:"branches,omitempty"` // paired with CLI, or one agent each
	Base     string   `toml:"base,omitempty" json:"base,omitempty"`         // where missing branches start, "" for HEAD
}

// Host is another machine that runs paw, reached by ssh.
type Host struct {
	// SSH is the destination: a name of the user's ssh configuration, or [USER@]HOST.
	SSH string `toml:"ssh,omitempty" json:"ssh"`
	// Repos maps main checkouts here to checkouts there, which are absolute or below the home folder.
	Repos map[string]string `toml:"repos,omitempty" json:"repos,omitempty"`
	// Paw is the program there, absolute or below the home folder.
	Paw string `toml:"paw,omitempty" json:"paw,omitempty"`
	// Env names the variables that are handed over when agents are launched there.
	Env []string `toml:"env,omitempty" json:"env,omitempty"`
	// Patience is for how many seconds a command waits for an answer; 0 is DefaultPatience.
	Patience int `toml:"patience,omitempty" json:"patience,omitempty"`
}

// DefaultPatience is for how many seconds a command waits for the answer of a host.
const DefaultPatience = 2

// Default returns the configuration of a user who set nothing.
func Default() Config {
	return Config{
		DefaultCLI: "claude",
		Worktree:   Worktree{Path: "{parent}/{repo}.paw/{session}/{agent}", Include: true, TeardownSeconds: 120, MinFree: 2048},
		Tmux:       Tmux{Layout: LayoutTiled, Bell: true, Counts: true},
		Turns:      Turns{SnapshotSeconds: 3, SnapshotMiB: 512},
		Agents:     Agents{MaxDepth: 3, MaxChildren: 8, BriefKiB: 64},
		Notify:     Notify{Events: []string{NotifyWaiting, NotifyFinished, NotifyError, NotifyLimit, NotifyHeld}, Dwell: 5},
		Queue:      Queue{Max: 3, Starts: 50},
		Limits:     Limits{Then: ThenTell, Times: 2, Prompt: "The usage limit has reset. Go on where you stopped."},
		CLIs:       map[string]CLI{},
		Presets:    map[string]Preset{},
		Prompts:    map[string]string{},
		Hosts:      map[string]Host{},
	}
}
