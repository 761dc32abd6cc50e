package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
)

// HOST:AGENT names an agent of another machine. A command that names agents of one host runs on
// that host as a whole: paw sends it the words and flags as typed, without the prefix, and passes
// on its output and exit code.

// textBehind are the commands whose first word may be a name, while the words behind are text.
var textBehind = []string{"send", "answer", "sh", "run", "spawn", "review", "bisect", "blame"}

// addsAgents reports whether cmd is paw add, and not paw queue add.
func addsAgents(cmd *cobra.Command) bool { return cmd.Name() == "add" && !addsTasks(cmd) }

func addsTasks(cmd *cobra.Command) bool {
	return cmd.Name() == "add" && cmd.HasParent() && cmd.Parent().Name() == "queue"
}

// namesFirst reports whether the first word of paw queue add stands where a name does: one word with
// a prompt behind it. The prompt of a new agent is one argument, or follows --cli or --.
func namesFirst(cmd *cobra.Command, args []string) bool {
	changed := cmd.Flags().Changed
	switch {
	case len(args) == 0 || cmd.ArgsLenAtDash() == 0 || strings.ContainsAny(args[0], " \t\n"):
		return false
	case changed("plan") || changed("issue") || changed("issues"):
		return false
	}
	return len(args) > 1 || changed("prompt-file")
}

// onHosts wraps the RunE of a command: the result runs the command on the host whose agents the
// words name, else on this machine.
func (r router) onHosts(next func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		on := ""
		if flag := cmd.Flags().Lookup("on"); flag != nil && (cmd.Name() == "start" || addsAgents(cmd)) {
			on = flag.Value.String()
		}
		if from := cmd.Flag("from"); on == "" && addsAgents(cmd) && strings.Contains(from.Value.String(), ":") {
			return r.addFromHost(from, func() error { return next(cmd, args) })
		}
		of := sessionOf(cmd)
		if cmd.Name() == "wait" {
			return next(cmd, args)
		}
		if on == "" && !strings.Contains(of, ":") && !slices.ContainsFunc(namesIn(cmd, args), func(word string) bool { return strings.Contains(word, ":") }) {
			return next(cmd, args)
		}
		h, err := r.untold()
		if err != nil {
			return err
		}
		if name, own, far := strings.Cut(of, ":"); far {
			host, err := hostNamed(h, name)
			if err != nil {
				return err
			}
			return r.inSessionThere(cmd, h, host, own, args, next)
		}
		name, places := on, []int(nil)
		if on == "" {
			name, places, err = hostMeant(cmd, h, args)
		}
		switch {
		case err != nil:
			return err
		case name == "":
			return next(cmd, args)
		}
		host, err := hostNamed(h, name)
		if err != nil {
			return err
		}
		if on == "" && fetching(cmd) {
			r.far = &farWork{host: host, words: agentsAt(name, args, places), command: args[len(places):]}
			return next(cmd, args)
		}
		return r.runThere(cmd, h, host, r.wordsFor(name, on, args, places))
	}
}

// sessionOf returns the session that --session names, "" for none. paw land --list and --undo ask
// this machine, which records what has landed here, also from hosts.
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

// inSessionThere runs a command whose --session names a session of a host.
func (r router) inSessionThere(cmd *cobra.Command, h *app.App, host hosts.Host, name string, args []string, next func(*cobra.Command, []string) error) error {
	if fetching(cmd) {
		r.far = &farWork{host: host, words: []string{"--session", name}}
		for _, word := range args {
			r.far.words = append(r.far.words, unprefixed(host.Name, word))
		}
		return next(cmd, args)
	}
	words := slices.Clone(r.typed)
	for i, word := range words {
		switch {
		case word == "--session="+host.Name+":"+name:
			words[i] = "--session=" + name
		case word == host.Name+":"+name && i > 0 && words[i-1] == "--session":
			words[i] = name
		}
	}
	return r.runThere(cmd, h, host, words)
}

// namesIn returns the words of a command that may be names of agents.
func namesIn(cmd *cobra.Command, args []string) []string {
	if addsTasks(cmd) && !namesFirst(cmd, args) || cmd.Name() == "bisect" && cmd.Flag("main").Changed {
		return nil
	}
	if slices.Contains(textBehind, cmd.Name()) || addsTasks(cmd) {
		return args[:min(len(args), 1)]
	}
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args = args[:min(at, len(args))] // the rest are paths
	}
	named := slices.IndexFunc(args, isTurns)
	if named > 0 {
		return args[:named]
	}
	return args
}

