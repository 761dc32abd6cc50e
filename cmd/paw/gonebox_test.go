package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drawsLate stands in for an opencode on a slow machine: at the first Enter its screen is empty. It
// writes each Enter into a file, and one more file when it has taken the prompt.
const drawsLate = `#!/bin/sh
[ "$1" = --version ] && echo 1.18.33 && exit
stty -icanon -echo -icrnl min 1
box() {
	printf '\033[2J\033[3;1H  ┃\033[4;1H  ┃  %s\033[5;1H  ┃\033[6;1H  ┃  Build · model\033[7;1H  ╹▀▀▀▀▀▀\033[4;%dH' "$text" $((6 + ${#text}))
}
text=; box
while :; do
	key=$(dd bs=1 count=1 2>/dev/null; printf .)
	if [ "$key" != "$(printf '\r.')" ]; then
		text=$text${key%.}; box
		continue
	fi
	echo enter >>ROOT/enters
	printf '\033[2J'
	sleep SECONDS
	[ -e ROOT/lose ] || { touch ROOT/taken; text=; }
	rm -f ROOT/lose
	box
done
`

// sendsLate has paw send a prompt to an opencode whose screen is empty for some seconds after Enter,
// and returns what send said and how often it pressed Enter.
func sendsLate(t *testing.T, seconds string, loses bool) (out output, enters int) {
	t.Helper()
	w := newWorld(t)
	w.script(w.root, "opencode", strings.NewReplacer("ROOT", w.root, "SECONDS", seconds).Replace(drawsLate))
	w.configure("[clis.opencode]\ncommand = [\"" + filepath.Join(w.root, "opencode") + "\"]\n")
	if loses {
		w.write(w.root, "lose", "")
	}
	w.ok(w.paw("start", "--cli", "opencode", "--detach"))
	var a agentJSON
	waitFor(t, "opencode runs", func() bool { a = w.agent("opencode"); return a.PID != nil })
	w.ok(w.hookOf("opencode", a, nil, map[string]any{"hook_event_name": "load"}))
	sent := make(chan output, 1)
	go func() { sent <- w.paw("send", "opencode", "hello") }()
	w.awaitFile(filepath.Join(w.root, "taken"))
	w.ok(w.hookOf("opencode", a, nil, map[string]any{"hook_event_name": "prompt", "session": "ses_1", "turn": "msg_1", "prompt": "hello"}))
	out = <-sent
	pressed, err := os.ReadFile(filepath.Join(w.root, "enters"))
	if err != nil {
		t.Fatal(err)
	}
	return out, strings.Count(string(pressed), "enter")
}

// TestSendWaitsForAnEmptyScreen: the prompt was in the box, and after Enter the screen shows no box
// for longer than paw waits elsewhere. paw presses nothing, and waits for the hook.
func TestSendWaitsForAnEmptyScreen(t *testing.T) {
	t.Parallel()
	out, enters := sendsLate(t, "12", false)
	if out.code != 0 || !strings.Contains(out.stdout, "turn 1 started") || enters != 1 {
		t.Errorf("exit code %d after %d times Enter\n%s%s", out.code, enters, out.stdout, out.stderr)
	}
}

// TestSendPressesEnterInABoxThatComesBack: the box comes back with the prompt in it, so the first
// Enter was lost.
func TestSendPressesEnterInABoxThatComesBack(t *testing.T) {
	t.Parallel()
	out, enters := sendsLate(t, "7", true)
	if out.code != 0 || !strings.Contains(out.stdout, "turn 1 started") || enters != 2 {
		t.Errorf("exit code %d after %d times Enter\n%s%s", out.code, enters, out.stdout, out.stderr)
	}
}
