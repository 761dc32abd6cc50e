package session

import (
	"errors"
	"strings"
	"testing"
)

func TestValidateName(t *testing.T) {
	good := []string{"a", "Z", "0", "_", "test_session", "Exp_2", strings.Repeat("a", 63), strings.Repeat("a", 64)}
	bad := map[string]string{
		"":                      "empty",
		" ":                     "blank",
		"\t \n":                 "blank",
		"a\nb":                  "more than one line",
		"a\r\nb":                "more than one line",
		"a\n":                   "more than one line",
		" a":                    "space around it",
		"a ":                    "space around it",
		"\ta":                   "space around it",
		"my session":            "only letters",
		"test-1":                "only letters",
		"test.1":                "only letters",
		"test:1":                "only letters",
		"-x":                    "only letters",
		"a/b":                   "only letters",
		"..":                    "only letters",
		"a\x00b":                "only letters",
		"$1":                    "only letters",
		"=x":                    "only letters",
		"#{pid}":                "only letters",
		"naïve":                 "only letters",
		"項目":                    "only letters",
		"ａ":                     "only letters", // full width
		"é":                     "only letters",
		"a\u200bb":              "only letters",
		"\xff":                  "only letters",
		strings.Repeat("a", 65): "65 characters long",
	}
	for _, kind := range []string{"session", "agent"} {
		for _, name := range good {
			if err := ValidateName(kind, name); err != nil {
				t.Errorf("%v", err)
			}
		}
		for name, reason := range bad {
			err := ValidateName(kind, name)
			var bad *NameError
			if !errors.As(err, &bad) || bad.Kind != kind || bad.Name != name || !strings.Contains(bad.Reason, reason) {
				t.Errorf("%s %q: got %v, want %q", kind, name, err, reason)
			}
		}
	}
}

func TestValidTurnSession(t *testing.T) {
	tests := []struct {
		session, agent string
		kind           string // of the error, "" for a good one
	}{
		{"demo", "claude", ""},
		{strings.Repeat("s", 32), strings.Repeat("a", 31), ""},
		{strings.Repeat("s", 32), strings.Repeat("a", 32), "session"},
		{strings.Repeat("s", 31), strings.Repeat("a", 33), "agent"},
		{strings.Repeat("s", 64), "a", "session"},
		{"de-mo", "claude", "session"},
		{"demo", "", "agent"},
	}
	for _, tt := range tests {
		err := ValidTurnSession(tt.session, tt.agent)
		var bad *NameError
		if tt.kind == "" && err != nil || tt.kind != "" && (!errors.As(err, &bad) || bad.Kind != tt.kind) {
			t.Errorf("%s + %s: got %v, want an error about %q", tt.session, tt.agent, err, tt.kind)
		}
	}
}

func TestNameFrom(t *testing.T) {
	tests := map[string]string{
		"project":                           "project",
		"my-project":                        "my_project",
		"my.project.git":                    "my_project_git",
		"feat/login form":                   "feat_login_form",
		"  spaced  ":                        "spaced",
		"__init__":                          "__init__",
		".github":                           "github",
		"a -- b":                            "a_b",
		"café":                              "caf",
		"項目":                                "",
		"項目2":                               "2",
		"":                                  "",
		"---":                               "",
		"\xff\xfe":                          "",
		strings.Repeat("x", 64):             strings.Repeat("x", 30),
		strings.Repeat("x", 29) + "-" + "y": strings.Repeat("x", 29),
	}
	for text, want := range tests {
		if got := NameFrom(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzNameFrom(f *testing.F) {
	for _, text := range []string{"project", "feat/x", "項目", strings.Repeat("-x", 200), "__"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := NameFrom(text)
		if name == "" {
			return
		}
		if err := ValidateName("session", name); err != nil {
			t.Error(err)
		}
		if err := ValidTurnSession(name+"_12", name); err != nil {
			t.Error(err)
		}
		if NameFrom(name) != name {
			t.Errorf("%q becomes %q", name, NameFrom(name))
		}
	})
}
