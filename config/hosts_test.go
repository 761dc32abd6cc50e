package config

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSaveHostKeepsAllOtherText(t *testing.T) {
	const mine = "# my settings\ndefault_cli = \"codex\" # the fast one\n\n[hosts.box]\n  ssh = \"b\"   # mine\npatience = 5\n\n[tmux]\nlayout = \"windows\"\n"
	tests := []struct {
		name, before, host string
		save               Host
		want               Host
		keeps              []string
	}{
		{"the first one", "", "gpu", Host{SSH: "gpu-box", Paw: "bin/paw", Repos: map[string]string{"/home/me/a b": "src/a"}}, Host{SSH: "gpu-box", Paw: "bin/paw", Repos: map[string]string{"/home/me/a b": "src/a"}}, nil},
		{"no line end", "default_cli = \"codex\"", "gpu", Host{SSH: "gpu-box"}, Host{SSH: "gpu-box"}, []string{"default_cli = \"codex\"\n"}},
		{"beside another", mine, "gpu", Host{SSH: "gpu-box"}, Host{SSH: "gpu-box"}, []string{mine}},
		{"changed", mine, "box", Host{SSH: "c", Paw: "bin/paw"}, Host{SSH: "c", Paw: "bin/paw", Patience: 5}, []string{"# my settings\ndefault_cli = \"codex\" # the fast one\n\n[hosts.box]\n", "patience = 5\n\n[tmux]\nlayout = \"windows\"\n"}},
		{"a checkout more", "[hosts.box]\nssh = \"b\"\n[hosts.box.repos]\n\"/a\" = \"a\"\n[tmux]\nbell = false\n", "box", Host{SSH: "b", Repos: map[string]string{"/b": "b"}}, Host{SSH: "b", Repos: map[string]string{"/a": "a", "/b": "b"}}, []string{"\"/a\" = \"a\"\n[tmux]\nbell = false\n"}},
		{"a checkout elsewhere", "[hosts.box]\nssh = \"b\"\n[hosts.box.repos]\n\"/a\" = \"a\"\n", "box", Host{SSH: "b", Repos: map[string]string{"/a": "c"}}, Host{SSH: "b", Repos: map[string]string{"/a": "c"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.user(t, tt.before)
			if err := p.SaveHost(tt.host, tt.save); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, p.load(t).Hosts[tt.host]); diff != "" {
				t.Error(diff)
			}
			text, err := os.ReadFile(p.ConfigFile)
			if err != nil {
				t.Fatal(err)
			}
			for _, kept := range tt.keeps {
				if !strings.Contains(string(text), kept) {
					t.Errorf("%q is gone from:\n%s", kept, text)
				}
			}
			if err := p.DeleteHost(tt.host); err != nil {
				t.Fatal(err)
			}
			if _, there := p.load(t).Hosts[tt.host]; there {
				t.Error("the host is still there")
			}
		})
	}
}

func TestSaveHostLeavesOtherFormsToTheUser(t *testing.T) {
	for _, text := range []string{
		"hosts.box.ssh = \"b\"\n",
		"hosts = { box = { ssh = \"b\" } }\n",
		"[hosts.box]\nssh = \"b\"\nrepos = { \"/a\" = \"a\" }\n",
	} {
		p := newPlace(t)
		p.user(t, text)
		err := p.SaveHost("box", Host{SSH: "c", Repos: map[string]string{"/b": "b"}})
		if !errors.Is(err, ErrHostByHand) {
			t.Errorf("%q: %v", text, err)
		}
		if now, _ := os.ReadFile(p.ConfigFile); string(now) != text {
			t.Errorf("%q became %q", text, now)
		}
	}
}

func TestHostsAreTheUsersAlone(t *testing.T) {
	p := newPlace(t)
	p.user(t, "")
	p.repository(t, "[hosts.evil]\nssh = \"evil\"\n")
	l := p.load(t)
	if len(l.Hosts) != 0 || len(l.Ignored) != 1 {
		t.Errorf("hosts %v, ignored %v", l.Hosts, l.Ignored)
	}
}

func TestHostsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"[hosts.box]\npaw = 'bin/paw'\n":                     "needs ssh",
		"[hosts.box]\nssh = '-oProxyCommand=x'\n":            "not a name that ssh knows",
		"[hosts.box]\nssh = 'a b'\n":                         "not a name that ssh knows",
		"[hosts.'a:b']\nssh = 'x'\n":                         "not the name of a host",
		"[hosts.box]\nssh = 'x'\npaw = 'paw; rm'\n":          "not the path of a program",
		"[hosts.box]\nssh = 'x'\nrepos = { 'a' = 'b' }\n":    "not an absolute path",
		"[hosts.box]\nssh = 'x'\nrepos = { '/a' = '~/b' }\n": "below the home folder",
		"[hosts.box]\nssh = 'x'\nenv = ['PAW_LAUNCH']\n":     "set by paw itself",
	} {
		p := newPlace(t)
		p.user(t, text)
		if _, err := Load(p.Paths, "", func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A host is checked before it is saved, as it is when it is read.
func TestCheckHost(t *testing.T) {
	for destination, want := range map[string]string{"me@box": "", "-oProxyCommand=x": "not a name that ssh knows", "a b": "not a name that ssh knows"} {
		if err := CheckHost("gpu", Host{SSH: destination}); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", destination, err)
		}
	}
	if err := CheckHost("a:b", Host{SSH: "box"}); err == nil || !strings.Contains(err.Error(), "not the name of a host") {
		t.Error(err)
	}
}
