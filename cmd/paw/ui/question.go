package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// questionCmd reads what the agent asks.
func (o onAgent) questionCmd() tea.Cmd {
	m, a := o.m, o.a
	paw, ctx := m.paw, m.ctx
	return func() tea.Msg {
		q, err := paw.Question(ctx, a)
		return laterMsg(func(m Model) (tea.Model, tea.Cmd) { return m.on(a).asked(q, err) })
	}
}

// keysOfAnswers has a key for each meaning of an option. The key a, which opens the question, is
// not among them: a pressed twice must not answer.
var keysOfAnswers = map[string]string{"yes": "y", "no": "n", "always": "A"}

// answerKeys explains, for the line at the bottom, which key gives which answer.
func answerKeys(options []Option) string {
	var keys []string
	for i, o := range options {
		key := fmt.Sprint(i + 1)
		if letter := keysOfAnswers[o.Means]; letter != "" {
			key += "/" + letter
		}
		if o.Means != "" {
			key += " " + o.Means
		}
		keys = append(keys, key)
	}
	return strings.Join(append(keys, "Esc later"), " · ")
}

// asked shows the agent's question with the keys of the answers. The answer goes to exactly this
// question, by the question's ID.
func (o onAgent) asked(q Question, err error) (tea.Model, tea.Cmd) {
	m, a := o.m, o.a
	if err != nil {
		m.show(m.failure(err, "answer", a.Key()))
		return m, nil
	}
	if m.ask != nil || m.roster.selected != a.Key() { // the user has selected another agent, or is asked something else
		return m, nil
	}
	choose := map[string]string{}
	var lines []string
	for i, o := range q.Options {
		number, key := fmt.Sprint(i+1), keysOfAnswers[o.Means]
		if _, taken := choose[key]; key == "" || taken {
			key = " "
		} else {
			choose[key] = number
		}
		choose[number] = number
		lines = append(lines, "  "+m.paint(number, bold)+" "+m.paint(key, bold)+"  "+o.Label)
	}
	m.ask = &ask{title: a.Name + " asks: " + q.Text, lines: lines, choose: choose, strict: true, about: a.Key(),
		keys: answerKeys(q.Options),
		done: func(m Model, answer string) (tea.Model, tea.Cmd) {
			return m.quietly("answer", a.Key(), answer, "--question", q.ID)
		}}
	return m, nil
}

// dropQuestion closes the question of an agent that no longer asks.
func (m *Model) dropQuestion() {
	if m.ask == nil || m.ask.about == "" {
		return
	}
	for _, a := range m.roster.board.Agents {
		if a.Key() == m.ask.about && a.Asks {
			return
		}
	}
	m.say(true, "%s does not ask any more; nothing was answered", m.ask.about)
	m.ask = nil
}
