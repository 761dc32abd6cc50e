package turn

import "testing"

func TestWordsOfAPrompt(t *testing.T) {
	const brief = "\nThis worktree starts where its turn 2 ended.\n\n> This is the end of that conversation.\n\n"
	for name, c := range map[string]struct{ prompt, words, task string }{
		"of a person":            {"Fix the parser\nand its tests", "Fix the parser\nand its tests", "Fix the parser\nand its tests"},
		"none":                   {"", "", ""},
		"results":                {ResultsLine("0199-id", "All 3 agents you waited for have ended.") + "\n\na: success\n", "results of the agents it waited for", ""},
		"the begin of results":   {"[paw wait 0199-id] The agent you waited fo", "results of the agents it waited for", ""},
		"a person on waits":      {"[paw wait is the command] use it", "[paw wait is the command] use it", "[paw wait is the command] use it"},
		"not the whole marker":   {"[paw wait 0199-id", "[paw wait 0199-id", "[paw wait 0199-id"},
		"a conflict":             {ConflictLine("release/1.2") + "\n\n1. Commit", "conflicts with release/1.2", ""},
		"a person on a conflict": {"Your work conflicts with the branch main. Why?", "Your work conflicts with the branch main. Why?", "Your work conflicts with the branch main. Why?"},
		"a check":                {CheckLine("make test", "exit status 2") + "\n\nIts last lines", "check failed: make test (exit status 2)", ""},
		"a person on a check":    {"The check failed on your work: why?", "The check failed on your work: why?", "The check failed on your work: why?"},
		"a comment":              {ReviewLine(1) + "\n\n1. a.go", "review: 1 comment", ""},
		"comments":               {ReviewLine(12) + "\n\n1. a.go", "review: 12 comments", ""},
		"a person's review":      {"I have reviewed your changes and have one wish", "I have reviewed your changes and have one wish", "I have reviewed your changes and have one wish"},
		"a brief with a prompt":  {HandOverLine("claude", "one", "paw/s/one") + brief + HandOverTask + "Go on\nwith it", "Go on\nwith it", "Go on\nwith it"},
		"a brief of a brief": {HandOverLine("codex", "two", "paw/s/two") + "\n> " + HandOverTask + "Go on" + brief + HandOverTask + "Now the docs",
			"Now the docs", "Now the docs"},
		"a brief alone": {HandOverLine("claude", "one", "paw/s/one") + brief, "takes over from claude, agent one, on branch paw/s/one", ""},
		"the end of a subagent": {"<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<summary>Agent \"sub\" finished</summary>\n</task-notification>",
			`Agent "sub" finished`, ""},
		"the end of a task": {"<task-notification>\n<task-id>b1</task-id>", "a background task has ended", ""},
		"a message": {"Another Claude session sent a message:\n<cross-session-message from=\"uds:/tmp/cc-socks/1.sock\">\nPlease look\nat it.\n</cross-session-message>",
			"message from uds:/tmp/cc-socks/1.sock: Please look\nat it.", ""},
		"a message of a session with a name": {"<cross-session-message from=\"uds:/tmp/cc-socks/1.sock\" from-name=\"web-a6\" from-mode=\"prompting\">\nLook: a=\"b\"\n</cross-session-message>",
			"message from web-a6: Look: a=\"b\"", ""},
		"a person on messages": {"What does\n\nthis\n<cross-session-message from=\"a\"> mean?", "What does\n\nthis\n<cross-session-message from=\"a\"> mean?",
			"What does\n\nthis\n<cross-session-message from=\"a\"> mean?"},
		"an issue":             {ThreadLine(false, 12, "ann") + "\n\n> Fix the login\n>\n> It fails", "Fix the login (#12)", "Fix the login (#12)"},
		"a pull request":       {ThreadLine(true, 7, "ann") + "\n\n> Login", "Login (#7)", "Login (#7)"},
		"words and an issue":   {"Fix it\n\n" + ThreadLine(false, 12, "ann") + "\n\n> Login", "Fix it\n\nIssue #12 (text by ann):\n\n> Login", "Fix it\n\nIssue #12 (text by ann):\n\n> Login"},
		"a person on an issue": {"Issue #12 (text by ann): what is it?", "Issue #12 (text by ann): what is it?", "Issue #12 (text by ann): what is it?"},
		"nobody's prompt":      {sentOnPrompt, "goes on after its end", ""},
	} {
		if words, task := Prompt(c.prompt).Words(), Prompt(c.prompt).Task(); words != c.words || task != c.task {
			t.Errorf("%s: reads %q, task %q", name, words, task)
		}
	}
}
