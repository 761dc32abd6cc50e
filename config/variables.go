package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/adrg/xdg"

	"paw/config/lazyregexp"
)

// templateWord matches a word in braces in a template of Worktree.Env. Words stand for values of
// the agent; other braces, such as those of JSON, stay.
var templateWord = lazyregexp.New(`\{[a-zA-Z0-9_+-]*\}`)

// Filling holds the values for the words of a template.
type Filling struct {
	Session, Agent, Repo, Worktree string
	FirstPort, Ports               int // Ports is 0 for an agent without any
}

// valueWords maps the words of a template to their values, except those of ports.
var valueWords = map[string]func(Filling) string{
	"session":  func(f Filling) string { return f.Session },
	"agent":    func(f Filling) string { return f.Agent },
	"repo":     func(f Filling) string { return f.Repo },
	"worktree": func(f Filling) string { return f.Worktree },
	"slug":     func(f Filling) string { return f.uniqueName("-") },
	"name":     func(f Filling) string { return f.uniqueName("_") },
}

// Fill expands a template. ok is false when a word asks for a port that the agent does not have.
func (f Filling) Fill(template string) (value string, ok bool) {
	ok = true
	value = templateWord().ReplaceAllStringFunc(template, func(word string) string {
		word = word[1 : len(word)-1]
		if of := valueWords[word]; of != nil {
			return of(f)
		}
		offset, _ := portOffset(word)
		ok = ok && offset < f.Ports
		return strconv.Itoa(f.FirstPort + offset)
	})
	return value, ok
}

// longestName limits a name for use in other programs, such as a database, in characters.
const longestName = 48

// uniqueName makes a name for the agent of lower case letters, digits and separator. A hash is
// added when two agents could otherwise get the same name.
func (f Filling) uniqueName(separator string) string {
	plain := f.Session + separator + f.Agent
	name := strings.ToLower(strings.ReplaceAll(plain, "_", separator))
	if len(name) <= longestName && name == plain && !strings.Contains(f.Session+f.Agent, "_") {
		return name
	}
	sum := sha256.Sum256([]byte(f.Session + "/" + f.Agent))
	hash := hex.EncodeToString(sum[:4])
	return name[:min(len(name), longestName-len(hash)-1)] + separator + hash
}

// portOffset parses the template word of a port: port, or port+N.
func portOffset(word string) (offset int, ok bool) {
	rest, ok := strings.CutPrefix(word, "port")
	if !ok || rest == "" {
		return 0, ok
	}
	number, plus := strings.CutPrefix(rest, "+")
	offset, err := strconv.Atoi(number)
	return offset, plus && err == nil && offset >= 0 && offset <= largest
}

// checkValue accepts a template with known words only.
func checkValue(template string) *problem {
	known := append(slices.Sorted(maps.Keys(valueWords)), "port", "port+N")
	for _, at := range templateWord().FindAllStringIndex(template, -1) {
		word := template[at[0]:at[1]]
		name := word[1 : len(word)-1]
		if _, ok := portOffset(name); ok || valueWords[name] != nil {
			continue
		}
		p := problemf("unknown word %s (known: {%s})", word, strings.Join(known, "} {"))
		if nearest := Nearest(name, known); nearest != "" {
			p.nearest = "{" + nearest + "}"
		}
		return p
	}
	return checkText(template)
}

// guarded lists prefixes of variables that decide which programs run, and on which repository.
var guarded = []string{"PAW_", "LD_", "DYLD_", "GIT_"}

// checkOwnVariable refuses variables that a project may not set.
func checkOwnVariable(name string) *problem {
	for _, prefix := range guarded {
		if strings.HasPrefix(name, prefix) {
			return problemf("variables that begin with %s cannot be set", prefix)
		}
	}
	if name == "PATH" || name == "HOME" {
		return problemf("%s cannot be set", name)
	}
	return checkVariable(name)
}

// ProjectVariable parses a line KEY=value written by a command of the project.
func ProjectVariable(line string) (name, value string, err error) {
	name, value, found := strings.Cut(line, "=")
	if !found {
		return "", "", fmt.Errorf("not KEY=value")
	}
	p := checkOwnVariable(name)
	if p == nil && strings.ContainsRune(value, 0) {
		p = problemf("has a NUL")
	}
	if p != nil {
		return "", "", fmt.Errorf("%s", p.what)
	}
	return name, value, nil
}

// tooFewPorts returns an error for the first variable that uses a port beyond ports, nil for none.
func tooFewPorts(file string, env map[string]string, ports int) *Error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if _, ok := (Filling{Ports: ports}).Fill(env[name]); ok {
			continue
		}
		e := problemf("asks for more ports than worktree.ports has (%d)", ports).of("worktree.env." + name)
		if d, err := readDocument(file); err == nil && d != nil {
			e = d.fail(toml.Key{"worktree", "env", name}, e)
		}
		return e
	}
	return nil
}

// Paths holds the places of paw's own files, all outside of repositories.
type Paths struct {
	ConfigFile  string // the user's configuration
	SessionsDir string // folder of the session records
	StateDir    string // folder of locks, turn logs, the trust file and more
}

