package selftest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kept are the variables of the user that the trial keeps: what finds programs, shows text and runs on this machine.
// Everything else could name a configuration, a credential or a server.
var kept = []string{
	"PATH", "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_LIBRARY_PATH", "NIX_LD",
	"NIX_LD_LIBRARY_PATH", "NODE_PATH", "HOMEBREW_PREFIX", "GOCOVERDIR",
}

// managers are the folders from which shims on PATH take the real programs, by the variables that name them. The shims
// look for them in HOME when those are not set, which is another one here.
var managers = map[string]string{
	"VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf", "MISE_DATA_DIR": ".local/share/mise", "NVM_DIR": ".nvm",
	"FNM_DIR": ".local/share/fnm", "NODENV_ROOT": ".nodenv", "BUN_INSTALL": ".bun", "PNPM_HOME": ".local/share/pnpm",
}

// keptEnvironment is what of the user's environment the trial has.
func keptEnvironment(env []string) []string {
	value := map[string]string{}
	var all []string
	for _, kv := range env {
		name, v, _ := strings.Cut(kv, "=")
		value[name] = v
		if slices.Contains(kept, name) || strings.HasPrefix(name, "LC_") {
			all = append(all, kv)
		}
	}
	for name, folder := range managers {
		dir := value[name]
		if dir == "" && value["HOME"] != "" {
			dir = filepath.Join(value["HOME"], folder)
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			all = append(all, name+"="+dir)
		}
	}
	slices.Sort(all)
	return all
}

// replaceEnvironment makes env the environment of this process: the tmux client, git and the search for paw's own files
// take it from there.
func replaceEnvironment(env []string) error {
	os.Clearenv()
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
