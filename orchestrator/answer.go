package orchestrator

import (
	"context"

	"paw/orchestrator/home"
	"paw/orchestrator/typing"
	"paw/session"
)

// Question is what an agent waits with, as its CLI shows it, with the options that can be answered; refused (3) where there
// is none that paw can answer. It types nothing.
func Question(ctx context.Context, h *home.Home, s *session.Session, agentName string) (*typing.Asked, error) {
	return typing.LookAtQuestion(ctx, h, s, agentName)
}

// Answer answers that question: yes, no, always, the number of an option or its words. With the ID of a typing.Asked it
// answers that one alone. What is refused (3) has typed nothing that takes an answer; 6 is typed, and not confirmed by the CLI.
func Answer(ctx context.Context, h *home.Home, s *session.Session, agentName, answer, id string) (*typing.Answered, error) {
	return typing.Answer(ctx, h, s, agentName, answer, id)
}
