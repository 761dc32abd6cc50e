#!/bin/sh
# Install paw below ~/.local, without root; or take it away again.
#
#   sh install.sh [FROM]         FROM is a folder or an address with the files of a release;
#                                default: the folder of install.sh
#   sh install.sh --uninstall    delete the files that it has installed, and nothing else
#
# PREFIX says where to, in place of ~/.local. What is downloaded is compared with SHA256SUMS first.
set -eu

prefix=${PREFIX:-$HOME/.local}
list=share/doc/paw/installed

fail() {
	echo "install.sh: error: $*" >&2
	exit 1
}

# Whether a file below the prefix is nobody's, or paw's.
ours() { # FILE
	[ ! -e "$prefix/$1" ] && [ ! -L "$prefix/$1" ] && return 0
	[ -f "$prefix/$list" ] && grep -qxF "$1" "$prefix/$list"
}

uninstall() {
	[ -f "$prefix/$list" ] || fail "$prefix: install.sh has installed nothing here (PREFIX says where)"
	while read -r file; do
		rm -f "$prefix/$file"
	done <"$prefix/$list"
	rm -f "$prefix/$list"
	rmdir "$prefix/share/doc/paw/docs/internals" "$prefix/share/doc/paw/docs" "$prefix/share/doc/paw" 2>/dev/null || true
	echo "paw is no longer in $prefix. Sessions, worktrees, branches and tags stay where they are."
}

fetch() { # NAME: it comes into the working folder
	case $from in
	*://*)
		if command -v curl >/dev/null; then
			curl -fsSL -o "$1" "$from/$1"
		elif command -v wget >/dev/null; then
			wget -q -O "$1" "$from/$1"
		else
			fail "curl or wget is needed"
		fi
		;;
	*) cp "$from/$1" "$1" ;;
	esac || fail "$from/$1: cannot be read"
}

sum() { # FILE
	if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d' ' -f1
}

platform() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "$(uname -s): there is no paw for it, only for Linux and macOS" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "$(uname -m): there is no paw for it, only for amd64 and arm64" ;;
	esac
	echo "${os}_$arch"
}

# A file goes to its place in one step: a paw that runs keeps its own.
place() { # FILE
	mkdir -p "$prefix/$(dirname "$1")"
	cp -PR "$1" "$prefix/$1.new"
	mv -f "$prefix/$1.new" "$prefix/$1"
}

install() {
	for_us=$(platform)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cd "$work"
	fetch SHA256SUMS
	name=$(sed -n "s/^[0-9a-f]*  \(paw_.*_$for_us\.tar\.gz\)\$/\1/p" SHA256SUMS)
	case $name in
	'') fail "$from: has no archive for $for_us" ;;
	*[!A-Za-z0-9._+~-]*) fail "$from: has several archives for $for_us" ;;
	esac
	fetch "$name"
	wanted=$(sed -n "s/^\([0-9a-f]*\)  $name\$/\1/p" SHA256SUMS)
	[ "$(sum "$name")" = "$wanted" ] || fail "$name: its sum is not that of SHA256SUMS; nothing was installed"
	tar -xzf "$name"
	cd "${name%.tar.gz}"

	ours bin/paw || fail "$prefix/bin/paw: install.sh has not put it there; nothing was installed"
	mkdir -p "$prefix/share/doc/paw"
	touch "$prefix/$list"
	find . ! -type d | sed 's|^\./||' | LC_ALL=C sort >"$work/files"
	while read -r file; do
		if ! ours "$file"; then
			echo "install.sh: note: $prefix/$file: install.sh has not put it there; it stays" >&2
			continue
		fi
		echo "$file" >>"$work/placed"
	done <"$work/files"
	LC_ALL=C sort -u "$work/placed" "$prefix/$list" >"$work/list"
	cp "$work/list" "$prefix/$list" # before the files: what is half installed can be taken away, too
	while read -r file; do
		place "$file"
	done <"$work/placed"

	echo "$("$prefix/bin/paw" version) is in $prefix/bin"
	case ":$PATH:" in
	*":$prefix/bin:"*) echo "try it: paw doctor" ;;
	*) echo "put it on your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
	esac
}

case ${1:-} in
--uninstall) uninstall ;;
-*) fail "$1: unknown; usage: sh install.sh [FROM | --uninstall]" ;;
*)
	from=${1:-$(dirname "$0")}
	case $from in
	*://*) from=${from%/} ;;
	*) from=$(cd "$from" 2>/dev/null && pwd) || fail "${1:-}: no such folder" ;;
	esac
	install
	;;
esac
