package picture

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	svg := Draw(20, "a \x1b[1;33mb<c\x1b[0m 店 d\nnext", "\x1b[7mback\x1b[0m \x1b[2;38;5;196mdim")
	for _, want := range []string{
		`<text x="14" y="27" textLength="8" fill="#d0d4db" xml:space="preserve">a</text>`,
		`<text x="30" y="27" textLength="24" fill="#e5c07b" font-weight="bold" xml:space="preserve">b&lt;c</text>`,
		`<text x="54" y="27" textLength="40" fill="#d0d4db" xml:space="preserve"> 店 d</text>`, // a wide character takes two cells
		`<text x="14" y="44" textLength="32" fill="#d0d4db" xml:space="preserve">next</text>`,
		`<rect x="14" y="88" width="32" height="17" fill="#d0d4db"/>`,
		`fill="#16181d" xml:space="preserve">back</text>`,
		`fill="#ff0000" opacity="0.6" xml:space="preserve">dim</text>`,
		`viewBox="0 0 188 119"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
