// Package app is what every use case needs before it knows anything of agents: configuration, files and records, locks,
// the clock, the CLIs on this machine, and the repository of a session.
//
// It knows no pane and no turn, and imports none of the rooms above it but the words of orchestrator/errs and the
// claims of orchestrator/live. Begin with App.
package app
