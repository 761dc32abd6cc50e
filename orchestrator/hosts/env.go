package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"time"
)

// loginPatience bounds how long a login shell may take until its environment is known.
const loginPatience = 10 * time.Second

// LoginEnvironment is the environment that a login shell of the user has: PATH and variables that are only set for logins. VS Code
// asks the shell the same way.
func LoginEnvironment(ctx context.Context, shell string, env []string) ([]string, error) {
	if shell == "" {
		shell = "/bin/sh"
	}
	ctx, cancel := context.WithTimeout(ctx, loginPatience)
	defer cancel()
	marker := NewRequest("").Marker
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, shell, "-ilc", "printf '%s\\n' "+marker+"; env -0; printf '%s\\n' "+marker)
	cmd.Env, cmd.Stdout = env, &behindMarker{marker: marker, to: &bounded{to: &out, left: longestGreeting}}
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	text, _, _ := strings.Cut(out.String(), marker+"\n")
	return strings.FieldsFunc(text, func(r rune) bool { return r == 0 }), nil
}

// HandOver encodes variables for the first line of a standard input. They travel in no argument and lie in no file.
func HandOver(names []string, getenv func(string) string) string {
	values := map[string]string{}
	for _, name := range names {
		if value := getenv(name); value != "" {
			values[name] = value
		}
	}
	line, err := json.Marshal(values)
	if err != nil {
		panic("hosts: strings cannot fail to encode: " + err.Error())
	}
	return string(line) + "\n"
}

// TakeOver decodes what HandOver wrote.
func TakeOver(line string) (map[string]string, error) {
	values := map[string]string{}
	err := json.Unmarshal([]byte(line), &values)
	return values, err
}
