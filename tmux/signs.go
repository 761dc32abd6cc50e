package tmux

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/display"
	"paw/config/lazyregexp"
)

// States that have a sign of their own. The names are those of package session, which tmux may not
// import.
const (
	waiting = "waiting_input"
	running = "running"
	failed  = "error"
	resting = "idle"
)

// Styles for states that need the user, visible on a status line of any colour.
const (
	waitingStyle = "#[fg=black]#[bg=yellow]#[bold]"
	failedStyle  = "#[fg=colour255]#[bg=colour160]#[bold]"
)

// stateStyles maps a state to the style of its border. A waiting agent's border is filled, so that
// it stands out among ten.
var stateStyles = []struct{ state, style string }{
	{waiting, waitingStyle + "#[fill=yellow]"},
	{failed, "#[fg=red]#[bold]"},
	{running, "#[fg=green]"},
	{"waiting_children", "#[fg=yellow]"},
	{"suspended", "#[fg=yellow]"},
	{"unknown", "#[fg=magenta]"},
	{resting, "#[dim]"},
	{"completed", "#[dim]"},
}

// styleOf returns the style of a state, "" for an unknown one.
func styleOf(state string) string {
	for _, s := range stateStyles {
		if s.state == state {
			return s.style
		}
	}
	return ""
}

// stateStyle returns a format that expands to the style of the pane's state. The conditions follow
// each other instead of nesting: tmux before 3.3 gives up on ten levels.
func stateStyle() string {
	format := ""
	for _, s := range stateStyles {
		format += "#{?#{==:#{@paw_state}," + s.state + "}," + s.style + ",}"
	}
	return format
}

// agentName and ownSession are formats for the two parts of @paw_agent, SESSION/AGENT. A pane keeps
// the option when the user moves the pane to another session.
const (
	agentName  = `#{s|.*/||:@paw_agent}`
	ownSession = `#{s|/.*||:@paw_agent}`
)

// ended is a format that tells how the program of a dead pane ended.
const ended = `ended#{?#{!=:#{pane_dead_signal},}, by signal #{pane_dead_signal},` +
	`#{?#{!=:#{pane_dead_status},}, with status #{pane_dead_status},}}`

// roomForEnd is the least width, in columns, of a border that shows how a program ended besides the
// command to recover it.
const roomForEnd = "56"

const deadText = agentName + `: #{?#{e|<|:#{pane_width},` + roomForEnd + `},ended,` + ended + `}#, paw recover ` + ownSession

// deadStyle is the style of a dead pane: after exit status 0 the style of an idle agent, else of a
// failed agent.
var deadStyle = "#{?#{==:#{pane_dead_status},0}," + styleOf(resting) + "," + styleOf(failed) + "}"

// borderFormat shows an agent's label in the colour of its state or, in a dead pane, the command to
// recover the agent. A pane of the user in the same window shows tmux's default. The last part runs
// AgentPane.Refresh, and shows nothing.
var borderFormat = "#{?@paw_agent," +
	"#{?pane_dead," + deadStyle + " " + deadText + "," + stateStyle() + " #{@paw_label}} ," +
	" #{pane_index} #{pane_title} }#{E:" + refreshOption + "}"

// counted returns a format for the number of panes in a state; panes is panesOfWindow or
// panesOfSession.
func counted(state, panes string) string {
	one := "#{?#{==:#{@paw_state}," + state + "},x,}"
	return "#{n:" + strings.ReplaceAll(panes, "*", one) + "}"
}

const (
	panesOfWindow  = "#{P:*}"
	panesOfSession = "#{W:#{P:*}}"
)

// windowFormat returns the format of an entry in the window list: the label of an agent that is
// alone in its window; the names of its agents for one of several windows of agents; else the
// window's name. A window whose agents wait for the user is marked with their number.
func windowFormat() string {
	waits := counted(waiting, panesOfWindow)
	alone := "#{&&:#{@paw_agent},#{==:#{window_panes},1}}"
	several := "#{&&:#{==:#{window_name}," + agentsWindow + "},#{!=:#{session_windows},1}}"
	names := "#{=/24/…:#{P:#{?@paw_agent,#{?#{e|>|:#{pane_index},#{pane-base-index}}, ,}" + agentName + ",}}}"
	return "#{?" + waits + "," + waitingStyle + ",}#I:#{?" + alone + ",#{@paw_label},#{?" + several + "," + names + ",#{window_name}}" +
		"#{?" + waits + ", " + waits + " wait,}}#{?window_flags,#{window_flags}, }"
}

// statusRight returns a format that counts the session's agents by state, those that need the user
// first, followed by the user's own status-right.
func statusRight() string {
	format := ""
	for _, one := range []struct{ state, style, word string }{
		{waiting, waitingStyle, "wait"}, {failed, failedStyle, "failed"}, {running, "", "run"}, {resting, "", "idle"},
	} {
		n := counted(one.state, panesOfSession)
		format += "#{?" + n + "," + one.style + " " + n + " " + one.word + " #[default],}"
	}
	return format + "#{?" + leaves + ",#{" + leaves + "} #{?client_last_session,L goes back,d leaves},#{?#{e|<|:#{client_width}," + roomForUsers + "},, #{T:" + usersStatusRight + "}}}"
}

const (
	// usersStatusRight is a session option that keeps the user's status-right.
	usersStatusRight = "@paw_status_right"
	// leaves is a session option with the prefix key where status-right is tmux's default: a user without a status line
	// of their own is told how to leave tmux, or how to go back to the session that the terminal has shown before.
	leaves = "@paw_leaves"
	// roomForUsers is the least width, in columns, of a terminal that also shows the user's
	// status-right; on a narrower one the window list gets the space.
	roomForUsers = "100"
	// roomForCounts is how many columns paw adds to status-right-length.
	roomForCounts = "40"
	// roomForName is the least status-left-length; tmux's default of 10 would cut a session's name.
	roomForName = "30"
)

