package worktree

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// claimTries bounds the race for a number: each lost one means that another
// process has won.
const claimTries = 1000

// Claim takes a number for good: the first that is at least atLeast, at least 1, and above all numbers taken before. It
// makes the ref <prefix><n> point to oid; prefix ends with a slash. Of any number of processes exactly one gets each number.
func (m Manager) Claim(ctx context.Context, prefix string, atLeast int, oid string) (n int, err error) {
	for range claimTries {
		highest, err := m.highestNumber(ctx, prefix)
		if err != nil {
			return 0, err
		}
		n = max(highest+1, atLeast, 1)
		won, err := m.CreateRef(ctx, fmt.Sprintf("%s%d", prefix, n), oid)
		if err != nil || won {
			return n, err
		}
		if atLeast <= n { // a ref that the listing does not show must not hold us up
			atLeast = n + 1
		}
	}
	return 0, fmt.Errorf("%s: no number could be taken", prefix)
}

// highestNumber is the highest number among the refs directly below prefix, 0
// when there is none.
func (m Manager) highestNumber(ctx context.Context, prefix string) (int, error) {
	highest := 0
	see := func(name string) {
		if n, err := strconv.Atoi(name); err == nil && strconv.Itoa(n) == name {
			highest = max(highest, n)
		}
	}
	files, err := refsInFiles(m.Repository.CommonDir)
	if err != nil {
		return 0, err
	}
	if files {
		return highest, eachStoredRef(m.Repository.CommonDir, prefix, "", see)
	}
	refs, err := m.Refs(ctx, prefix)
	if err != nil {
		return 0, err
	}
	for ref := range refs {
		see(strings.TrimPrefix(ref, prefix))
	}
	return highest, nil
}
