package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/disk"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/records"
	"paw/session"
)

// statusLine is the setting of the command that claude tells the cost of the conversation and the
// use of the limits. claude shows the command's output and allows one such command: paw's own runs
// the user's.
const statusLine = "statusLine"

// gaugeName is the file, below Spec.StateDir, with the data that claude passed to its status line
// command.
const gaugeName = "claude-gauge.jsonl"

// gauge holds the data that claude passed to its status line command at one moment.
type gauge struct {
	At           time.Time        `json:"at"`
	Launch       string           `json:"launch"`
	Conversation string           `json:"conversation"`
	Cost         float64          `json:"cost_usd"` // cost of the conversation in US dollars, since it began or was resumed
	Windows      []session.Window `json:"windows"`
}

// toldLine has the fields of the status line's payload that paw needs.
type toldLine struct {
	Session string `json:"session_id"`
	Cost    struct {
		Total float64 `json:"total_cost_usd"`
	} `json:"cost"`
	Limits struct {
		FiveHours toldWindow `json:"five_hour"`
		SevenDays toldWindow `json:"seven_day"`
		Spend     toldWindow `json:"spend_limit"`
	} `json:"rate_limits"`
}

type toldWindow struct {
	Used   float64 `json:"used_percentage"`
	Resets int64   `json:"resets_at"` // Unix time in seconds
}

func (t toldLine) windows() []session.Window {
	windows := []session.Window{}
	for _, one := range []struct {
		name string
		toldWindow
	}{{"5 hours", t.Limits.FiveHours}, {"7 days", t.Limits.SevenDays}, {"the budget", t.Limits.Spend}} {
		if one.Resets > 0 {
			windows = append(windows, session.Window{Name: one.name, Used: one.Used, Until: time.Unix(one.Resets, 0).UTC()})
		}
	}
	return windows
}

