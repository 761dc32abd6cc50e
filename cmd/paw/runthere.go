package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"

	"github.com/spf13/cobra"
)

// hereOnly maps commands that work only on this machine to the hint for agents of a host.
var hereOnly = map[string]string{
	"path":   "ssh -t %[1]s",
	"update": "paw sh %[2]s git pull",
	"pr":     "paw sh %[2]s git push",
}

// launching are the commands that start CLIs, and so need the environment of a login shell.
var launching = []string{"start", "add", "recover", "spawn", "run"}

// router runs a command on the machine whose agents its words name.
type router struct{ *invocation }

func (r router) runThere(cmd *cobra.Command, h *app.App, host hosts.Host, words []string) error {
	if line, only := hereOnly[cmd.Name()]; only {
		name := host.Name + ":AGENT"
		if args := cmd.Flags().Args(); len(args) > 0 {
			name = args[0]
		}
		return usagef(cmd, "%s: works on agents of this machine only", cmd.CommandPath()).Hint(line, host.SSH, name)
	}
	client, err := sshClient(h)
	if err != nil {
		return err
	}
	dir, err := folderThere(cmd, h, host)
	if err != nil {
		return err
	}
	request := hosts.NewRequest(dir, words...)
	switch name := cmd.Name(); {
	case fullScreen(cmd, words):
		return endedThere(client.Screen(cmd.Context(), host, request, os.Stdin, os.Stdout, os.Stderr))
	case slices.Contains(launching, name):
		return r.launchThere(cmd, h, client, host, request)
	}
	if err := r.reach(cmd.Context(), client, host); err != nil {
		return endedThere(0, err)
	}
	if in, ok := r.stdin.(*os.File); ok && r.interactive() && isTerminal(r.stdout) {
		request.Args = append(slices.Clone(words), "--no-pager")
		return endedThere(client.Dialog(cmd.Context(), host, request, in, &terminalText{w: host.Said(r.stdout)}))
	}
	return endedThere(client.Run(cmd.Context(), host, request, r.pipedInput(), r.stdout, host.Said(forReading(r.stderr))))
}

// fullScreen reports whether a command uses the whole terminal on the host: for tmux, a shell or an
// editor.
func fullScreen(cmd *cobra.Command, words []string) bool {
	switch cmd.Name() {
	case "attach":
		return true
	case "sh":
		return len(words) == 2
	case "review":
		return !slices.ContainsFunc([]string{"on", "list", "drop", "send"}, cmd.Flags().Changed)
	}
	return cmd.Flags().Lookup("edit") != nil && cmd.Flags().Changed("edit")
}

// pipedInput returns paw's standard input for a command on a host, nil if the input is a terminal.
func (r router) pipedInput() io.Reader {
	if isTerminal(r.stdin) {
		return nil
	}
	return r.stdin
}

// launchThere runs a command that starts CLIs, in the environment of a login shell on the host plus
// the variables that the configuration hands over. The command gets no terminal, on which a
// variable could be shown. If it would attach, launchThere attaches afterwards.
func (r router) launchThere(cmd *cobra.Command, h *app.App, client hosts.Client, host hosts.Host, request hosts.Request) error {
	request.Login, request.Env = true, true
	detach := cmd.Flags().Lookup("detach")
	attaches := (cmd.Name() == "start" || cmd.Name() == "recover") && detach != nil
	wanted := attaches && detach.Value.String() != "true" && r.interactive() && isTerminal(r.stdout)
	if attaches && detach.Value.String() != "true" {
		request.Args = append(slices.Clone(request.Args), "--detach")
	}
	if err := r.reach(cmd.Context(), client, host); err != nil {
		return endedThere(0, err)
	}
	var in io.Reader = strings.NewReader(hosts.HandOver(host.Env, h.Getenv))
	if rest := r.pipedInput(); rest != nil {
		in = io.MultiReader(in, rest)
	}
	stdout := forReading(r.stdout)
	if !r.json {
		stdout = host.Said(stdout)
	}
	code, err := client.Run(cmd.Context(), host, request, in, stdout, host.Said(forReading(r.stderr)))
	if err != nil || code != 0 || !wanted {
		return endedThere(code, err)
	}
	return endedThere(client.Screen(cmd.Context(), host, hosts.NewRequest(request.Dir, "attach"), os.Stdin, os.Stdout, os.Stderr))
}

// folderThere returns the host's checkout of the current repository. If there is none, it returns
// "" for command lines that name a session, and an error for others.
func folderThere(cmd *cobra.Command, h *app.App, host hosts.Host) (string, error) {
	if dir, ok := hosts.There(host.Repos, h.Root()); ok {
		return dir, nil
	}
	named := slices.ContainsFunc(cmd.Flags().Args(), func(word string) bool { return strings.Contains(word, "/") })
	if flag := cmd.Flags().Lookup("session"); named || flag != nil && flag.Value.String() != "" {
		return "", nil
	}
	line := fmt.Sprintf("paw host add %s %s --repo PATH", host.Name, errs.Quote(host.SSH))
	if h.Root() == "" {
		return "", errs.New(errs.Refused, "%s: which repository? this is none", host.Name).Hint("%s", line)
	}
	return "", errs.New(errs.Refused, "%s: has no checkout of %s that paw knows of", host.Name, shortened(h.Root())).Hint("%s", line)
}

// terminalText passes text, colours, tabs and line breaks of a host on to a terminal, and drops
// everything else that could control the terminal. An escape sequence may arrive in pieces.
type terminalText struct {
	w    io.Writer
	rest string
}

// longestEscape limits the bytes of an unfinished escape sequence that are kept back.
const longestEscape = 256

func (t *terminalText) Write(text []byte) (int, error) {
	all := t.rest + string(text)
	t.rest = ""
	if at := strings.LastIndexByte(all, '\x1b'); at >= 0 && len(all)-at < longestEscape && !escapeEnds(all[at:]) {
		all, t.rest = all[:at], all[at:]
	}
	if _, err := io.WriteString(t.w, colouredText(strings.ReplaceAll(all, "\r\n", "\n"))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// colouredText removes escape sequences, except those that set colours, and control characters.
func colouredText(text string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			break
		}
		out.WriteString(display.Printable(text[:at]))
		sequence := display.Escape(text[at:])
		if _, colour := display.Style(sequence); colour {
			out.WriteString(sequence)
		}
		text = text[at+len(sequence):]
	}
	out.WriteString(display.Printable(text))
	return out.String()
}

// escapeEnds reports whether the escape sequence at the begin of a text is complete.
func escapeEnds(text string) bool {
	sequence := display.Escape(text)
	if len(sequence) < len(text) {
		return true
	}
	last := sequence[len(sequence)-1]
	return len(sequence) > 2 && last >= '@' && last <= '~' && sequence[1] == '['
}
