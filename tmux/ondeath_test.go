package tmux

import "testing"

func TestOnDeathTakesWordsOnly(t *testing.T) {
	c := New("/nonexistent/socket")
	for name, call := range map[string]func() error{
		"session": func() error { return c.OnDeath(t.Context(), "shop", []string{"%1"}, "/bin/paw", nil, nil) },
		"pane":    func() error { return c.OnDeath(t.Context(), "$1", []string{"one"}, "/bin/paw", nil, nil) },
		"word":    func() error { return c.OnDeath(t.Context(), "$1", []string{"%1"}, "/bin/paw", []string{"a;b"}, nil) },
		"variable": func() error {
			return c.OnDeath(t.Context(), "$1", []string{"%1"}, "/bin/paw", nil, map[string]string{"A B": "x"})
		},
	} {
		if err := call(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
