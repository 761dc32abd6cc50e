package cli_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeminiHistory(t *testing.T) {
	const head = `{"sessionId":"` + geminiID + `","projectHash":"x","kind":"main"}
{"$set":{"messages":[{"id":"0","type":"user","content":[{"text":"<session_context>\n..."}]}]}}
{"id":"1","type":"user","content":[{"text":"first"}]}
`
	checkHistory(t, "gemini", geminiID, func(lab) string { return chatOf(geminiID) }, []historyCase{
		{
			// One message is written anew each time something about it is known; the context is not the conversation.
			"newest form", head + `
{"id":"2","type":"gemini","content":"","thoughts":[]}
{"id":"2","type":"gemini","content":"Both.","toolCalls":[{"id":"a","name":"ls","args":{"path": "."},"status":"executing"}]}
{"id":"2","type":"gemini","content":"Both.","toolCalls":[{"id":"a","name":"ls","args":{"path": "."},"result":[{"functionResponse":{"id":"a","response":{"output":"NOTES.md"}}}]},{"id":"b","name":"cat","args":{},"result":[{"functionResponse":{"id":"b","response":{"error":"no such file"}}}]}]}
{"id":"3","type":"user","content":[{"functionResponse":{"id":"a","response":{"output":"NOTES.md"}}},{"functionResponse":{"id":"b","response":{"error":"no such file"}}}]}
{"$set":{"messages":[]}}
{"id":"4","type":"gemini","content":[{"text":"thinking","thought":true},{"text":"Done."}]}`,
			[]string{"user first", `assistant Both. >a ls {"path":"."} >b cat {}`, "tool <a NOTES.md", "tool <b no such file", "assistant Done."}, 0, nil,
		},
		{
			"cut off", head + `{"id":"2","type":"gemini","content":[{"functionCall":{"id":"a","name":"ls","args":{}}}]}`,
			[]string{"user first", "assistant >a ls {}"}, 0, nil,
		},
		{
			"rewind", head + `
{"id":"2","type":"gemini","content":"Yes."}
{"id":"3","type":"user","content":"second"}
{"id":"4","type":"gemini","content":"No."}
{"$rewindTo":"3"}
{"$rewindTo":"unknown"}
{"id":"3","type":"user","content":"second, but better"}`,
			[]string{"user first", "assistant Yes.", "user second, but better"}, 0, nil,
		},
		{
			// After a refused permission the context is there once more, under new ids; a crash can cut that off.
			"written down again", head + `
{"id":"2","type":"gemini","content":"Yes."}
{"id":"3","type":"user","content":"cancelled"}
{"id":"4","type":"info","content":"Request cancelled."}
{"id":"5","type":"info","content":"Update available"}
{"id":"6","type":"user","content":[{"text":"<session_context>\n..."},{"text":"first"}]}
{"id":"7","type":"gemini","content":[{"text":"Yes."}]}
{"id":"8","type":"user","content":"next"}
{"id":"9","type":"gemini","content":[{"text":"Yes."}]}`,
			[]string{"user first", "assistant Yes.", "user cancelled", "system interrupted by the user", "user next", "assistant Yes."}, 0, nil,
		},
		{
			"files and summaries", head + `
{"id":"2","type":"user","content":[{"text":"see @a.txt"},{"text":"--- Content of a.txt ---"}],"displayContent":[{"text":"see @a.txt"}]}
{"id":"3","type":"user","content":[{"inlineData":{"mimeType":"image/png","data":""}}]}
{"id":"4","type":"user","content":[{"text":"<state_snapshot>\n..."}]}
{"id":"5","type":"error","content":"[API Error]"}
{"id":"6","type":"warning","content":"careful"}
{"id":"7","type":"hologram","content":"?"}
{"hologram":true}`,
			[]string{"user first", "user see @a.txt", "user [file]", "system [API Error]"}, 2, nil,
		},
	})
}

// TestGeminiHistoryOfOldChats: older versions keep a chat as one JSON document.
func TestGeminiHistoryOfOldChats(t *testing.T) {
	l := newLab(t)
	l.put(filepath.Join(".gemini", "tmp", "a", "chats", "session-2025-11-21T01-00-"+geminiID[:8]+".json"), `{
  "sessionId": "`+geminiID+`",
  "messages": [
    {"id": "1", "timestamp": "2025-11-21T01:00:00Z", "type": "user", "content": "first"},
    {"id": "2", "timestamp": "2025-11-21T01:00:01Z", "type": "gemini", "content": "Yes."}
  ]
}`)
	got, err := get(t, "gemini").History(context.Background(), l.with(geminiID))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"user first", "assistant Yes."}, inLines(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
