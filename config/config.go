// Package config reads what the user and the repository set: the defaults, the
// user's config.toml, the repository's .paw.toml and the PAW_* environment, in
// that order, the later ones winning.
//
// It knows the names of paw's files, but nothing of git, of tmux or of running
// a program, and it imports nothing else of paw.
//
// One invariant: a text that came with a repository and that could run, or
// change what runs, is in a Config only after the user trusted exactly that
// text.
package config

// Config is what applies once every source is merged.
type Config struct {
	// DefaultCLI is the program of an agent when none is asked for.
	DefaultCLI string            `toml:"default_cli" json:"default_cli"`
	Worktree   Worktree          `toml:"worktree" json:"worktree"`
	Tmux       Tmux              `toml:"tmux" json:"tmux"`
	Turns      Turns             `toml:"turns" json:"turns"`
	Agents     Agents            `toml:"agents" json:"agents"`
	Land       Land              `toml:"land" json:"land"`
	Notify     Notify            `toml:"notify" json:"notify"`
	CLIs       map[string]CLI    `toml:"clis,omitempty" json:"clis"`
	Presets    map[string]Preset `toml:"presets,omitempty" json:"presets"`
}

// Worktree says where worktrees lie and what is put into a new one.
type Worktree struct {
	// Path is a template; see [Config.WorktreePath].
	Path string `toml:"path" json:"path"`
	// Copy and Link name ignored files of the main checkout by patterns that
	// are relative to it and never leave it.
	Copy []string `toml:"copy" json:"copy"`
	Link []string `toml:"link" json:"link"`
	// Setup is a shell command that runs in each new worktree, "" for none.
	Setup string `toml:"setup" json:"setup"`
}

// Tmux says which server is used and how panes are arranged.
type Tmux struct {
	// Socket is "" for the user's own server, a name (tmux -L) or an absolute
	// path (tmux -S).
	Socket string `toml:"socket" json:"socket"`
	// Layout is LayoutTiled or LayoutWindows.
	Layout string `toml:"layout" json:"layout"`
	// Bell has agents ring that begin to wait for their user.
	Bell bool `toml:"bell" json:"bell"`
	// Counts has the status line of paw's own sessions count the agents by what they do.
	Counts bool `toml:"counts" json:"counts"`
	// Log keeps what is written to the panes of agents.
	Log bool `toml:"log" json:"log"`
}

// The values of Tmux.Layout.
const (
	LayoutTiled   = "tiled"   // all agents in one window
	LayoutWindows = "windows" // one window per agent
)

// Turns is the budget of a snapshot that is taken inside a hook.
type Turns struct {
	SnapshotSeconds int `toml:"snapshot_seconds" json:"snapshot_seconds"` // seconds
	SnapshotMiB     int `toml:"snapshot_mib" json:"snapshot_mib"`         // 1024 * 1024 bytes
}

// Agents limits how far agents may start other agents, and what they hand over.
type Agents struct {
	MaxDepth    int `toml:"max_depth" json:"max_depth"`       // generations below the first
	MaxChildren int `toml:"max_children" json:"max_children"` // children of one agent
	BriefKiB    int `toml:"brief_kib" json:"brief_kib"`       // of a conversation told to another CLI, 1024 bytes
}

// Land is what work has to pass before it lands.
type Land struct {
	// Checks are shell commands that run on what would land, in this order.
	Checks []string `toml:"checks" json:"checks"`
}

// Notify is when and how the user is told outside of the panes.
type Notify struct {
	// Events are those of which he is told: NotifyWaiting and the others.
	Events []string `toml:"events" json:"events"`
	// Command is a shell command that gets the notice as JSON on its standard input, "" for none.
	Command string `toml:"command" json:"command"`
	// Desktop shows notifications of the desktop.
	Desktop bool `toml:"desktop" json:"desktop"`
	// OSC is the number of the escape sequence by which the terminal shows a notification: "9", "777" or "99"; "" for none.
	OSC string `toml:"osc" json:"osc"`
	// Webhook is a URL that names and state are posted to, "" for none.
	Webhook string `toml:"webhook" json:"webhook"`
	// Dwell is for how long something has to be so, in seconds; at 0 it is told at once.
	Dwell int `toml:"dwell" json:"dwell"`
}

// Any reports whether the user is told in any way.
func (n Notify) Any() bool { return n.Command != "" || n.Desktop || n.OSC != "" || n.Webhook != "" }

// The values of Notify.Events.
const (
	NotifyWaiting  = "waiting"  // an agent waits for an answer
	NotifyFinished = "finished" // a turn is finished
	NotifyError    = "error"    // a turn has failed
	NotifyLimit    = "limit"    // a usage limit is reached
)

// CLI is what is set for one program: changes to a built-in one, or everything
// about another one.
type CLI struct {
	// Command is the program and its first arguments; a program that is not
	// built in always has one.
	Command []string `toml:"command,omitempty" json:"command,omitempty"`
	// Resume is added to continue the conversation {id}.
	Resume []string `toml:"resume,omitempty" json:"resume,omitempty"`
	// Args is added to every launch.
	Args []string `toml:"args,omitempty" json:"args,omitempty"`
	// Prompt is PromptArg, PromptSend, or "" for the program's own way.
	Prompt string `toml:"prompt,omitempty" json:"prompt,omitempty"`
	// Env is added to the environment.
	Env map[string]string `toml:"env,omitempty" json:"env,omitempty"`
	// GitWritable opens the git directories to the program's sandbox.
	GitWritable bool `toml:"git_writable,omitempty" json:"git_writable,omitempty"`
}

// The values of CLI.Prompt.
const (
	PromptArg  = "arg"  // the first prompt is the last argument
	PromptSend = "send" // the first prompt is typed once the program is ready
)

// Preset is a named set of agents to start.
type Preset struct {
	CLI      []string `toml:"cli,omitempty" json:"cli,omitempty"`           // items [AGENT=]CLI
	Branches []string `toml:"branches,omitempty" json:"branches,omitempty"` // paired with CLI, or one agent each
	Base     string   `toml:"base,omitempty" json:"base,omitempty"`         // where missing branches start, "" for HEAD
}

// Default returns the configuration of a user who set nothing.
func Default() Config {
	return Config{
		DefaultCLI: "claude",
		Worktree:   Worktree{Path: "{parent}/{repo}.paw/{session}/{agent}"},
		Tmux:       Tmux{Layout: LayoutTiled, Bell: true, Counts: true},
		Turns:      Turns{SnapshotSeconds: 3, SnapshotMiB: 512},
		Agents:     Agents{MaxDepth: 3, MaxChildren: 8, BriefKiB: 64},
		Notify:     Notify{Events: []string{NotifyWaiting, NotifyFinished, NotifyError, NotifyLimit}, Dwell: 5},
		CLIs:       map[string]CLI{},
		Presets:    map[string]Preset{},
	}
}