// DefaultPaths returns the places of the XDG base directory specification for the current
// environment. If HOME is not set, DefaultPaths sets it for the whole process. A relative HOME is
// an error: files would be put into the working directory.
func DefaultPaths() (Paths, error) {
	if err := setHome(); err != nil {
		return Paths{}, err
	}
	xdg.Reload()
	return Paths{
		ConfigFile:  filepath.Join(xdg.ConfigHome, "paw", "config.toml"),
		SessionsDir: filepath.Join(xdg.DataHome, "paw", "sessions"),
		StateDir:    filepath.Join(xdg.StateHome, "paw"),
	}, nil
}

// HomeError says that HOME is missing or relative.
type HomeError struct{ Home string }

func (e *HomeError) Error() string {
	if e.Home == "" {
		return "HOME: not set, and the user database has no folder of this user"
	}
	return "HOME: " + e.Home + " is not absolute"
}

// setHome sets a missing HOME to the folder in the user database.
func setHome() error {
	home := os.Getenv("HOME")
	if home == "" {
		u, err := user.Current()
		if err != nil || !filepath.IsAbs(u.HomeDir) {
			return &HomeError{}
		}
		return os.Setenv("HOME", u.HomeDir)
	}
	if !filepath.IsAbs(home) {
		return &HomeError{home}
	}
	return nil
}

// LocksDir returns the folder of the lock files.
func (p Paths) LocksDir() string { return filepath.Join(p.StateDir, "locks") }

// LaunchDir returns the folder of files that a launch reads once and deletes.
func (p Paths) LaunchDir() string { return filepath.Join(p.StateDir, "launch") }

// TurnsDir returns the folder of the turn logs, one folder per session.
func (p Paths) TurnsDir() string { return filepath.Join(p.StateDir, "turns") }

// AgentDir returns the folder for paw's files about one agent, outside of its worktree.
func (p Paths) AgentDir(session, agent string) string {
	return filepath.Join(p.StateDir, "agents", session, agent)
}

// HostsDir returns the folder of the last known states of hosts.
func (p Paths) HostsDir() string { return filepath.Join(p.StateDir, "hosts") }

// TrustFile returns the file with the texts that the user trusts, per repository.
func (p Paths) TrustFile() string { return filepath.Join(p.StateDir, "trust.json") }

// repositoryFile returns the path of the configuration file in a repository.
func repositoryFile(repo string) string { return filepath.Join(repo, ".paw.toml") }

var placeholders = []string{"{parent}", "{repo}", "{session}", "{agent}"}

var placeholder = lazyregexp.New(`\{[^}]*\}`)

// WorktreePath expands worktree.path for one agent: {parent} is the folder around the repository,
// {repo} the repository's own name, in {repo}.paw without dots in front. The result is absolute and clean. The error is an *Error for an
// unknown placeholder, a line break or a relative result.
func (c Config) WorktreePath(repoPath, session, agent string) (string, error) {
	template := c.Worktree.Path
	if p := checkTemplate(template); p != nil {
		return "", p.of("worktree.path")
	}
	name := filepath.Base(repoPath)
	if shown := strings.TrimLeft(name, "."); shown != "" && strings.HasPrefix(template, "{parent}/{repo}.paw/") {
		name = shown // programs that watch files skip hidden folders
	}
	expanded := strings.NewReplacer(
		"{parent}", filepath.Dir(repoPath),
		"{repo}", name,
		"{session}", session,
		"{agent}", agent,
	).Replace(template)
	if p := checkVisible(expanded); p != nil {
		return "", p.of("worktree.path")
	}
	if !filepath.IsAbs(expanded) {
		return "", problemf("%q is not an absolute path", expanded).of("worktree.path")
	}
	return filepath.Clean(expanded), nil
}

// checkTemplate accepts a template that is not relative, with known placeholders only.
func checkTemplate(template string) *problem {
	if p := checkVisible(template); p != nil {
		return p
	}
	if template == "" {
		return problemf("must not be empty")
	}
	for _, name := range placeholder().FindAllString(template, -1) {
		if !slices.Contains(placeholders, name) {
			p := problemf("unknown placeholder %s (known: %s)", name, strings.Join(placeholders, " "))
			p.nearest = Nearest(name, placeholders)
			return p
		}
	}
	if strings.ContainsAny(placeholder().ReplaceAllString(template, ""), "{}") {
		return problemf("%q has a brace without its partner", template)
	}
	if !strings.HasPrefix(template, "/") && !strings.HasPrefix(template, "{parent}") {
		return problemf("%q is relative; begin it with / or {parent}", template)
	}
	return nil
}

// besideRepository reports whether a template always leads to a folder next to the repository whose
// name starts with the repository's. In other places a checkout could put files where programs run
// them, such as an autostart folder.
func besideRepository(template string) bool {
	if !strings.HasPrefix(template, "{parent}/{repo}") {
		return false
	}
	return !slices.Contains(strings.Split(template, "/"), "..")
}
