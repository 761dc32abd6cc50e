package tmux

import (
	"strings"

	"paw/config/lazyregexp"
)

// command is a tmux command: its full name, then its arguments.
type command []string

// pieceLimit limits the arguments of one client call, in bytes: tmux takes messages up to 16 KB
// ("command too long").
const pieceLimit = 14 << 10

// unaliased cuts the last letter off a command's name. A command-alias in the user's configuration
// can turn `kill-session` into anything, but matches full names only; and every tmux command is
// still unambiguous without its last letter.
func unaliased(name string) string { return name[:len(name)-1] }

// escape returns an argument for the tmux command line, where a final semicolon would end the
// command: `\;` stands for the character.
func escape(arg string) string {
	if strings.HasSuffix(arg, ";") {
		return strings.TrimSuffix(arg, ";") + `\;`
	}
	return arg
}

// argv joins commands into the arguments of one client call. tmux runs them in order, and stops at
// the first that fails.
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

// size returns the bytes that a command takes of a tmux message, in which each argument ends with a
// zero byte.
func (c command) size() int {
	n := 2 // a separator takes two bytes
	for _, arg := range c {
		n += len(arg) + 2
	}
	return n
}

// pieces splits commands into client calls of at most pieceLimit bytes. A command that is longer is
// sent alone, and tmux refuses it.
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

// script writes commands in tmux's command language, for arguments that hold tmux formats which
// paw has written.
func script(commands []command) string {
	return inTmux(commands, func(arg string) string { return `"` + arg + `"` })
}

// quotedScript writes commands in tmux's command language, for arguments of any text; tmux expands
// none of them.
func quotedScript(commands []command) string { return inTmux(commands, quoted) }

func inTmux(commands []command, quote func(string) string) string {
	var b strings.Builder
	for i, c := range commands {
		if i > 0 {
			b.WriteString(" ; ")
		}
		b.WriteString(unaliased(c[0]))
		for _, arg := range c[1:] {
			b.WriteString(" " + quote(arg))
		}
	}
	return b.String()
}

// quoted returns a single-quoted string of tmux's command language.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// doubled escapes # against one expansion as a tmux format.
func doubled(text string) string { return strings.ReplaceAll(text, "#", "##") }

var hashes = lazyregexp.New(`#+\[?`)

// literal escapes a path for an option that tmux expands as a format, such as -c. tmux leaves any
// number of # before a bracket as they are.
func literal(path string) string {
	return hashes().ReplaceAllStringFunc(path, func(run string) string {
		if strings.HasSuffix(run, "[") {
			return run
		}
		return doubled(run)
	})
}
