package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// terminals are terminals of a user, by name.
type terminals struct {
	outerTerminal
	ttys map[string]string // device of each terminal, by name
}

// open opens a terminal that runs a command.
func (o *terminals) open(name, command string) {
	o.w.t.Helper()
	tty := o.w.ok(o.tmux("new-window", "-d", "-P", "-F", "#{pane_tty}", "-n", name, "unset TMUX TMUX_PANE; "+command)).stdout
	o.ttys[name] = strings.TrimSpace(tty)
}

// close ends all terminals, and whatever else shows a session.
func (o *terminals) close() {
	o.w.t.Helper()
	for name := range o.ttys {
		_ = o.tmux("kill-window", "-t", name)
	}
	clear(o.ttys)
	waitFor(o.w.t, "nobody is attached", func() bool {
		for client := range strings.FieldsSeq(o.w.tmux("list-clients", "-F", "#{client_name}").stdout) {
			_ = o.w.tmux("detach-client", "-t", client)
		}
		return o.w.tmux("list-clients").stdout == ""
	})
	waitFor(o.w.t, "the shells take what is typed", func() bool { // and not what was begun there
		shells := o.w.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_current_command}").stdout
		return strings.Contains(shells, "mine sh\n") && strings.Contains(shells, "other sh\n")
	})
}

// types types a line on a terminal.
func (o *terminals) types(name, line string) {
	o.w.t.Helper()
	o.w.ok(o.tmux("send-keys", "-t", name, "-l", "--", line))
	o.w.ok(o.tmux("send-keys", "-t", name, "Enter"))
}

