package program

import (
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	for _, test := range []struct {
		args string
		want options
	}{
		{"--session-id a-1 hello", options{id: "a-1", prompt: "hello"}},
		{"--resume a-1", options{id: "a-1", resume: true}},
		{"--resume= hello", options{resume: true, prompt: "hello"}},
		{"-p hello --session-id a", options{id: "a", headless: true, prompt: "hello"}},
		{"--session-id b --fork a hello", options{id: "b", fork: "a", prompt: "hello"}},
		{"--session-id a -- -x", options{id: "a", prompt: "-x"}},
	} {
		got, err := parseOptions(strings.Split(test.args, " "))
		if err != nil {
			t.Errorf("%s: %v", test.args, err)
		}
		expect(t, test.args, got, test.want)
	}
}

func TestParseOptionsMakesAnID(t *testing.T) {
	one, err := parseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := parseOptions([]string{"hello"})
	if err != nil {
		t.Fatal(err)
	}
	if len(one.id) != 36 || one.id == two.id {
		t.Errorf("ids %q and %q", one.id, two.id)
	}
}

func TestUsageErrors(t *testing.T) {
	p := newPlace(t)
	for _, args := range [][]string{
		{"--unknown"}, {"one", "two"}, {"-p", "one", "two"}, {"-p", ""}, {"--session-id", "a", "--resume", "a"},
		{"--session-id", "../a"}, {"--session-id", ""}, {"--session-id"}, {"--session-id", "a\nb"},
	} {
		code, out, errw := p.main("", args...)
		if code != 2 || out != "" || !strings.HasPrefix(errw, "demo: error: ") {
			t.Errorf("%q: exit %d, %q, %q", args, code, out, errw)
		}
	}
}
