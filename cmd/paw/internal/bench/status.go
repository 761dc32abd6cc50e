package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// allTags is how many turn tags the agents of a repository have together.
const allTags = 10_000

//go:embed status.sh
var shellStatus string

// measureStatus times plain paw status of so many agents without turn tags, with
// loose and with packed ones, beside a shell script that asks for each agent.
func (b *bench) measureStatus(ctx context.Context, w *world, n int) error {
	if err := w.run(ctx, nil, w.startArgs(n)...); err != nil {
		return err
	}
	if err := w.expectAlive(ctx, n); err != nil {
		return err
	}
	shell := []string{"sh", "-c", shellStatus, "status.sh", w.repo, w.socket, sessionName}
	var shellCalls job // without tags: they change the script's time, not its calls
	if err := w.count(ctx, &shellCalls, shell...); err != nil {
		return err
	}
	if err := b.statusRow(ctx, w, n, "", budget{counts: statusCounts}); err != nil {
		return err
	}
	if err := w.makeTags(ctx, n); err != nil {
		return err
	}
	for _, kind := range []string{"loose", "packed"} {
		if kind == "packed" {
			if err := w.run(ctx, nil, "git", "pack-refs", "--all"); err != nil {
				return err
			}
		}
		limit := budget{counts: statusCounts}
		if n == 200 {
			limit.multiple = 12
		}
		if err := b.statusRow(ctx, w, n, fmt.Sprintf(", %d %s tags", allTags, kind), limit); err != nil {
			return err
		}
		j := b.job(fmt.Sprintf("  the same in shell, %s", kind), budget{})
		j.calls = shellCalls.calls
		if err := w.measure(ctx, j, slow, shell...); err != nil {
			return err
		}
	}
	return nil
}

// otherSessions is how many sessions of other repositories there are beside the one that status is asked for.
const otherSessions = 500

// measureStatusByPlace times plain paw status in a repository, which has to find its session among many.
func (b *bench) measureStatusByPlace(ctx context.Context, w *world) error {
	if err := w.run(ctx, nil, w.startArgs(1)...); err != nil {
		return err
	}
	records := filepath.Join(w.dir, "data", "paw", "sessions")
	own, err := os.ReadFile(filepath.Join(records, sessionName+".json"))
	if err != nil {
		return err
	}
	for i := range otherSessions {
		name := fmt.Sprintf("other%d", i)
		text := strings.ReplaceAll(string(own), w.repo, w.repo+"-"+name)
		text = strings.Replace(text, fmt.Sprintf("%q", sessionName), fmt.Sprintf("%q", name), 1)
		if err := os.WriteFile(filepath.Join(records, name+".json"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := w.expectAlive(ctx, 1); err != nil {
		return err
	}
	return b.statusRow(ctx, w, 1, fmt.Sprintf(", beside %d other sessions", otherSessions), budget{multiple: 10, counts: statusCounts})
}

func (b *bench) statusRow(ctx context.Context, w *world, n int, suffix string, limit budget) error {
	j := b.job(fmt.Sprintf("status, %s%s", plural(n), suffix), limit)
	if err := w.measure(ctx, j, quick, w.paw, "status"); err != nil {
		return err
	}
	return w.count(ctx, j, w.paw, "status")
}

func plural(n int) string {
	if n == 1 {
		return "1 agent"
	}
	return fmt.Sprintf("%d agents", n)
}

// makeTags gives the agents their turn tags, as loose refs. The tags need not
// survive a power cut, so git does not wait for the disk.
func (w *world) makeTags(ctx context.Context, n int) error {
	head, err := w.output(ctx, nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	var create strings.Builder
	for i := range allTags {
		fmt.Fprintf(&create, "create refs/tags/afk-%s_%s-%d %s\n", sessionName, agentName(i%n), i/n+1, strings.TrimSpace(head))
	}
	return w.run(ctx, strings.NewReader(create.String()), "git", "-c", "core.fsync=none", "update-ref", "--stdin")
}

// statusAgent is what is looked at of an agent in paw status --json.
type statusAgent struct {
	WorktreePath   string `json:"worktree_path"`
	PaneAlive      bool   `json:"pane_alive"`
	PID            int    `json:"pid"`
	State          string `json:"state"`
	ConversationID string `json:"conversation_id"`
	TurnsCompleted int    `json:"turns_completed"`
	LastTag        string `json:"last_tag"`
	Hooks          string `json:"hooks"`
}

func (w *world) statusAgents(ctx context.Context) ([]statusAgent, error) {
	out, err := w.output(ctx, nil, w.paw, "status", "--json")
	if err != nil {
		return nil, err
	}
	var status struct {
		Sessions []struct {
			Agents []statusAgent `json:"agents"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		return nil, fmt.Errorf("paw status --json: %w", err)
	}
	var all []statusAgent
	for _, s := range status.Sessions {
		all = append(all, s.Agents...)
	}
	return all, nil
}

// expectAlive makes sure that what is timed is a status of living agents.
func (w *world) expectAlive(ctx context.Context, n int) error {
	all, err := w.statusAgents(ctx)
	if err != nil {
		return err
	}
	alive := 0
	for _, a := range all {
		if a.PaneAlive && a.PID != 0 {
			alive++
		}
	}
	if alive != n {
		return fmt.Errorf("paw status --json: %d of %s alive", alive, plural(n))
	}
	return nil
}
