// Package config reads what the user and the repository set: the defaults, the
// user's config.toml, the repository's .paw.toml and the PAW_* environment, in
// that order, the later ones winning.
//
// It knows the names of paw's files, but nothing of git, of tmux or of running
// a program, and it imports nothing else of paw.
//
// One invariant: a text that came with a repository and that could run, or
// change what runs, is in a Config only after the user trusted exactly that
// text.
package config
