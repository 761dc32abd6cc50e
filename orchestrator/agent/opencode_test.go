package agent

import "testing"

// The screens of opencode 1.18.33, cut to what is around its input box.
func TestOpencodeIsReadyInPanesOfEverySize(t *testing.T) {
	for size, screen := range map[string]string{
		"80x24": "  ┃\n  ┃  Build · Scripted Scripted\n  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀\n                     tab agents  ctrl+p commands\n",
		"39x10": "                                   ▄\n  █▀▀█ █▀▀█ █▀▀█ █▀▀▄ █▀▀▀ █▀▀█ █▀▀█ █▀▀█\n  ▀▀▀▀ █▀▀▀ ▀▀▀▀ ▀▀▀▀ ▀▀▀▀ ▀▀▀▀ ▀▀▀▀ ▀▀▀▀\n\n  opencode\n  ┃  Build · Scripted Scripted\n",
		"80x5":  "  /root/shop.paw/shop/opencode:paw/shop/▀▀▀▀▀▀▀▀▀▀1.18.33\n  opencodeanything… \"What is this?\"taboagents  ctrl+p commands\n",
	} {
		if !(opencode{}).Ready().Screen.MatchString(screen) {
			t.Errorf("%s: not ready", size)
		}
	}
	if (opencode{}).Ready().Screen.MatchString("\n\n\n") {
		t.Error("ready before it shows anything")
	}
}
