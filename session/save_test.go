package session

import (
	"context"

	"paw/config/disk"
)

// Save writes the record, in place of the one there is. A record that is corrupt or from a newer paw is not
// overwritten: the error is a *CorruptError or a *VersionError. Save fills in Version and makes CreatedAt UTC.
func (st Store) Save(ctx context.Context, s *Session) error {
	return st.locked(ctx, s.Name, func(path string) error {
		_, err := st.load(s.Name, path)
		if err != nil {
			return err
		}
		return write(path, s, disk.Replace)
	})
}
