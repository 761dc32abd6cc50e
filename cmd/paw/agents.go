package main

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"
)

// agentsPage is for an AI agent to read; docs/agents.md has it, too.
//
//go:embed agents.txt
var agentsPage string

// newAgents is the help topic of that name: it has nothing to run.
func newAgents(*app) *cobra.Command {
	return &cobra.Command{
		Use:   "agents",
		Short: "What an AI agent inside paw may run, and how: for the agent to read",
		Long:  strings.TrimSpace(agentsPage),
	}
}