// statusOptions returns the commands that put the counts before the user's own status-right, in one
// session.
func statusOptions(session string) []command {
	set := func(words ...string) command { return append(command{"set-option", "-q", "-t", session}, words...) }
	return []command{
		set("-F", usersStatusRight, "#{status-right}"),
		set("-F", leaves, "#{?#{m:*=21:pane_title*,#{"+usersStatusRight+"}}, #{prefix},}"),
		set("-F", "status-right-length", "#{e|+|:#{status-right-length},"+roomForCounts+"}"),
		set("-F", "status-left-length", "#{?#{e|<|:#{status-left-length},"+roomForName+"},"+roomForName+",#{status-left-length}}"),
		set("status-right", statusRight()),
	}
}

// bellOption is a session option: set, agents that begin to wait for the user ring the bell.
const bellOption = "@paw_bell"

// ring returns the command that rings the bell of a pane whose agent begins to wait, as if the
// pane's program had rung: the user's bell options apply. The command must come before the new
// @paw_state is set.
func ring(pane string) command {
	begins := "#{&&:#{" + bellOption + "},#{!=:#{@paw_state}," + waiting + "}}"
	return command{"if-shell", "-F", "-t", pane, begins,
		script([]command{{"run-shell", "-b", "-t", pane, `printf '\\007' > #{pane_tty}`}})}
}

// labelOptions returns the commands that set a pane's label and state.
func labelOptions(pane string, l Label) []command {
	return []command{
		{"set-option", "-p", "-t", pane, "@paw_label", plainLabel(l.Text)},
		{"set-option", "-p", "-t", pane, "@paw_state", l.State},
	}
}

// plainLabel returns the label as one line in which tmux sees no #[style].
func plainLabel(label string) string {
	return strings.ReplaceAll(display.OneLine(label), "#", "##")
}

// SetLabels sets the labels of panes, by pane id, with one client call. The bell of a pane rings
// when its agent begins to wait for the user.
func (c *Client) SetLabels(ctx context.Context, labels map[string]Label) error {
	var commands []command
	for _, id := range slices.Sorted(maps.Keys(labels)) {
		if err := checkID('%', id); err != nil {
			return err
		}
		if labels[id].State == waiting {
			commands = append(commands, ring(id))
		}
		commands = append(commands, labelOptions(id, labels[id])...)
	}
	_, err := c.callPieces(ctx, commands)
	return err
}

// Timer describes a program that tmux runs once, after a delay. A pane can have several timers of
// one name: the program started by an earlier one learns from TimerMark that a later one has
// replaced it.
type Timer struct {
	Name    string // letters and digits; "" for the timers that existed before timers had names
	Pane    string // id of the pane that the timer belongs to
	Mark    string // a word that is new for each chain of timers
	After   time.Duration
	Program string
	Words   []string
	// Env is the whole environment of the program.
	Env map[string]string
}

// argument matches a word that a shell does not expand.
var argument = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)

// variable matches a name that is safe in a shell command.
var variable = lazyregexp.New(`^[A-Z_][A-Z0-9_]*$`)

// timerMark returns the pane option that keeps the mark of the last timer of a name.
func timerMark(name string) string {
	if name == "" {
		return "@paw_timer"
	}
	return "@paw_timer_" + name
}

// SetTimer starts a timer. The program's path and environment are passed through the session's
// environment, in variables that start with PAW_TIMER_; the shell command holds only words.
func (c *Client) SetTimer(ctx context.Context, sessionID string, t Timer) error {
	if err := errors.Join(checkID('$', sessionID), checkID('%', t.Pane)); err != nil {
		return err
	}
	for _, word := range append([]string{t.Mark, "x" + t.Name}, t.Words...) {
		if !argument().MatchString(word) {
			return errors.New("timer: not a word: " + word)
		}
	}
	set := func(name, value string) command {
		return command{"set-environment", "-t", sessionID, "PAW_TIMER_" + name, value}
	}
	commands := []command{set("PROGRAM", t.Program)}
	shell := "env -i"
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		if !variable().MatchString(name) {
			return errors.New("timer: not a variable: " + name)
		}
		commands = append(commands, set(name, t.Env[name]))
		shell += ` ` + name + `="$PAW_TIMER_` + name + `"`
	}
	shell += ` "$PAW_TIMER_PROGRAM" ` + strings.Join(t.Words, " ")
	shell += ` >/dev/null 2>&1 || :` // tmux shows output and failures in view mode, which takes the pane's keys
	delay := strconv.FormatFloat(t.After.Seconds(), 'f', -1, 64)
	_, err := c.callPieces(ctx, append(commands,
		command{"set-option", "-p", "-t", t.Pane, timerMark(t.Name), t.Mark},
		command{"run-shell", "-b", "-d", delay, "-t", t.Pane, shell}))
	return err
}

// StopTimer sets the mark of the pane's last timer of that name to "off". The program of the timer
// still runs, and learns it from TimerMark.
func (c *Client) StopTimer(ctx context.Context, pane, name string) error {
	_, err := c.onPane(ctx, pane, "set-option", "-p", timerMark(name), "off")
	return err
}

// TimerMark returns the mark of the pane's last timer of that name, "" without a timer or without
// that pane.
func (c *Client) TimerMark(ctx context.Context, pane, name string) (string, error) {
	return c.fact(ctx, pane, "#{"+timerMark(name)+"}")
}
