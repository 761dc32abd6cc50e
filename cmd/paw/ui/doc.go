// Package ui is the desk: one screen that says who needs the user, what is new, and lets him act. It is a view: what it
// shows comes from Paw, what it does are commands of paw, and nothing of it is left when it ends.
//
// Model is a value: Update makes the next one out of a message, View draws it, and neither looks at anything else. Begin
// with board.go for what is shown, then model.go and keys.go. This is the only package that knows the terminal library.
package ui
