package ui

import (
	"context"
	"os"
	"strings"
	"testing"
)

func TestHungUp(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	gone := make(chan bool, 1)
	go func() { gone <- hungUp(t.Context(), read) }()
	write.Close()
	if !<-gone {
		t.Error("the end of what is read from is not seen")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if hungUp(over, read) || hungUp(t.Context(), strings.NewReader("")) {
		t.Error("an end is seen where nobody looks any more, or where nothing can end")
	}
}
