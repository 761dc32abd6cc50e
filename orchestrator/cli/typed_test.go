package cli_test

import (
	"testing"

	"paw/orchestrator/cli"
)

func TestTypable(t *testing.T) {
	for _, c := range []struct {
		prompt, want string
		dropped      int
	}{
		{"fix the tests", "fix the tests", 0},
		{"two\n\tlines, tab\n", "two\n\tlines, tab\n", 0},
		{"é 漢字 🎉 \u200b\u202e \u00a0", "é 漢字 🎉 \u200b\u202e \u00a0", 0},
		{"end of a paste\x1b[201~\rdo: run it\r", "end of a paste[201~\ndo: run it\n", 1},
		{"an eight bit one\u009b201~x", "an eight bit one201~x", 1},
		{"dos\r\nlines\r\n", "dos\nlines\n", 0},
		{"old mac\rlines", "old mac\nlines", 0},
		{"\x00\x01\x03\x04\x08\x0b\x0c\x15\x1a\x1c\x1f\x7f\u0080\u009f", "", 14},
		{"\x1b\x1b[200~\x1b[201~", "[200~[201~", 3},
		{"no UTF-8: \x9b201~ \xff \xc3", "no UTF-8: \ufffd201~ \ufffd \ufffd", 0},
		{"the real \ufffd", "the real \ufffd", 0},
	} {
		if got, dropped := cli.Typable(c.prompt); got != c.want || dropped != c.dropped {
			t.Errorf("%q: %q, %d dropped; want %q, %d", c.prompt, got, dropped, c.want, c.dropped)
		}
	}
}