// shows says which session each terminal shows; "another" is one that no test has opened.
func (o *terminals) shows() string {
	o.w.t.Helper()
	var all []string
	for line := range strings.Lines(o.w.tmux("list-clients", "-F", "#{client_tty} #{client_session}").stdout) {
		tty, session, _ := strings.Cut(strings.TrimSpace(line), " ")
		who := "another"
		for name, device := range o.ttys {
			if device == tty {
				who = name
			}
		}
		all = append(all, who+" "+strings.TrimPrefix(session, "paw-"))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// TestWhichTerminalMoves: paw attach moves the terminal in which the user acts, however he is on the server, and no other.
func TestWhichTerminalMoves(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("script is not installed")
	}
	w := newWorld(t)
	w.ok(w.tmux("new-session", "-d", "-s", "mine", "-x", "100", "-y", "30", "-c", w.repo, "exec sh"))
	w.ok(w.tmux("new-session", "-d", "-s", "other", "-x", "100", "-y", "30", "-c", w.repo, "exec sh"))
	w.start("one")
	o := &terminals{w.sized(100, 30, "exec sleep 1000"), map[string]string{}}
	said := filepath.Join(w.root, "said")
	onScreen := fmt.Sprintf("'%s' attach shop 2>%s; echo rc=$? >>%[2]s", pawForTests(), said)
	inPty := func(command string) string { return fmt.Sprintf("script -qec \"%s\" /dev/null >/dev/null", command) }
	w.script(w.root, "attach", "#!/bin/sh\n"+onScreen+"\n")
	editor := inPty(w.root + "/attach")
	on := func(session string) string { return "exec tmux -S " + w.socket + " attach -t =" + session }
	w.ok(w.tmux("bind-key", "N", "run-shell", "PAW_CLIENT=#{client_name} TMUX_PANE=#{pane_id} "+w.root+"/attach"))
	var table strings.Builder
	for _, row := range []struct {
		what  string
		opens string // the session that each terminal shows, C1 and C2; the last one is used last
		does  func()
		want  string // what shows what then
		says  string // in the output of paw
	}{
		{"two terminals, C1 acts", "C1 mine, C2 mine", func() { o.types("C1", w.root+"/attach") }, "C1 shop, C2 mine", "rc=0"},
		{"two terminals, C2 acts", "C2 mine, C1 mine", func() { o.types("C2", w.root+"/attach") }, "C1 mine, C2 shop", "rc=0"},
		{"C2 is on another session", "C1 mine, C2 other", func() { o.types("C1", w.root+"/attach") }, "C1 shop, C2 other", "rc=0"},
		{"a popup of C2", "C1 other, C2 mine", func() { _ = w.tmux("display-popup", "-c", o.ttys["C2"], "-t", "mine:", "-E", w.root+"/attach") }, "C1 other, C2 shop", "rc=0"},
		{"a key of C1", "C1 mine, C2 mine", func() { w.ok(o.tmux("send-keys", "-t", "C1", "C-b", "N")) }, "C1 shop, C2 mine", "rc=0"},
		{"an editor in front of the pane", "C1 mine, C2 other", func() { o.types("C1", editor) }, "C1 mine, C2 other", "paw: hint: PAW_CLIENT="},
		{"there, by the line that is offered", "C1 mine, C2 other", func() { o.types("C1", inPty("PAW_CLIENT="+o.ttys["C1"]+" "+w.root+"/attach")) }, "C1 shop, C2 other", "rc=0"},
		{"there, by the other line", "C1 mine, C2 other", func() { o.types("C1", inPty("env -u TMUX "+w.root+"/attach")) }, "C1 mine, C2 other, another shop", ""},
		{"an editor in front, where nobody sees the pane", "C2 other", func() { w.ok(w.tmux("send-keys", "-t", "=mine:", editor, "Enter")) }, "C2 other, another shop", ""},
		{"an editor with a window of its own", "C1 mine, C2 mine", func() { o.types("C1", "setsid -f "+editor) }, "C1 mine, C2 mine, another shop", ""},
		{"beside a control client", "CC mine, C1 mine", func() { o.types("C1", w.root+"/attach") }, "C1 shop, CC mine", "rc=0"},
		{"a control client", "C1 other, CC mine", func() { o.types("CC", `send-keys -t =mine: `+w.root+`/attach Enter`) }, "C1 other, CC shop", "rc=0"},
		{"a client in a pane of the server", "C1 mine", func() {
			o.types("C1", "env -u TMUX tmux -S "+w.socket+" attach -t =other")
			waitFor(t, "the inner client", func() bool { return o.shows() == "C1 mine, another other" })
			o.types("C1", w.root+"/attach")
		}, "C1 mine, another shop", "rc=0"},
		{"a pane of another server", "C1 mine", func() {
			w.ok(o.tmux("new-window", "-d", "-n", "outer", w.root+"/attach; exec sleep 1000"))
			o.ttys["outer"] = ""
		}, "C1 mine", "env -u TMUX paw attach shop"},
		{"no tmux", "C1 mine", func() { o.open("T", w.root+"/attach") }, "C1 mine, T shop", ""},
		{"no terminal sees the pane", "C2 other", func() { w.ok(w.tmux("send-keys", "-t", "=mine:", w.root+"/attach", "Enter")) }, "C2 other", "env -u TMUX paw attach shop"},
	} {
		for one := range strings.SplitSeq(row.opens, ", ") {
			name, session, _ := strings.Cut(one, " ")
			command := on(session)
			if name == "CC" {
				command = "stty -echo; exec tmux -S " + w.socket + " -C attach -t =" + session
			}
			o.open(name, command)
			waitFor(t, one, func() bool { return strings.Contains(o.shows(), one) })
			if name != "CC" { // tmux has got its keys before the next one acts
				o.types(name, "clear; touch "+w.root+"/typed")
				w.awaitFile(filepath.Join(w.root, "typed"))
				_ = os.Remove(filepath.Join(w.root, "typed"))
			}
		}
		_ = os.Remove(said)
		row.does()
		told := func() string { text, _ := os.ReadFile(said); return string(text) }
		for began := time.Now(); o.shows() != row.want || !strings.Contains(told(), row.says); pause(began) {
			if time.Since(began) > patience {
				t.Fatalf("%s, %s: %s, want %s\n%s", row.what, row.opens, o.shows(), row.want, told())
			}
		}
		fmt.Fprintf(&table, "%-48s %-20s -> %-32s %s\n", row.what, row.opens, o.shows(), strings.Join(strings.Fields(told()), " "))
		o.close()
	}
	t.Logf("\n%s", table.String())
}
