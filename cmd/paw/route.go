package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config"
	"paw/config/display"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
)

// A name HOST:AGENT means an agent of another machine. A command that names agents of one host runs there, whole: its words and
// flags cross as they were typed, without the prefix. Its output and its exit code are those of the paw over there.

// textBehind are the commands whose words behind the first one are text, and no names.
var textBehind = []string{"send", "answer", "sh", "run", "spawn", "review"}

// hereOnly are commands that mean this machine, with what a host's agent takes instead.
var hereOnly = map[string]string{
	"path":   "ssh -t %[1]s",
	"update": "paw sh %[2]s git pull",
	"pr":     "paw sh %[2]s git push",
}

// launching are the commands that start CLIs, which need the environment of a login.
var launching = []string{"start", "add", "recover", "spawn", "run"}

// onHosts wraps the work of a command so that names of a host's agents are carried out on that host.
func (a *invocation) onHosts(next func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		on := ""
		if flag := cmd.Flags().Lookup("on"); flag != nil && (cmd.Name() == "start" || cmd.Name() == "add") {
			on = flag.Value.String()
		}
		if from := cmd.Flag("from"); on == "" && cmd.Name() == "add" && strings.Contains(from.Value.String(), ":") {
			return a.addFromHost(from.Value, func() error { return next(cmd, args) })
		}
		of := sessionOf(cmd)
		if on == "" && !strings.Contains(of, ":") && !slices.ContainsFunc(namesIn(cmd, args), func(word string) bool { return strings.Contains(word, ":") }) {
			return next(cmd, args)
		}
		h, err := a.untold()
		if err != nil {
			return err
		}
		if name, own, far := strings.Cut(of, ":"); far {
			known, there := h.Config.Hosts[name]
			if !there {
				return unknownHost(h, name)
			}
			return a.inSessionThere(cmd, h, hosts.Host{Name: name, Host: known}, own, args, next)
		}
		host, places, err := a.hostMeant(cmd, h, args, on)
		if err != nil {
			return err
		}
		if host == "" {
			return next(cmd, args)
		}
		if on == "" && fetching(cmd) {
			a.far = &farWork{host: hosts.Host{Name: host, Host: h.Config.Hosts[host]}, words: agentsAt(host, args, places), command: args[len(places):]}
			return next(cmd, args)
		}
		return a.runThere(cmd, h, hosts.Host{Name: host, Host: h.Config.Hosts[host]}, a.wordsFor(host, on, args, places))
	}
}

// sessionOf returns the session that a flag names, "" for none. What has landed of a session of a host is known here.
func sessionOf(cmd *cobra.Command) string {
	flag := cmd.Flag("session")
	if flag == nil {
		return ""
	}
	for _, about := range []string{"undo", "list"} {
		if cmd.Name() == "land" && cmd.Flag(about).Changed {
			return ""
		}
	}
	return flag.Value.String()
}

// inSessionThere runs a command that names a session of a host by its flag.
func (a *invocation) inSessionThere(cmd *cobra.Command, h *app.App, host hosts.Host, name string, args []string, next func(*cobra.Command, []string) error) error {
	if fetching(cmd) {
		a.far = &farWork{host: host, words: []string{"--session", name}}
		for _, word := range args {
			a.far.words = append(a.far.words, unprefixed(host.Name, word))
		}
		return next(cmd, args)
	}
	words := slices.Clone(a.typed)
	for i, word := range words {
		switch before := words[max(i-1, 0)]; {
		case word == "--session="+host.Name+":"+name:
			words[i] = "--session=" + name
		case word == host.Name+":"+name && (before == "--session" || before == "-s"):
			words[i] = name
		}
	}
	return a.runThere(cmd, h, host, words)
}

// namesIn returns the words of a command that may be names of agents.
func namesIn(cmd *cobra.Command, args []string) []string {
	if slices.Contains(textBehind, cmd.Name()) {
		return args[:min(len(args), 1)]
	}
	return args
}

