package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
)

// TestQuestionsOfRealCLIs reads all screens that were taken from the real programs: those in testdata/questions.golden ask
// something that can be answered, and no other one does.
func TestQuestionsOfRealCLIs(t *testing.T) {
	files, _ := filepath.Glob("testdata/screens/*/*.txt")
	var got strings.Builder
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		_, shot := readScreen(t, file)
		asked, ok := questionOn(t, name, shot)
		if !ok {
			continue
		}
		fmt.Fprintf(&got, "%s/%s: %s\n", name, strings.TrimSuffix(filepath.Base(file), ".txt"), asked.Text)
		for i, o := range asked.Options {
			mark := map[bool]string{true: ">", false: " "}[o.Selected]
			fmt.Fprintln(&got, strings.TrimRight(fmt.Sprintf(" %s %d [%s] %-6s %s  %s", mark, i+1, o.Key, o.Means(), o.Label, o.About), " "))
		}
	}
	if os.Getenv("PAW_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile("testdata/questions.golden", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/questions.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// questionOn returns what a CLI asks on a screen, false for nothing that can be answered.
func questionOn(t *testing.T, name string, shot cli.Screenshot) (cli.Question, bool) {
	t.Helper()
	if asked := get(t, name).Screen(shot).Question; asked != nil {
		return *asked, true
	}
	return cli.Question{}, false
}

// A question of one CLI is none on the screen of another, and what is cut off is none with other options.
func TestQuestionsThatAreCutOff(t *testing.T) {
	files, _ := filepath.Glob("testdata/screens/*/*.txt")
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		_, shot := readScreen(t, file)
		whole, ok := questionOn(t, name, shot)
		if !ok {
			continue
		}
		for height := range shot.Height {
			cut := shot
			cut.Text, cut.Height = strings.Join(strings.SplitAfter(shot.Text, "\n")[:height], ""), height
			part, ok := questionOn(t, name, cut)
			if ok && part.Outside && part.Text != whole.Text {
				continue // an answered one, which stands above the whole
			}
			if ok && !slices.EqualFunc(part.Options, whole.Options[:len(part.Options)], sameKey) {
				t.Errorf("%s, %d rows: %v, whole %v", file, height, part.Options, whole.Options)
			}
		}
	}
	for _, name := range clis.New(nil).Names() {
		if asked, ok := questionOn(t, name, cli.Screenshot{}); ok {
			t.Errorf("%s sees %v on nothing", name, asked)
		}
	}
}

func sameKey(a, b cli.Option) bool { return a.Key == b.Key && a.Means() == b.Means() }

func TestMeaningsOfOptions(t *testing.T) {
	for label, want := range map[string]cli.Meaning{
		"Yes": "yes", "y": "yes", "Yes, proceed (y)": "yes", "Allow once": "yes", "Yes, allow once": "yes",
		"Yes, and don't ask again for commands that start with `npm test` (p)": "always",
		"Yes, allow all edits during this session (shift+tab)":                 "always",
		"Yes, and auto-accept edits":                                           "always", "Allow always": "always", "Allow for this session": "always",
		"Yes, and don’t ask again for npm test commands in /r": "always",
		"No": "no", "n": "no", "Reject": "no", "No, and tell Codex what to do differently (esc)": "no", "No, suggest changes (esc)": "no",
		"Postgres": "", "No-SQL": "", "No caching": "", "Yes-man": "", "Now or never": "", "Yesterday": "", "Always use tabs": "", "Chat about this": "",
		"Confirm": "yes", "Cancel": "", "Confirmation": "",
		"Type something.": "text", "Type your own answer": "text", "Enter a custom value": "text", "Other (type your answer)": "text",
	} {
		if got := (cli.Option{Label: label}).Means(); got != want {
			t.Errorf("%q means %q, want %q", label, got, want)
		}
	}
}

// A pane that the question fills to the first row may not have the begin of it.
func TestDemoQuestionLongerThanThePane(t *testing.T) {
	for want, shot := range map[string]cli.Screenshot{
		"…ly push?": {Text: "ly push?\n [y/n]", Width: 8, Height: 2, CursorX: 7, CursorY: 1, CursorShown: true},
		"ly push?":  {Text: "\nly push?\n [y/n]", Width: 8, Height: 3, CursorX: 7, CursorY: 2, CursorShown: true},
	} {
		if asked, ok := questionOn(t, "demo", shot); !ok || asked.Text != want {
			t.Errorf("%q, want %q", asked.Text, want)
		}
	}
}
