package fakemodel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CLIs lists the names that Prepare knows, except demo, which uses no model. Those in ByACP have no screen of their own in paw's panes.
var (
	CLIs  = slices.Concat(TUIs, ByACP)
	TUIs  = []string{"claude", "codex", "opencode", "qwen", "copilot", "pi"}
	ByACP = []string{"gemini", "kimi"}
)

// key is the API key of every CLI; the server accepts any.
const key = "sk-scripted-0123456789abcdefghijklmnopqrstuvwxyz"

// author is the author of all commits.
const author, authorEmail = "scripted", "scripted@localhost"

// home is a folder that Prepare makes the home of one CLI.
type home struct {
	dir     string
	repo    string // main worktree of the repository that the CLI trusts
	baseURL string // URL of the server, without a path
	err     error  // error of the first file that could not be written
}

// Prepare makes dir, which may be empty or missing, a HOME in which cli talks to the server at
// baseURL (such as "http://127.0.0.1:8765") and reaches its prompt without a dialog: no onboarding,
// login or update, and no question whether to trust repo, a main worktree, or a linked worktree of
// it. The steps write, run and commit need no permission, the step ask does. Two CLIs need options
// for that: codex to commit (--add-dir with the git directories), copilot to do anything
// (--allow-tool).
//
// It returns the whole environment of the CLI as KEY=value, except PATH and TERM, which the caller
// sets. Traffic that does not go to loopback is sent to a closed port, except that of qwen. dir
// should not be below the system's temporary folder: codex complains about that.
func Prepare(cli, dir, repo, baseURL string) (env []string, err error) {
	prepare, ok := map[string]func(*home) []string{
		"claude": (*home).claude, "codex": (*home).codex, "opencode": (*home).opencode,
		"gemini": (*home).gemini, "qwen": (*home).qwen, "copilot": (*home).copilot,
		"pi": (*home).pi, "kimi": (*home).kimi,
		"demo": func(*home) []string { return nil },
	}[cli]
	if !ok {
		return nil, fmt.Errorf("%s: unknown CLI, it is one of %s", cli, strings.Join(CLIs, ", ")+" or demo")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	// Trust is compared with paths without symlinks.
	if repo, err = filepath.EvalSymlinks(repo); err != nil {
		return nil, err
	}
	if repo, err = filepath.Abs(repo); err != nil {
		return nil, err
	}
	h := &home{dir: dir, repo: repo, baseURL: strings.TrimSuffix(baseURL, "/")}
	env = slices.Concat(h.common(), prepare(h))
	if cli != "qwen" { // qwen sends all traffic to a proxy, even what NO_PROXY names
		env = append(env, confined...)
	}
	return env, h.err
}

// common writes the git configuration and returns the variables that every CLI gets.
func (h *home) common() []string {
	h.write(".gitconfig", fmt.Sprintf("[user]\n\tname = %s\n\temail = %s\n[init]\n\tdefaultBranch = main\n", author, authorEmail))
	return []string{
		"HOME=" + h.dir,
		"XDG_CONFIG_HOME=" + filepath.Join(h.dir, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(h.dir, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(h.dir, ".local", "state"),
		"XDG_CACHE_HOME=" + filepath.Join(h.dir, ".cache"),
		"GIT_CONFIG_GLOBAL=" + filepath.Join(h.dir, ".gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1",
	}
}

// confined sends traffic that does not go to loopback to a closed port. Programs read either
// spelling.
var confined = []string{
	"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "no_proxy=127.0.0.1,localhost",
}

// write writes a file of the home, and makes the folders above it.
func (h *home) write(name, content string) {
	if h.err != nil {
		return
	}
	file := filepath.Join(h.dir, name)
	if h.err = os.MkdirAll(filepath.Dir(file), 0o700); h.err == nil {
		h.err = os.WriteFile(file, []byte(content), 0o600)
	}
}

func (h *home) writeJSON(name string, value object) {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("%s: %v", name, err)) // cannot happen: the value is built above
	}
	h.write(name, string(content)+"\n")
}

// asked is AskPrefix as permission rules match it, without the space at the end.
var asked = strings.TrimSpace(AskPrefix)

// claude writes claude's settings. claude looks for trust under the main worktree's path, so that
// it holds for every worktree, and asks about an API key unless the key's end is listed. Without a
// defaultMode newer versions start in the mode in which another model judges each command, which
// the scripted server cannot do.
func (h *home) claude() []string {
	h.writeJSON(".claude.json", object{
		"hasCompletedOnboarding":  true,
		"lastOnboardingVersion":   "99.0.0",
		"theme":                   "dark",
		"hasSeenAutoDefaultNudge": true, // without it a dialog offers the mode in which a model judges
		"customApiKeyResponses":   object{"approved": list{key[len(key)-20:]}, "rejected": list{}},
		"projects": object{h.repo: object{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": list{},
		}},
	})
	h.writeJSON(".claude/settings.json", object{
		"permissions": object{
			"defaultMode": "default",
			"allow":       list{"Bash", "Write", "Edit", "Read"},
			"ask":         list{"Bash(" + asked + ":*)"},
		},
	})
	return []string{
		"ANTHROPIC_BASE_URL=" + h.baseURL,
		"ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
	}
}

// codex writes codex's configuration. codex works in its sandbox, as it does for users: to commit
// it must be started with --add-dir for the git directory and, in a linked worktree, for the common
// one.
func (h *home) codex() []string {
	h.write(".codex/config.toml", fmt.Sprintf(`model = %q
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = %s
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects.%s]
trust_level = "trusted"
`, Model, strconv.Quote(h.baseURL+"/v1"), strconv.Quote(h.repo)))
	return []string{"CODEX_HOME=" + filepath.Join(h.dir, ".codex"), "SCRIPTED_API_KEY=" + key}
}

// opencode writes opencode's configuration. Once a plugin is configured opencode installs the
// plugin package from the npm registry, and waits a minute for it without network, unless the
// package is listed as installed, in any version.
func (h *home) opencode() []string {
	plugins := object{"@opencode-ai/plugin": "*"}
	h.writeJSON(".config/opencode/package.json", object{"dependencies": plugins})
	h.writeJSON(".config/opencode/package-lock.json", object{
		"name": "opencode", "lockfileVersion": 3, "packages": object{"": object{"dependencies": plugins}},
	})
	h.write(".config/opencode/node_modules/.package-lock.json", "{}\n")
	h.writeJSON(".config/opencode/opencode.json", object{
		"$schema":     "https://opencode.ai/config.json",
		"model":       "scripted/" + Model,
		"small_model": "scripted/" + Model,
		"autoupdate":  false,
		"share":       "disabled",
		"permission":  object{"bash": object{"*": "allow", asked + " *": "ask"}},
		"provider": object{"scripted": object{
			"npm":     "@ai-sdk/openai-compatible",
			"name":    "Scripted",
			"options": object{"baseURL": h.baseURL + "/v1", "apiKey": key},
			"models": object{Model: object{
				"name": "Scripted", "tool_call": true, "limit": object{"context": 100000, "output": 8000},
			}},
		}},
	})
	return []string{
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	}
}

// gemini writes gemini's settings. gemini's shell gets an empty GIT_CONFIG_GLOBAL, so the author is
// set in the environment. A command with a redirection needs a permission of its own.
func (h *home) gemini() []string {
	h.writeJSON(".gemini/settings.json", object{
		"security": object{"auth": object{"selectedType": "gemini-api-key"}},
		"privacy":  object{"usageStatisticsEnabled": false},
		"general":  object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
	})
	h.write(".gemini/policies/scripted.toml", fmt.Sprintf(`[[rule]]
toolName = ["run_shell_command", "write_file", "replace"]
decision = "allow"
allowRedirection = true
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = %q
decision = "ask_user"
priority = 200
`, asked))
	return []string{
		"GEMINI_API_KEY=" + key,
		"GOOGLE_GEMINI_BASE_URL=" + h.baseURL,
		"GEMINI_CLI_TRUST_WORKSPACE=true",
		"GEMINI_TELEMETRY_ENABLED=false",
		"GIT_AUTHOR_NAME=" + author, "GIT_AUTHOR_EMAIL=" + authorEmail,
		"GIT_COMMITTER_NAME=" + author, "GIT_COMMITTER_EMAIL=" + authorEmail,
	}
}

// qwen writes qwen's settings. Without gitCoAuthor off, qwen adds itself to commit messages as a
// paragraph of its own, so that earlier footers no longer count. Without an approvalMode a model
// judges each command, as with claude.
func (h *home) qwen() []string {
	h.writeJSON(".qwen/settings.json", object{
		"security":    object{"auth": object{"selectedType": "openai"}},
		"privacy":     object{"usageStatisticsEnabled": false},
		"general":     object{"enableAutoUpdate": false, "gitCoAuthor": object{"commit": false, "pr": false}},
		"memory":      object{"enableManagedAutoMemory": false},
		"tools":       object{"approvalMode": "default"},
		"permissions": object{"allow": list{"Bash", "Write", "Edit"}, "ask": list{"Bash(" + asked + " *)"}},
	})
	return []string{
		"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + h.baseURL + "/v1", "OPENAI_MODEL=" + Model,
	}
}

// copilot writes copilot's settings. What needs no permission is set by options of its command line
// (--allow-all-tools, --allow-tool).
func (h *home) copilot() []string {
	h.writeJSON(".copilot/config.json", object{"trusted_folders": list{h.repo}, "banner": "never"})
	return []string{
		"COPILOT_OFFLINE=true",
		"COPILOT_AUTO_UPDATE=false",
		"COPILOT_PROVIDER_BASE_URL=" + h.baseURL + "/v1",
		"COPILOT_PROVIDER_API_KEY=" + key,
		"COPILOT_MODEL=" + Model,
	}
}

// pi writes pi's settings and models. pi asks for no permission of its own: an extension of the home does, as those of
// users do.
func (h *home) pi() []string {
	h.writeJSON(".pi/agent/settings.json", object{
		"defaultProvider": "scripted", "defaultModel": Model, "enableInstallTelemetry": false, "retry": object{"enabled": false},
	})
	h.writeJSON(".pi/agent/models.json", object{"providers": object{"scripted": object{
		"baseUrl": h.baseURL + "/v1", "api": "openai-completions", "apiKey": key,
		"models": list{object{"id": Model, "name": "Scripted", "contextWindow": 100000, "maxTokens": 8000}},
	}}})
	h.write(".pi/agent/extensions/ask.js", fmt.Sprintf(`export default (pi) => {
  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    if (toolName !== "bash" || !input.command.startsWith(%q)) return
    const choice = ctx.hasUI && (await ctx.ui.select("Run this command?\n\n" + input.command, ["Yes", "No"]))
    if (choice !== "Yes") return { block: true, reason: "the user refused it" }
  })
}
`, AskPrefix))
	return []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"}
}

// kimi writes kimi's configuration. The first rule that fits a command counts.
func (h *home) kimi() []string {
	h.write(".kimi-code/config.toml", fmt.Sprintf(`default_model = "scripted"

[providers.scripted]
type = "openai"
base_url = %q
api_key = %q

[models.scripted]
provider = "scripted"
model = %q
max_context_size = 100000
capabilities = ["tool_use"]

[[permission.rules]]
decision = "ask"
pattern = "Bash(%s*)"

[[permission.rules]]
decision = "allow"
pattern = "Bash"
`, h.baseURL+"/v1", key, Model, AskPrefix))
	return []string{"KIMI_CODE_HOME=" + filepath.Join(h.dir, ".kimi-code"), "KIMI_CODE_NO_AUTO_UPDATE=1", "KIMI_CODE_DANGEROUS_COMMAND_GUARD=0"}
}

// Manners describe the behaviour of a CLI at its terminal where the CLIs differ.
type Manners struct {
	Asks     string   // text on the screen while the CLI asks for a permission
	Allow    []string // keys that grant the permission, by their tmux names
	AsksEach bool     // it asks for each command
	// Background means that a prompt moves the running command into the background; the end of the
	// command is a turn of its own.
	Background bool
}

// MannersOf lists the manners of the CLIs that Prepare knows.
var MannersOf = map[string]Manners{
	"claude":   {Asks: "Do you want to proceed?", Allow: []string{"Enter"}},
	"codex":    {Asks: "Would you like to run the following command?", Allow: []string{"y"}},
	"opencode": {Asks: "Permission required", Allow: []string{"Enter"}},
	"gemini":   {Asks: "asks for permission", Allow: []string{"1"}},
	"kimi":     {Asks: "asks for permission", Allow: []string{"1"}, AsksEach: true},
	"qwen":     {Asks: "Allow execution of", Allow: []string{"Enter"}},
	"copilot":  {Asks: "Do you want to run this command?", Allow: []string{"Enter"}, Background: true},
	"pi":       {Asks: "Run this command?", Allow: []string{"Enter"}},
	"demo":     {Asks: "[y/n]", Allow: []string{"y"}},
}
