package worktree

import (
	"context"
	"fmt"
	"strings"
)

// CreateRefs makes refs (name -> id) that do not exist yet, in one transaction:
// all of them or, when one is there already, none.
func (m Manager) CreateRefs(ctx context.Context, refs map[string]string) error {
	return m.updateRefs(ctx, "create", refs)
}

// KeepBlob makes a text an object of the repository and returns its id.
func (m Manager) KeepBlob(ctx context.Context, text string) (string, error) {
	out, err := m.home().Input(ctx, []byte(text+"\n"), "hash-object", "-w", "--stdin")
	return strings.TrimSpace(out), err
}

// BlobID returns the id that KeepBlob gives for a text, and writes nothing.
func (m Manager) BlobID(text string) (string, error) {
	return idOfObject(m.Repository.CommonDir, fmt.Appendf(nil, "blob %d\x00%s\n", len(text)+1, text))
}
