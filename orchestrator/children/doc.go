// Package children is what agents do with each other: waiting for agents, telling a parent how its children ended, and the
// claims by which that is looked after.
//
// Live sessions (orchestrator/live) decide what is owed to whom; this room makes them of what is there (source.go), and
// acts. It may import every room below: orchestrator/app, live, observe, turns, typing and launch. Begin with claim.go,
// then deliver.go and wait.go.
package children
