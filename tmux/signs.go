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

// The states that have a sign of their own. They are the names of package session, which is not known here.
const (
	waiting = "waiting_input"
	running = "running"
	failed  = "error"
	resting = "idle"
)

// The styles of what has to be seen, also on a status line of any colour.
const (
	waitingStyle = "#[fg=black]#[bg=yellow]#[bold]"
	failedStyle  = "#[fg=white]#[bg=red]#[bold]"
)

// stateStyles are the styles of states on borders. One that waits for its user fills its border, so that it is seen
// among ten.
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

// styleOf is a format with the style of a state.
func styleOf(state string) string {
	for _, s := range stateStyles {
		if s.state == state {
			return s.style
		}
	}
	return ""
}

// stateStyle is a format with the style of the pane's state. The conditions stand side by side: tmux before 3.3 gives up
// on formats that are nested ten deep.
func stateStyle() string {
	format := ""
	for _, s := range stateStyles {
		format += "#{?#{==:#{@paw_state}," + s.state + "}," + s.style + ",}"
	}
	return format
}

// agentName is the agent's name out of @paw_agent, and ownSession its session's: the option stays with a pane that the
// user moves elsewhere.
const (
	agentName  = `#{s|.*/||:@paw_agent}`
	ownSession = `#{s|/.*||:@paw_agent}`
)

// ended is the part of a border or a dead pane's last line that says how its program ended.
const ended = `ended#{?#{!=:#{pane_dead_signal},}, by signal #{pane_dead_signal},` +
	`#{?#{!=:#{pane_dead_status},}, with status #{pane_dead_status},}}`

// roomForEnd is how many columns a border needs to say how a program ended and what to do; less have the command alone.
const roomForEnd = "56"

// deadText is what the border says of an agent whose program has ended.
const deadText = agentName + `: #{?#{e|<|:#{pane_width},` + roomForEnd + `},ended,` + ended + `}#, paw recover ` + ownSession

// deadStyle is that of a program that ended with 0, or of another.
var deadStyle = "#{?#{==:#{pane_dead_status},0}," + styleOf(resting) + "," + styleOf(failed) + "}"

// borderFormat shows an agent's label in the colour of its state and, once its program has ended, how to go on; a user's
// pane in the same window shows what tmux shows by default. The lines of the border keep the user's own style. At its end
// the program runs that sets labels anew, see AgentPane.Refresh.
var borderFormat = "#{?@paw_agent," +
	"#{?pane_dead," + deadStyle + " " + deadText + "," + stateStyle() + " #{@paw_label}} ," +
	" #{pane_index} #{pane_title} }#{E:" + refreshOption + "}"

// counted is a format with the number of panes in a state, of those that panes loops over.
func counted(state, panes string) string {
	one := "#{?#{==:#{@paw_state}," + state + "},x,}"
	return "#{n:" + strings.ReplaceAll(panes, "*", one) + "}"
}

const (
	panesOfWindow  = "#{P:*}"
	panesOfSession = "#{W:#{P:*}}"
)

// windowFormat is a window in the window list. An agent that has it for itself shows its label; where the agents have
// several windows, each names those in it; any other shows its name. A window in which an agent waits for its user is
// marked, with how many do.
func windowFormat() string {
	waits := counted(waiting, panesOfWindow)
	alone := "#{&&:#{@paw_agent},#{==:#{window_panes},1}}"
	several := "#{&&:#{==:#{window_name}," + agentsWindow + "},#{!=:#{session_windows},1}}"
	names := "#{=/24/…:#{P:#{?@paw_agent,#{?#{e|>|:#{pane_index},#{pane-base-index}}, ,}" + agentName + ",}}}"
	return "#{?" + waits + "," + waitingStyle + ",}#I:#{?" + alone + ",#{@paw_label},#{?" + several + "," + names + ",#{window_name}}" +
		"#{?" + waits + ", " + waits + " wait,}}#{?window_flags,#{window_flags}, }"
}

// statusRight counts the agents of the session by their states, those that need their user first, before what the user
// has there.
func statusRight() string {
	format := ""
	for _, one := range []struct{ state, style, word string }{
		{waiting, waitingStyle, "wait"}, {failed, failedStyle, "failed"}, {running, "", "run"}, {resting, "", "idle"},
	} {
		n := counted(one.state, panesOfSession)
		format += "#{?" + n + "," + one.style + " " + n + " " + one.word + " #[default],}"
	}
	return format + "#{?#{e|<|:#{client_width}," + roomForUsers + "},, #{T:" + usersStatusRight + "}}"
}

