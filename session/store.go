package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
)

// setAsideWait limits how long SetAsideCorrupt waits for a record's lock.
const setAsideWait = 5 * time.Second

// Store keeps one JSON file per session in Dir. Changes take the session's lock in LocksDir;
// reading does not, since a save replaces the file as a whole.
type Store struct {
	Dir      string
	LocksDir string
}

// Load returns the record of a session, nil if there is none. The error is a *CorruptError or a
// *VersionError for a record that cannot be used.
func (st Store) Load(name string) (*Session, error) {
	if err := ValidateName("session", name); err != nil {
		return nil, err
	}
	return st.LoadAny(name)
}

// LoadAny is Load that also reads far sessions.
func (st Store) LoadAny(name string) (*Session, error) {
	path, err := st.path(name)
	if err != nil {
		return nil, err
	}
	return st.load(name, path)
}

func (st Store) load(name, path string) (*Session, error) {
	data, err := disk.ReadRegular(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case errors.Is(err, disk.ErrNotRegular):
		return nil, notAFile(name, path)
	case err != nil:
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	return decode(name, path, data)
}

// notAFile returns the error for a folder, or the like, in the place of a record.
func notAFile(name, path string) error {
	return &CorruptError{Name: name, Path: path, Reason: disk.ErrNotRegular.Error()}
}

// Create saves the record of a new session. first, unless nil, is called under the lock, once the
// name is known to be free; with its error nothing is saved. The error is a *TakenError if a file
// of that name exists, readable or not, and a *LockedError if ctx ends before the lock is free.
func (st Store) Create(ctx context.Context, s *Session, first func() error) error {
	return st.locked(ctx, s.Name, func(path string) error {
		there, err := st.load(s.Name, path)
		switch {
		case IsUnreadable(err):
			return &TakenError{Name: s.Name, Path: path}
		case err != nil:
			return err
		case there != nil:
			return &TakenError{Name: s.Name, RepoPath: there.owner(), Path: path}
		}
		if first != nil {
			if err := first(); err != nil {
				return err
			}
		}
		return write(path, s, disk.Replace)
	})
}

// Update reads a record, calls change, saves the result and returns it, under the session's lock.
// With an error of change, which is returned unchanged, nothing is saved. Without a record the
// error wraps ErrNotFound. change must not call the store for the same session.
func (st Store) Update(ctx context.Context, name string, change func(*Session) error) (*Session, error) {
	return st.update(ctx, name, change, disk.Replace)
}

// UpdateSoon is Update for values that can be found out again: after a power loss the previous
// record may be back, whole.
func (st Store) UpdateSoon(ctx context.Context, name string, change func(*Session) error) (*Session, error) {
	return st.update(ctx, name, change, disk.ReplaceSoon)
}

func (st Store) update(ctx context.Context, name string, change func(*Session) error, replace func(path string, data []byte) error) (*Session, error) {
	var updated *Session
	err := st.locked(ctx, name, func(path string) error {
		s, err := st.load(name, path)
		if err != nil {
			return err
		}
		if s == nil {
			return fmt.Errorf("session %s: %w", name, ErrNotFound)
		}
		if err := change(s); err != nil {
			return err
		}
		if s.Name != name {
			return fmt.Errorf("session %s: the name of a session cannot change", name)
		}
		updated = s
		return write(path, s, replace)
	})
	if err != nil {
		return nil, err
	}
	return updated, nil
}

// Delete removes a record; a missing one is no error. last, unless nil, is called with the record
// under the lock; with its error, which is returned unchanged, the record is kept. A record that is
// corrupt or newer is kept, with a *CorruptError or a *VersionError. If the record is a symlink,
// only the link is removed.
func (st Store) Delete(ctx context.Context, name string, last func(*Session) error) error {
	return st.locked(ctx, name, func(path string) error {
		s, err := st.load(name, path)
		if s == nil || err != nil {
			if err == nil {
				disk.RemoveLitter(path)
			}
			return err
		}
		if last != nil {
			if err := last(s); err != nil {
				return err
			}
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("session %s: %w", name, err)
		}
		disk.RemoveLitter(path)
		return disk.SyncDir(filepath.Dir(path))
	})
}

// Litter lists the temporary files of killed saves in the folder of the records.
func (st Store) Litter() []string {
	isRecord := func(path string) bool { return strings.HasSuffix(strings.TrimRight(path, "0123456789"), ".json") }
	return slices.DeleteFunc(disk.Litter(st.Dir+string(filepath.Separator), disk.LitterAge), func(path string) bool { return !isRecord(path) })
}

// SetAsideCorrupt renames a corrupt record to <name>.json.corrupt-<UTC time>, which frees the name
// and loses nothing. SetAsideCorrupt returns the new path, or "" if the record is valid or missing.
// A record of a newer paw is kept, with a *VersionError.
func (st Store) SetAsideCorrupt(name string) (movedTo string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), setAsideWait)
	defer cancel()
	err = st.locked(ctx, name, func(path string) error {
		_, err := st.Load(name)
		if _, ok := errors.AsType[*CorruptError](err); !ok {
			return err
		}
		to := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000000000Z")
		if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("session %s: %s: %w", name, to, os.ErrExist)
		}
		if err := os.Rename(path, to); err != nil {
			return fmt.Errorf("session %s: %w", name, err)
		}
		movedTo = to
		return disk.SyncDir(filepath.Dir(path))
	})
	return movedTo, err
}

