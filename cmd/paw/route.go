package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
)

// A name HOST:AGENT means an agent of another machine. A command that names agents of one host runs there, whole: its words and
// flags cross as they were typed, without the prefix. Its output and its exit code are those of the paw over there.

// textBehind are the commands whose words behind the first one are text, and no names.
var textBehind = []string{"send", "answer", "sh", "run", "spawn", "review", "bisect", "blame"}

// hereOnly are commands that mean this machine, with what a host's agent takes instead.
var hereOnly = map[string]string{
	"path":   "ssh -t %[1]s",
	"update": "paw sh %[2]s git pull",
	"pr":     "paw sh %[2]s git push",
}

// launching are the commands that start CLIs, which need the environment of a login.
var launching = []string{"start", "add", "recover", "spawn", "run"}

// router runs a command on the machine whose agents its words name.
type router struct{ *invocation }

// onHosts wraps the work of a command so that names of a host's agents are carried out on that host.
func (r router) onHosts(next func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		on := ""
		if flag := cmd.Flags().Lookup("on"); flag != nil && (cmd.Name() == "start" || cmd.Name() == "add") {
			on = flag.Value.String()
		}
		if from := cmd.Flag("from"); on == "" && cmd.Name() == "add" && strings.Contains(from.Value.String(), ":") {
			return r.addFromHost(from.Value, func() error { return next(cmd, args) })
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
			known, there := h.Config.Hosts[name]
			if !there {
				return unknownHost(h, name)
			}
			return r.inSessionThere(cmd, h, hosts.Host{Name: name, Host: known}, own, args, next)
		}
		host, places, err := r.hostMeant(cmd, h, args, on)
		if err != nil {
			return err
		}
		if host == "" {
			return next(cmd, args)
		}
		if on == "" && fetching(cmd) {
			r.far = &farWork{host: hosts.Host{Name: host, Host: h.Config.Hosts[host]}, words: agentsAt(host, args, places), command: args[len(places):]}
			return next(cmd, args)
		}
		return r.runThere(cmd, h, hosts.Host{Name: host, Host: h.Config.Hosts[host]}, r.wordsFor(host, on, args, places))
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
		switch before := words[max(i-1, 0)]; {
		case word == "--session="+host.Name+":"+name:
			words[i] = "--session=" + name
		case word == host.Name+":"+name && (before == "--session" || before == "-s"):
			words[i] = name
		}
	}
	return r.runThere(cmd, h, host, words)
}

// namesIn returns the words of a command that may be names of agents.
func namesIn(cmd *cobra.Command, args []string) []string {
	if slices.Contains(textBehind, cmd.Name()) {
		return args[:min(len(args), 1)]
	}
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args = args[:min(at, len(args))] // paths
	}
	named := slices.IndexFunc(args, turnsAlone)
	if named > 0 {
		return args[:named]
	}
	return args
}

// hostMeant returns the host whose agents the words name, and the indexes of those words; "" where all agents are of this machine.
func (r router) hostMeant(cmd *cobra.Command, h *app.App, args []string, on string) (host string, places []int, err error) {
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

// turnsAlone reports whether a word behind an agent means turns of the agent: N or N..M.
func turnsAlone(word string) bool {
	from, to, between := strings.Cut(word, "..")
	_, err := strconv.ParseUint(from, 10, 31)
	if between && err == nil {
		_, err = strconv.ParseUint(to, 10, 31)
	}
	return err == nil
}

// agentIn is a name of an agent in a word of the command line.
type agentIn struct {
	place    int    // of the word
	host     string // "" for this machine
	word     string // as that machine knows the agent
	prefixed bool   // the name has HOST: itself
}

// agentsIn reads words that name agents. Behind HOST:SESSION/AGENT the others are of that session, unless they say another one.
func agentsIn(h *app.App, cmd *cobra.Command, words []string) (agents []agentIn) {
	session := "" // host of the session that a word before has named
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

// wordsFor returns the words of the command line for the paw on a host: as typed, without HOST: and, where the flag --on named the host,
// without that flag.
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
