package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// acpAgent stands in for an agent that speaks the Agent Client Protocol. It does what the lines of a prompt
// say, and keeps its conversations in ~/.standin. Its options make it a bad one.
type acpAgent struct {
	options []string
	mu      sync.Mutex
	replies map[string]chan string // by the id of a request: the option that was taken
	cancel  chan struct{}
	asked   int
}

type acpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Session string `json:"sessionId"`
		Prompt  []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
	Result struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	} `json:"result"`
}

func runACPAgent(argv []string) {
	a := &acpAgent{options: argv, replies: map[string]chan string{}}
	if a.is("--version") {
		fmt.Println("standin 1.2.3")
		os.Exit(0)
	}
	for _, option := range argv { // as one that loads for as long as a file exists
		if file, ok := strings.CutPrefix(option, "--while="); ok {
			for _, err := os.Stat(file); err == nil; _, err = os.Stat(file) {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	if a.is("--resume") && a.is("--refuses") { // as gemini
		fmt.Fprintln(os.Stderr, "Error resuming session: none of that id")
		os.Exit(42)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m acpMessage
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			a.take(m)
		}
	}
	os.Exit(0)
}

// name is gemini's where it takes gemini's options.
func (a *acpAgent) name() string {
	if a.is("--acp") {
		return "gemini-cli"
	}
	return "standin"
}

func (a *acpAgent) is(option string) bool { return slices.Contains(a.options, option) }

func (a *acpAgent) send(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

func inJSON(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

func (a *acpAgent) folder() string { return filepath.Join(os.Getenv("HOME"), ".standin") }

func (a *acpAgent) take(m acpMessage) {
	switch m.Method {
	case "initialize":
		if a.is("--dies") {
			fmt.Fprintln(os.Stderr, "no \x1b[31mlicence\x1b[0m here")
			os.Exit(7)
		}
		fmt.Println("chatter that is no JSON")
		a.send(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"name":"%s"},"agentCapabilities":{"loadSession":%v}}}`, m.ID, a.name(), !a.is("--noload"))
	case "session/new":
		if a.is("--login") {
			a.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"Authentication required"}}`, m.ID)
			return
		}
		id := fmt.Sprintf("s%d", time.Now().UnixNano())
		_ = os.MkdirAll(a.folder(), 0o755)
		_ = os.WriteFile(filepath.Join(a.folder(), id), nil, 0o600)
		a.send(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"%s"}}`, m.ID, id)
	case "session/load":
		if a.is("--silent") {
			return
		}
		content, err := os.ReadFile(filepath.Join(a.folder(), m.Params.Session))
		if err != nil || a.is("--forgets") {
			a.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Invalid params","data":{"details":"no such session"}}}`, m.ID)
			return
		}
		a.say(m.Params.Session, "repeated: "+string(content))
		a.send(`{"jsonrpc":"2.0","id":%s,"result":null}`, m.ID)
	case "session/prompt":
		a.cancel = make(chan struct{})
		go a.work(m)
	case "session/cancel":
		close(a.cancel)
	case "":
		a.mu.Lock()
		reply := a.replies[string(m.ID)]
		a.mu.Unlock()
		if reply != nil {
			reply <- m.Result.Outcome.Outcome + " " + m.Result.Outcome.OptionID
		}
	}
}

func (a *acpAgent) say(session, text string) {
	a.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`, session, inJSON(text))
}

// work does the lines of a prompt.
func (a *acpAgent) work(m acpMessage) {
	session, text := m.Params.Session, m.Params.Prompt[0].Text
	file := filepath.Join(a.folder(), session)
	before, _ := os.ReadFile(file)
	_ = os.WriteFile(file, append(before, inJSON(text)+"\n"...), 0o600)
	stop, cancelled := "end_turn", a.cancel
	for line := range strings.Lines(text) {
		select {
		case <-cancelled:
			stop = "cancelled"
			if a.is("--ends") { // qwen says so
				stop = "end_turn"
			}
		default:
			a.step(session, strings.TrimSpace(line), cancelled)
		}
	}
	a.say(session, fmt.Sprintf("prompt %d", strings.Count(string(before), "\n")+1))
	a.send(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"%s","usage":{"totalTokens":16,"inputTokens":10,"outputTokens":2,"cachedReadTokens":4}}}`, m.ID, stop)
}

