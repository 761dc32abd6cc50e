package main

import _ "embed"

// agentsPage is what paw help agents prints, for an AI agent to read; docs/agents.md has it, too.
//
//go:embed agents.txt
var agentsPage string
