package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Loaded is the merged configuration and where it came from.
type Loaded struct {
	Config
	// Sources are the places that set something, the strongest last.
	Sources []Source
	// Untrusted are the texts that the repository asks for and the user has not
	// trusted, in the order of its file. They are not in Config, nor is
	// anything else the repository says about a program one of them belongs to.
	Untrusted []Command
	// Ignored are the keys of the repository's file in which a repository has no say.
	Ignored []string
	// RepositoryMistake is the first mistake in the repository's file, nil for none. It costs the settings of the repository, one of
	// an Unknown key only that key.
	RepositoryMistake *Error
	// TrustProblem says why the record of trusted texts could not be read; all
	// texts of the repository then count as untrusted.
	TrustProblem error
}

// Source is a file, or a variable such as PAW_MAX_DEPTH, and the keys it set.
type Source struct {
	Name string   `json:"name"`
	Keys []string `json:"keys"`
}

// Load merges the defaults, the user's file, the .paw.toml of the repository
// whose main worktree is repo ("" for none) and the environment. It writes
// nothing. A mistake in the user's file or a variable is an *Error; a missing
// file is none. With an Error of an Unknown key comes what is loaded without it.
func Load(paths Paths, repo string, getenv func(string) string) (Loaded, error) {
	l := Loaded{Config: Default()}
	unknown, err := onlyUnknown(l.addUser(paths.ConfigFile))
	if err != nil {
		return Loaded{}, err
	}
	if repo != "" {
		l.addRepository(paths, repo)
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

// onlyUnknown tells keys that are not known from all other mistakes.
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

// addRepository adds what the file of a repository may say. A mistake in it costs nothing but what the file says.
func (l *Loaded) addRepository(paths Paths, repo string) {
	file := repositoryFile(repo)
	assignments, err := l.read(file)
	if err != nil && !errors.As(err, &l.RepositoryMistake) {
		l.RepositoryMistake = &Error{File: file, Message: err.Error()}
	}
	if l.RepositoryMistake != nil {
		l.RepositoryMistake.InRepository = true
		if !l.RepositoryMistake.Unknown {
			return
		}
	}
	assignments, l.Ignored = l.allowed(assignments)
	asked := commands(assignments, l.Config)
	if len(asked) > 0 {
		trusted, problem := paths.trusted(repo)
		l.TrustProblem = problem
		l.Untrusted = slices.DeleteFunc(asked, func(c Command) bool { return slices.Contains(trusted[c.Key], c.Text) })
	}
	l.add(file, withoutUntrusted(assignments, l.Untrusted))
}

// read returns what a file sets on top of what is loaded so far, nothing when
// there is no file.
func (l *Loaded) read(file string) ([]assignment, error) {
	d, err := readDocument(file)
	if err != nil || d == nil {
		return nil, err
	}
	return d.understand(l.Config)
}

// add stores assignments; a program's settings are merged.
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

// allowed leaves out of a repository's settings those in which a repository has no say, and names them, and those in which
// the user's word holds. A preset of the user holds as a whole: under its name the user knows what is started.
func (l *Loaded) allowed(assignments []assignment) (kept []assignment, ignored []string) {
	for _, a := range assignments {
		switch a.setting.repository {
		case usersAlone:
			ignored = append(ignored, a.key())
		case yields:
			if !l.byUser(a) {
				kept = append(kept, a)
			}
		default:
			kept = append(kept, a)
		}
	}
	return kept, ignored
}

// byUser reports whether the user's file says something in the key of an assignment, or in its preset.
func (l *Loaded) byUser(a assignment) bool {
	if a.path[0] == "presets" {
		_, own := l.Presets[a.path[1]]
		return own
	}
	return slices.ContainsFunc(l.Sources, func(s Source) bool { return slices.Contains(s.Keys, a.key()) })
}

// variables are the PAW_* variables that are configuration, with the key that
// each one overrides. Other PAW_* variables tell an agent who it is.
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

// applyEnvironment stores what the variables say; an empty one says nothing.
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
