package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// questionMsg is what an agent asks, or why that cannot be answered from here.
type questionMsg struct {
	agent Agent
	Question
	err error
}

// questionCmd looks at the agent's question.
func (m Model) questionCmd(a Agent) tea.Cmd {
	paw, ctx := m.paw, m.ctx
	return func() tea.Msg {
		q, err := paw.Question(ctx, a)
		return questionMsg{a, q, err}
	}
}

// keysOfAnswers are the keys that answer what an option means. None is the key that asks: typed twice, it would answer.
var keysOfAnswers = map[string]string{"yes": "y", "no": "n", "always": "A"}

// asked shows a question with its answers: one key answers exactly this one.
func (m Model) asked(msg questionMsg) (tea.Model, tea.Cmd) {
	if msg.err != nil {
		m.show(m.failure(msg.err, "answer", msg.agent.Key()))
		return m, nil
	}
	if m.ask != nil || m.selected != msg.agent.Key() { // the user has gone on meanwhile
		return m, nil
	}
	choose := map[string]string{}
	var lines []string
	for i, o := range msg.Options {
		number, key := fmt.Sprint(i+1), keysOfAnswers[o.Means]
		if _, taken := choose[key]; key == "" || taken {
			key = " "
		} else {
			choose[key] = number
		}
		choose[number] = number
		lines = append(lines, "  "+m.paint(number, bold)+" "+m.paint(key, bold)+"  "+o.Label)
	}
	a, id := msg.agent, msg.ID
	m.ask = &ask{title: a.Name + " asks: " + msg.Text, lines: lines, choose: choose, strict: true, about: a.Key(),
		keys: "its number or letter answers, esc leaves it open",
		done: func(m Model, answer string) (tea.Model, tea.Cmd) {
			return m.quietly("answer", a.Key(), answer, "--question", id)
		}}
	return m, nil
}

// dropQuestion takes away a question that its agent does not ask any more.
func (m *Model) dropQuestion() {
	if m.ask == nil || m.ask.about == "" {
		return
	}
	for _, a := range m.board.Agents {
		if a.Key() == m.ask.about && a.Asks {
			return
		}
	}
	m.say(true, "%s does not ask any more; nothing was answered", m.ask.about)
	m.ask = nil
}
