package config

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"paw/config/lazyregexp"
)

// problem describes a mistake in one value, before its file and line are known.
type problem struct {
	what    string
	nearest string
}

func problemf(format string, args ...any) *problem {
	return &problem{what: fmt.Sprintf(format, args...)}
}

// of makes an Error about the key or variable whose value is wrong.
func (p *problem) of(key string) *Error {
	return &Error{Key: key, Nearest: p.nearest, Message: key + ": " + p.what}
}

var (
	cliName    = lazyregexp.New(`^[a-zA-Z0-9_]+$`)
	presetName = lazyregexp.New(`^[a-zA-Z0-9_][a-zA-Z0-9_-]*$`)
	remotePath = lazyregexp.New(`^[a-zA-Z0-9_./+-]+$`)
	envName    = lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

// builtinCLIs lists the CLIs that paw supports without configuration.
var builtinCLIs = []string{"claude", "codex", "opencode", "qwen", "copilot", "pi", "aider", "demo"}

// acpCLIs lists the agents whose commands for the Agent Client Protocol paw knows.
var acpCLIs = []string{"auggie", "cline", "cursor", "droid", "gemini", "goose", "junie", "kimi", "kiro", "vibe"}

// largest limits every number: far above any sensible value, and still safe to multiply into
// nanoseconds or bytes.
const largest = 1_000_000

func (s setting) checkNumber(n int64) *problem {
	least := int64(1)
	if s.zero {
		least = 0
	}
	if n < least || n > largest {
		return problemf("%d is not a number from %d to %d", n, least, largest)
	}
	return nil
}

// oneOf returns a check that accepts only the given words.
func oneOf(words ...string) func(string) *problem {
	return func(s string) *problem {
		if slices.Contains(words, s) {
			return nil
		}
		shown := strings.Join(words, " or ")
		if words[0] == "" {
			shown = `""` + shown // the empty word, made visible
		}
		return &problem{what: fmt.Sprintf("%q is not %s", s, shown), nearest: Nearest(s, words)}
	}
}

// matching returns a check that accepts what a pattern matches; what says what other texts are not.
func matching(pattern lazyregexp.Regexp, what string) func(string) *problem {
	return func(s string) *problem {
		if !pattern().MatchString(s) {
			return problemf("%q is not %s", s, what)
		}
		return nil
	}
}

// The name of a host must be able to stand before the colon of HOST:AGENT.
var (
	checkCLIName    = matching(cliName, "a cli name (letters, digits and _)")
	checkAgentName  = matching(cliName, "an agent name (letters, digits and _)")
	checkPresetName = matching(presetName, "a preset name (letters, digits, _ and -)")
	checkPromptName = matching(presetName, "the name of a prompt (letters, digits, _ and -)")
	checkHostName   = matching(presetName, "the name of a host (letters, digits, _ and -)")
)

// checkFilled accepts a text that is not blank.
func checkFilled(s string) *problem {
	if strings.TrimSpace(s) == "" {
		return problemf("is empty")
	}
	return checkText(s)
}

// checkThen accepts a value of limits.then: tell, continue, or handover: followed by CLI names.
func checkThen(s string) *problem {
	clis, hands := strings.CutPrefix(s, ThenHandOver)
	if !hands {
		return oneOf(ThenTell, ThenContinue, ThenHandOver+"CLI,...")(s)
	}
	for name := range strings.SplitSeq(clis, ",") {
		if p := checkCLIName(strings.TrimSpace(name)); p != nil {
			return p
		}
	}
	return nil
}

// checkCLIItem accepts an item of --cli: CLI or AGENT=CLI.
func checkCLIItem(s string) *problem {
	agent, cli, given := strings.Cut(s, "=")
	if !given {
		return checkCLIName(s)
	}
	return cmp.Or(checkAgentName(agent), checkCLIName(cli))
}

// argument returns a check that refuses a text which a program would take as an option, as several
// words or as empty; the program judges all other texts. what says what a refused text is not.
func argument(what string) func(string) *problem {
	return func(s string) *problem {
		if p := checkVisible(s); p != nil {
			return p
		}
		if s == "" || strings.HasPrefix(s, "-") || strings.ContainsFunc(s, unicode.IsSpace) {
			return problemf("%q is not %s", s, what)
		}
		return nil
	}
}

// Arguments of ssh and of git.
var (
	checkDestination = argument("a name that ssh knows")
	checkRevision    = argument("the name of a branch or commit")
)

// checkRemotePath accepts a path on another machine: absolute, or relative to the home folder.
func checkRemotePath(s string) *problem {
	if p := checkVisible(s); p != nil {
		return p
	}
	if s == "" || strings.HasPrefix(s, "~") {
		return problemf("%q is not a path that is absolute or below the home folder", s)
	}
	return nil
}

// checkRemoteProgram accepts a path that every shell takes as one word without quotes.
func checkRemoteProgram(s string) *problem {
	if !remotePath().MatchString(s) || !strings.Contains(s, "/") || strings.HasPrefix(s, "-") {
		return problemf("%q is not the path of a program, absolute or below the home folder", s)
	}
	return nil
}

// checkCheckout accepts an absolute path.
func checkCheckout(s string) *problem {
	if p := checkVisible(s); p != nil {
		return p
	}
	if !filepath.IsAbs(s) {
		return problemf("%q is not an absolute path", s)
	}
	return nil
}

// checkBase accepts a revision, or "" for HEAD.
func checkBase(s string) *problem {
	if s == "" {
		return nil
	}
	return checkRevision(s)
}

// checkSocket accepts "", a socket name (tmux -L) or an absolute path (tmux -S).
func checkSocket(s string) *problem {
	if p := checkVisible(s); p != nil {
		return p
	}
	if filepath.IsAbs(s) {
		return nil
	}
	if strings.ContainsRune(s, '/') || s == "." || s == ".." {
		return problemf("%q is neither a socket name nor an absolute path", s)
	}
	return nil
}

// checkWebhook accepts "" or an http or https URL.
func checkWebhook(s string) *problem {
	if p := checkVisible(s); p != nil || s == "" {
		return p
	}
	if u, err := url.Parse(s); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return problemf("%q is not a URL that begins with https:// or http://", s)
	}
	return nil
}

