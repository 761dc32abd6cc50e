package tmux

import "strings"

// command is one tmux command with its arguments, the name first and in full.
type command []string

// pieceLimit keeps the arguments of one client call under tmux's message size of 16 KB ("command too long").
const pieceLimit = 14 << 10

// unaliased shortens a command's name: a command-alias in a user's configuration can turn `kill-session` into anything, and applies to exact
// names only. Every name without its last letter is still an unambiguous abbreviation, which no alias matches.
func unaliased(name string) string { return name[:len(name)-1] }

// escape protects an argument that ends in a semicolon: tmux takes that as the end of the command, and `\;` as the
// character.
func escape(arg string) string {
	if strings.HasSuffix(arg, ";") {
		return strings.TrimSuffix(arg, ";") + `\;`
	}
	return arg
}

// argv joins commands into the arguments of one client call. tmux runs them in order up to the first that fails.
func argv(commands []command) []string {
	var args []string
	for i, c := range commands {
		if i > 0 {
			args = append(args, ";")
		}
		args = append(args, unaliased(c[0]))
		for _, arg := range c[1:] {
			args = append(args, escape(arg))
		}
	}
	return args
}

// size is what a command takes of a message: each argument is sent with a final zero byte.
func (c command) size() int {
	n := 2 // the separator
	for _, arg := range c {
		n += len(arg) + 2
	}
	return n
}

// pieces cuts commands into client calls. A single command that is too long stays alone, so that tmux can say so.
func pieces(commands []command) [][]command {
	var cut [][]command
	total := 0
	for i, c := range commands {
		if i == 0 || total+c.size() > pieceLimit {
			cut = append(cut, nil)
			total = 0
		}
		cut[len(cut)-1] = append(cut[len(cut)-1], c)
		total += c.size()
	}
	return cut
}
