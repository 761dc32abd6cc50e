package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"paw/config/disk"
)

// Command is a value of a repository's file that needs trust: it runs, or changes what runs.
type Command struct {
	Key  string `json:"key"`  // such as worktree.setup or clis.x.command
	Text string `json:"text"` // the value as text; lists and tables are JSON
}

// commands returns the assignments of a repository that need trust; now is the configuration
// without them.
func commands(assignments []assignment, now Config) []Command {
	var result []Command
	for _, a := range assignments {
		if a.setting.trust != nil && a.setting.trust(a.value, a.inForce(now)) {
			result = append(result, Command{Key: a.key(), Text: a.text()})
		}
	}
	return result
}

// withoutUntrusted drops the assignments that the user has not trusted. If one of a CLI's settings
// is dropped, all settings of that CLI are: the user has not trusted a command with other arguments.
func withoutUntrusted(assignments []assignment, untrusted []Command) []assignment {
	left := map[string]bool{}
	for _, a := range assignments {
		for _, c := range untrusted {
			if a.key() == c.Key {
				left[unit(a)] = true
			}
		}
	}
	var kept []assignment
	for _, a := range assignments {
		if !left[unit(a)] {
			kept = append(kept, a)
		}
	}
	return kept
}

// unit names the group of assignments that an assignment is dropped with.
func unit(a assignment) string {
	if a.path[0] == "clis" {
		return joinKey(a.path[:2])
	}
	return a.key()
}

// trustVersion is the version of the trust file that this program reads and writes.
const trustVersion = 1

// trustRecord is the content of the trust file: the trusted texts per repository and key. The file
// has texts instead of hashes, so that a user can read and edit the file.
type trustRecord struct {
	Version      int                            `json:"version"`
	Repositories map[string]map[string][]string `json:"repositories"` // repository -> key -> trusted texts
}

var (
	errTrustVersion = errors.New("written by a newer version of paw")
	errCorruptTrust = errors.New("not readable")
)

// Trust adds texts to the trust file for a repository, by the path given to [Load]. A changed text
// needs trust again. An unreadable trust file is moved aside, never deleted; one of a newer version
// is an error.
func (p Paths) Trust(repo string, c []Command) error {
	if repo == "" {
		return errors.New("trust: no repository")
	}
	if len(c) == 0 {
		return nil
	}
	if err := os.MkdirAll(p.StateDir, 0o700); err != nil {
		return fmt.Errorf("save trust: %w", err)
	}
	unlock, err := lockedfile.MutexAt(p.TrustFile() + ".lock").Lock()
	if err != nil {
		return fmt.Errorf("save trust: %w", err)
	}
	defer unlock()

	record, err := p.readTrust()
	if errors.Is(err, errCorruptTrust) {
		if err := setAside(p.TrustFile()); err != nil {
			return fmt.Errorf("save trust: %w", err)
		}
		record, err = newTrustRecord(), nil
	}
	if err != nil {
		return err
	}
	record.add(trustKey(repo), c)
	if err := disk.Replace(p.TrustFile(), readableJSON(record, "  ")); err != nil {
		return fmt.Errorf("save trust: %w", err)
	}
	return nil
}

func newTrustRecord() *trustRecord {
	return &trustRecord{Version: trustVersion, Repositories: map[string]map[string][]string{}}
}

func (r *trustRecord) add(repo string, c []Command) {
	keys := r.Repositories[repo]
	if keys == nil {
		keys = map[string][]string{}
		r.Repositories[repo] = keys
	}
	for _, command := range c {
		if !slices.Contains(keys[command.Key], command.Text) {
			keys[command.Key] = append(keys[command.Key], command.Text)
		}
	}
}

// trusted returns the texts of a repository that the user trusts, by key.
func (p Paths) trusted(repo string) (map[string][]string, error) {
	record, err := p.readTrust()
	if err != nil {
		return nil, err
	}
	return record.Repositories[trustKey(repo)], nil
}

func (p Paths) readTrust() (*trustRecord, error) {
	content, err := os.ReadFile(p.TrustFile())
	if errors.Is(err, fs.ErrNotExist) {
		return newTrustRecord(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read trust: %w", err)
	}
	// The version comes first: a newer file may hold anything else.
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.TrustFile(), errCorruptTrust, err)
	}
	if head.Version > trustVersion {
		return nil, fmt.Errorf("%s: %w", p.TrustFile(), errTrustVersion)
	}
	var record trustRecord
	if err := json.Unmarshal(content, &record); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.TrustFile(), errCorruptTrust, err)
	}
	if record.Version < 1 || record.Repositories == nil {
		return nil, fmt.Errorf("%s: %w: no version or no repositories", p.TrustFile(), errCorruptTrust)
	}
	return &record, nil
}

// setAside renames an unreadable file to make room for a new one.
func setAside(file string) error {
	return os.Rename(file, file+".corrupt-"+time.Now().UTC().Format("20060102T150405.000000000Z"))
}

// trustKey returns the same name for a repository whichever path leads to it.
func trustKey(repo string) string {
	if resolved, err := filepath.EvalSymlinks(repo); err == nil {
		return resolved
	}
	return filepath.Clean(repo)
}
