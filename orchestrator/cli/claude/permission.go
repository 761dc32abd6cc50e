package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/questions"
)

// When claude asks for a permission it shows a dialog and runs the hook PermissionRequest at the same time, and takes the first
// answer: of the user in the dialog, or of the hook. So paw's hook runs until the question is answered. It keeps a locked file
// whose first line is the question; `paw answer` adds the second line, granted or refused.
const (
	permissionHook = "PermissionRequest"
	untilAnswered  = 24 * 60 * 60           // seconds that claude lets the hook wait
	drawPatience   = 2 * time.Second        // claude draws no dialog where it cannot ask anybody
	answerStep     = 200 * time.Millisecond // how often the hook looks in the first minute
	answerLater    = time.Second            // and after that: a question may stay open all night
	granted        = "yes\n"
	refused        = "no\n"
)

// modelTools ask for more than a permission.
var modelTools = []string{"AskUserQuestion", "ExitPlanMode"}

// permissionFile returns the path of the file that a waiting hook of claude has, by the process ids of both. With "*" for hook it is
// a pattern for the files of all hooks of that claude.
func permissionFile(folder string, claude int, hook any) string {
	return filepath.Join(folder, fmt.Sprintf("claude-permission-%d-%v", claude, hook))
}

// Decide waits until a permission is answered, and returns what claude reads of its hook: the decision if it is paw's, else "".
func (driver) Decide(ctx context.Context, s cli.Spec, name string, payload []byte) string {
	var p hooks.Payload
	if name != permissionHook || json.Unmarshal(payload, &p) != nil || slices.Contains(modelTools, p.ToolName) {
		return ""
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM) // as claude sends it at an Esc
	defer stop()
	s.ConversationID = p.SessionID
	entry, _ := process(s)
	path := permissionFile(s.StateDir, entry.PID, os.Getpid())
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return ""
	}
	defer file.Close()
	defer os.Remove(path)
	question := questions.OfTool(p.ToolName, p.ToolInput) + "\n"
	if locked, _ := disk.TryLock(file); !locked {
		return ""
	}
	if _, err := file.WriteString(question); err != nil {
		return ""
	}
	began, since := time.Now(), time.Time{}
	for step := answerStep; ctx.Err() == nil; poll.Sleep(ctx, step) {
		if time.Since(began) > time.Minute {
			step = answerLater
		}
		answer := make([]byte, len(granted))
		if n, _ := file.ReadAt(answer, int64(len(question))); n > 0 {
			return decision(string(answer[:n]) == granted)
		}
		entry, _ := process(s)
		switch waits := entry.Status == "waiting"; {
		case waits && since.IsZero():
			since = entry.since()
		case waits && entry.since().Equal(since):
		case !since.IsZero() || time.Since(began) > drawPatience:
			return ""
		}
	}
	return ""
}

// decision is a hook's answer in claude's form. A refusal ends the turn, as "No" in the dialog does.
func decision(grant bool) string {
	how := map[string]any{"behavior": "allow"}
	if !grant {
		how = map[string]any{"behavior": "deny", "interrupt": true}
	}
	return string(hooks.JSON(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": permissionHook, "decision": how}}))
}

// channel answers permissions by the hooks that wait. It takes no prompts.
type channel struct {
	cli.NoChannel
	cli.Spec
}

func (driver) Channel(s cli.Spec) cli.Channel { return channel{Spec: s} }

// Permission returns the question of the hook that waits for an answer. If several wait, as when subagents ask at once, it
// returns none: nothing tells which question the dialog on the screen shows.
func (c channel) Permission(context.Context) (cli.Permission, bool) {
	entry, ok := process(c.Spec)
	files, _ := filepath.Glob(permissionFile(cli.GlobQuote(c.StateDir), entry.PID, "*"))
	if !ok || len(files) != 1 {
		return cli.Permission{}, false
	}
	file, err := disk.Open(files[0])
	if err != nil {
		return cli.Permission{}, false
	}
	defer file.Close()
	free, err := disk.TryLock(file)
	content, _ := disk.ReadFile(files[0])
	question, isNew := strings.CutSuffix(string(content), "\n")
	return cli.Permission{ID: files[0], Question: question}, !free && err == nil && isNew && !strings.Contains(question, "\n")
}

func (c channel) Reply(ctx context.Context, id string, took cli.Option) error {
	if now, ok := c.Permission(ctx); !ok || now.ID != id {
		return cli.ErrNotHandedOver
	}
	file, err := os.OpenFile(id, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return cli.ErrNotHandedOver
	}
	defer file.Close()
	answer := refused
	if took.Means() == cli.MeansYes {
		answer = granted
	}
	_, err = file.WriteString(answer)
	return err
}