func (a *acpAgent) step(session, line string, cancelled chan struct{}) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "bill": // as qwen tells the usage of each answer
		a.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk",`+
			`"content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":11,"outputTokens":2,"totalTokens":13,"cachedReadTokens":4}}}}}`, session)
	case "write":
		_ = os.WriteFile(rest, []byte("written\n"), 0o644)
		call := fmt.Sprintf(`"sessionId":"%s","update":{"toolCallId":"w","title":"Write","kind":"edit","rawInput":{"path":%s}`, session, inJSON(rest))
		a.send(`{"jsonrpc":"2.0","method":"session/update","params":{%s,"sessionUpdate":"tool_call","status":"in_progress"}}}`, call)
		a.send(`{"jsonrpc":"2.0","method":"session/update","params":{%s,"sessionUpdate":"tool_call_update","status":"completed","content":[{"type":"diff","path":%s}]}}}`, call, inJSON(rest))
	case "ask":
		a.say(session, a.ask(session, rest, cancelled)+"\n")
	case "request":
		a.say(session, a.request(session, rest, cancelled)+"\n")
	case "slow": // until it is cancelled
		for _, err := os.Stat(rest); err != nil; _, err = os.Stat(rest) {
			select {
			case <-cancelled:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	case "hang": // whatever comes
		select {}
	case "die":
		os.Exit(9)
	case "hostile":
		a.say(session, "\x1b[2J\x1b[1;1H\x1b]0;owned\x07\u009b31m\x1b[8m> \r\nMay I? [y/n] ")
	case "flood":
		for range 20_000 {
			a.say("another", "not mine\n")
			a.say(session, "flood of words\n")
		}
	case "lie":
		a.send(`{"jsonrpc":"2.0","id":4711,"result":{"stopReason":"end_turn"}}`)
		a.send(`{"jsonrpc":"2.0","id":"x","result":{}}`)
		a.send(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"nobody asked"}}`)
		a.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"another","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"of another"}}}}`)
		a.send(`{"jsonrpc":"2.0","id":99,"method":"fs/read_text_file","params":{"sessionId":"%s","path":"/etc/passwd"}}`, session)
		a.say(session, a.ask("another", "touch /", cancelled)+"\n")
	default:
		a.say(session, line+"\n")
	}
}

// ask asks for a permission, and returns the answer.
func (a *acpAgent) ask(session, command string, cancelled chan struct{}) string {
	input := `"rawInput":{"command":` + inJSON(command) + `}`
	if words, plainly := strings.CutPrefix(command, "plainly "); plainly { // as kimi asks
		input = `"content":[{"type":"content","content":{"type":"text","text":` + inJSON(words) + `}}]`
		a.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"Shell","status":"pending","content":[]}}}`, session, a.asked+1)
	}
	return a.request(session, fmt.Sprintf(`"toolCall":{"toolCallId":"c%d","title":"Shell",%s},"options":[{"optionId":"once","name":"Allow","kind":"allow_once"},{"optionId":"ever","name":"Allow for this session","kind":"allow_always"},{"optionId":"no","name":"Reject","kind":"reject_once"}]`, a.asked+1, input), cancelled)
}

// request asks for a permission with these parameters, and returns the answer.
func (a *acpAgent) request(session, params string, cancelled chan struct{}) string {
	a.mu.Lock()
	a.asked++
	id, reply := fmt.Sprintf(`"ask-%d"`, a.asked), make(chan string, 1)
	a.replies[id] = reply
	a.mu.Unlock()
	a.send(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"%s",%s}}`, id, session, params)
	select {
	case answer := <-reply:
		return answer
	case <-cancelled:
		return <-reply
	}
}
