package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"paw/cmd/paw/ui/field"
	"paw/config/display"
)

// askStop asks whether to stop the agents that are meant or, if all are stopped, whether to remove
// them.
func askStop(m *Model, a Agent) tea.Cmd {
	all := meant(m, a)
	if !slices.ContainsFunc(all, func(a Agent) bool { return a.State != "stopped" }) {
		return m.asks(sure(fmt.Sprintf("remove %s, with the worktree? Turns stay, and the branch unless it has landed.", named(all)), "remove", func() tea.Cmd {
			return m.forSessions(all, func(session string, names []string) tea.Cmd {
				return m.openly(nil, append([]string{"remove", "--session", session}, names...)...)
			})
		}))
	}
	title := fmt.Sprintf("stop %s? Its branch, worktree and turns stay.", named(all))
	if len(all) > 1 {
		title = fmt.Sprintf("stop %s? Their branches, worktrees and turns stay.", named(all))
	}
	return m.asks(sure(title, "stop", func() tea.Cmd {
		return m.forSessions(all, func(session string, names []string) tea.Cmd {
			return m.quietly(append([]string{"stop", "--session", session}, names...)...)
		})
	}))
}

// askInterrupt asks whether to end the turn that runs.
func askInterrupt(m *Model, a Agent) tea.Cmd {
	return m.asks(sure(fmt.Sprintf("interrupt the turn of %s, as Esc in its pane does?", a.Name), "interrupt", func() tea.Cmd { return m.quietly("interrupt", a.Key()) }))
}

// askRecover asks whether to recover the agent's session, or several marked agents.
func askRecover(m *Model, a Agent) tea.Cmd {
	all := meant(m, a)
	if len(all) > 1 {
		return m.asks(sure(fmt.Sprintf("recover %s: same panes, same conversations?", named(all)), "recover", func() tea.Cmd {
			return m.forSessions(all, func(session string, names []string) tea.Cmd {
				return m.openly(nil, append(append([]string{"recover", session}, names...), "--detach")...)
			})
		}))
	}
	return m.asks(askBack(m, all[0], fmt.Sprintf("recover %s: same panes, same conversations?", all[0].Session), "y", "o"))
}

// askBack asks whether to recover the whole session or the agent alone; whole and alone are the
// keys.
func askBack(m *Model, a Agent, title, whole, alone string) *ask {
	words := map[string]string{whole: "all of " + a.Session, alone: "only " + a.Name}
	second := whole
	if second == "y" {
		second = alone
	}
	return &ask{title: title, keys: fmt.Sprintf("y %s · %s %s · any other key cancels", words["y"], second, words[second]), choose: map[string]string{whole: "all", alone: "one"},
		done: func(answer string) tea.Cmd {
			if answer == "all" {
				return m.openly(nil, "recover", a.Session, "--detach")
			}
			return m.openly(nil, "recover", a.Session, a.Name, "--detach")
		}}
}

// askPrompt lets the user write a prompt, and sends the prompt to the agents that are meant. The
// prompt stays a draft until it is sent. A prompt for several agents is the draft of the first one,
// unless that agent already has a draft.
func askPrompt(m *Model, a Agent) tea.Cmd {
	all := meant(m, a)
	a = all[0]
	draft := m.draft(a.Key())
	taken := len(all) > 1 && draft != ""
	if taken {
		draft = ""
	}
	keep := func(text string) {
		if taken || text == "" && m.draft(a.Key()) == "" {
			return
		}
		if err := m.keepDraft(a.Key(), text); err != nil {
			m.say(true, "the prompt is not kept: %s", display.FirstLine(err.Error()))
		}
	}
	return m.asks(&ask{title: "prompt for " + named(all), keys: sendKeys, several: true, text: field.Of(draft), keep: keep,
		done: func(prompt string) tea.Cmd {
			draft := m.draft(a.Key())
			if !taken {
				draft = ""
			}
			m.sending[a.Key()] = append(m.sending[a.Key()], prompt)
			if err := m.keepDraft(a.Key(), draft); err != nil {
				m.say(true, "the prompt is not kept: %s", display.FirstLine(err.Error()))
			}
			return m.forSessions(all, func(session string, names []string) tea.Cmd {
				return m.quietly("send", session+"/"+strings.Join(names, ","), "--", prompt)
			})
		}})
}

