//go:build clis

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// channelRounds is how many prompts and answers the test sends through a channel.
const channelRounds = 20

// TestCLIsByTheirChannels: twenty prompts and twenty answers reach qwen, opencode and pi through the
// CLIs' own channels, with half-typed text in the boxes, open menus and panes that change their
// size, on a busy machine. paw types nothing, and no prompt or answer is lost or comes twice.
func TestCLIsByTheirChannels(t *testing.T) {
	startEach(t, []string{"qwen", "opencode", "pi"}, func(t *testing.T, w *cliWorld) {
		w.work("do: say Ready.")
		defer busy(t)()
		pane := *w.agent(w.cli).PaneID
		const half = "half of a thought"
		w.ok(w.tmux("send-keys", "-t", pane, "-l", half))
		w.await("the words are on the screen", func() bool { return strings.Contains(w.visible(), half) })
		first := w.last().Number
		for n := 1; n <= channelRounds; n++ {
			size := []string{"-x", fmt.Sprint(80 + 40*(n%4)), "-y", fmt.Sprint(24 + 12*(n%3))}
			w.ok(w.tmux(append([]string{"resize-window", "-t", pane}, size...)...))
			file := fmt.Sprintf("asked%d.txt", n)
			prompt := fmt.Sprintf("do: ask touch %s\ndo: say Round %d.", file, n)
			menus := menusOf[w.cli]
			menu := menus[n%len(menus)]
			if n%5 == 0 {
				menu = openMenu{}
			}
			w.toggle(menu.open, menu.shows, true)
			w.send(prompt)
			w.await(file+" is asked for", func() bool {
				a := w.agent(w.cli)
				return a.State == "waiting_input" && strings.Contains(text(a.Reason), file)
			})
			answer := "yes"
			if n%5 == 0 {
				answer = "no"
			}
			w.await(file+" is on the screen", func() bool { return w.paw("answer", w.cli).code == 0 })
			if out := w.paw("answer", w.cli, answer); out.code != 0 {
				t.Fatalf("%s: %s: exit code %d\n%s%s\n%s", file, answer, out.code, out.stdout, out.stderr, w.visible())
			}
			w.await("the turn is over", func() bool { return w.agent(w.cli).State == "idle" && w.last().State != "running" })
			if w.has(file) != (answer == "yes") {
				t.Errorf("%s after %s: %v", file, answer, w.has(file))
			}
			if last := w.last(); last.Number != first+n || strings.TrimSpace(last.Prompt) != prompt {
				t.Fatalf("turn %d is %q, want %d %q", last.Number, last.Prompt, first+n, prompt)
			}
			w.toggle(menu.close, menu.shows, false)
			if n%5 == 0 && w.cli == "qwen" {
				continue // the CLI puts a refused prompt back into the box, after what is typed there
			}
			w.await("what was half typed is there", func() bool { return strings.Contains(w.visible(), half) })
		}
		asked := map[string]int{}
		for _, e := range w.model.Last(1000) {
			if len(e.Tools) > 0 && e.Results == 0 {
				asked[strings.TrimSpace(e.Prompt)]++
			}
		}
		for n := 1; n <= channelRounds; n++ {
			if prompt := fmt.Sprintf("do: ask touch asked%d.txt\ndo: say Round %d.", n, n); asked[prompt] != 1 {
				t.Errorf("the model was asked %d times for %q", asked[prompt], prompt)
			}
		}
	})
}

// openMenu lists the keys that open a menu of a CLI over half-typed text, a text that the menu shows, and the keys that close the menu.
type openMenu struct {
	open  []string
	shows string
	close []string
}

// menusOf lists the menus of a CLI: of files, agents and models. The first entry is no menu.
var menusOf = map[string][]openMenu{
	"qwen":     {{}, {open: []string{" ", "@"}, shows: "to switch", close: []string{"BSpace", "BSpace"}}},
	"opencode": {{}, {open: []string{" ", "@"}, shows: "@explore", close: []string{"BSpace", "BSpace"}}, {open: []string{"C-x", "m"}, shows: "Select model", close: []string{"Escape"}}},
	"pi":       {{}, {open: []string{"C-l"}, shows: "Model Name:", close: []string{"Escape"}}},
}

// toggle presses keys and waits until a menu is on the screen, or no longer.
func (w *cliWorld) toggle(keys []string, shows string, there bool) {
	w.t.Helper()
	if len(keys) == 0 {
		return
	}
	w.press(keys...)
	w.await(fmt.Sprintf("%q is there: %v", shows, there), func() bool { return strings.Contains(w.visible(), shows) == there })
}

// TestCLIsWithoutTheirChannels: where a channel is missing or does not answer, paw types prompts
// and answers. Answers to opencode are left to the user.
func TestCLIsWithoutTheirChannels(t *testing.T) {
	startEach(t, []string{"qwen", "opencode", "pi"}, func(t *testing.T, w *cliWorld) {
		w.work("do: say Ready.")
		w.closeChannel()
		before := w.last().Number
		w.send("do: ask touch typed.txt\ndo: say Typed.")
		if w.cli == "opencode" {
			w.awaitState("waiting_input")
			if out := w.paw("answer", w.cli, "yes"); out.code != 3 {
				t.Errorf("answer: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			w.answer(fakemodel.MannersOf[w.cli].Allow)
		} else {
			w.await("it is answered", func() bool { return w.paw("answer", w.cli, "yes").code == 0 }) // refused until it is drawn
		}
		w.await("the permission is granted", func() bool { return w.has("typed.txt") })
		w.finished(before)
		w.ok(w.tmux("send-keys", "-t", *w.agent(w.cli).PaneID, "-l", "rm everything"))
		w.await("the words are on the screen", func() bool { return strings.Contains(w.visible(), "rm everything") })
		if out := w.pawInput("do: say Only look.", "send", w.cli); out.code != 3 || !strings.Contains(out.stderr, "text that is not paw's") {
			t.Errorf("send: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
	})
}

// channelFiles are the files that paw needs to use a CLI's channel.
var channelFiles = map[string]string{"qwen": "qwen-commands.jsonl", "opencode": "opencode-listens", "pi": "pi-listens"}

// closeChannel renames the file of the CLI's channel, if the CLI has one.
func (w *cliWorld) closeChannel() {
	w.t.Helper()
	dir := filepath.Join(w.root, "home/.local/state/paw/agents/shop", w.cli)
	if name := channelFiles[w.cli]; name != "" {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "gone")); err != nil {
			w.t.Fatal(err)
		}
	}
}
