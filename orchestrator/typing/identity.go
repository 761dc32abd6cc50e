package typing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// identity returns an id that differs for different questions, and for one that is asked again: a
// hash of the words and options on the screen and, where the CLI's channel has an id for the
// question, "-" with a hash of that id. While a menu covers a permission its words and options
// differ, but the second part is the same.
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

// sameForm reports whether two identities have the same words and options. The channel may report a
// permission later than the screen shows it.
func sameForm(one, other string) bool {
	form, permission, known := strings.Cut(one, "-")
	form2, permission2, known2 := strings.Cut(other, "-")
	return form == form2 && (permission == permission2 || !known || !known2)
}

// sameQuestion reports whether two identities belong to the same question, even if its form
// differs.
func sameQuestion(one, other string) bool {
	_, permission, known := strings.Cut(one, "-")
	_, permission2, known2 := strings.Cut(other, "-")
	return sameForm(one, other) || known && known2 && permission == permission2
}
