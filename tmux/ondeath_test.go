package tmux

import "testing"

func TestOnDeathTakesWordsOnly(t *testing.T) {
	c := New("/nonexistent/socket")
	for name, call := range map[string]func() error{
		"session":  func() error { return c.OnDeath(t.Context(), "shop", "/bin/paw", nil, nil) },
		"pane":     func() error { return c.OnDeath(t.Context(), "$1", "/bin/paw", nil, map[string][]string{"one": nil}) },
		"word":     func() error { return c.OnDeath(t.Context(), "$1", "/bin/paw", nil, map[string][]string{"%1": {"a;b"}}) },
		"variable": func() error { return c.OnDeath(t.Context(), "$1", "/bin/paw", map[string]string{"A B": "x"}, nil) },
	} {
		if err := call(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
