// Package ui is the desk: one screen that says which agents need the user and what is new, and with
// keys to act on both. The package is a view: it shows what Paw returns, acts by running commands
// of paw, and stores nothing. Model is a value. Update returns the next Model for a message, View
// draws a Model, and neither reads anything else. Start reading with board.go, which says what is
// shown, then model.go and keys.go. No other package imports the terminal library.
package ui