// hostMeant returns the host whose agents the words name, and the indexes of these words. The host
// is "" if all agents are of this machine.
func hostMeant(cmd *cobra.Command, h *app.App, args []string) (host string, places []int, err error) {
	names := namesIn(cmd, args)
	if last := len(names) - 1; cmd.Name() == "check" && last > 0 {
		if name, _, _ := strings.Cut(names[last], ":"); h.Config.Hosts[name].SSH == "" { // the last word is the command to run
			names = names[:last]
		}
	}
	machines := map[string]bool{}
	for _, one := range agentsIn(h, cmd, names) {
		machines[one.host] = true
		if one.host == "" {
			continue
		}
		host = one.host
		if one.prefixed && !slices.Contains(places, one.place) {
			places = append(places, one.place)
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

// agentIn is the name of an agent in a word of the command line.
type agentIn struct {
	place    int    // index of the word
	host     string // "" for this machine
	word     string // name without HOST:
	prefixed bool   // the name itself began with HOST:
}

// agentsIn reads words that name agents. The words behind HOST:SESSION/AGENT are agents of the same
// session, unless they name a session.
func agentsIn(h *app.App, cmd *cobra.Command, words []string) (agents []agentIn) {
	session := "" // host of the session that an earlier word named
	for i, word := range words {
		for part := range strings.SplitSeq(word, ",") {
			name, own, prefixed := strings.Cut(part, ":")
			_, known := h.Config.Hosts[name]
			switch {
			case prefixed && known:
				if strings.Contains(own, "/") || cmd.Name() == "recover" {
					session = name
				}
				agents = append(agents, agentIn{place: i, host: name, word: own, prefixed: true})
			case !prefixed && session != "" && !strings.Contains(part, "/"):
				agents = append(agents, agentIn{place: i, host: session, word: part})
			default:
				agents = append(agents, agentIn{place: i, word: part})
			}
		}
	}
	return agents
}

// wordsFor returns the command line for the paw on a host: the typed words without HOST: and
// without the flag --on.
func (r router) wordsFor(host, on string, args []string, places []int) []string {
	var words []string
	at := 0
	for i := 0; i < len(r.typed); i++ {
		word := r.typed[i]
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

// unprefixed removes HOST: from a word, or from each name of a list with commas.
func unprefixed(host, word string) string {
	parts := strings.Split(word, ",")
	for k := range parts {
		parts[k] = strings.TrimPrefix(parts[k], host+":")
	}
	return strings.Join(parts, ",")
}

// agentsAt returns the words at some indexes, without HOST:.
func agentsAt(host string, args []string, places []int) (words []string) {
	for _, i := range places {
		words = append(words, unprefixed(host, args[i]))
	}
	return words
}

// sshClient returns a client that runs the ssh in the user's PATH.
func sshClient(h *app.App) (hosts.Client, error) {
	path, err := cli.LookPath("ssh", h.Env)
	if err != nil {
		return hosts.Client{}, errs.New(errs.Missing, "ssh: is not installed").Hint("apt-get install openssh-client")
	}
	return hosts.Client{Path: path, Env: h.Env, Sockets: hosts.SocketsIn(h.Getenv("XDG_RUNTIME_DIR")), State: h.Paths.HostsDir()}, nil
}

// hostAndClient returns a host of the configuration, and a client for it.
func hostAndClient(h *app.App, name string) (hosts.Host, hosts.Client, error) {
	host, err := hostNamed(h, name)
	if err != nil {
		return host, hosts.Client{}, err
	}
	client, err := sshClient(h)
	return host, client, err
}

// reachPatience limits the time a command waits for the connection to a host.
const reachPatience = 20 * time.Second

// sayPatience is the time after which a command says that it connects.
const sayPatience = time.Second

// reach connects to a host, and says so if that takes a while.
func (a *invocation) reach(ctx context.Context, client hosts.Client, host hosts.Host) error {
	ctx, cancel := context.WithTimeout(ctx, reachPatience)
	defer cancel()
	slow := time.AfterFunc(sayPatience, func() {
		if !a.json {
			fmt.Fprintf(a.stderr, "connecting to %s\n", host.Name)
		}
	})
	defer slow.Stop()
	return client.Reach(ctx, host)
}

// endedThere converts the exit code of a command on a host to an error. The host has printed its
// own error already.
func endedThere(code int, err error) error {
	var lost *hosts.NotReached
	switch {
	case errors.As(err, &lost) && lost.TooOld != "":
		return errs.New(errs.Missing, "%w", lost).Hint("paw host add %s %s --install", lost.Host, errs.Quote(lost.TooOld))
	case errors.As(err, &lost):
		return errs.New(errs.Failed, "%w", lost).Hint("paw host doctor %s", lost.Host)
	case err != nil:
		return err
	case code != 0:
		return exitStatus(code)
	}
	return nil
}
