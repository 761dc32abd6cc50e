package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"paw/cmd/paw/ui"
	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/review"
)

// Comment keeps a comment on lines of a diff.
func (d *desk) Comment(ctx context.Context, a ui.Agent, diff string, first, last int, text string) (place string, err error) {
	if a.Far {
		return "", errors.New("comments on it are kept where it is: paw review " + a.Key())
	}
	s, err := d.home.Load(a.Session)
	if err != nil {
		return "", err
	}
	c := review.On(diff, first, last, text)
	return c.Place(), orchestrator.AddComments(ctx, d.home, s, a.Name, c)
}

// Place names lines of a diff, or a whole file, as PATH:LINE-LINE or PATH. Lines that were removed
// are refused.
func (d *desk) Place(diff string, first, last int) (string, error) {
	c := review.On(diff, first, last, "")
	switch {
	case c.Path == "":
		return "", errors.New("no line of a file: j and k go to one")
	case c.Removed:
		return "", fmt.Errorf("%s: b tells of lines that are there", c.Place())
	case strings.HasPrefix(c.Path, "-"):
		c.Path = "./" + c.Path
	}
	return c.Place(), nil
}

// Comments returns the comments on an agent's work that were not sent yet.
func (d *desk) Comments(_ context.Context, a ui.Agent, diff string) ([]ui.Comment, error) {
	if a.Far {
		return nil, errors.New("comments on it are kept where it is: paw review " + a.Key())
	}
	s, err := d.home.Load(a.Session)
	if err != nil {
		return nil, err
	}
	kept, err := orchestrator.ReadComments(d.home, s, a.Name)
	if err != nil {
		return nil, err
	}
	lines := review.Lines(diff, kept.List)
	var comments []ui.Comment
	for i, c := range kept.List {
		id, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		comments = append(comments, ui.Comment{Place: display.OneLine(c.Place()), Text: c.Text, Stale: kept.Stale[i], Line: lines[i], ID: string(id)})
	}
	return comments, nil
}

// ChangeComment replaces the text of a comment; an empty text deletes the comment.
func (d *desk) ChangeComment(ctx context.Context, a ui.Agent, old ui.Comment, text string) error {
	s, err := d.home.Load(a.Session)
	if err != nil {
		return err
	}
	var c review.Comment
	if err := json.Unmarshal([]byte(old.ID), &c); err != nil {
		return err
	}
	return orchestrator.ChangeComment(ctx, d.home, s, a.Name, c, text)
}

// Draft returns the prompt that the user began for an agent and did not send.
func (d *desk) Draft(key string) string {
	s, agent, _ := strings.Cut(key, "/")
	return d.home.Texts().Draft(s, agent)
}

// KeepDraft saves a prompt that was begun; an empty text deletes the draft.
func (d *desk) KeepDraft(key, text string) error {
	s, agent, _ := strings.Cut(key, "/")
	return d.home.Texts().KeepDraft(s, agent, text)
}
