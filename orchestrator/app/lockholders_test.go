package app

import (
	"os/exec"
	"runtime"
	"testing"
)

// A holder that has ended since it was found is waited for like one that ends soon: a landing behind
// seven others was refused when the last of them ended at that moment.
func TestHoldersThatEndSoon(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the names of programs")
	}
	l := lockHolders{paw: "paw"}
	leftover := exec.Command("sleep", "60")
	if err := leftover.Start(); err != nil {
		t.Fatal(err)
	}
	if l.endsSoon(leftover.Process.Pid) {
		t.Error("a leftover of a hook is waited for")
	}
	_ = leftover.Process.Kill()
	_ = leftover.Wait()
	if !l.endsSoon(leftover.Process.Pid) {
		t.Error("a process that has ended is not waited for")
	}
}