// hostMeant returns the host whose agents the words name, and the indexes of those words; "" where all agents are of this machine.
func (a *invocation) hostMeant(cmd *cobra.Command, h *app.App, args []string, on string) (host string, places []int, err error) {
	names := namesIn(cmd, args)
	if on != "" {
		if _, known := h.Config.Hosts[on]; !known {
			return "", nil, unknownHost(h, on)
		}
		return on, nil, nil
	}
	if last := len(names) - 1; cmd.Name() == "check" && last > 0 {
		if name, _, _ := strings.Cut(names[last], ":"); h.Config.Hosts[name].SSH == "" { // its command
			names = names[:last]
		}
	}
	machines := map[string]bool{}
	session := "" // host of the session that a word before has named
	for i, word := range names {
		for part := range strings.SplitSeq(word, ",") {
			name, own, prefixed := strings.Cut(part, ":")
			if !prefixed && session != "" && !strings.Contains(part, "/") {
				continue
			}
			if _, known := h.Config.Hosts[name]; !prefixed || !known {
				machines[""] = true
				continue
			}
			machines[name], host = true, name
			if strings.Contains(own, "/") || cmd.Name() == "recover" {
				session = name
			}
			if !slices.Contains(places, i) {
				places = append(places, i)
			}
		}
	}
	if host == "" {
		return "", nil, nil
	}
	if len(machines) > 1 {
		e := usagef(cmd, "%s: agents of more than one machine", strings.Join(args, " "))
		for _, word := range names {
			for part := range strings.SplitSeq(word, ",") {
				e = e.Hint("%s %s", cmd.CommandPath(), part)
			}
		}
		return "", nil, e
	}
	return host, places, nil
}

// wordsFor returns the words of the command line for the paw on a host: as typed, without HOST: and, where the flag --on named the host,
// without that flag.
func (a *invocation) wordsFor(host, on string, args []string, places []int) []string {
	var words []string
	at := 0
	for i := 0; i < len(a.typed); i++ {
		word := a.typed[i]
		switch {
		case on != "" && word == "--on":
			i++
			continue
		case on != "" && word == "--on="+on:
			continue
		}
		for at < len(places) {
			if word != args[places[at]] {
				break
			}
			word = unprefixed(host, word)
			at++
		}
		words = append(words, word)
	}
	return words
}

// unprefixed is a word, or words between commas, without HOST:.
func unprefixed(host, word string) string {
	parts := strings.Split(word, ",")
	for k := range parts {
		parts[k] = strings.TrimPrefix(parts[k], host+":")
	}
	return strings.Join(parts, ",")
}

// agentsAt returns the agents that the words at some places name, as the host knows them.
func agentsAt(host string, args []string, places []int) (words []string) {
	for _, i := range places {
		words = append(words, unprefixed(host, args[i]))
	}
	return words
}

// runThere runs a command on a host.
func (a *invocation) runThere(cmd *cobra.Command, h *app.App, host hosts.Host, words []string) error {
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
	dir, err := a.folderThere(cmd, h, host)
	if err != nil {
		return err
	}
	request := hosts.NewRequest(dir, words...)
	switch name := cmd.Name(); {
	case fullScreen(cmd, words):
		return a.endedThere(client.Screen(cmd.Context(), host, request, os.Stdin, os.Stdout, os.Stderr))
	case slices.Contains(launching, name):
		return a.launchThere(cmd, h, client, host, request)
	case name == "wait":
		return a.waitThere(cmd, client, host, request)
	}
	if err := a.reach(cmd.Context(), client, host); err != nil {
		return a.endedThere(0, err)
	}
	if in, ok := a.stdin.(*os.File); ok && a.interactive() && isTerminal(a.stdout) {
		request.Args = append(slices.Clone(words), "--no-pager")
		return a.endedThere(client.Dialog(cmd.Context(), host, request, in, &terminalText{w: a.stdout}))
	}
	return a.endedThere(client.Run(cmd.Context(), host, request, a.inputFor(cmd), a.stdout, forReading(a.stderr)))
}

// fullScreen reports whether a command draws on the whole terminal over there: tmux, a shell or an editor.
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

// inputFor returns the standard input for a command on a host: that of this process, nil where it is a terminal.
func (a *invocation) inputFor(*cobra.Command) io.Reader {
	if isTerminal(a.stdin) {
		return nil
	}
	return a.stdin
}

// launchThere runs a command that starts CLIs, with the environment of a login over there and the variables that the user hands over.
// It begins without a terminal, so that no variable can be shown; what start and recover would attach to is attached to afterwards.
func (a *invocation) launchThere(cmd *cobra.Command, h *app.App, client hosts.Client, host hosts.Host, request hosts.Request) error {
	request.Login, request.Env = true, true
	detach := cmd.Flags().Lookup("detach")
	attaches := (cmd.Name() == "start" || cmd.Name() == "recover") && detach != nil
	wanted := attaches && detach.Value.String() != "true" && a.interactive() && isTerminal(a.stdout)
	if attaches && detach.Value.String() != "true" {
		request.Args = append(slices.Clone(request.Args), "--detach")
	}
	if err := a.reach(cmd.Context(), client, host); err != nil {
		return a.endedThere(0, err)
	}
	var in io.Reader = strings.NewReader(hosts.HandOver(host.Env, h.Getenv))
	if rest := a.inputFor(cmd); rest != nil {
		in = io.MultiReader(in, rest)
	}
	code, err := client.Run(cmd.Context(), host, request, in, forReading(a.stdout), forReading(a.stderr))
	if err != nil || code != 0 || !wanted {
		return a.endedThere(code, err)
	}
	return a.endedThere(client.Screen(cmd.Context(), host, hosts.NewRequest(request.Dir, "attach"), os.Stdin, os.Stdout, os.Stderr))
}