// askGoOn asks whether to tell the agents that are meant to go on, and names those whose turn needs no such
// prompt. Of an agent whose turn was cut it offers to tell all such agents of the session.
func askGoOn(m *Model, a Agent) tea.Cmd {
	all := meant(m, a)
	a = all[0]
	if len(all) == 1 && a.Exited {
		return askRecover(m, a)
	}
	able := slices.DeleteFunc(slices.Clone(all), func(a Agent) bool { return !a.goesOn() })
	others := slices.DeleteFunc(slices.Clone(all), Agent.goesOn)
	if len(able) == 0 {
		return m.say(true, "no turn of %s was cut or has failed", named(others))
	}
	tell := func(session string, names []string) tea.Cmd {
		return m.quietly("send", session+"/"+strings.Join(names, ","), "--", goOn)
	}
	question := sure("tell "+named(able)+" to go on?", "go on", func() tea.Cmd { return m.forSessions(able, tell) })
	if len(others) > 0 {
		question.lines = []string{"  no turn of " + named(others) + " was cut or has failed"}
	}
	if cut := m.roster.cutAgents(a.Session); len(all) == 1 && a.Cut && len(cut) > 1 {
		question.keys = fmt.Sprintf("y %s goes on · a all %d whose turns were cut · any other key cancels", a.Name, len(cut))
		question.choose["a"] = "a"
		yes := question.done
		question.done = func(answer string) tea.Cmd {
			if answer == "a" {
				return tell(a.Session, cut)
			}
			return yes(answer)
		}
	}
	return m.asks(question)
}

// goesOn reports whether the prompt "go on" makes sense: the turn was cut, or has failed in a CLI
// that still runs.
func (a Agent) goesOn() bool { return a.Cut || a.Failed && a.Pane != "" && !a.Exited }

// askRewind asks for the turn to rewind the files to, or for undo.
func askRewind(m *Model, a Agent) tea.Cmd {
	m.tab = tabTurns
	return m.asks(&ask{title: "rewind the files of " + a.Name + " to the end of turn", keys: "Enter rewinds · undo instead of a number takes the last rewind back · Esc cancels",
		done: func(answer string) tea.Cmd {
			if answer == "undo" {
				answer = "--undo"
			}
			return m.quietly("rewind", a.Key(), answer)
		}})
}

// askAdd asks for more agents of the session, and for a prompt.
func askAdd(m *Model, a Agent) tea.Cmd {
	return m.askAgents("add to "+a.Session, "", "", func(items, prompt string) tea.Cmd {
		return m.openly(nil, withPrompt([]string{"add", "--session", a.Session, "--cli", items}, prompt)...)
	})
}

// sendKeys explains the keys while the user writes a prompt.
const sendKeys = "Enter sends · Alt-Enter new line · Ctrl-g editor · Esc keeps it"

// goOn is the prompt for an agent whose turn was cut or has failed.
const goOn = "go on"

// askAgents asks for agents as [NAME=]CLI, then for a first prompt, which may be empty, and calls
// do. After a CLI that is not installed, askAgents asks again, with the error in wrong and the
// user's text in draft.
func (m *Model) askAgents(what, wrong, draft string, do func(items, prompt string) tea.Cmd) tea.Cmd {
	there := m.paw.CLIs()
	return m.asks(&ask{title: what + wrong, keys: "[NAME=]CLI, several with commas: " + strings.Join(there, ", ") + " · Esc cancels", text: field.Of(draft), done: func(items string) tea.Cmd {
		items = strings.ReplaceAll(items, " ", "")
		for item := range strings.SplitSeq(items, ",") {
			if _, cli, named := strings.Cut(item, "="); !slices.Contains(there, item) && (!named || !slices.Contains(there, cli)) {
				return m.askAgents(what, fmt.Sprintf("; %s: no such CLI is installed; there is %s", item, strings.Join(there, ", ")), items, do)
			}
		}
		m.ask = &ask{title: "first prompt of " + items, keys: "Enter sends it, or none · Alt-Enter new line · Ctrl-g editor · Esc cancels", several: true, empty: true,
			done: func(prompt string) tea.Cmd { return do(items, prompt) }}
		return nil
	}})
}

func withPrompt(words []string, prompt string) []string {
	if prompt == "" {
		return words
	}
	return append(words, "--prompt", prompt)
}

// attachCmd shows the agent's pane until the user leaves it.
func attachCmd(m *Model, a Agent) tea.Cmd {
	over := false
	show := func(io.Reader, io.Writer, io.Writer) (err error) {
		over, err = m.paw.Attach(m.ctx, a)
		return err
	}
	return tea.Exec(&onTerminal{do: show}, func(err error) tea.Msg {
		return laterMsg(func() tea.Cmd { return m.left(over, err) })
	})
}
