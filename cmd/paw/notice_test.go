package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A user whose terminal shows the pane gets no notice; a user in another window gets one on the
// terminal, past tmux.
func TestNoNoticeOfAPaneInView(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := filepath.Join(w.root, "told")
	w.configure("[notify]\ncommand = \"cat >> " + told + "\"\nosc = \"9\"\ndwell = 1\n")
	w.start("one")
	w.ok(w.tmux("set-option", "-s", "focus-events", "on"))
	terminal := w.terminal("paw attach one")
	terminal.awaits(" one: idle ")
	raw := filepath.Join(w.root, "raw")
	w.ok(terminal.tmux("pipe-pane", "-O", "cat > "+raw))

	w.ok(w.paw("send", "one", "do: ask in view?"))
	waitFor(t, "a process has taken the event", func() bool { return len(w.noticesTaken()) == 1 })
	taken, err := os.Stat(w.noticesTaken()[0])
	if err != nil {
		t.Fatal(err)
	}
	w.ok(terminal.tmux("send-keys", "x"))
	// The process looks when the dwell is over; if it has ended without a notice, it sends none.
	waitFor(t, "the process that would tell has ended", func() bool { return time.Since(taken.ModTime()) > time.Second && w.inside("__notify") == 0 })
	if text, err := os.ReadFile(told); err == nil {
		t.Errorf("told of a pane in view: %s", text)
	}

	w.ok(w.tmux("new-window", "-t", "=paw-shop:", "exec sleep 1000"))
	w.ok(w.paw("answer", "one", "yes"))
	waitFor(t, "the end is told", func() bool { text, _ := os.ReadFile(told); return strings.Contains(string(text), `"event":"finished"`) })
	waitFor(t, "the terminal is told, too", func() bool {
		text, _ := os.ReadFile(raw)
		return strings.Contains(string(text), "\x1b]9;shop/one has finished turn 1\x1b\\")
	})
	if text, _ := os.ReadFile(raw); strings.Count(string(text), "\x1b]9;") != 1 {
		t.Errorf("the terminal was told more than once: %q", text)
	}
}

// Without focus events, which tmux does not request by itself, a terminal that shows the pane does
// not say whether the user is there. The user is taken to have seen what happened before his next
// key, and gets a notice of what happens while he presses none.
func TestNoticeOfATerminalThatTellsNothingOfItsFocus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := filepath.Join(w.root, "told")
	w.configure("[notify]\ncommand = \"cat >> " + told + "\"\ndwell = 2\n")
	w.start("one", "two")
	terminal := w.terminal("paw attach two")
	terminal.awaits(" one: idle ")

	w.ok(w.paw("send", "one", "do: ask seen?"))
	waitFor(t, "a process has taken the event", func() bool { return len(w.noticesTaken()) == 1 })
	w.ok(terminal.tmux("send-keys", "x"))
	waitFor(t, "the process that would tell has ended", func() bool { return w.inside("__notify") == 0 })
	if text, err := os.ReadFile(told); err == nil {
		t.Errorf("told of what the user has seen: %s", text)
	}

	w.ok(w.paw("answer", "one", "yes"))
	waitFor(t, "the end is told", func() bool { text, _ := os.ReadFile(told); return strings.Contains(string(text), `"event":"finished"`) })
}

