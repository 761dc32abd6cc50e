// Package observe tells what is: which panes, locks, launches and turns a session has at one instant, and why an agent cannot
// be taken away, started or rewound now. The states of agents are decided by live.State, from what is observed here.
//
// Observe looks once and gives Facts; everything else is decided from these. The room changes nothing but the marks of
// hooks. It may import orchestrator/app, live and cli. Begin with Observe, then facts.go and status.go.
package observe
