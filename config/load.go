package config

import (
	"cmp"
	"errors"
	"slices"
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
// nothing. A mistake in a file or a variable is an *Error; a missing file is
// none. With an Error of an Unknown key comes what is loaded without it.
func Load(paths Paths, repo string, getenv func(string) string) (Loaded, error) {
	l := Loaded{Config: Default()}
	unknown, err := onlyUnknown(l.addUser(paths.ConfigFile))
	if err == nil && repo != "" {
		var here *Error
		here, err = onlyUnknown(l.addRepository(paths, repo))
		unknown = cmp.Or(unknown, here)
	}
	if err != nil {
		return Loaded{}, err
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

func (l *Loaded) addRepository(paths Paths, repo string) error {
	file := repositoryFile(repo)
	assignments, err := l.read(file)
	// The user's own presets win: a repository that replaced one would start other agents under a name that the user knows.
	assignments = slices.DeleteFunc(assignments, func(a assignment) bool {
		if a.path[0] != "presets" {
			return false
		}
		_, own := l.Presets[a.path[1]]
		return own
	})
	asked := commands(assignments, l.Config)
	if len(asked) > 0 {
		trusted, problem := paths.trusted(repo)
		l.TrustProblem = problem
		l.Untrusted = slices.DeleteFunc(asked, func(c Command) bool { return slices.Contains(trusted[c.Key], c.Text) })
	}
	l.add(file, withoutUntrusted(assignments, l.Untrusted))
	return err
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
