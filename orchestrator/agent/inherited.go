package agent

import "slices"

// nesting are the variables by which CLIs tell the programs they run that they run them (seen with claude 2.1.197 and
// codex 0.169). An agent that got them would take itself for a part of another one.
var nesting = []string{
	"AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_ID",
	"CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID",
	geminiSettings.guard, qwenSettings.guard,
}

// Inherited is env, which is that of an agent or of a program that an agent runs, without what the agent has from paw and
// from its CLI. What the user had set under the names that paw uses for a launch is not known any more.
func Inherited(env []string) []string {
	launch := []string{demoHook, opencodeConfig}
	for _, settings := range []systemSettings{geminiSettings, qwenSettings} {
		launch = append(launch, settings.variable, settings.defaults())
	}
	return without(env, slices.Concat(nesting, launch))
}
