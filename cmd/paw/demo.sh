#!/bin/sh
# Show paw at work in a scratch repository, with two agents of the built-in demo
# CLI on a private tmux server: nothing of the user's is touched.
set -eu

PAW=${PAW:?path of paw}
here=$(mktemp -d "${TMPDIR:-/tmp}/paw-demo.XXXXXX")
mkdir "$here/shop"
cd "$here/shop"

# paw on the private server and in the scratch repository, from anywhere; from
# inside another tmux, too.
cat >"$here/paw" <<TXT
#!/bin/sh
cd "$here/shop" || exit
unset TMUX PAW_SESSION PAW_AGENT
export PAW_TMUX_SOCKET="$here/tmux.sock" XDG_DATA_HOME="$here/data" XDG_STATE_HOME="$here/state" XDG_CONFIG_HOME="$here/config"
exec "$PAW" "\$@"
TXT
chmod +x "$here/paw"

git init -q
git config user.name demo
git config user.email demo@localhost
git commit -q --allow-empty -m 'first commit'

show() {
	echo "\$ paw $*"
	"$here/paw" "$@"
	echo
}
show start --cli left=demo,right=demo --detach | sed '/shows it$/d'
show send left 'buy milk'
# The demo CLI answers within a moment, or within a few on a busy machine.
for _ in $(seq 100); do
	"$here/paw" turns left | grep -q ' running ' || break
	sleep 0.1
done
show turns left
show diff left --stat
show status

cat <<TXT
Your turn. This line makes paw the one of the demo, in this shell:

    alias paw=$here/paw

    paw                               the desk: both agents, and who needs you; q leaves
    paw attach                        type anything, or /help; Ctrl-b d leaves
    paw send right "buy bread"        a prompt from outside
    paw diff right                    what came of it
    paw land right                    that, into the branch you stand on
    paw send right "do: ask May I?"   a permission
    paw status                        who waits for you
    paw answer right yes              go on
    paw stop                          ends both agents
TXT
printf '    %-31s   %s\n\n' "rm -rf $here" 'and takes away what is left'

if [ -n "${PAW_DEMO_CLEAN:-}" ]; then
	../paw purge --yes --force
	cd / && rm -rf "$here"
fi
