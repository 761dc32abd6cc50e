package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Loaded is the merged configuration and the sources of its values.
type Loaded struct {
	Config
	// Sources are the files and variables that set a key, the strongest last.
	Sources []Source
	// Untrusted are the texts in the repository's file that need trust and do not have it, in the
	// order of the file. Config is without these texts, and without all settings that the repository
	// makes for a CLI that has one of them.
	Untrusted []Command
	// Ignored are the keys in the repository's file in which a repository has no say.
	Ignored []string
	// RepositoryMistake is the first mistake in the repository's file, nil for none. Config is without
	// the settings of that file or, where the mistake is an Unknown key, without unknown keys.
	RepositoryMistake *Error
	// TrustProblem says why the record of trusted texts could not be read; each text that needs trust
	// then counts as untrusted.
	TrustProblem error
}

// Source is a file, or a variable such as PAW_MAX_DEPTH, with the keys that are set there.
type Source struct {
	Name string   `json:"name"`
	Keys []string `json:"keys"`
}

// Load merges the defaults, the user's file, the .paw.toml of the repository whose main worktree is
// repo ("" for none) and the environment. Load writes nothing. A mistake in the user's file or in a
// variable is an *Error; a missing file is no mistake. With an Error of an Unknown key come the
// settings without unknown keys.
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

// onlyUnknown tells an Error of an Unknown key from all other errors.
func onlyUnknown(err error) (*Error, error) {
	var e *Error
	if errors.As(err, &e) && e.Unknown {
		return e, nil
	}
	return nil, err
}

func (l *Loaded) addUser(file string) error {
	assignments, err := l.read(file)
	l.add(file, assignments)
	return err
}

// addRepository adds the settings that the repository's file may make. A mistake in the file costs
// nothing but settings of the file. The result is how many ports an agent has, or would have once the file is trusted.
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

// read returns what a file sets on top of the settings loaded so far, nil when there is no file.
func (l *Loaded) read(file string) ([]assignment, error) {
	d, err := readDocument(file)
	if err != nil || d == nil {
		return nil, err
	}
	return d.understand(l.Config)
}

// add stores the assignments of a source.
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

// allowed leaves out assignments of a repository: those of keys in which a repository has no say,
// which are named in ignored, and those in which the user's word holds. A preset of the user holds
// as a whole: under the name of the preset the user knows which agents are started.
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

// variables are the PAW_* variables that set a key. Other PAW_* variables say which agent a process
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

// applyEnvironment stores the values of the variables that are not empty.
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