// An end that a Stop hook of the user may hold back leads to one notice, when claude's own record
// shows that the turn has ended.
func TestNoticeOfAHeldEnd(t *testing.T) {
	t.Parallel()
	w, a := claudeWorld(t)
	told := filepath.Join(w.root, "told")
	file := filepath.Join(w.root, "home/.config/paw/config.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Dir(file), "config.toml", "[notify]\ncommand = \"cat >> "+told+"\"\ndwell = 1\n"+string(text))
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
	w.ok(w.hookOf("claude", a, nil, map[string]any{
		"session_id": *a.ConversationID, "cwd": a.WorktreePath, "hook_event_name": "Stop", "permission_mode": "default", "prompt_id": "p1",
		"last_assistant_message": "all done", "stop_hook_active": true,
	}))
	waitFor(t, "the end is held", func() bool {
		logs, _ := filepath.Glob(filepath.Join(w.root, "home/.local/state/paw/turns/shop/claude/*.log"))
		if len(logs) != 1 {
			return false
		}
		text, err := os.ReadFile(logs[0])
		return err == nil && strings.Contains(string(text), "all done")
	})
	if text, err := os.ReadFile(told); err == nil {
		t.Fatalf("told of an end that may be none: %s", text)
	}
	w.write(filepath.Join(w.root, "home/.claude/sessions"), "1.json",
		fmt.Sprintf(`{"pid":%d,"sessionId":%q,"status":"idle","statusUpdatedAt":%d}`, *a.PID, *a.ConversationID, time.Now().UnixMilli()))
	waitFor(t, "the end is told", func() bool { text, _ := os.ReadFile(told); return strings.Contains(string(text), "all done") })
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "second", "prompt_id", "p2"))
	waitFor(t, "nobody is about to tell", func() bool { return w.inside("__notify") == 0 })
	said, err := os.ReadFile(told)
	if text := string(said); err != nil || strings.Count(text, "\n") != 1 || !strings.Contains(text, `"event":"finished","session":"shop","agent":"claude","cli":"claude","turn":1,`) {
		t.Errorf("told:\n%s", text)
	}
}

// With a dwell of 0 the notice comes as soon as claude is idle: in its own record, claude works
// until its hook has ended.
func TestNoticeAtOnce(t *testing.T) {
	t.Parallel()
	w, a := claudeWorld(t)
	told := filepath.Join(w.root, "told")
	claude := w.readFile("../home/.config/paw/config.toml")
	w.configure("[notify]\ncommand = \"cat >> " + told + "\"\ndwell = 0\n" + claude)
	registered := func(status string) {
		w.write(filepath.Join(w.root, "home/.claude/sessions"), "1.json",
			fmt.Sprintf(`{"pid":%d,"sessionId":%q,"status":%q,"statusUpdatedAt":%d}`, *a.PID, *a.ConversationID, status, time.Now().UnixMilli()))
	}
	registered("busy")
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
	w.ok(w.claudeHook(a, nil, "Stop", "last_assistant_message", "all done", "prompt_id", "p1"))
	waitFor(t, "a process has taken the event", func() bool { return w.inside("__notify") == 1 && len(w.noticesTaken()) == 1 })
	if text, err := os.ReadFile(told); err == nil {
		t.Errorf("told while claude is at work: %s", text)
	}
	registered("idle")
	waitFor(t, "the end is told", func() bool { text, _ := os.ReadFile(told); return strings.Contains(string(text), "all done") })
}

// noticesTaken returns the files by which a process takes over a notice.
func (w *world) noticesTaken() []string {
	taken, err := filepath.Glob(filepath.Join(w.root, "home/.local/state/paw/agents/*/*/notice-*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return taken
}

// A notice whose process cannot look at the session for a moment is sent when it can.
func TestNoticeAfterAFailedLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told, record := filepath.Join(w.root, "told"), filepath.Join(w.root, "home/.local/share/paw/sessions/shop.json")
	w.configure("[notify]\ncommand = \"cat >> " + told + "\"\ndwell = 2\n")
	w.start("one")
	w.ok(w.paw("send", "one", "do: say done"))
	waitFor(t, "a process has taken the event", func() bool { return len(w.noticesTaken()) == 1 })
	taken, err := os.Stat(w.noticesTaken()[0])
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it waits", func() bool { return time.Since(taken.ModTime()) > time.Second })
	whole, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Dir(record), "shop.json", "{")
	waitFor(t, "it looks", func() bool { return time.Since(taken.ModTime()) > 3*time.Second })
	w.write(filepath.Dir(record), "shop.json", string(whole))
	waitFor(t, "the end is told", func() bool { text, _ := os.ReadFile(told); return strings.Contains(string(text), `"event":"finished"`) })
}
