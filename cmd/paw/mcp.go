package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/mcp"
)

func newMCP(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve what an agent may run of paw as tools (MCP)",
		Long: exits(`Serve the commands that paw help agents names as tools of the Model Context Protocol, on
standard input and output. This is for an agent's CLI, which starts it: its model then
calls the tools spawn, wait, done, status, diff, turns, log and forecast, and no other
command of paw. They do what the commands of these names do.`, exitUsage),
		Example: `  claude mcp add paw -- paw mcp
  codex mcp add paw -- paw mcp`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.paw()
			if err != nil {
				return err
			}
			s := mcp.Server{Name: "paw", Version: version, Instructions: mcpInstructions, Tools: mcpTools(h)}
			return s.Serve(cmd.Context(), a.stdin, a.stdout)
		},
	}
}

// mcpInstructions are for the model of the agent that calls the tools.
const mcpInstructions = "You are an agent of paw, with a git worktree and a branch of your own. These tools start other agents, wait for " +
	"them and show their work. When your work is finished, call done and end your turn."

// mcpCommand is a tool that is a command of paw.
type mcpCommand struct {
	mcp.Tool
	words func(given map[string]string) []string // its command line
}

var (
	whichAgent = mcp.Parameter{Name: "agent", About: "its name, as status shows it", Needed: true}
	whichTurn  = mcp.Parameter{Name: "turn", About: "number of one of its turns; left out, all"}
)

// mcpCommands are the tools: the commands that the page `paw help agents` lets an agent run.
var mcpCommands = []mcpCommand{
	{mcp.Tool{
		Name: "spawn", About: "Start another agent as your child. It begins where you are now: your last commit, with your files that are not " +
			"committed. It knows nothing of your conversation, so the prompt has to say everything.",
		Parameters: []mcp.Parameter{
			{Name: "prompt", About: "what it is to do", Needed: true},
			{Name: "cli", About: "[AGENT=]CLI, such as codex or tests=claude; left out, your own kind"},
		},
	}, func(given map[string]string) []string {
		return append([]string{"spawn", "--json", "--prompt=" + given["prompt"]}, flagOf(given, "cli")...)
	}},
	{mcp.Tool{
		Name: "wait", About: "Wait for the agents that you started. Without a timeout it returns at once: end your turn then, and their results are " +
			"your next prompt. Never sleep, and never ask again and again.",
		Parameters: []mcp.Parameter{
			{Name: "any", About: "the first one that has ended is enough", Switch: true},
			{Name: "timeout", About: "wait here instead, at most so long, such as 60s"},
		},
	}, func(given map[string]string) []string {
		words := []string{"wait", "--notify"}
		if given["timeout"] != "" {
			words = append([]string{"wait", "--json"}, flagOf(given, "timeout")...)
		}
		if given["any"] != "" {
			words = append(words, "--any")
		}
		return words
	}},
	{mcp.Tool{
		Name: "done", About: "Say that your work is finished, or that it failed. End your turn then.",
		Parameters: []mcp.Parameter{
			{Name: "message", About: "what you did, or why not"},
			{Name: "outcome", About: "success (left out), failure or error"},
		},
	}, func(given map[string]string) []string {
		return append(append([]string{"done"}, flagOf(given, "message")...), flagOf(given, "outcome")...)
	}},
	{mcp.Tool{Name: "status", About: "All agents: state, parent, children, branch, worktree, in JSON.", Reads: true}, func(map[string]string) []string {
		return []string{"status", "--json"}
	}},
	{mcp.Tool{
		Name: "diff", About: "What an agent has changed and your branch does not have, committed or not, as a patch.", Reads: true,
		Parameters: []mcp.Parameter{whichAgent, whichTurn},
	}, func(given map[string]string) []string { return ofAgent(given, "diff") }},
	{mcp.Tool{
		Name: "turns", About: "The turns of an agent: outcome, commit, files, message, in JSON.", Reads: true, Parameters: []mcp.Parameter{whichAgent},
	}, func(given map[string]string) []string { return ofAgent(given, "turns", "--json") }},
	{mcp.Tool{
		Name: "log", About: "What an agent was told, said and ran.", Reads: true, Parameters: []mcp.Parameter{whichAgent, whichTurn},
	}, func(given map[string]string) []string { return ofAgent(given, "log") }},
	{mcp.Tool{Name: "forecast", About: "Whose work would conflict, and where, in JSON.", Reads: true}, func(map[string]string) []string {
		return []string{"forecast", "--json"}
	}},
}

// flagOf returns an argument as the flag of its name.
func flagOf(given map[string]string, name string) []string {
	if given[name] == "" {
		return nil
	}
	return []string{"--" + name + "=" + given[name]}
}

// ofAgent returns the line of a command that is about an agent.
func ofAgent(given map[string]string, words ...string) []string {
	return slices.DeleteFunc(append(words, given["agent"], given["turn"]), func(word string) bool { return word == "" })
}

func mcpTools(h *app.App) (tools []mcp.Tool) {
	for _, one := range mcpCommands {
		one.Run = func(ctx context.Context, given map[string]string) (string, bool) {
			if strings.HasPrefix(given["agent"], "-") || strings.HasPrefix(given["turn"], "-") {
				return "no agent and no turn has a name that begins with -", true
			}
			return runForModel(ctx, h, one.words(given))
		}
		tools = append(tools, one.Tool)
	}
	return tools
}

// maxTold is how many bytes of a command's output a model is given.
const maxTold = 50_000

// runForModel runs a command of paw, and returns what it printed. One that is cancelled is interrupted.
func runForModel(ctx context.Context, h *app.App, words []string) (told string, failed bool) {
	var said []string
	end := cli.Process{
		Argv: append([]string{h.Executable}, words...), Env: h.Env, Stdout: func([]byte) {}, Started: func(func()) {},
		Stderr: func(line []byte) { said = append(said, string(line)) },
	}.Run(ctx)
	told = strings.TrimRight(strings.ToValidUTF8(string(end.Stdout), "\uFFFD"), "\n")
	if len(told) > maxTold {
		told = fmt.Sprintf("%s\n(%d bytes more; paw %s prints all)", strings.ToValidUTF8(told[:maxTold], ""), len(told)-maxTold, strings.Join(words, " "))
	}
	told = strings.TrimSpace(told + "\n" + strings.Join(said, "\n"))
	if end.Err != nil {
		return end.Err.Error(), true
	}
	return told, end.ExitCode != 0
}
