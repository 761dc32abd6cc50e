package config

import (
	"strings"
	"testing"
)

func TestTemplatesOfVariables(t *testing.T) {
	shop := Filling{Session: "shop", Agent: "api", Repo: "shop", Worktree: "/w/shop.paw/shop/api", FirstPort: 20010, Ports: 10}
	for template, want := range map[string]string{
		"":                                     "",
		"{port}":                               "20010",
		"{port+0}{port+9}":                     "2001020019",
		"postgres://localhost:{port+1}/{name}": "postgres://localhost:20011/shop_api",
		"{slug}/{session}/{agent}/{repo}":      "shop-api/shop/api/shop",
		"{worktree}/x":                         "/w/shop.paw/shop/api/x",
		`{"json": {"a": 1}} $X ${ } {{agent}}`: `{"json": {"a": 1}} $X ${ } {api}`,
	} {
		if p := checkValue(template); p != nil {
			t.Errorf("%s: %s", template, p.what)
		}
		if got, ok := shop.Fill(template); got != want || !ok {
			t.Errorf("%s: %q %v, want %q", template, got, ok, want)
		}
	}
	for _, template := range []string{"{port+10}", "{port+1000000}"} {
		if got, ok := shop.Fill(template); ok {
			t.Errorf("%s: %q", template, got)
		}
	}
	if _, ok := (Filling{}).Fill("{port}"); ok {
		t.Error("an agent without ports has one")
	}
}

func TestNamesForOtherProgramsAreUnique(t *testing.T) {
	long := strings.Repeat("x", 40)
	agents := [][2]string{{"s_a", "b"}, {"s", "a_b"}, {"sa", "b"}, {"s", "ab"}, {"Case", "b"}, {"case", "b"}, {"case", "B"}, {"s", "_check"}, {"s", "check"},
		{long, "yyyyyyyyy1"}, {long, "yyyyyyyyy2"}, {long, "yyyyyyy"}}
	for _, separator := range []string{"-", "_"} {
		seen := map[string][2]string{}
		for _, a := range agents {
			name := (Filling{Session: a[0], Agent: a[1]}).uniqueName(separator)
			if other, there := seen[name]; there {
				t.Errorf("%v and %v are both %s", a, other, name)
			}
			seen[name] = a
			if len(name) > 48 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789"+separator) != "" {
				t.Errorf("%v is %s", a, name)
			}
		}
	}
	if got := (Filling{Session: "shop", Agent: "api2"}).uniqueName("-"); got != "shop-api2" {
		t.Errorf("a plain name is %s", got)
	}
}

func TestMistakesInVariables(t *testing.T) {
	for _, m := range []mistake{
		{"unknown word", "[worktree]\nports = 1\n[worktree.env]\nA = 'x'\n«B = '{prot}'\n", "worktree.env.B", "{port}", "unknown word {prot}"},
		{"no number", "[worktree]\n«env = { A = '{port+}' }\n", "worktree.env.A", "{port}", "unknown word {port+}"},
		{"no ports", "«worktree.env.A = '{port}'\n", "worktree.env.A", "", "more ports than worktree.ports has (0)"},
		{"too few", "[worktree]\nports = 2\n[worktree.env]\nA = '{port+1}'\n«B = '{port+2}'\n", "worktree.env.B", "", "more ports than worktree.ports has (2)"},
		{"PATH", "«worktree.env.PATH = 'x'\n", "worktree.env.PATH", "", "cannot be set"},
		{"HOME", "«worktree.env.HOME = 'x'\n", "worktree.env.HOME", "", "cannot be set"},
		{"own", "«worktree.env.PAW_X = 'x'\n", "worktree.env.PAW_X", "", "PAW_"},
		{"loader", "«worktree.env.LD_PRELOAD = 'x'\n", "worktree.env.LD_PRELOAD", "", "LD_"},
		{"loader of macOS", "«worktree.env.DYLD_X = 'x'\n", "worktree.env.DYLD_X", "", "DYLD_"},
		{"git", "«worktree.env.GIT_DIR = 'x'\n", "worktree.env.GIT_DIR", "", "GIT_"},
		{"no name", "«worktree.env.'A B' = 'x'\n", `worktree.env."A B"`, "", "not the name of a variable"},
	} {
		t.Run(m.name, func(t *testing.T) { checkMistake(t, m) })
	}
}

func TestPortsOfAnotherFileCount(t *testing.T) {
	p := newPlace(t)
	p.user(t, "worktree.env.PORT = '{port+3}'\n")
	p.repository(t, "worktree.ports = 4\n")
	if l := p.load(t); len(l.Untrusted) != 1 || l.Worktree.Ports != 0 {
		t.Errorf("untrusted %v, ports %d", l.Untrusted, l.Worktree.Ports)
	}
	trustAll(t, p)
	if l := p.load(t); l.Worktree.Ports != 4 || l.Worktree.Env["PORT"] != "{port+3}" {
		t.Errorf("got %+v", l.Worktree)
	}
	p.repository(t, "worktree.ports = 3\n")
	if _, err := Load(p.Paths, p.repo, environment()); err == nil || !strings.Contains(err.Error(), "config.toml:1") {
		t.Errorf("got %v", err)
	}
}

func TestLinesOfSetUp(t *testing.T) {
	for line, ok := range map[string]bool{"A=1": true, "A=": true, "A=b=c": true, "A": false, "": false, "export A=1": false, "PATH=x": false, "PAW_AGENT=x": false, "A=\x00": false, "=": false} {
		if _, _, err := ProjectVariable(line); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		}
	}
	if name, value, _ := ProjectVariable("DB=a=b"); name != "DB" || value != "a=b" {
		t.Errorf("%s, %s", name, value)
	}
}
