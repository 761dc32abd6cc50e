package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Loaded is the merged configuration with the sources of its values.
type Loaded struct {
	Config
	// Sources lists the files and variables that set a key, the one with the last word at the end.
	Sources []Source
	// Untrusted lists the values in the repository's file that need the user's trust and do not
	// have it, in the order of the file. Config does not contain them, nor any other setting that
	// the repository makes for the same CLI.
	Untrusted []Command
	// Ignored lists the keys in the repository's file that only the user may set.
	Ignored []string
	// RepositoryMistake is the first mistake in the repository's file, nil for none. Config does
	// not contain that file's settings; if the mistake is Unknown, only its unknown keys are
	// missing.
	RepositoryMistake *Error
	// TrustProblem says why the trust file could not be read; then every value that needs trust
	// counts as untrusted.
	TrustProblem error
}

// Source is a file, or a variable such as PAW_MAX_DEPTH, with the keys that it sets.
type Source struct {
	Name string   `json:"name"`
	Keys []string `json:"keys"`
}

// Load merges the defaults, the user's file, the .paw.toml of the repository whose main worktree is
// repo ("" for none) and the environment. Load writes nothing. A mistake in the user's file or in a
// variable is an *Error; a missing file is none. If the Error is Unknown, Loaded is valid, without
// the unknown keys.
func Load(paths Paths, repo string, getenv func(string) string) (Loaded, error) {
	l := Loaded{Config: Default()}
	unknown, err := onlyUnknown(l.addUser(paths.ConfigFile))
	if err != nil {
		return Loaded{}, err
	}
	own, ports := l.Worktree.Env, l.Worktree.Ports
	if repo != "" {
		ports = l.addRepository(paths, repo)
	}
	if mistake := tooFewPorts(paths.ConfigFile, own, ports); mistake != nil {
		return Loaded{}, mistake
	}
	sources, err := applyEnvironment(&l.Config, getenv)
	if err != nil {
		return Loaded{}, err
	}
	l.Sources = append(l.Sources, sources...)
	if unknown != nil {
		return l, unknown
	}
	return l, nil
}

// onlyUnknown splits an error: an Error that is Unknown, or any other error.
func onlyUnknown(err error) (*Error, error) {
	if e, ok := errors.AsType[*Error](err); ok && e.Unknown {
		return e, nil
	}
	return nil, err
}

func (l *Loaded) addUser(file string) error {
	assignments, err := l.read(file)
	l.add(file, assignments)
	return err
}

// addRepository adds the settings of the repository's file that a repository may make. A mistake in
// the file affects no other settings. ports is the number of ports of an agent, as if the whole
// file were trusted.
func (l *Loaded) addRepository(paths Paths, repo string) (ports int) {
	file := repositoryFile(repo)
	assignments, err := l.read(file)
	if err != nil && !errors.As(err, &l.RepositoryMistake) {
		l.RepositoryMistake = &Error{File: file, Message: err.Error()}
	}
	if l.RepositoryMistake != nil {
		l.RepositoryMistake.InRepository = true
		if !l.RepositoryMistake.Unknown {
			return l.Worktree.Ports
		}
	}
	assignments, l.Ignored = l.allowed(assignments)
	asks := Default()
	asks.Worktree.Ports = l.Worktree.Ports
	for _, a := range assignments {
		a.store(&asks)
	}
	ports = asks.Worktree.Ports
	if mistake := tooFewPorts(file, asks.Worktree.Env, ports); mistake != nil {
		mistake.InRepository = true
		l.RepositoryMistake = mistake
		return l.Worktree.Ports
	}
	asked := commands(assignments, l.Config)
	if len(asked) > 0 {
		trusted, problem := paths.trusted(repo)
		l.TrustProblem = problem
		l.Untrusted = slices.DeleteFunc(asked, func(c Command) bool { return slices.Contains(trusted[c.Key], c.Text) })
	}
	l.add(file, withoutUntrusted(assignments, l.Untrusted))
	return ports
}

// read returns the assignments of a file, nil when there is no file.
func (l *Loaded) read(file string) ([]assignment, error) {
	d, err := readDocument(file)
	if err != nil || d == nil {
		return nil, err
	}
	return d.understand(l.Config)
}

func (l *Loaded) add(name string, assignments []assignment) {
	var keys []string
	for _, a := range assignments {
		a.store(&l.Config)
		keys = append(keys, a.key())
	}
	if len(keys) > 0 {
		l.Sources = append(l.Sources, Source{Name: name, Keys: keys})
	}
}

// allowed drops assignments that a repository may not make: of keys that only the user may set,
// returned in ignored, and of keys that the user has set. A preset of the user is kept as a whole:
// the user knows which agents its name starts.
func (l *Loaded) allowed(assignments []assignment) (kept []assignment, ignored []string) {
	for _, a := range assignments {
		switch a.setting.repository {
		case usersAlone:
			ignored = append(ignored, a.key())
		case yields:
			if !l.byUser(a) {
				kept = append(kept, a)
			}
		case lowers:
			if a.value.(int) < a.inForce(l.Config).(int) {
				kept = append(kept, a)
			}
		default:
			kept = append(kept, a)
		}
	}
	return kept, ignored
}

// byUser reports whether the user's file sets the key of an assignment, or any key of its preset.
func (l *Loaded) byUser(a assignment) bool {
	if a.path[0] == "presets" {
		_, own := l.Presets[a.path[1]]
		return own
	}
	return slices.ContainsFunc(l.Sources, func(s Source) bool { return slices.Contains(s.Keys, a.key()) })
}

// variables maps PAW_* variables to keys. Other PAW_* variables identify the agent that a process
// belongs to.
var variables = []struct{ name, key string }{
	{"PAW_DEFAULT_CLI", "default_cli"},
	{"PAW_WORKTREE_PATH", "worktree.path"},
	{"PAW_WORKTREE_SETUP", "worktree.setup"},
	{"PAW_TMUX_SOCKET", "tmux.socket"},
	{"PAW_TMUX_LAYOUT", "tmux.layout"},
	{"PAW_SNAPSHOT_SECONDS", "turns.snapshot_seconds"},
	{"PAW_SNAPSHOT_MIB", "turns.snapshot_mib"},
	{"PAW_MAX_DEPTH", "agents.max_depth"},
	{"PAW_MAX_CHILDREN", "agents.max_children"},
	{"PAW_BRIEF_KIB", "agents.brief_kib"},
}

// applyEnvironment stores the variables that are set and not empty.
func applyEnvironment(c *Config, getenv func(string) string) ([]Source, error) {
	var sources []Source
	for _, v := range variables {
		text := getenv(v.name)
		if text == "" {
			continue
		}
		path := strings.Split(v.key, ".")
		s, _ := findSetting(path)
		a := assignment{setting: s, path: path, value: text}
		if s.text != nil {
			if p := s.text(text); p != nil {
				return nil, p.of(v.name)
			}
		} else {
			number, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, problemf("%q is not a whole number", text).of(v.name)
			}
			if p := s.checkNumber(number); p != nil {
				return nil, p.of(v.name)
			}
			a.value = int(number)
		}
		a.store(c)
		sources = append(sources, Source{Name: v.name, Keys: []string{v.key}})
	}
	return sources, nil
}
