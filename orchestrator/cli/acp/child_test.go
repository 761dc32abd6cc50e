package acp

import (
	"strings"
	"testing"
)

func TestLastWordsAreBounded(t *testing.T) {
	var w lastWords
	for range 100 {
		if n, err := w.Write([]byte(strings.Repeat("e", 100_000))); n != 100_000 || err != nil {
			t.Fatal(n, err)
		}
	}
	_, _ = w.Write([]byte("the last\n"))
	if len(w) != mostLastWords || cap(w) > 16*mostLastWords || !strings.HasSuffix(string(w), "eethe last\n") {
		t.Errorf("%d bytes, room for %d", len(w), cap(w))
	}
}
