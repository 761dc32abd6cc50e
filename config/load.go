package config

import (
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
