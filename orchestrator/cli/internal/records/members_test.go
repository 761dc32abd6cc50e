package records

import (
	"encoding/json"
	"maps"
	"testing"
)

// TestMembersAreThoseOfTheDecoder compares Members with encoding/json, also for lines that are torn
// at each of their bytes.
func TestMembersAreThoseOfTheDecoder(t *testing.T) {
	for _, line := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":1,"b":"two","c":true,"d":null,"e":-1.5e3}`,
		`{ "a" : { "timestamp" : "x", "b" : [1, {"c":"}"}] } , "timestamp" : "y" }`,
		`{"text":"a \"quoted\" word, and a slash\\","t":"2026"}`, `{"text":"\\\\\"","t":["]",{"a":"["}]}`,
		"{\"a\":\t[ ],\r\n\"b\":{}}", `{"a":"ü","b":"\u00fc"}`,
	} {
		for size := range len(line) + 1 {
			text := []byte(line)[:size]
			var decoded map[string]json.RawMessage
			err := json.Unmarshal(text, &decoded)
			found := map[string]string{}
			whole := Members(text, func(key, value []byte) { found[string(key)] = string(value) })
			if whole != (err == nil) {
				t.Errorf("%q: whole %v, the decoder says %v", text, whole, err)
			}
			want := map[string]string{}
			for key, value := range decoded {
				want[key] = string(value)
			}
			if err == nil && !maps.Equal(found, want) {
				t.Errorf("%q: %q, want %q", text, found, want)
			}
		}
	}
}

// FuzzMembers checks that Members finds what the decoder finds in each object that the decoder
// takes, and takes no other text for longer than it is.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":{"b":"\"}"},"c":[1,2]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var decoded map[string]json.RawMessage
		found := map[string]string{}
		whole := Members(text, func(key, value []byte) { found["\""+string(key)+"\""] = string(value) })
		if json.Unmarshal(text, &decoded) != nil || decoded == nil {
			return
		}
		if !whole {
			t.Fatalf("%q: not whole", text)
		}
		plain := map[string]string{}
		for written, value := range found {
			var key string
			if err := json.Unmarshal([]byte(written), &key); err != nil {
				t.Fatalf("%q: key %s: %v", text, written, err)
			}
			plain[key] = value
		}
		for key, value := range decoded {
			if _, twice := plain[key]; !twice || len(plain) == len(found) && plain[key] != string(value) {
				t.Fatalf("%q: %s is %q, want %q", text, key, plain[key], value)
			}
		}
	})
}
