package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var drawPicture = flag.Bool("draw", false, "draw the pictures of docs anew")

// TestPicture plays the commands of the README's picture, and compares what the terminal shows with
// the picture. `make picture` draws the picture.
func TestPicture(t *testing.T) {
	t.Parallel()
	w := newWorldIn(t, folderOf12(t))
	w.start("api", "web", "tests")
	w.ok(w.paw("send", "web", "add a search box"))
	w.ok(w.paw("wait", "web"))
	w.ok(w.paw("send", "tests", "do: say I read the tests first.\ndo: hang"))
	w.ok(w.paw("send", "api", "do: say I changed the parser.\ndo: ask Run npm test?"))

	terminal := w.terminal("paw attach shop")
	var attached, status string
	waitFor(t, "the agents are shown", func() bool {
		attached = terminal.colours()
		return shows(attached, "Run npm test? [y/n]", "I read the tests first.", "add a search box", "api: waits for you", "web: idle", "tests: running")
	})
	killServer(terminal.socket)
	terminal = w.terminal("echo '$ paw status'; paw status; exec sleep 600")
	waitFor(t, "the status is shown", func() bool {
		status = terminal.colours()
		return shows(status, "AGENT", "? Run npm test?", "paw answer")
	})
	drawn := drawSVG(100, w.asAtHome(attached), w.asAtHome(status))
	sameAsPicture(t, "../../docs/picture.svg", drawn)
}

// TestPictureOfTheDesk plays the keys of the picture of the desk, and compares the screens with the
// picture.
func TestPictureOfTheDesk(t *testing.T) {
	t.Parallel()
	w := newWorldIn(t, folderOf12(t))
	w.start("api", "web", "tests", "docs", "infra")
	w.ok(w.paw("send", "infra", "say what you would change"))
	w.ok(w.paw("wait", "infra"))
	w.ok(w.paw("seen", "infra"))
	w.ok(w.paw("send", "web", "add a search box"))
	w.ok(w.paw("wait", "web"))
	w.ok(w.paw("send", "docs", "do: fail the service is overloaded"))
	w.ok(w.paw("send", "tests", "do: say I read the tests first.\ndo: hang"))
	w.ok(w.paw("send", "api", "do: say I changed the parser.\ndo: ask Run npm test?"))
	waitFor(t, "a turn has failed", func() bool { return w.agent("docs").State == "error" })
	waitFor(t, "a hook has told since when api asks", func() bool { a := w.agent("api"); return a.State == "waiting_input" && a.StateSince != nil })
	terminal := w.sized(110, 24, "paw; exec sleep 600")
	terminal.awaits("NEEDS YOU 2", "I changed the parser.", "TO REVIEW 1", "WORKING 1", "QUIET 1")
	waitFor(t, "lines are counted and conflicts forecast", func() bool { return strings.Count(terminal.screen(), "+1 -0  !") == 2 })
	terminal.press("1", "a")
	terminal.awaits("api asks: Run npm test?", "1 y  ")
	asks := terminal.colours()
	terminal.press("Escape")
	terminal.awaits("? help")
	terminal.press("2", "d")
	terminal.awaits("+add a search box", "since you looked")
	sameAsPicture(t, "../../docs/desk.svg", drawSVG(110, w.asAtHome(asks), w.asAtHome(terminal.colours())))
}

// sameAsPicture compares a drawing with the file of a picture; with -draw, it writes the file
// first.
func sameAsPicture(t *testing.T, file, drawn string) {
	t.Helper()
	if *drawPicture {
		if err := os.WriteFile(file, []byte(drawn), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutTimes(string(there)), withoutTimes(drawn)); diff != "" {
		t.Errorf("%s is not what one sees; make picture draws it anew (-picture +seen)\n%s", file, diff)
	}
}

// turning matches the sign of an agent at work, which changes each second.
var turning = regexp.MustCompile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")

// homeOf12 replaces the path of the test's folder in the picture, and has the same length.
const homeOf12 = "/home/me/src"

// folderOf12 makes a folder whose path has twelve characters.
func folderOf12(t *testing.T) string {
	t.Helper()
	for n := os.Getpid(); ; n++ {
		dir := fmt.Sprintf("/tmp/p%06d", n%1000000)
		if err := os.Mkdir(dir, 0o700); err == nil {
			return dir
		} else if !os.IsExist(err) {
			t.Fatal(err)
		}
	}
}

// colours returns the screen of a terminal with its styles.
func (o outerTerminal) colours() string {
	o.w.t.Helper()
	return o.tmux("capture-pane", "-e", "-p").stdout
}

func shows(screen string, texts ...string) bool {
	screen = styles.ReplaceAllString(screen, "")
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			return false
		}
	}
	return true
}

var (
	styles         = regexp.MustCompile("\x1b\\[[0-9;]*m|\x0e|\x0f")
	conversationID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hostAndTime    = regexp.MustCompile(`"[^"]*" \d\d:\d\d \d\d-\w{3}-\d\d`)
	howLong        = regexp.MustCompile(`\b\d+[smh]\b`)
	blanks         = regexp.MustCompile(` +`)
	geometry       = regexp.MustCompile(` (x|width|textLength)="\d+"`)
)

// asAtHome replaces the parts of a screen that differ between runs by texts of the same length.
func (w *world) asAtHome(screen string) string {
	screen = strings.ReplaceAll(screen, w.root, homeOf12)
	screen = conversationID.ReplaceAllString(screen, "3f9d2c1e-8a47-4b06-9d15-6c0e7b52a418")
	return hostAndTime.ReplaceAllStringFunc(screen, func(text string) string {
		return fmt.Sprintf("%*s", len(text), "09:41 14-Mar-26")
	})
}

// withoutTimes removes from a picture the ages of states, and the geometry that depends on them.
func withoutTimes(svg string) string {
	svg = turning.ReplaceAllString(svg, "▸")
	svg = blanks.ReplaceAllString(howLong.ReplaceAllString(svg, "TIME"), " ")
	svg = geometry.ReplaceAllString(strings.ReplaceAll(svg, "> TIME", ">TIME"), "") // an age at the right end of its column
	return strings.Join(slices.Compact(strings.Split(svg, "\n")), "\n")             // the blanks before a short age are a rectangle of their own
}
