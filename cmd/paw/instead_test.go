package main

import (
	"strings"
	"testing"

	"paw/orchestrator/errs"
	"paw/session"
)

func TestLineWithANameThatCouldBe(t *testing.T) {
	for typed, want := range map[string]string{
		"add --cli a-b=demo":                         "paw add --cli a_b=demo",
		"add --cli=x=demo,a-b=demo --prompt a-b":     "paw add --cli=x=demo,a_b=demo --prompt a-b",
		"start --cli demo --name a-b -d":             "paw start --cli demo --name a_b -d",
		"start --cli demo --branches a-b,c":          "paw start --cli demo --branches a_b,c",
		"start --cli demo --branches a-b/c":          "",
		"send a-b hello":                             "",
		"start --prompt a-b --cli demo --name=other": "",
	} {
		a := suggester{&invocation{typed: strings.Fields(typed)}}
		if got := a.instead(session.ValidateName("agent", "a-b")); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
		taken := errs.New(errs.Usage, "agent a-b: taken")
		taken.Instead = errs.Instead{Of: "a-b", By: "a_b"}
		if got := a.instead(taken); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
	blank := suggester{&invocation{typed: []string{"start", "--name", " ", "--cli", "demo"}}}
	if got, want := blank.instead(session.ValidateName("session", " ")), "paw start --cli demo"; got != want {
		t.Errorf("a blank name: %q, want %q", got, want)
	}
	twice := errs.New(errs.Failed, "branch a: also asked for by a")
	twice.Instead = errs.Instead{Of: "a", By: "a-2"}
	if got, want := (suggester{&invocation{typed: strings.Fields("start --cli demo --branches a,a")}}).instead(twice), "paw start --cli demo --branches a,a-2"; got != want {
		t.Errorf("twice: %q, want %q", got, want)
	}
	if got := (suggester{&invocation{typed: []string{"add", "--cli", "---=demo"}}}).instead(session.ValidateName("agent", "---")); got != "" {
		t.Errorf("a name made of nothing: %q", got)
	}
}