// waitPauses are the pauses of paw wait between tries to reach a host that was lost; the last one repeats.
var waitPauses = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

// waitThere waits for agents of a host. A host that is lost is asked again until the time-out: its silence says nothing of the agents.
func (a *invocation) waitThere(cmd *cobra.Command, client hosts.Client, host hosts.Host, request hosts.Request) error {
	ctx, timeout := cmd.Context(), time.Duration(0)
	if flag := cmd.Flags().Lookup("timeout"); flag != nil {
		timeout, _ = time.ParseDuration(flag.Value.String())
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout+timeoutGrace)
		defer cancel()
	}
	for lost := 0; ; lost++ {
		err := a.reach(ctx, client, host)
		code := 0
		if err == nil {
			code, err = client.Run(ctx, host, request, nil, a.stdout, forReading(a.stderr))
		}
		var away *hosts.NotReached
		switch {
		case timeout > 0 && ctx.Err() != nil && cmd.Context().Err() == nil:
			return errs.New(errs.Timeout, "%s: not finished after %s", host.Name, timeout).Hint("paw status")
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.As(err, &away):
			return a.endedThere(code, err)
		case lost == 0:
			a.note(away.Error() + "; asking again")
		}
		poll.Sleep(ctx, waitPauses[min(lost, len(waitPauses)-1)])
	}
}

// timeoutGrace is how much longer paw wait waits here than the paw on the host, which as a rule reports the time-out itself.
const timeoutGrace = time.Second

// reachPatience bounds how long a command that a person typed for one host waits for the connection.
const reachPatience = 20 * time.Second

// reach makes sure that there is a connection to a host, and says so where that takes long.
func (a *invocation) reach(ctx context.Context, client hosts.Client, host hosts.Host) error {
	ctx, cancel := context.WithTimeout(ctx, reachPatience)
	defer cancel()
	slow := time.AfterFunc(time.Second, func() {
		if !a.json {
			fmt.Fprintf(a.stderr, "connecting to %s\n", host.Name)
		}
	})
	defer slow.Stop()
	return client.Reach(ctx, host)
}

// endedThere turns the end of a command on a host into an error; the output of the command has been printed already.
func (a *invocation) endedThere(code int, err error) error {
	var lost *hosts.NotReached
	switch {
	case errors.As(err, &lost):
		return errs.New(errs.Failed, "%w", lost).Hint("paw host doctor %s", lost.Host)
	case err != nil:
		return err
	case code != 0:
		return exitStatus(code)
	}
	return nil
}

// folderThere returns the checkout on a host that goes with the one here. Without one, the names have to say which session is meant.
func (a *invocation) folderThere(cmd *cobra.Command, h *app.App, host hosts.Host) (string, error) {
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

// sshClient is the ssh of the user's PATH.
func sshClient(h *app.App) (hosts.Client, error) {
	path, err := cli.LookPath("ssh", h.Env)
	if err != nil {
		return hosts.Client{}, errs.New(errs.Missing, "ssh: is not installed").Hint("apt-get install openssh-client")
	}
	return hosts.Client{Path: path, Env: h.Env, Sockets: hosts.SocketsIn(h.Getenv("XDG_RUNTIME_DIR")), State: h.Paths.HostsDir()}, nil
}

// unknownHost is the error of a name that no host has.
func unknownHost(h *app.App, name string) error {
	e := errs.New(errs.NotFound, "%s: no such host", name)
	if near := config.Nearest(name, slices.Sorted(maps.Keys(h.Config.Hosts))); near != "" {
		e.Message += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return e.Hint("paw host list")
}

// terminalText writes to a terminal what a host's commands print: text, colours, tabs and line breaks. Everything else that could
// command the terminal is left out; an escape sequence may come in pieces.
type terminalText struct {
	w    io.Writer
	rest string
}

// longestEscape bounds how much of an escape sequence that does not end is waited for.
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

// colouredText is a text without escape sequences but those that set colours, and without other control characters.
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

// escapeEnds reports whether an escape sequence that begins a text is whole, or the text goes on behind it.
func escapeEnds(text string) bool {
	sequence := display.Escape(text)
	if len(sequence) < len(text) {
		return true
	}
	last := sequence[len(sequence)-1]
	return len(sequence) > 2 && last >= '@' && last <= '~' && sequence[1] == '['
}
