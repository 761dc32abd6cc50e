package typing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// identity tells a question from all others, and from itself asked again: FORM, of its words and options as they were seen, and
// behind it -PERMISSION where the CLI's channel has an id for it. A permission that a menu covers has other words and options than
// on the screen, and is the same question.
func (a *Asked) identity() string {
	form := fmt.Sprintf("%d %d %q", a.Turn, a.Since.UnixNano(), a.Text)
	for _, o := range a.Options {
		form += fmt.Sprintf(" %q %q", o.Label, o.About)
	}
	id := digest(form)
	if a.permission != "" {
		id += "-" + digest(fmt.Sprintf("%d %d %q", a.Turn, a.Since.UnixNano(), a.permission))
	}
	return id
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// sameForm reports whether two identities are of one question with the same words and options. The channel may be later than the
// screen to tell of a permission.
func sameForm(one, other string) bool {
	form, permission, known := strings.Cut(one, "-")
	form2, permission2, known2 := strings.Cut(other, "-")
	return form == form2 && (permission == permission2 || !known || !known2)
}

// sameQuestion reports whether two identities are of one question, in whichever form.
func sameQuestion(one, other string) bool {
	_, permission, known := strings.Cut(one, "-")
	_, permission2, known2 := strings.Cut(other, "-")
	return sameForm(one, other) || known && known2 && permission == permission2
}