const (
	// usersStatusRight keeps what the user's own status line has on the right, of which paw's session shows the counts first.
	usersStatusRight = "@paw_status_right"
	// roomForUsers is how wide a terminal is that shows the user's own part, too: the windows need the room more.
	roomForUsers = "100"
	// roomForCounts is how many columns more the right side of the status line gets.
	roomForCounts = "40"
	// roomForName is how many columns the name of a session gets at least, in which tmux's own 10 would cut it.
	roomForName = "30"
)

// statusOptions put the counts into the status line of one session. What the user has there stays, behind them.
func statusOptions(session string) []command {
	set := func(words ...string) command { return append(command{"set-option", "-q", "-t", session}, words...) }
	return []command{
		set("-F", usersStatusRight, "#{status-right}"),
		set("-F", "status-right-length", "#{e|+|:#{status-right-length},"+roomForCounts+"}"),
		set("-F", "status-left-length", "#{?#{e|<|:#{status-left-length},"+roomForName+"},"+roomForName+",#{status-left-length}}"),
		set("status-right", statusRight()),
	}
}

// bellOption says on a session that agents which begin to wait for their user ring.
const bellOption = "@paw_bell"

// ring rings the bell of a pane whose agent begins to wait: tmux treats that as if its program had rung, by the user's own
// options. It comes before the new state is set.
func ring(pane string) command {
	begins := "#{&&:#{" + bellOption + "},#{!=:#{@paw_state}," + waiting + "}}"
	return command{"if-shell", "-F", "-t", pane, begins,
		script([]command{{"run-shell", "-b", "-t", pane, `printf '\\007' > #{pane_tty}`}})}
}

// labelOptions set what a border says.
func labelOptions(pane string, l Label) []command {
	return []command{
		{"set-option", "-p", "-t", pane, "@paw_label", plainLabel(l.Text)},
		{"set-option", "-p", "-t", pane, "@paw_state", l.State},
	}
}

// plainLabel is one line without tmux's #[style] markup.
func plainLabel(label string) string {
	return strings.ReplaceAll(display.OneLine(label), "#", "##")
}

// SetLabels changes what the borders of panes show, by their ids, with one client call. A pane whose state becomes that of
// waiting for its user rings.
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

// Timer has tmux run a program once, after a delay. Of several timers of a pane with the same name the last one counts: a
// program that was started by an earlier one can tell by TimerMark.
type Timer struct {
	Name    string // a word, "" for the first kind of timers that there was
	Pane    string // its id
	Mark    string // a word, new for each chain of timers
	After   time.Duration
	Program string
	Words   []string // the arguments
	// Env is the whole environment of the program.
	Env map[string]string
}

// argument is what is safe in a shell command as it is.
var argument = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)

// variable is the name of an environment variable that is safe in a shell command.
var variable = lazyregexp.New(`^[A-Z_][A-Z0-9_]*$`)

// timerMark is the option of a pane that has the mark of its last timer of a name.
func timerMark(name string) string {
	if name == "" {
		return "@paw_timer"
	}
	return "@paw_timer_" + name
}

// SetTimer starts a timer. The program and its environment travel in the environment of the session, under names of
// their own; the shell command has only words.
func (c *Client) SetTimer(ctx context.Context, sessionID string, t Timer) error {
	if err := errors.Join(checkID('$', sessionID), checkID('%', t.Pane)); err != nil {
		return err
	}
	for _, word := range append([]string{t.Mark, "x" + t.Name}, t.Words...) {
		if !argument.MatchString(word) {
			return errors.New("timer: not a word: " + word)
		}
	}
	set := func(name, value string) command {
		return command{"set-environment", "-t", sessionID, "PAW_TIMER_" + name, value}
	}
	commands := []command{set("PROGRAM", t.Program)}
	shell := "exec env -i"
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		if !variable.MatchString(name) {
			return errors.New("timer: not a variable: " + name)
		}
		commands = append(commands, set(name, t.Env[name]))
		shell += ` ` + name + `="$PAW_TIMER_` + name + `"`
	}
	shell += ` "$PAW_TIMER_PROGRAM" ` + strings.Join(t.Words, " ")
	delay := strconv.FormatFloat(t.After.Seconds(), 'f', -1, 64)
	_, err := c.callPieces(ctx, append(commands,
		command{"set-option", "-p", "-t", t.Pane, timerMark(t.Name), t.Mark},
		command{"run-shell", "-b", "-d", delay, "-t", t.Pane, shell}))
	return err
}

// TimerMark is the mark of the last timer of a pane with that name, "" without one.
func (c *Client) TimerMark(ctx context.Context, pane, name string) (string, error) {
	return c.fact(ctx, pane, "#{"+timerMark(name)+"}")
}