// checkPattern accepts a pattern of files inside the repository and outside .git.
func checkPattern(s string) *problem {
	if p := checkVisible(s); p != nil {
		return p
	}
	if s == "" || path.Clean(s) == "." {
		return problemf("%q does not name a file", s)
	}
	if path.IsAbs(s) {
		return problemf("%q is absolute; patterns are relative to the repository", s)
	}
	for part := range strings.SplitSeq(s, "/") {
		switch strings.ReplaceAll(part, `\`, "") {
		case "..":
			return problemf("%q leaves the repository", s)
		case ".git":
			return problemf("%q reaches into git's own files", s)
		}
	}
	if _, err := path.Match(s, ""); err != nil {
		return problemf("%q is not a valid pattern", s)
	}
	return nil
}

func checkVariable(name string) *problem {
	switch name {
	case "PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH":
		return problemf("%s is set by paw itself", name)
	}
	if !envName().MatchString(name) {
		return problemf("%q is not the name of a variable", name)
	}
	return nil
}

// checkVisible accepts a single line without control characters.
func checkVisible(s string) *problem {
	if strings.ContainsAny(s, "\n\t") {
		return problemf("%q has a line break or a tab", s)
	}
	return checkText(s)
}

// checkText accepts text without control characters and without marks of text direction. A user
// must see the same text that runs: an escape sequence could erase half of a command from the
// screen, and a mark of direction could reorder the command (CVE-2021-42574).
func checkText(s string) *problem {
	for _, r := range s {
		if r == '\n' || r == '\t' {
			continue
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return problemf("has an invisible character (U+%04X)", r)
		}
	}
	return nil
}
