package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"time"

	"paw/config/display"
)

// Waited is the output of paw wait --json on a host, safe for a terminal.
type Waited struct {
	Session string
	Agents  []Awaited
}

// Awaited is an agent on a host for which a wait waits.
type Awaited struct {
	Name, CLI, Branch, State, Reason, Outcome, Message string

	Finished, Failed bool
	Since            *time.Time
	Turn             int
	Files            *int
}

// Wait runs paw wait --json on a host with further arguments, and returns when it has ended or ctx
// is done. The error is a *NotReached where the host was lost, and a *Refusal where there was no
// agent to wait for.
func (c Client) Wait(ctx context.Context, h Host, dir string, words ...string) (*Waited, error) {
	request := NewRequest(dir, append([]string{"wait", "--json"}, words...)...)
	request.Held = true
	held, holding, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer held.Close()
	defer holding.Close()
	var out, said bytes.Buffer
	code, err := c.Run(ctx, h, request, held, &bounded{to: &out, left: longestAnswer}, &limited{to: &said, left: longestComplaint})
	if err != nil {
		return nil, err
	}
	waited, ok := waitedOf(out.Bytes())
	if !ok {
		words, hints := refusalOf(said.String())
		return nil, &Refusal{Host: h.Name, Code: max(code, 1), Said: words, Hints: hints}
	}
	return waited, nil
}

// waitedOf parses the output of paw wait --json; false if there is none.
func waitedOf(printed []byte) (*Waited, bool) {
	var said struct {
		Session text `json:"session"`
		Agents  []struct {
			Name     text    `json:"name"`
			CLI      text    `json:"cli"`
			Branch   text    `json:"branch"`
			State    text    `json:"state"`
			Since    text    `json:"state_since"`
			Reason   text    `json:"reason"`
			Outcome  text    `json:"outcome"`
			Message  message `json:"message"`
			Finished bool    `json:"finished"`
			Failed   *bool   `json:"failed"`
			Turn     number  `json:"turn"`
			Files    *number `json:"files_changed"`
		} `json:"agents"`
	}
	if json.Unmarshal(printed, &said) != nil || said.Session == "" {
		return nil, false
	}
	w := &Waited{Session: string(said.Session)}
	for _, a := range said.Agents {
		one := Awaited{
			Name: string(a.Name), CLI: string(a.CLI), Branch: string(a.Branch), State: string(a.State), Reason: string(a.Reason),
			Outcome: string(a.Outcome), Message: string(a.Message), Finished: a.Finished, Failed: a.Failed != nil && *a.Failed, Turn: int(a.Turn),
		}
		if since, err := time.Parse(time.RFC3339, string(a.Since)); err == nil {
			one.Since = &since
		}
		if a.Files != nil {
			files := int(*a.Files)
			one.Files = &files
		}
		w.Agents = append(w.Agents, one)
	}
	return w, true
}

// message is a text of several lines, made safe for a terminal.
type message string

func (m *message) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err == nil && s != nil {
		*m = message(display.Printable(*s))
	}
	return nil
}
