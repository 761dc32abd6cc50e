// Makes what pip and npm install, of the folder that the archive of a platform is made of.
//
//	go run .ci/packages/registries.go VERSION OS/ARCH TREE DIST
//
// Both hold the binary itself, so that neither needs a network, and are called paw-cli, as the Debian package is. All files
// get the time SOURCE_DATE_EPOCH.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// file is one file of a package. The names have slashes.
type file struct {
	name    string
	content []byte
	mode    fs.FileMode
}

// gitPaw is git-paw where a link cannot be packed.
const gitPaw = "#!/bin/sh\nexec \"$(dirname \"$0\")/paw\" \"$@\"\n"

const summary = "several AI coding CLIs at once on one repository"

// The names of platforms in wheels and in npm.
var (
	wheels = map[string]string{
		"linux/amd64": "manylinux_2_17_x86_64.musllinux_1_1_x86_64", "linux/arm64": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
		"darwin/amd64": "macosx_10_15_x86_64", "darwin/arm64": "macosx_11_0_arm64",
	}
	cpus = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("registries: error: ")
	if len(os.Args) != 5 || wheels[os.Args[2]] == "" {
		log.Fatal("takes VERSION OS/ARCH TREE DIST")
	}
	version, target, tree, dist := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	check(err)
	at := time.Unix(epoch, 0).UTC()
	writeWheel(dist, version, wheels[target], tree, at)
	goos, arch, _ := strings.Cut(target, "/")
	writeNpm(dist, version, goos, cpus[arch], tree, at)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// below returns the files below a folder of the tree, without links, under another name.
func below(tree, folder, as string) (files []file) {
	check(filepath.WalkDir(filepath.Join(tree, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		rest, _ := filepath.Rel(filepath.Join(tree, folder), path)
		files = append(files, file{as + "/" + filepath.ToSlash(rest), content, 0o644})
		return err
	}))
	return files
}

// programs returns paw and git-paw in a folder.
func programs(tree, folder string) []file {
	binary, err := os.ReadFile(filepath.Join(tree, "bin/paw"))
	check(err)
	return []file{{folder + "/paw", binary, 0o755}, {folder + "/git-paw", []byte(gitPaw), 0o755}}
}

// local matches the version of a build that is no release, such as 0.0.0-b629cde-dirty. Python wants 0.0.0+b629cde.dirty.
var local = regexp.MustCompile(`^([0-9.]+)-(.+)$`)

// writeWheel writes a wheel: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func writeWheel(dist, version, platform, tree string, at time.Time) {
	if parts := local.FindStringSubmatch(version); parts != nil {
		version = parts[1] + "+" + strings.ReplaceAll(parts[2], "-", ".")
	}
	name := "paw_cli-" + version
	data, info := name+".data", name+".dist-info"
	files := programs(tree, data+"/scripts")
	for _, share := range []string{"share/man", "share/bash-completion", "share/zsh", "share/fish"} {
		files = append(files, below(tree, share, data+"/data/"+share)...)
	}
	files = append(files,
		file{info + "/METADATA", []byte("Metadata-Version: 2.1\nName: paw-cli\nVersion: " + version + "\nSummary: " + summary + "\nLicense: MIT\n"), 0o644},
		file{info + "/WHEEL", []byte("Wheel-Version: 1.0\nGenerator: paw\nRoot-Is-Purelib: false\n" + tags(platform)), 0o644})
	record := ""
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	files = append(files, file{info + "/RECORD", []byte(record + info + "/RECORD,,\n"), 0o644})

	out, err := os.Create(filepath.Join(dist, name+"-py3-none-"+platform+".whl"))
	check(err)
	w := zip.NewWriter(out)
	for _, f := range files {
		head := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		head.SetMode(f.mode)
		one, err := w.CreateHeader(head)
		check(err)
		_, err = one.Write(f.content)
		check(err)
	}
	check(w.Close())
	check(out.Close())
}

func tags(platform string) (lines string) {
	for one := range strings.SplitSeq(platform, ".") {
		lines += "Tag: py3-none-" + one + "\n"
	}
	return lines
}

// writeNpm writes a tarball as npm pack makes them.
func writeNpm(dist, version, goos, cpu, tree string, at time.Time) {
	files := programs(tree, "package/bin")
	pages := below(tree, "share/man", "package/man")
	var man []string
	for _, page := range pages {
		man = append(man, "./"+strings.TrimPrefix(page.name, "package/"))
	}
	about, err := json.MarshalIndent(map[string]any{
		"name": "paw-cli", "version": version, "description": summary, "license": "MIT", "os": []string{goos}, "cpu": []string{cpu},
		"bin": map[string]string{"paw": "bin/paw", "git-paw": "bin/git-paw"}, "man": man,
	}, "", "  ")
	check(err)
	files = slices.Concat([]file{{"package/package.json", append(about, '\n'), 0o644}}, files, pages)

	out, err := os.Create(filepath.Join(dist, fmt.Sprintf("paw-cli-%s-%s-%s.tgz", version, goos, cpu)))
	check(err)
	zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	check(err)
	w := tar.NewWriter(zipped)
	for _, f := range files {
		check(w.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.content)), ModTime: at, Format: tar.FormatUSTAR}))
		_, err := w.Write(f.content)
		check(err)
	}
	check(w.Close())
	check(zipped.Close())
	check(out.Close())
}
