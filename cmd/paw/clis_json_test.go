//go:build clis

package main

import (
	"time"

	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/history"
)

// Answers that only the tests with real CLIs read, see jsonread_test.go.

type usageJSON struct {
	Version int              `json:"version"`
	Session string           `json:"session"`
	Agents  []agentUsageJSON `json:"agents"`
}

type agentUsageJSON struct {
	Name    string          `json:"name"`
	CLI     string          `json:"cli"`
	Total   *spentJSON      `json:"total"`
	Turns   []turnUsageJSON `json:"turns"`
	Between *spentJSON      `json:"between"`
	Unknown *string         `json:"unknown"`

	Limits []session.Window `json:"limits"`
}

type turnUsageJSON struct {
	Number int `json:"number"`
	spentJSON
}

type spentJSON struct {
	cli.Spent
	Cost *float64 `json:"cost_usd"`
}

type logJSON struct {
	Version  int           `json:"version"`
	Session  string        `json:"session"`
	Agent    string        `json:"agent"`
	ID       *string       `json:"id"`
	Messages []messageJSON `json:"messages"`
	Skipped  int           `json:"skipped"`
}

// messageJSON has the names that paw prints; its fields are those of a history.Message.
type messageJSON struct {
	Role       history.Role       `json:"role"`
	Content    string             `json:"content"`
	ToolCallID string             `json:"tool_call_id"`
	ToolCalls  []history.ToolCall `json:"tool_calls"`
	Timestamp  time.Time          `json:"timestamp"`
}

type questionJSON struct {
	Version  int          `json:"version"`
	Session  string       `json:"session"`
	Agent    string       `json:"agent"`
	ID       string       `json:"id"`
	Turn     *int         `json:"turn"`
	Since    any          `json:"since"`
	Question string       `json:"question"`
	Details  *string      `json:"details"`
	Reason   *string      `json:"reason"`
	Several  bool         `json:"several"`
	Options  []optionJSON `json:"options"`
	Answered *string      `json:"answered"`
}

type optionJSON struct {
	Number int     `json:"number"`
	Label  string  `json:"label"`
	About  *string `json:"about"`
	Means  *string `json:"means"`
}
