package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// pageKey returns how many lines a key scrolls while a question waits for an answer, 0 for any
// other key.
func pageKey(word string) int {
	switch word {
	case "up":
		return -1
	case "down":
		return 1
	case "pgup":
		return -10
	case "pgdown":
		return 10
	}
	return 0
}

// answered takes a key for the question.
func (m *Model) answered(key tea.KeyPressMsg) tea.Cmd {
	a, word := m.ask, key.String()
	if a.choose != nil {
		return m.chosen(word)
	}
	switch word {
	case "esc", "ctrl+c":
		m.ask = nil
		if a.keep != nil {
			a.keep(a.text.String())
		}
		if a.changed != nil {
			a.changed("")
		}
		return nil
	case "enter":
		answer := strings.TrimSpace(a.text.String())
		if m.ask = nil; answer == "" && !a.empty {
			return nil
		}
		if a.keep != nil {
			a.keep("")
		}
		return a.done(answer)
	case "alt+enter", "shift+enter", "ctrl+j":
		if a.several {
			a.set(a.text.Insert("\n"))
		}
		return nil
	case "ctrl+g":
		if a.several {
			return m.editCmd(a.text.String())
		}
		return nil
	}
	t, ok := a.text.Edited(word, key.Key().Text)
	if !ok {
		return nil
	}
	a.set(t)
	if a.changed != nil {
		a.changed(a.text.String())
	}
	return nil
}

// chosen takes a key in a question that offers keys as its answers.
func (m *Model) chosen(word string) tea.Cmd {
	a := m.ask
	if by := pageKey(word); by != 0 && m.run != nil { // a plan above the question may be longer than the screen
		m.scrollRun(by)
		return nil
	}
	answer, ok := a.choose[word]
	if !ok && a.strict && word != "esc" && word != "q" && word != "ctrl+c" {
		return nil
	}
	if m.ask = nil; !ok {
		if m.run != nil && m.run.next == a { // the user turned down what the shown plan asks
			m.leaveRun()
		}
		return nil
	}
	return a.done(answer)
}

func questionCmd(m *Model, a Agent) tea.Cmd {
	paw, ctx := m.paw, m.ctx
	return func() tea.Msg {
		q, err := paw.Question(ctx, a)
		return laterMsg(func() tea.Cmd { return asked(m, a, q, err) })
	}
}

// keysOfAnswers has a key for each meaning of an option. The key a, which opens the question, is
// not among them: a pressed twice must not answer.
var keysOfAnswers = map[string]string{"yes": "y", "no": "n", "always": "A"}

// asked shows the agent's question with the keys of the answers. The answer goes to exactly this
// question, by the question's ID.
func asked(m *Model, a Agent, q Question, err error) tea.Cmd {
	switch {
	case err != nil && !a.Asks:
		return m.say(true, "%s asks nothing", a.Name)
	case err != nil:
		m.show(m.failure(err, "answer", a.Key()))
		return nil
	}
	if m.ask != nil || m.roster.selected != a.Key() { // the user has selected another agent, or is asked something else
		return nil
	}
	choose := map[string]string{}
	var lines, keys []string
	for i, o := range q.Options {
		number, key := fmt.Sprint(i+1), keysOfAnswers[o.Means]
		if _, taken := choose[key]; key == "" || taken {
			keys, key = append(keys, strings.TrimSpace(number+" "+o.Means)), " "
		} else {
			keys, choose[key] = append(keys, number+"/"+key+" "+o.Means), number
		}
		choose[number] = number
		lines = append(lines, "  "+m.paint(number, bold)+" "+m.paint(key, bold)+"  "+o.Label)
	}
	one := &ask{title: a.Name + " asks: " + q.Text, lines: lines, choose: choose, strict: true, about: a.Key(), keys: strings.Join(append(keys, "Esc later"), " · ")}
	if q.Several { // one key would answer with one option alone
		one = &ask{title: one.title, lines: lines, about: a.Key(), keys: "numbers with commas, such as 1,3 · Enter answers · Esc later"}
	}
	one.done = func(answer string) tea.Cmd { return m.quietly("answer", a.Key(), answer, "--question", q.ID) }
	return m.asks(one)
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
