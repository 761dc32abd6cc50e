package main

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"paw/config/lazyregexp"
	"paw/session"
)

var fileAndLines = lazyregexp.New(`^(.+):([0-9]+)(?:[-,]([0-9]+))?$`)

// placeIn reads FILE, FILE:LINE or FILE:LINE-LINE. The lines are 0 for the whole file. whole
// reports whether there is a file whose name is all of the word.
func placeIn(cmd *cobra.Command, word string, whole func(string) bool) (file string, first, last int, err error) {
	found := fileAndLines.FindStringSubmatch(word)
	if found == nil || whole(word) {
		return word, 0, 0, nil
	}
	first, err = strconv.Atoi(found[2])
	last = first
	if found[3] != "" && err == nil {
		last, err = strconv.Atoi(found[3])
	}
	switch {
	case err != nil:
		return "", 0, 0, usagef(cmd, "%s: not the number of a line", word)
	case first == 0:
		return "", 0, 0, usagef(cmd, "%s: lines count from 1", word)
	case last < first:
		return "", 0, 0, usagef(cmd, "%s: ends before it begins", word)
	}
	return found[1], first, last, nil
}

// whereOf returns the worktree of an agent, "" for the current directory if s is nil.
func whereOf(s *session.Session, agent string) string {
	if s == nil {
		return ""
	}
	if w := s.Agent(agent); w != nil {
		return w.WorktreePath
	}
	return ""
}

func fileIn(dir, name string) bool {
	if dir != "" && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	_, err := os.Lstat(name)
	return err == nil
}
