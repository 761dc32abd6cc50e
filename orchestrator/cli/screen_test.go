package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
)

// TestScreensOfRealCLIs reads the screens that TestScreens of the scripted model has taken from the real programs. Their
// first line says what is to be recognized.
func TestScreensOfRealCLIs(t *testing.T) {
	files, err := filepath.Glob("testdata/screens/*/*.txt")
	if err != nil || len(files) < 300 {
		t.Fatalf("%d screens: %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, shot := readScreen(t, file)
			if got := get(t, name).Screen(shot).String(); got != want {
				t.Errorf("%s, want %s\n%s", got, want, shot.Text)
			}
		})
	}
}

// readScreen reads a screen and what is to be recognized on it.
func readScreen(t *testing.T, file string) (want string, shot cli.Screenshot) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(content), "\n", 3)
	if len(parts) < 3 {
		t.Fatal("cut off")
	}
	if _, err := fmt.Sscanf(parts[1], "%dx%d cursor %d,%d %t", &shot.Width, &shot.Height, &shot.CursorX, &shot.CursorY, &shot.CursorShown); err != nil {
		t.Fatalf("%q: %v", parts[1], err)
	}
	shot.Text = parts[2]
	return strings.TrimSpace(parts[0]), shot
}

// TestScreensThatAreCutOff has every recognizer look at parts of screens: what a pane shows while it is drawn or
// resized must not be more than can be read.
func TestScreensThatAreCutOff(t *testing.T) {
	files, _ := filepath.Glob("testdata/screens/*/*-idle.txt")
	for _, file := range files {
		_, shot := readScreen(t, file)
		for _, name := range clis.New(nil).Names() {
			cli := get(t, name)
			for height := range shot.Height {
				cut := shot
				cut.Text, cut.Height = strings.Join(strings.SplitAfter(shot.Text, "\n")[:height], ""), height
				_ = cli.Screen(cut)
				cut.CursorY, cut.CursorX = height/2, 0
				_ = cli.Screen(cut)
			}
		}
	}
	for _, name := range clis.New(nil).Names() {
		if got := get(t, name).Screen(cli.Screenshot{}); got != (cli.Screen{}) {
			t.Errorf("%s recognizes %s on nothing", name, got)
		}
	}
}

// TestOpencodeBoxEndsBeforeWhatIsBesideIt: a wide pane has the folder's name at the right, in as many rows as it needs.
func TestOpencodeBoxEndsBeforeWhatIsBesideIt(t *testing.T) {
	want, shot := readScreen(t, filepath.Join("testdata", "screens", "opencode", "1.18.33-after-200x50.txt"))
	rows := strings.Split(shot.Text, "\n")
	const sidebar = "\033[48;5;233m"
	if row := rows[shot.CursorY]; !strings.HasSuffix(row, sidebar) {
		t.Fatalf("the row of the cursor: %q", row)
	}
	rows[shot.CursorY] += "  \033[38;5;8m/root/a/folder/whose/name/is/long/\033[38;5;15m"
	shot.Text = strings.Join(rows, "\n")
	if got := get(t, "opencode").Screen(shot); got.String() != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestOpencodeAsksWithoutItsSidebar: what is to be allowed is what stands in the box, whatever a wide pane has beside it.
func TestOpencodeAsksWithoutItsSidebar(t *testing.T) {
	for name, row := range map[string]string{"1.18.33-always": "- env *", "1.18.33-permission": "$ env ", "1.18.33-question": "?"} {
		want, shot := readScreen(t, filepath.Join("testdata", "screens", "opencode", name+".txt"))
		asked, ok := questionOn(t, "opencode", shot)
		rows, beside := strings.Split(shot.Text, "\n"), 0
		for i, r := range rows {
			if strings.Contains(r, "┃") {
				rows[i] += "  \033[48;5;233m  \033[38;5;8m/root/.cache/a/folder\033[38;5;15m\033[48;5;232m"
				if strings.Contains(r, row) {
					beside++
				}
			}
		}
		if beside == 0 {
			t.Errorf("%s: no row has %q", name, row)
		}
		shot.Text, shot.Width = strings.Join(rows, "\n"), shot.Width+40
		if got := get(t, "opencode").Screen(shot).String(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got, still := questionOn(t, "opencode", shot); still != ok || got.Text != asked.Text || len(got.Options) != len(asked.Options) {
			t.Errorf("%s: %+v, want %+v", name, got, asked)
		}
	}
}
