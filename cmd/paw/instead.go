package main

import (
	"errors"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
)

// namingFlags are those flags whose values are names of agents, sessions, CLIs and branches, in lists and pairs.
var namingFlags = []string{"--cli", "--branches", "--branch", "--name"}

// instead is the line that was typed, with a name that could be in place of one that cannot, "" where err knows of none or
// the name stands nowhere in the line.
func (a *invocation) instead(err error) string {
	var e *errs.Error
	var name *session.NameError
	switch {
	case errors.As(err, &e) && e.Instead.Of != "":
		return a.retyped(e.Instead.Of, e.Instead.By)
	case errors.As(err, &name):
		if usable := session.NameFrom(name.Name); usable != "" {
			return a.retyped(name.Name, usable)
		}
	}
	return ""
}

// retyped is the line that was typed with another name.
func (a *invocation) retyped(name, by string) string {
	line, found := []string{"paw"}, false
	for i, word := range a.typed {
		flag, value, joined := strings.Cut(word, "=")
		if joined && slices.Contains(namingFlags, flag) {
			value, found = renamed(value, name, by, found)
			word = flag + "=" + value
		} else if i > 0 && slices.Contains(namingFlags, a.typed[i-1]) {
			word, found = renamed(word, name, by, found)
		}
		line = append(line, errs.Quote(word))
	}
	if !found {
		return ""
	}
	return strings.Join(line, " ")
}

// renamed is a list of names, or of pairs NAME=CLI, with one of them exchanged.
func renamed(list, name, by string, found bool) (string, bool) {
	items := strings.Split(list, ",")
	for i, item := range items {
		first, rest, pair := strings.Cut(item, "=")
		switch {
		case item == name:
			items[i], found = by, true
		case pair && first == name:
			items[i], found = by+"="+rest, true
		}
	}
	return strings.Join(items, ","), found
}
