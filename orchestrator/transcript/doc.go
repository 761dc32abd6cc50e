// Package transcript reads the conversations of agents, as their CLIs have them, and finds in them what was said in which turn.
//
// It may import orchestrator/live, cli and app. Begin with Read, then Spans.
package transcript
