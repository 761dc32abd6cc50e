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
		"start --cli a-b=demo --name a-b":            "paw start --cli a_b=demo --name a_b",
		"start --cli a-b=demo --branches a-b":        "paw start --cli a_b=demo --branches a-b",
		"send a-b hello":                             "",
		"start --prompt a-b --cli demo --name=other": "",
	} {
		a := suggester{&invocation{typed: strings.Fields(typed)}}
		if got := a.instead(session.ValidateName("agent", "a-b")); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
	blank := suggester{&invocation{typed: []string{"start", "--name", " ", "--cli", "demo"}}}
	if got, want := blank.instead(session.ValidateName("session", " ")), "paw start --cli demo"; got != want {
		t.Errorf("a blank name: %q, want %q", got, want)
	}
	if got := (suggester{&invocation{typed: []string{"add", "--cli", "---=demo"}}}).instead(session.ValidateName("agent", "---")); got != "" {
		t.Errorf("a name made of nothing: %q", got)
	}
}

// A line that is pasted has everything else that was asked for.
func TestLineWithOneItemReplaced(t *testing.T) {
	agent := errs.Instead{Of: "demo=demo", By: "demo_2=demo", In: []string{"--cli"}}
	branch := errs.Instead{Of: "demo", By: "demo-2", In: []string{"--branches", "--branch"}}
	for _, one := range []struct {
		asked       errs.Instead
		typed, want string
	}{
		{agent, "add --cli demo=demo --cli kid=demo", "paw add --cli demo_2=demo --cli kid=demo"},
		{agent, "add --cli=demo=demo,kid=demo --prompt demo=demo", "paw add --cli=demo_2=demo,kid=demo --prompt demo=demo"},
		{agent, "start --cli demo=demo --cli demo=demo", "paw start --cli demo=demo --cli demo_2=demo"},
		{agent, "start --cli demo=demo,demo=demo", "paw start --cli demo=demo,demo_2=demo"},
		{agent, "start --preset demo=demo", ""},
		{branch, "start --cli demo,demo --branches demo,demo", "paw start --cli demo,demo --branches demo,demo-2"},
		{branch, "start --branches demo --cli demo=demo", "paw start --branches demo-2 --cli demo=demo"},
		{branch, "run --cli demo --branch=demo --prompt demo", "paw run --cli demo --branch=demo-2 --prompt demo"},
		{branch, "start --cli demo --branches demo/x", ""},
	} {
		refused := errs.New(errs.Usage, "%s: taken", one.asked.Of)
		refused.Instead = one.asked
		if got := (suggester{&invocation{typed: strings.Fields(one.typed)}}).instead(refused); got != one.want {
			t.Errorf("%s: %q, want %q", one.typed, got, one.want)
		}
	}
}
