package hosts

import (
	"strings"
	"testing"

	"paw/config"
)

func TestLinesOfAHost(t *testing.T) {
	t.Parallel()
	h := Host{Name: "gpu", Host: config.Host{SSH: "gpu-box"}}
	for line, want := range map[string]string{
		"paw remove demo --force --session shop":        "paw remove demo --force --session gpu:shop",
		"paw status shop":                               "paw status gpu:shop",
		"paw attach shop demo":                          "paw attach gpu:shop gpu:demo",
		"paw stop shop demo --only && paw recover shop": "paw stop gpu:shop gpu:demo --only && paw recover gpu:shop",
		"paw diff shop/demo 2":                          "paw diff gpu:shop/demo 2",
		"paw send demo 'do: it'":                        "paw send gpu:demo 'do: it'",
		"paw review demo --on x.txt:1 text":             "paw review gpu:demo --on x.txt:1 text",
		"paw start --cli demo":                          "paw start --cli demo --on gpu",
		"paw status --all":                              "ssh -t gpu-box 'paw status --all'",
		"paw stop --all && paw recover shop":            "ssh -t gpu-box 'paw stop --all && paw recover shop'",
		`paw send demo "go on"`:                         `paw send gpu:demo "go on"`,
		"paw add --cli x;touch${IFS}X;":                 "ssh -t gpu-box 'paw add --cli x;touch${IFS}X;'",
		"paw status $(touch X)":                         "ssh -t gpu-box 'paw status $(touch X)'",
		"paw recover shop; touch X":                     "ssh -t gpu-box 'paw recover shop; touch X'",
		"paw send demo 'a'$(touch X)":                   `ssh -t gpu-box 'paw send demo '\''a'\''$(touch X)'`,
		`paw send demo "$(touch X)"`:                    `ssh -t gpu-box 'paw send demo "$(touch X)"'`,
		"paw diff demo >X":                              "ssh -t gpu-box 'paw diff demo >X'",
		"paw diff demo &":                               "ssh -t gpu-box 'paw diff demo &'",
		"paw diff demo\rpaw":                            "ssh -t gpu-box 'paw diff demo\rpaw'",
		"git -C '/a b' status":                          `ssh -t gpu-box 'git -C '\''/a b'\'' status'`,
		"paw config trust":                              "ssh -t gpu-box 'paw config trust'",
		"paw send demo 'a' && rm x":                     `ssh -t gpu-box 'paw send demo '\''a'\'' && rm x'`,
	} {
		if got := h.Here(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"paw rewind shop/demo --undo":         "paw rewind gpu:shop/demo --undo",
		"paw queue go --all":                  "ssh -t gpu-box 'cd /r && paw queue go --all'",
		"paw recover shop && paw queue retry": "ssh -t gpu-box 'cd /r && paw recover shop && paw queue retry'",
		"git -C /r status":                    "ssh -t gpu-box 'git -C /r status'",
		"rm -rf /r/x":                         "ssh -t gpu-box 'rm -rf /r/x'",
	} {
		if got := h.HereFrom("/r", line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	const said = "demo has 1 file\npaw: hint: paw diff demo\nno paw attach x\npaw attach shop shows it\nsure? paw: hint: paw x\npa"
	const want = "demo has 1 file\npaw: hint: paw diff gpu:demo\nno paw attach x\npaw attach gpu:shop shows it\nsure? paw: hint: paw x\n"
	for size := 1; size < len(said); size++ {
		var out strings.Builder
		w := h.Said(&out)
		for rest := said; rest != ""; rest = rest[min(size, len(rest)):] {
			if _, err := w.Write([]byte(rest[:min(size, len(rest))])); err != nil {
				t.Fatal(err)
			}
		}
		if got := out.String(); got != want {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}