// Gauge appends the data of a status line call to a file when it differs from the last line.
func (driver) Gauge(s cli.Spec, launch string, payload []byte) (cli.Gauged, error) {
	var told toldLine
	if err := json.Unmarshal(payload, &told); err != nil {
		return cli.Gauged{}, err
	}
	now := gauge{At: time.Now().UTC(), Launch: launch, Conversation: told.Session, Cost: told.Cost.Total, Windows: told.windows()}
	shown := cli.Gauged{Own: ownStatusLine(s), Words: inWords(now.Cost, now.Windows)}
	last, _ := lastGauge(s)
	if last.Launch == now.Launch && last.Conversation == now.Conversation && last.Cost == now.Cost && slices.Equal(last.Windows, now.Windows) {
		return shown, nil
	}
	file, err := os.OpenFile(filepath.Join(s.StateDir, gaugeName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(append(hooks.JSON(now), '\n'))
		_ = file.Close()
	}
	return shown, err
}

// ownStatusLine returns the command of the user's own status line, "" for none, from the settings
// file that claude would take it from.
func ownStatusLine(s cli.Spec) string {
	for _, file := range []string{
		filepath.Join(s.Worktree, ".claude", "settings.local.json"),
		filepath.Join(s.Worktree, ".claude", "settings.json"),
		filepath.Join(cli.Folder(s.Env, "CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
	} {
		var settings struct {
			StatusLine struct {
				Command string `json:"command"`
			} `json:"statusLine"`
		}
		content, err := disk.ReadFile(file)
		if err == nil && json.Unmarshal(content, &settings) == nil && settings.StatusLine.Command != "" {
			return settings.StatusLine.Command
		}
	}
	return ""
}

func (driver) Windows(s cli.Spec) []session.Window {
	last, _ := lastGauge(s)
	return last.Windows
}

// lastGauge returns the newest gauge of the agent, whatever its conversation: the limits are those
// of an account.
func lastGauge(s cli.Spec) (last gauge, err error) {
	err = records.EachBack(filepath.Join(s.StateDir, gaugeName), func(g gauge) bool {
		last = g
		return false
	})
	return last, err
}

// point is the cost of a conversation at a moment.
type point struct {
	at     time.Time
	launch string // launch whose status line told the cost, "" for the transcript
	cost   float64
}

// costPoints returns the costs of a conversation from the status line and, after a regular exit,
// from the transcript. The transcript's lines of cost have no time: they get the time of the line
// before.
func costPoints(s cli.Spec, transcript string) []point {
	var points []point
	_ = records.EachLine(filepath.Join(s.StateDir, gaugeName), func(g gauge) bool {
		if g.Conversation == s.ConversationID {
			points = append(points, point{g.At, g.Launch, g.Cost})
		}
		return true
	})
	var before time.Time
	_ = records.Lines(transcript, func(line []byte) bool {
		var l struct {
			Type    string  `json:"type"`
			Session string  `json:"sessionId"`
			Cost    float64 `json:"totalCostUSD"`
		}
		if bytes.Contains(line, []byte(`"cost-state"`)) && json.Unmarshal(line, &l) == nil && l.Type == "cost-state" && l.Session == s.ConversationID {
			points = append(points, point{before, "", l.Cost})
		}
		records.Members(line, func(key, value []byte) {
			var at time.Time
			if string(key) == "timestamp" && at.UnmarshalJSON(value) == nil && at.After(before) {
				before = at
			}
		})
		return true
	})
	slices.SortStableFunc(points, func(a, b point) int { return a.at.Compare(b.at) })
	return points
}

// costs returns what was paid between the points. A launch begins with the cost of the conversation
// at its last regular exit: less than before after a crash, and the other conversation's cost for a
// fork.
func costs(points []point) []cli.Use {
	var uses []cli.Use
	last, launch := 0.0, ""
	for i, p := range points {
		began := p.launch != "" && p.launch != launch
		paid := p.cost - last
		switch {
		case began && (i == 0 || paid < 0):
			paid = 0
		case paid < 0:
			continue
		}
		if p.launch != "" {
			launch = p.launch
		}
		if last = p.cost; paid > 0 {
			uses = append(uses, cli.Use{At: p.at, Cost: paid, Priced: true})
		}
	}
	return uses
}

// priced adds each payment to the last answer before it.
func priced(uses, paid []cli.Use) []cli.Use {
	for _, p := range paid {
		newest := -1
		for i, u := range uses {
			if !u.At.After(p.At) && (newest < 0 || !u.At.Before(uses[newest].At)) {
				newest = i
			}
		}
		if newest < 0 { // no record has the answer
			uses = append(uses, p)
			continue
		}
		uses[newest].Cost, uses[newest].Priced = uses[newest].Cost+p.Cost, true
	}
	return uses
}

// inWords formats paw's own status line, for a user who has none.
func inWords(cost float64, windows []session.Window) string {
	var parts []string
	if cost > 0 {
		parts = append(parts, "$"+strconv.FormatFloat(cost, 'f', 2, 64))
	}
	for _, w := range windows {
		parts = append(parts, w.String())
	}
	return strings.Join(parts, " · ")
}

// Uses reads the transcripts of the conversation and of its subagents. Each part of an answer is a
// line with the tokens of the answer so far. The cost is known for several answers together.
func (c driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Message   struct {
			ID    string `json:"id"`
			Usage struct {
				Input      int64 `json:"input_tokens"`
				CacheWrite int64 `json:"cache_creation_input_tokens"`
				CacheRead  int64 `json:"cache_read_input_tokens"`
				Output     int64 `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
	}
	path, err := records.TranscriptFile(ctx, c, s)
	if err != nil {
		return nil, err
	}
	subagents, _ := filepath.Glob(filepath.Join(cli.GlobQuote(subagentFiles(path)), "*.jsonl"))
	uses, err := records.UsesIn(append([]string{path}, subagents...), "usage", func(l line) (id string, u cli.Use) {
		if l.Type != "assistant" {
			return "", cli.Use{}
		}
		t := l.Message.Usage
		return l.Message.ID, cli.Use{At: l.Timestamp, Input: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output}
	})
	return priced(uses, costs(costPoints(s, path))), err
}
