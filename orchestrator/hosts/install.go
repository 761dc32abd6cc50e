package hosts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// installedIn is the folder, below the home folder, into which paw is installed.
const installedIn = ".local/share/paw/bin"

// SameSystem reports whether a program of this machine runs on a machine with that output of uname
// -sm.
func SameSystem(uname string) bool { return uname == unameOf(runtime.GOOS, runtime.GOARCH) }

// unameOf returns the output of uname -sm on a system that Go builds for, "" for systems without a
// build of paw.
func unameOf(goos, goarch string) string {
	return map[string]string{
		"linux/amd64": "Linux x86_64", "linux/arm64": "Linux aarch64", "darwin/amd64": "Darwin x86_64", "darwin/arm64": "Darwin arm64",
	}[goos+"/"+goarch]
}

// Unreleased is the version of a paw that was built from a checkout without a tag.
const Unreleased = "development build"

// Install copies a program from this machine to a host, as paw-VERSION below the home folder, and
// returns its path there. An existing program of that name is never replaced, since hooks of agents
// call it. The copy gets its name after its SHA-256 was compared and it has run `version`.
func (c Client) Install(ctx context.Context, h Host, f Found, program, version string) (string, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	name := "paw-" + safe(version)
	if name == "paw-"+safe(Unreleased) {
		name += "-" + hex.EncodeToString(sum[:4]) // builds without a release tag differ although their version is equal
	}
	script := fmt.Sprintf(`set -e; umask 077; mkdir -p %[1]s; cd %[1]s; t=.$$.%[2]s; trap "rm -f $t" EXIT; cat > $t; `+
		`s=$( (sha256sum $t 2>/dev/null || shasum -a 256 $t) | cut -c 1-64); [ "$s" = %[3]s ] || { echo "the sum is wrong" >&2; exit 1; }; `+
		`chmod 755 $t; ./$t version >/dev/null; ln $t %[2]s 2>/dev/null || [ -x %[2]s ]`, installedIn, name, hex.EncodeToString(sum[:]))
	var said bytes.Buffer
	args := append(append([]string{}, alone...), c.overMaster(h)...)
	cmd := exec.CommandContext(ctx, c.Path, append(args, "-T", "--", h.SSH, "sh -c "+quoted(script))...)
	cmd.Env, cmd.Stdin, cmd.Stderr = c.Env, bytes.NewReader(content), &limited{to: &said, left: longestComplaint}
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == sshFailed:
		return "", &NotReached{Host: h.Name, Why: lastLine(said.String())}
	case err != nil:
		return "", &Refusal{Host: h.Name, Code: 1, Said: "paw cannot be installed: " + lastLine(said.String())}
	}
	return f.Home + "/" + installedIn + "/" + name, nil
}

// safe replaces characters of a version that are not safe in file names and shell words.
func safe(version string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, version)
}

// ProgramIn returns the paw for a system in a folder of unpacked archives of make dist, "" for
// none.
func ProgramIn(dist, uname string) string {
	for _, target := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"} {
		goos, goarch, _ := strings.Cut(target, "/")
		if dist == "" || unameOf(goos, goarch) != uname {
			continue
		}
		if found, err := filepath.Glob(filepath.Join(dist, "paw_*_"+goos+"_"+goarch, "bin", "paw")); err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

// VersionIn returns the version in the output of paw version --json.
func VersionIn(answer []byte) string {
	var said struct {
		Paw string `json:"paw"`
	}
	_ = json.Unmarshal(answer, &said)
	return said.Paw
}

// InstalledIn names the installed CLIs in the output of paw clis --json.
func InstalledIn(answer []byte) string {
	var said struct {
		CLIs []struct {
			Name      string `json:"name"`
			Installed bool   `json:"installed"`
			Version   string `json:"version"`
		} `json:"clis"`
	}
	_ = json.Unmarshal(answer, &said)
	var names []string
	for _, one := range said.CLIs {
		if one.Installed {
			names = append(names, strings.TrimSpace(one.Name+" "+one.Version))
		}
	}
	return strings.Join(names, ", ")
}
