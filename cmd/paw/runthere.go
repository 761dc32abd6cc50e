package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"paw/config"
	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
	"paw/session"
)

// hereOnly maps commands that work only on this machine to the hint for agents of a host.
var hereOnly = map[string]string{
	"path":   "ssh -t %[1]s",
	"update": "paw sh %[2]s git pull",
	"pr":     "paw sh %[2]s git push",
	"undo":   "paw rewind %[2]s --undo", // what has landed of a host was landed here
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
	dir, err := folderThere(cmd, h.Root(), host)
	if err != nil {
		return err
	}
	request := hosts.NewRequest(dir, words...)
	request.Host, request.SSH = host.Name, host.SSH
	name := cmd.Name()
	switch {
	case fullScreen(cmd, words):
		return endedThere(client.Screen(cmd.Context(), host, request, os.Stdin, os.Stdout, os.Stderr))
	case slices.Contains(launching, name) && !addsTasks(cmd):
		return r.launchThere(cmd, h, client, host, request)
	}
	if err := r.reach(cmd.Context(), client, host); err != nil {
		return endedThere(0, err)
	}
	if in, ok := r.stdin.(*os.File); ok && r.interactive() && isTerminal(r.stdout) {
		request.Args = append([]string{"--no-pager"}, words...)
		code, err := client.Dialog(cmd.Context(), host, request, in, &terminalText{w: host.Said(r.stdout)})
		return unconfirmed(name, err, endedThere(code, err))
	}
	code, err := client.Run(cmd.Context(), host, request, r.pipedInput(), forChild(r.stdout), host.Said(forReading(r.stderr)))
	return unconfirmed(name, err, endedThere(code, err))
}

// unconfirmed returns ended, the error of a command that ran on a host. If err says that the connection was lost while a prompt or an
// answer was sent, its exit code is that of one that the CLI has not confirmed: it may have arrived.
func unconfirmed(command string, err, ended error) error {
	var lost *hosts.NotReached
	e, ok := errors.AsType[*errs.Error](ended)
	if ok && errors.As(err, &lost) && lost.Answered && slices.Contains([]string{"send", "answer"}, command) {
		e.Kind = errs.Unconfirmed
	}
	return ended
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

// folderThere returns the host's checkout of the repository at root. If there is none, it returns ""
// for command lines that name a session, and an error for others.
func folderThere(cmd *cobra.Command, root string, host hosts.Host) (string, error) {
	if dir, ok := hosts.There(host.Repos, root); ok {
		return dir, nil
	}
	named := slices.ContainsFunc(cmd.Flags().Args(), func(word string) bool { return strings.Contains(word, "/") })
	if flag := cmd.Flags().Lookup("session"); named || flag != nil && flag.Value.String() != "" {
		return "", nil
	}
	line := fmt.Sprintf("paw host add %s %s --repo PATH", host.Name, errs.Quote(host.SSH))
	if root == "" {
		return "", errs.New(errs.Refused, "%s: which repository? this is none", host.Name).Hint("%s", line)
	}
	return "", errs.New(errs.Refused, "%s: has no checkout of %s that paw knows of", host.Name, shortened(root)).Hint("%s", line)
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

// onCommand is the hidden command with which a paw on another machine runs a command on this one:
// paw __on WORD.
const onCommand = "__on"

// runner is the function that runs paw with its arguments and environment.
type runner func(argv, env []string, stdin io.Reader, stdout, stderr io.Writer) int

// answer runs the request of another machine in this process, in the folder and the environment of
// the request. It prints the request's marker first, so that the other machine can tell the answer
// from greetings of the login shell.
func answer(argv, env []string, stdin io.Reader, stdout, stderr io.Writer, run runner) int {
	if len(argv) != 3 {
		fmt.Fprintln(stderr, "paw: error: __on: takes one word")
		return 2
	}
	request, err := hosts.ParseRequest(argv[2])
	if err != nil {
		fmt.Fprintf(stderr, "paw: error: __on: %v\n", err)
		return 2
	}
	if request.Marker != "" {
		fmt.Fprintln(stdout, request.Marker)
	}
	dir := request.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(os.Getenv("HOME"), dir)
	}
	if err := os.Chdir(dir); err != nil {
		fmt.Fprintf(stderr, "paw: error: %s: no such folder there\n", dir)
		return 10
	}
	if request.Login {
		login, err := hosts.LoginEnvironment(context.Background(), os.Getenv("SHELL"), env)
		if err != nil {
			fmt.Fprintf(stderr, "paw: note: the login shell %s does not give its environment: %v\n", os.Getenv("SHELL"), err)
		}
		env = withVariables(env, login)
	}
	if request.Env {
		in := bufio.NewReader(stdin)
		line, err := in.ReadString('\n')
		given, parseErr := hosts.TakeOver(line)
		if err != nil || parseErr != nil {
			fmt.Fprintln(stderr, "paw: error: __on: the variables did not arrive")
			return 1
		}
		var list []string
		for name, value := range given {
			list = append(list, name+"="+value)
		}
		env, stdin = withVariables(env, list), in
	}
	if request.Held {
		go interruptAtEnd(stdin)
		stdin = strings.NewReader("")
	}
	env = withVariables(env, []string{"PWD=" + dir})
	if request.Host != "" && !asksJSON(request.Args) { // JSON is the same for every caller
		caller := hosts.Host{Name: request.Host, Host: config.Host{SSH: request.SSH}}
		errs.Reached = &errs.Caller{Line: func(line string) string { return caller.HereFrom(errs.Quote(dir), line) }, Name: func(name string) string { return session.FarName(caller.Name, name) }}
	}
	return run(append([]string{argv[0]}, request.Args...), env, stdin, stdout, stderr)
}

// interruptAtEnd interrupts this process at the end of an input: sshd closes the input when the
// connection is gone.
func interruptAtEnd(input io.Reader) {
	_, _ = io.Copy(io.Discard, input)
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
}

// withVariables replaces or adds variables in an environment, and sets them in this process.
func withVariables(env, others []string) []string {
	for _, kv := range others {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		kept := env[:0:0]
		for _, own := range env {
			if !strings.HasPrefix(own, name+"=") {
				kept = append(kept, own)
			}
		}
		env = append(kept, kv)
		os.Setenv(name, value) //nolint:errcheck // a name without NUL and = cannot fail
	}
	return env
}
