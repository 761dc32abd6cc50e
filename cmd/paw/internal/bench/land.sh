# land.sh REPO WORKTREE: what a script does to bring what lies in a worktree, committed or not, into the branch of the checkout.
set -e
cd "$2"
git add -A
git commit -q -m work
cd "$1"
git merge -q --squash "$(git -C "$2" branch --show-current)" >/dev/null
git commit -q -m 'work of an agent'
