package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/session"
)

// ParseLaunch reads PAW_LAUNCH, "<session>/<agent>/<generation>".
func ParseLaunch(text string) (sessionName, agentName string, generation int, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return "", "", 0, false
	}
	generation, err := strconv.Atoi(parts[2])
	return parts[0], parts[1], generation, err == nil
}

// LaunchPath is the file of a launch, from when it is written until its launcher has read it.
func LaunchPath(h *app.App, sessionName, agentName string, generation int) string {
	return filepath.Join(h.Paths.LaunchDir(), sessionName, fmt.Sprintf("%s-%d.json", agentName, generation))
}

// LaunchPlace is the end of every LaunchPath: the environment of a pane, which is that of the tmux server, does not say
// where the folders of the paw are that wrote the launch.
func LaunchPlace(sessionName, agentName string, generation int) string {
	return fmt.Sprintf("/launch/%s/%s-%d.json", sessionName, agentName, generation)
}

// FailurePath is where a launcher that gave up says why.
func FailurePath(h *app.App, sessionName, agentName string) string {
	return filepath.Join(h.Paths.LaunchDir(), sessionName, agentName+".failed")
}

// LaunchOpen reports whether a launch of this agent waits for its launcher.
func LaunchOpen(h *app.App, sessionName, agentName string, generation int) bool {
	_, err := os.Stat(LaunchPath(h, sessionName, agentName, generation))
	return err == nil
}

// OpenLaunches are the launches of a session that wait for their launchers: when
// each was written, by agent and generation.
func OpenLaunches(h *app.App, sessionName string) map[string]map[int]time.Time {
	open := map[string]map[int]time.Time{}
	entries, err := os.ReadDir(filepath.Join(h.Paths.LaunchDir(), sessionName))
	if err != nil {
		return open
	}
	for _, e := range entries {
		agentName, number, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".json"), "-")
		generation, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		if info, err := e.Info(); err == nil {
			if open[agentName] == nil {
				open[agentName] = map[int]time.Time{}
			}
			open[agentName][generation] = info.ModTime()
		}
	}
	return open
}

// Undelivered says that the first prompt of an agent was never handed over.
func Undelivered(h *app.App, s *session.Session, agentName string) string {
	path := h.PromptPath(s.Name, agentName)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return "its first prompt was never sent; it is kept in " + path
}

// StrayPrompts say which first prompts are kept for agents that a session does not have: who spawned them was killed.
func StrayPrompts(h *app.App, s *session.Session) []string {
	var said []string
	for _, agent := range h.StrayPrompts(s.Name, app.AgentNames(s)) {
		said = append(said, fmt.Sprintf("the first prompt of %s was never sent, and there is no such agent; it is kept in %s", agent, h.PromptPath(s.Name, agent)))
	}
	return said
}

// anyLaunchOpen reports whether some launch of an agent waits for its launcher.
func anyLaunchOpen(h *app.App, sessionName, agentName string) bool {
	return len(OpenLaunches(h, sessionName)[agentName]) > 0
}
