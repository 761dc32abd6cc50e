// Package launch starts agents and ends them: from a plan of jobs over worktrees, tags and set-up to the panes, and from
// there, in the pane itself, to the CLI.
//
// BringUp carries jobs out; PlanRecover makes those of an agent that was there before (recover_plan.go is the pure
// table). A launch is written into a file, which the launcher in the pane (exec.go) reads, and deletes before it becomes
// the CLI. EndAgents ends what runs; UndoStart and UndoAdd take back what was never started. The room may import
// orchestrator/app, observe, turns and typing. Begin with bringup.go.
package launch