// locked calls do with the path of the record, under the session's lock.
func (st Store) locked(ctx context.Context, name string, do func(path string) error) error {
	path, err := st.path(name)
	if err != nil {
		return err
	}
	unlock, err := Locks{Dir: st.LocksDir}.Session(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	return do(path)
}

func (st Store) path(name string) (string, error) {
	if err := validateRecordName(name); err != nil {
		return "", err
	}
	if st.Dir == "" { // A relative path would put records into the working directory.
		return "", fmt.Errorf("session %s: no folder for sessions", name)
	}
	if isFar(name) {
		return filepath.Join(st.Dir, farDir, name+".json"), nil
	}
	return filepath.Join(st.Dir, name+".json"), nil
}

// write saves a record; the caller holds its lock.
func write(path string, s *Session, replace func(path string, data []byte) error) error {
	s.Version = Version
	s.CreatedAt = s.CreatedAt.UTC().Round(0) // Round drops the monotonic clock reading, which is not saved.
	data, err := encode(s)
	if err != nil {
		return err
	}
	if err := replace(path, data); err != nil {
		return fmt.Errorf("session %s: %w", s.Name, err)
	}
	return nil
}

// IsUnreadable reports whether an error of Load means that a record exists, but cannot be used.
func IsUnreadable(err error) bool {
	var corrupt *CorruptError
	var newer *VersionError
	return errors.As(err, &corrupt) || errors.As(err, &newer)
}

// owner returns the path that names a session's repository in messages.
func (s *Session) owner() string {
	if s.RepoPath == "" {
		return s.GitCommonDir
	}
	return s.RepoPath
}

// ErrNotFound is wrapped by errors about a session without a record.
var ErrNotFound = errors.New("no such session")

// CorruptError says that a record cannot be parsed. The file is left alone; SetAsideCorrupt renames
// it.
type CorruptError struct {
	Name   string // session name, from the file's name
	Path   string
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("session %s: corrupt record %s: %s", e.Name, e.Path, e.Reason)
}

// VersionError says that a record was written by a newer paw, and is neither read nor overwritten.
type VersionError struct {
	Name    string
	Path    string
	Version int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("session %s: record %s has version %d, this paw knows versions up to %d",
		e.Name, e.Path, e.Version, Version)
}

// TakenError says that Create found a record of that name, readable or not.
type TakenError struct {
	Name     string
	RepoPath string // repository of the owner, "" if the record cannot be read
	Path     string
}

func (e *TakenError) Error() string {
	if e.RepoPath == "" {
		return fmt.Sprintf("session %s: name is taken by the record %s", e.Name, e.Path)
	}
	return fmt.Sprintf("session %s: name is taken by the session of %s", e.Name, e.RepoPath)
}
