package disk

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// byBytes begins the JSON form of a file name that is not UTF-8, or that begins with byBytes
// itself: "base64:" and its bytes. encoding/json alone would silently write another name.
const byBytes = "base64:"

// encodedName returns the JSON form of a file name.
func encodedName(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, byBytes) {
		return name
	}
	return byBytes + base64.StdEncoding.EncodeToString([]byte(name))
}

// decodedName is the reverse of encodedName.
func decodedName(text string) (string, error) {
	encoded, ok := strings.CutPrefix(text, byBytes)
	if !ok {
		return text, nil
	}
	name, err := base64.StdEncoding.DecodeString(encoded)
	return string(name), err
}

// FileNames is a list of file names that JSON keeps byte for byte.
type FileNames []string

// MarshalJSON encodes each name that is not UTF-8.
func (names FileNames) MarshalJSON() ([]byte, error) {
	encoded := make([]string, len(names))
	for i, name := range names {
		encoded[i] = encodedName(name)
	}
	return json.Marshal(encoded)
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (names *FileNames) UnmarshalJSON(data []byte) error {
	var encoded []string
	if err := json.Unmarshal(data, &encoded); err != nil {
		return err
	}
	*names = nil
	for _, text := range encoded {
		name, err := decodedName(text)
		if err != nil {
			return err
		}
		*names = append(*names, name)
	}
	return nil
}

// ByFileName maps file names, which JSON keeps byte for byte, to texts.
type ByFileName map[string]string

// MarshalJSON encodes each name that is not UTF-8.
func (m ByFileName) MarshalJSON() ([]byte, error) {
	encoded := make(map[string]string, len(m))
	for name, text := range m {
		encoded[encodedName(name)] = text
	}
	return json.Marshal(encoded)
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (m *ByFileName) UnmarshalJSON(data []byte) error {
	var encoded map[string]string
	if err := json.Unmarshal(data, &encoded); err != nil {
		return err
	}
	*m = make(ByFileName, len(encoded))
	for text, value := range encoded {
		name, err := decodedName(text)
		if err != nil {
			return err
		}
		(*m)[name] = value
	}
	return nil
}
