# history.sh REPO WORKTREE: git's own merge of what lies in a worktree into the branch of the checkout: its objects, the branch, the files.
set -e
cd "$2"
git add -A
git commit -q -m work
cd "$1"
was=$(git rev-parse HEAD)
tree=$(git merge-tree --write-tree HEAD shell)
becomes=$(git commit-tree -p HEAD -m 'work of an agent' "$tree")
git update-ref refs/heads/main "$becomes" "$was"
git read-tree -m -u "$was" "$becomes"
