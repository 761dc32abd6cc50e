// Package turns is the turns of agents: how one begins and ends, with its log, its refs and its tag, and how turns are
// listed and compared.
//
// Whatever changes turns is a method of Recorder, which Change hands out with the agent's turn lock held: lifecycle.go begins
// and ends, event.go applies what a hook reports, with what missed.go finds that no hook did, cut.go closes what a dead
// CLI left open, and own.go plays the part of the hooks for CLIs without any. The room may import orchestrator/app, live,
// observe and transcript. Begin with recorder.go and lifecycle.go.
package turns
