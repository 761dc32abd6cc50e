package fakemodel

import (
	"io"
	"regexp"
	"strings"
	"testing"
)

// turn is a request as a CLI sends it in the middle of a turn, and the whole of both forms of the answer. In the answers
// # stands for an id.
type turn struct {
	path, body           string // with STREAM for whether it is to be streamed
	streamPath           string
	wantStream, wantJSON string
}

// The prompt of each turn. Its first command has been run; the answer is a text and the second one.
const ongoing = `Go on.\ndo: run make\ndo: say Now this.\ndo: write a.txt hi`

var turns = map[string]turn{
	"messages": {
		path: "/v1/messages", streamPath: "/v1/messages",
		body: `{"model":"m","stream":STREAM,"max_tokens":32000,"metadata":{"user_id":"u"},
			"system":[{"type":"text","text":"You are a CLI."},{"type":"text","text":" - Primary working directory: /r\n"}],
			"tools":[{"name":"Bash","input_schema":{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}}},
				{"name":"Write","input_schema":{"type":"object","required":["file_path","content"]}}],
			"messages":[{"role":"user","content":"do: say an older prompt"},
				{"role":"assistant","content":[{"type":"text","text":"an older prompt"}]},
				{"role":"user","content":[{"type":"text","text":"<system-reminder>\nBe kind.\n</system-reminder>"},
					{"type":"text","text":"` + ongoing + `","cache_control":{"type":"ephemeral"}}]},
				{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"made","is_error":false},
					{"type":"text","text":"<system-reminder>do: hang</system-reminder>"}]}]}`,
		wantStream: `event: message_start
data: {"message":{"content":[],"id":"#","model":"m","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":100,"output_tokens":1}},"type":"message_start"}
event: content_block_start
data: {"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}
event: content_block_delta
data: {"delta":{"text":"Now ","type":"text_delta"},"index":0,"type":"content_block_delta"}
event: content_block_delta
data: {"delta":{"text":"this.","type":"text_delta"},"index":0,"type":"content_block_delta"}
event: content_block_stop
data: {"index":0,"type":"content_block_stop"}
event: content_block_start
data: {"content_block":{"id":"#","input":{},"name":"Bash","type":"tool_use"},"index":1,"type":"content_block_start"}
event: content_block_delta
data: {"delta":{"partial_json":"{\"command\":\"printf '%s\\\\n' 'hi' \\u003e 'a.txt'\"}","type":"input_json_delta"},"index":1,"type":"content_block_delta"}
event: content_block_stop
data: {"index":1,"type":"content_block_stop"}
event: message_delta
data: {"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"output_tokens":10}}
event: message_stop
data: {"type":"message_stop"}
`,
		wantJSON: `{"content":[{"text":"Now this.","type":"text"},{"id":"#","input":{"command":"printf '%s\\n' 'hi' \u003e 'a.txt'"},"name":"Bash","type":"tool_use"}],"id":"#","model":"m","role":"assistant","stop_reason":"tool_use","stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":100,"output_tokens":10}}
`,
	},
	"responses": {
		path: "/v1/responses", streamPath: "/v1/responses",
		body: `{"model":"m","stream":STREAM,"instructions":"You are a CLI.","store":false,"parallel_tool_calls":false,
			"tools":[{"type":"function","name":"exec_command","parameters":{"type":"object","required":["cmd"]}},
				{"type":"custom","name":"apply_patch","format":{"type":"grammar"}},{"type":"web_search"}],
			"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions>none</permissions>"}]},
				{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/r</cwd>\n</environment_context>"}]},
				{"type":"message","role":"user","content":[{"type":"input_text","text":"` + ongoing + `"}]},
				{"type":"function_call","call_id":"c1","name":"exec_command","arguments":"{\"cmd\":\"make\"}"},
				{"type":"function_call_output","call_id":"c1","output":"Process exited with code 0\nOutput:\nmade"}]}`,
		wantStream: `event: response.created
data: {"response":{"id":"#","model":"m","object":"response","output":[],"status":"in_progress"},"sequence_number":0,"type":"response.created"}
event: response.output_item.added
data: {"item":{"content":[{"annotations":[],"text":"Now this.","type":"output_text"}],"id":"#","role":"assistant","status":"completed","type":"message"},"output_index":0,"sequence_number":1,"type":"response.output_item.added"}
event: response.output_text.delta
data: {"content_index":0,"delta":"Now ","item_id":"#","output_index":0,"sequence_number":2,"type":"response.output_text.delta"}
event: response.output_text.delta
data: {"content_index":0,"delta":"this.","item_id":"#","output_index":0,"sequence_number":3,"type":"response.output_text.delta"}
event: response.output_item.done
data: {"item":{"content":[{"annotations":[],"text":"Now this.","type":"output_text"}],"id":"#","role":"assistant","status":"completed","type":"message"},"output_index":0,"sequence_number":4,"type":"response.output_item.done"}
event: response.output_item.added
data: {"item":{"arguments":"{\"cmd\":\"printf '%s\\\\n' 'hi' \\u003e 'a.txt'\"}","call_id":"#","id":"#","name":"exec_command","status":"completed","type":"function_call"},"output_index":1,"sequence_number":5,"type":"response.output_item.added"}
event: response.output_item.done
data: {"item":{"arguments":"{\"cmd\":\"printf '%s\\\\n' 'hi' \\u003e 'a.txt'\"}","call_id":"#","id":"#","name":"exec_command","status":"completed","type":"function_call"},"output_index":1,"sequence_number":6,"type":"response.output_item.done"}
event: response.completed
data: {"response":{"id":"#","model":"m","object":"response","output":[{"content":[{"annotations":[],"text":"Now this.","type":"output_text"}],"id":"#","role":"assistant","status":"completed","type":"message"},{"arguments":"{\"cmd\":\"printf '%s\\\\n' 'hi' \\u003e 'a.txt'\"}","call_id":"#","id":"#","name":"exec_command","status":"completed","type":"function_call"}],"status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":0},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":110}},"sequence_number":7,"type":"response.completed"}
`,
		wantJSON: `{"id":"#","model":"m","object":"response","output":[{"content":[{"annotations":[],"text":"Now this.","type":"output_text"}],"id":"#","role":"assistant","status":"completed","type":"message"},{"arguments":"{\"cmd\":\"printf '%s\\\\n' 'hi' \\u003e 'a.txt'\"}","call_id":"#","id":"#","name":"exec_command","status":"completed","type":"function_call"}],"status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":0},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":110}}
`,
	},
	"chat": {
		path: "/v1/chat/completions", streamPath: "/v1/chat/completions",
		body: `{"model":"m","stream":STREAM,"stream_options":{"include_usage":true},
			"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object","required":["command"]}}},
				{"type":"function","function":{"name":"write","parameters":{"type":"object","required":["filePath","content"]}}}],
			"messages":[{"role":"system","content":"You are a CLI.\n<env>\n  Working directory: /r\n</env>"},
				{"role":"user","content":[{"type":"text","text":"` + ongoing + `"}]},
				{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"c1","content":"made"}]}`,
		wantStream: `data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0}],"created":0,"id":"#","model":"m","object":"chat.completion.chunk","usage":null}
data: {"choices":[{"delta":{"content":"Now "},"finish_reason":null,"index":0}],"created":0,"id":"#","model":"m","object":"chat.completion.chunk","usage":null}
data: {"choices":[{"delta":{"content":"this."},"finish_reason":null,"index":0}],"created":0,"id":"#","model":"m","object":"chat.completion.chunk","usage":null}
data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"command\":\"printf '%s\\\\n' 'hi' \\u003e 'a.txt'\"}","name":"bash"},"id":"#","index":0,"type":"function"}]},"finish_reason":null,"index":0}],"created":0,"id":"#","model":"m","object":"chat.completion.chunk","usage":null}
data: {"choices":[{"delta":{},"finish_reason":"tool_calls","index":0}],"created":0,"id":"#","model":"m","object":"chat.completion.chunk","usage":null}
data: {"choices":[],"created":0,"id":"#","model":"m","object":"chat.completion.chunk","usage":{"completion_tokens":10,"prompt_tokens":100,"total_tokens":110}}
data: [DONE]
`,
		wantJSON: `{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"content":"Now this.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"command\":\"printf '%s\\\\n' 'hi' \\u003e 'a.txt'\"}","name":"bash"},"id":"#","index":0,"type":"function"}]}}],"created":0,"id":"#","model":"m","object":"chat.completion","usage":{"completion_tokens":10,"prompt_tokens":100,"total_tokens":110}}
`,
	},
	"gemini": {
		path: "/v1beta/models/m:generateContent", streamPath: "/v1beta/models/m:streamGenerateContent",
		body: `{"systemInstruction":{"role":"user","parts":[{"text":"You are a CLI."}]},
			"generationConfig":{"temperature":1,"topP":0.95},
			"tools":[{"functionDeclarations":[
				{"name":"write_file","parametersJsonSchema":{"type":"object","required":["file_path","content"]}},
				{"name":"run_shell_command","parameters":{"type":"OBJECT","required":["command"]}}]}],
			"contents":[{"role":"user","parts":[{"text":"<session_context>\n- **Workspace Directories:**\n  - /r\n</session_context>"}]},
				{"role":"model","parts":[{"text":"Got it."}]},
				{"role":"user","parts":[{"text":"` + ongoing + `"}]},
				{"role":"model","parts":[{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"make"}}}]},
				{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"made"}}}]}]}`,
		wantStream: `data: {"candidates":[{"content":{"parts":[{"text":"Now "}],"role":"model"},"index":0}],"modelVersion":"scripted-model","responseId":"#","usageMetadata":{"candidatesTokenCount":10,"promptTokenCount":100,"totalTokenCount":110}}
data: {"candidates":[{"content":{"parts":[{"text":"this."}],"role":"model"},"index":0}],"modelVersion":"scripted-model","responseId":"#","usageMetadata":{"candidatesTokenCount":10,"promptTokenCount":100,"totalTokenCount":110}}
data: {"candidates":[{"content":{"parts":[{"functionCall":{"args":{"command":"printf '%s\\n' 'hi' \u003e 'a.txt'"},"id":"#","name":"run_shell_command"}}],"role":"model"},"finishReason":"STOP","index":0}],"modelVersion":"scripted-model","responseId":"#","usageMetadata":{"candidatesTokenCount":10,"promptTokenCount":100,"totalTokenCount":110}}
`,
		wantJSON: `{"candidates":[{"content":{"parts":[{"text":"Now this."},{"functionCall":{"args":{"command":"printf '%s\\n' 'hi' \u003e 'a.txt'"},"id":"#","name":"run_shell_command"}}],"role":"model"},"finishReason":"STOP","index":0}],"modelVersion":"scripted-model","responseId":"#","usageMetadata":{"candidatesTokenCount":10,"promptTokenCount":100,"totalTokenCount":110}}
`,
	},
}

// ids are what newID makes.
var ids = regexp.MustCompile(`"[a-z]+_[a-z2-7]{26}"`)

func TestTurns(t *testing.T) {
	for name, test := range turns {
		t.Run(name, func(t *testing.T) {
			base, model := newServer(t)
			for _, form := range []struct{ path, stream, want string }{
				{test.streamPath, "true", test.wantStream}, {test.path, "false", test.wantJSON},
			} {
				response := post(t.Context(), t, base+form.path, strings.ReplaceAll(test.body, "STREAM", form.stream))
				body, err := io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				got := strings.ReplaceAll(ids.ReplaceAllString(string(body), `"#"`), "\n\n", "\n")
				if got != form.want {
					t.Errorf("stream %s:\ngot:\n%s\nwant:\n%s", form.stream, got, form.want)
				}
			}
			for _, e := range model.Last(5) {
				if e.Protocol != name || e.Results != 1 || !strings.HasPrefix(e.Prompt, "Go on.") {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}
