package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"time"
)

// loginPatience bounds how long a login shell may take to print its environment.
const loginPatience = 10 * time.Second

// LoginEnvironment returns the environment of a login shell of the user, with PATH and variables
// that are set only for logins. VS Code gets it in the same way.
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

// HandOver encodes variables as the first line of a standard input, so that they are in no argument
// and no file.
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

// TakeOver decodes the line that HandOver wrote.
func TakeOver(line string) (map[string]string, error) {
	values := map[string]string{}
	err := json.Unmarshal([]byte(line), &values)
	return values, err
}
