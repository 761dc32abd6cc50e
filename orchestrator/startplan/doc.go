// Package startplan decides who is to be started, before anything is made: the names, branches, places and origins of new
// agents, and of a new session. What cannot work is refused here.
//
// Session drafts a new session, NewAddition the agents that are added to one (plan.go); both go into the record before anything
// else is made. An agent that begins where another one is has an Origin, and may be handed a brief over (handover.go). The
// room may import every room below: orchestrator/app, observe, handover, transcript, turns and launch. Begin with agents.go.
package startplan
