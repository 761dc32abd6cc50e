// Package live decides from facts alone: the state of an agent, by State, and what a parent is owed: which of its children
// have ended, whether their results are to be typed now, and with which words. It holds agents as live sessions while a
// paw works with them.
//
// A live session is built from facts that others gather from disk, tmux and locks. It is never saved, and a look
// replaces what it held before: the one truth is what the facts are made of. All decisions are pure.
package live
