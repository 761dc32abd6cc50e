package history_test

import (
	"testing"

	"paw/session/history"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\nof two lines":                "plain\ttext\nof two lines",
		"\x1b[31;1mred\x1b[0m":                     "red",
		"\x1b[2J\x1b[Hcleared":                     "cleared",
		"\x1b]0;a title\x07after":                  "after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1bP+q544e\x1b\\after":                   "after",
		"\x1b(Bcharset\x1b7saved\x1bc":             "charsetsaved",
		"\x1b]52;c;never ended":                    "",
		"half a sequence \x1b":                     "half a sequence ",
		"10%\r100%\r\ndone":                        "10%\n100%\ndone",
		"bell\a back\b del\x7f nul\x00":            "bell back del nul",
		"C1 \u009b31m and \u0085":                  "C1 31m and ",
		"user\u202e\u2066nimda\u2069":              "usernimda",
		"torn \xe2\x80":                            "torn ?",
		"naïve 日本 👩‍🚀":                             "naïve 日本 👩‍🚀",
	} {
		if got := history.Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
