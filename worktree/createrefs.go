package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// CreateRefs makes refs (name -> id) that do not exist yet, in one transaction:
// all of them or, when one is there already, none.
func (m Manager) CreateRefs(ctx context.Context, refs map[string]string) error {
	return m.updateRefs(ctx, "create", refs)
}

// ErrNotFirst means that a ref which was to be made is there already.
var ErrNotFirst = errors.New("a ref is there already")

// ClaimRefs is CreateRefs for refs of which the earlier ones claim the names of the later ones: ErrNotFirst when one is there
// already. It starts no git where a file is all that a ref takes. A paw that is killed leaves the first of them.
func (m Manager) ClaimRefs(ctx context.Context, refs ...NewRef) error {
	made := map[string]string{}
	if !plainStore(m.Repository.CommonDir) {
		for _, ref := range refs {
			made[ref.Name] = ref.ID
		}
		return m.CreateRefs(ctx, made)
	}
	for _, ref := range refs {
		won, err := m.CreateRef(ctx, ref.Name, ref.ID)
		if err == nil && !won {
			err = fmt.Errorf("%s: %w", ref.Name, ErrNotFirst)
		}
		if err != nil {
			return errors.Join(err, m.DeleteRefs(context.WithoutCancel(ctx), made))
		}
		made[ref.Name] = ref.ID
	}
	return nil
}

// NewRef is a ref to be made, with what it leads to.
type NewRef struct{ Name, ID string }

// KeepBlob makes a text an object of the repository and returns its id.
func (m Manager) KeepBlob(ctx context.Context, text string) (string, error) {
	if plainStore(m.Repository.CommonDir) {
		return writeObject(m.Repository.CommonDir, "blob", []byte(text+"\n"))
	}
	out, err := m.home().Input(ctx, []byte(text+"\n"), "hash-object", "-w", "--stdin")
	return strings.TrimSpace(out), err
}

// BlobID returns the id that KeepBlob gives for a text, and writes nothing.
func (m Manager) BlobID(text string) (string, error) {
	return idOfObject(m.Repository.CommonDir, fmt.Appendf(nil, "blob %d\x00%s\n", len(text)+1, text))
}
