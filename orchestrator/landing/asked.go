package landing

import "paw/orchestrator/app"

// asked is the command line that is being carried out: the command, and what it names. Hints repeat it with a change.
type asked struct {
	app.Agent
	command string
	turn    string // number of a turn, "" for the present state
	into    string // branch, "" for the session's target
}

// name returns the agent as the user calls it.
func (a asked) name() string { return a.Session.Name + "/" + a.Record.Name }

// writes reports whether the command writes into the agent's worktree.
func (a asked) writes() bool { return a.command == "update" }

// line returns the command about this agent, with changed flags.
func (a asked) line(flags ...app.Flag) string { return a.lineAt(a.turn, flags...) }

// lineAt is line for the end of a turn, or with "" for the present state.
func (a asked) lineAt(turn string, flags ...app.Flag) string {
	if a.into != "" {
		flags = append([]app.Flag{a.branch(a.into)}, flags...)
	}
	words := a.name()
	switch {
	case a.command == "forecast": // of all agents
		words, flags = "", append([]app.Flag{a.App.Place().Flag(a.Session.Name)}, flags...)
	case turn != "":
		words += "@" + turn
	}
	return a.Line(a.command, words, flags...)
}

// lineInto is line for another branch.
func (a asked) lineInto(branch string) string {
	a.into = branch
	return a.line()
}

// branch returns the flag that names a branch; the session's target needs none.
func (a asked) branch(name string) app.Flag {
	flag := map[string]string{"pr": "base", "update": "from"}[a.command]
	if flag == "" {
		flag = "into"
	}
	return app.Flag{Name: flag, Values: []string{name}, Off: name == a.Session.Target}
}

// conflictLine returns the command that has an agent resolve the conflicts of its work with a branch.
func (a asked) conflictLine(branch string) string {
	a.command, a.turn = "send", ""
	return a.Line("send", a.name(), app.With("conflict"), a.branch(branch))
}

// squashed is the flag that lands the same as one commit.
var squashed = app.With("as", string(Squash))
