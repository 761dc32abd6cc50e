package copilot

import (
	"os"
	"path/filepath"
	"strings"

	"paw/config/lazyregexp"
)

// paste is what copilot puts into a prompt for a paste of more than about 20 kB, which it keeps in a file of the
// conversation.
var paste = lazyregexp.New(`<pasted_content file="([^"\n]+)" size="[^"\n]*" lines="\d+" />`)

// maxPaste bounds the files that are read; a terminal takes no such paste.
const maxPaste = 8 << 20

// typed is a prompt of a conversation with the text of its pastes in their places, as the user knows it. A name of
// any other file is text of the user's.
func typed(conversation, prompt string) string {
	return paste.ReplaceAllStringFunc(prompt, func(tag string) string {
		path := paste.FindStringSubmatch(tag)[1]
		folder := filepath.Dir(path)
		ours := conversation != "" && filepath.IsAbs(path) && filepath.Clean(path) == path && filepath.Base(folder) == "files" &&
			filepath.Base(filepath.Dir(folder)) == conversation && strings.HasPrefix(filepath.Base(path), "paste-")
		if info, err := os.Lstat(path); !ours || err != nil || !info.Mode().IsRegular() || info.Size() > maxPaste {
			return tag
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return tag
		}
		return string(text)
	})
}
