package config

import "slices"

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
// none.
func Load(paths Paths, repo string, getenv func(string) string) (Loaded, error) {
	l := Loaded{Config: Default()}
	if err := l.addUser(paths.ConfigFile); err != nil {
		return Loaded{}, err
	}
	if repo != "" {
		if err := l.addRepository(paths, repo); err != nil {
			return Loaded{}, err
		}
	}
	sources, err := applyEnvironment(&l.Config, getenv)
	if err != nil {
		return Loaded{}, err
	}
	l.Sources = append(l.Sources, sources...)
	return l, nil
}

func (l *Loaded) addUser(file string) error {
	d, assignments, err := l.read(file)
	if err != nil || d == nil {
		return err
	}
	l.add(file, assignments)
	return nil
}

func (l *Loaded) addRepository(paths Paths, repo string) error {
	file := repositoryFile(repo)
	d, assignments, err := l.read(file)
	if err != nil || d == nil {
		return err
	}
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
		trusted, err := paths.trusted(repo)
		l.TrustProblem = err
		l.Untrusted = slices.DeleteFunc(asked, func(c Command) bool { return contains(trusted[c.Key], c.Text) })
	}
	l.add(file, withoutUntrusted(assignments, l.Untrusted))
	return nil
}

// read returns what a file sets on top of what is loaded so far; no document
// when there is no file.
func (l *Loaded) read(file string) (*document, []assignment, error) {
	d, err := readDocument(file)
	if err != nil || d == nil {
		return nil, nil, err
	}
	assignments, err := d.understand()
	if err != nil {
		return nil, nil, err
	}
	if err := d.complete(assignments, l.Config); err != nil {
		return nil, nil, err
	}
	return d, assignments, nil
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
