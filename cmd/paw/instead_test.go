package main

import (
	"strings"
	"testing"

	"paw/orchestrator/errs"
	"paw/session"
)

// A line that is pasted has everything else that was typed, and a name is replaced only where one place has it.
func TestLineWithAnotherName(t *testing.T) {
	noAgent := func(of, by string) error {
		e := errs.New(errs.NotFound, "%s: no such agent", of)
		e.Instead = errs.Instead{Of: of, By: by}
		return e
	}
	badAgent, badSession := session.ValidateName("agent", "a-b"), session.ValidateName("session", "a-b")
	for _, one := range []struct {
		err         error
		typed, want string
	}{
		{badAgent, "add --cli a-b=demo", "paw add --cli a_b=demo"},
		{badAgent, "add --cli=x=demo,a-b=demo --prompt a-b", "paw add --cli=x=demo,a_b=demo --prompt a-b"},
		{badAgent, "start --cli a-b=demo --branches a-b --name a-b", "paw start --cli a_b=demo --branches a-b --name a-b"},
		{badAgent, "send a-b hello", ""},
		{badAgent, "start --prompt a-b --cli demo --name=other", ""},
		{badSession, "start --cli demo --name a-b -d", "paw start --cli demo --name a_b -d"},
		{session.ValidateName("agent", "---"), "add --cli ---=demo", ""},
		{session.ValidateName("session", " "), "start --cli demo --name _", ""},
		{noAgent("demo=demo", "demo_2=demo"), "add --cli demo=demo --cli kid=demo", "paw add --cli demo_2=demo --cli kid=demo"},
		{noAgent("demo=demo", "demo_2=demo"), "add --cli=demo=demo,kid=demo", "paw add --cli=demo_2=demo,kid=demo"},
		{noAgent("demo=demo", "demo_2=demo"), "start --cli demo=demo,demo=demo", ""},
		{noAgent("demo", "demo-2"), "run --cli other --branch=demo", "paw run --cli other --branch=demo-2"},
		{noAgent("demo", "demo-2"), "start --cli x --branches demo/x", ""},
		{noAgent("demo,demo,x", "demo"), "start --cli demo,demo,x", "paw start --cli demo"},
		{noAgent("serach", "search"), "diff shop/serach@1 --stat -- a.txt", "paw diff shop/search@1 --stat -- a.txt"},
		{noAgent("serach", "search"), "send gpu:shop/serach,auth 'the serach'", "paw send gpu:shop/search,auth 'the serach'"},
		{noAgent("serach", "search"), "send serach serach", ""},
		{noAgent("serach", "search"), "send serachable hi", ""},
		{noAgent("gpuu", "gpu"), "send gpuu:a 'gpuu: is slow'", "paw send gpu:a 'gpuu: is slow'"},
		{noAgent("", ""), "status", ""},
		{noAgent("nosuch", ""), "diff nosuch", ""},
	} {
		words := strings.Fields(one.typed)
		if text := strings.Index(one.typed, " '"); text >= 0 {
			words = append(strings.Fields(one.typed[:text]), strings.Trim(one.typed[text:], " '"))
		}
		if got := (suggester{&invocation{typed: words}}).instead(one.err); got != one.want {
			t.Errorf("%s: %q, want %q", one.typed, got, one.want)
		}
	}
}
