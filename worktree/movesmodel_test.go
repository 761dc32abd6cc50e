package worktree

import (
	gocmp "cmp"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/gittest"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"

	"github.com/google/go-cmp/cmp"
)

// movesWorld is one agent's worktree and one checkout of the user, in which random steps are taken: edits of both, turns, rewinds,
// landings and their undoing. The paw that moves is killed, or a git of it, or both.
type movesWorld struct {
	*turns
	random *rand.Rand
	steps  []string
	goals  []string // commits of turns and rescues, to go to
	lands  []landed // landings that stand
	number int
	kills  int // of paw or one of its gits
	whole  int
}

// landed is a landing: main before it, and the user's files that it has taken over, "" for none.
type landed struct{ from, handed string }

// movesNames are the paths that the steps use: in each other's way, in folders, ignored, and converted by a filter.
var movesNames = []string{"a", "b/c", "b/d", "b", "a/deep/e", "k.log", "out/l.log", "x.rot", "b/y.rot", "z"}

func newMovesWorld(t *testing.T, seed uint64) *movesWorld {
	t.Helper()
	base := newTurns(t, "*.log\nout/\n")
	w := &movesWorld{turns: base, random: rand.New(rand.NewPCG(seed, 1))}
	w.git("config", "filter.rot.clean", "tr a-z n-za-m")
	w.git("config", "filter.rot.smudge", "tr a-z n-za-m")
	for _, dir := range []string{w.Dir, w.p.Path} {
		writeFile(t, filepath.Join(dir, ".gitattributes"), "*.rot filter=rot\n")
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "commit", "-qm", "attributes")
	}
	if seed%3 == 0 {
		w.git("sparse-checkout", "set", "--cone", "b")
	}
	if seed%4 == 1 {
		w.in("sparse-checkout", "set", "--cone", "b")
	}
	return w
}

func (w *movesWorld) note(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

func (w *movesWorld) pick(of []string) string { return of[w.random.IntN(len(of))] }

// edit changes a place as an agent or a user does.
func (w *movesWorld) edit(dir string) {
	name := w.pick(movesNames)
	path := filepath.Join(dir, name)
	switch what := w.random.IntN(9); what {
	case 0:
		os.RemoveAll(path)
		w.note("remove %s", path)
	case 1:
		w.try(dir, "add", "-A")
		w.note("add all in %s", dir)
	case 2:
		w.try(dir, "add", "--force", "--", name)
		w.note("add %s", path)
	case 3:
		bit := w.pick([]string{"--assume-unchanged", "--no-assume-unchanged", "--skip-worktree", "--no-skip-worktree"})
		if git.In(dir).Run(w.t.Context(), "cat-file", "-e", "HEAD:"+name) == nil { // an entry that no commit has goes with its bit
			w.try(dir, "update-index", bit, "--", name)
			w.note("%s %s", bit, path)
		}
	case 4:
		if dir == w.p.Path {
			w.try(dir, "commit", "-qam", "by hand")
			w.note("commit in %s", dir)
		}
	default:
		for at := filepath.Dir(path); at != dir; at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && !info.IsDir() {
				os.Remove(at)
			}
		}
		os.RemoveAll(path)
		w.number++
		writeFile(w.t, path, strings.Repeat(fmt.Sprintf("content %d\n", w.number), 1+w.random.IntN(200)))
		if w.random.IntN(4) == 0 {
			os.Chmod(path, 0o755)
		}
		w.note("write %s (%d)", path, w.number)
	}
}

func (w *movesWorld) try(dir string, args ...string) {
	_ = git.Repo{Dir: dir}.Run(w.t.Context(), args...) // git refuses some
}

// since edits a place where a move may be open, adds to before what was written, and reports whether anything was done.
func (w *movesWorld) since(dir string, before map[string]map[string]string) bool {
	if w.random.IntN(2) == 0 {
		return false
	}
	if w.random.IntN(3) == 0 {
		os.Remove(filepath.Join(gittest.GitDir(w.t, dir), "index.lock"))
		w.note("  remove the lock of %s", dir)
	}
	was := w.files(dir)
	w.edit(dir)
	now := w.files(dir)
	for name, content := range was { // gone by an edit
		if now[name] != content && before[dir][name] == content {
			delete(before[dir], name)
		}
	}
	for name, content := range now {
		if was[name] != content {
			before[dir][name+" since"] = content
		}
	}
	return true
}

// files are the contents of a place by path.
func (w *movesWorld) files(dir string) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			if d != nil && d.IsDir() && err == nil {
				return fs.SkipDir
			}
			return err
		}
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			found[name] = string(content)
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// state is what a second recover must not change.
func (w *movesWorld) state() map[string]string {
	all := map[string]string{"refs": w.git("for-each-ref")}
	for _, dir := range []string{w.Dir, w.p.Path} {
		for name, content := range w.files(dir) {
			all[dir+"/"+name] = content
		}
		all[dir+" index"] = gitIn(w.t, dir, "ls-files", "--stage", "-v")
	}
	return all
}

// rot is what the filter makes of a content.
func rot(content string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return r
		}
		return 'a' + (r-'a'+13)%26
	}, content)
}

func blobID(content string) string {
	sum := sha1.Sum([]byte("blob " + strconv.Itoa(len(content)) + "\x00" + content))
	return hex.EncodeToString(sum[:])
}

// wantKept fails unless each content of before is in a file of the same place, or in an object that a ref leads to.
func (w *movesWorld) wantKept(dir string, before map[string]string) {
	w.t.Helper()
	there := map[string]bool{}
	for _, content := range w.files(dir) {
		there[content] = true
	}
	objects := ""
	for name, content := range before {
		if there[content] {
			continue
		}
		if objects == "" {
			objects = w.git("rev-list", "--objects", "--all") + "\n"
		}
		if !strings.Contains(objects, blobID(content)) && !strings.Contains(objects, blobID(rot(content))) {
			w.fail("%s of %s is lost: %.40q", name, dir, content)
		}
	}
}

func (w *movesWorld) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\nafter:\n%s", fmt.Sprintf(format, args...), strings.Join(w.steps, "\n"))
}

// run makes a move in another process, which may be killed: at a step of paw, in one of its gits, or, if strace is there, wherever one
// of them makes a system call. It reports whether the process came to its end.
func (w *movesWorld) run(move childMove) (whole bool) {
	order := childOrder{Dir: w.Dir, Lock: filepath.Join(filepath.Dir(w.Dir), "repository.lock"), Moves: &move}
	words, env, at := []string{os.Args[0]}, []string{}, 1+w.random.IntN(8)
	switch how := w.random.IntN(10); {
	case how < 3:
		order.DieAt = w.pick([]string{StepLocked, StepFiles, StepIndex})
		if move.End {
			order.DieAt = w.pick([]string{StepKept, StepFiles, StepIndex})
		} else if move.From != "" {
			order.DieAt = w.pick([]string{StepLocked, StepFiles, StepBranch})
		}
		w.note("  killed at %s", order.DieAt)
	case how < 5 || how < 8 && strace != "":
		if strace != "" && how >= 4 {
			call := w.pick([]string{"openat", "unlink,unlinkat", "write", "renameat,rename", "linkat", "fsync", "clone,clone3,vfork"})
			words = append(dying(call, at), words...)
			w.note("  killed before %s %d", call, at)
			break
		}
		n, too := 1+w.random.IntN(14), w.pick([]string{"", "kill -9 $PPID; "})
		count := filepath.Join(realTemp(w.t), "count")
		writeFile(w.t, count, "")
		call, die := w.pick([]string{"openat", "unlink,unlinkat", "write", "rename,renameat,renameat2"}), too+"kill -9 $$"
		if strace != "" {
			die = fmt.Sprintf(`'%s' "$real" "$@" && exit 0; %s kill -9 $$`, strings.Join(dying(call, at), "' '"), too)
		}
		env = shim(w.t, fmt.Sprintf(`printf x >>'%s'; read -r ran <'%s'; if [ ${#ran} -eq %d ]; then printf k >>'%[1]s'; %[4]s; fi`, count, count, n, die))
		defer func() {
			if !whole && strings.Contains(readFile(w.t, count), "k") {
				w.kills++
			}
		}()
		w.note("  its git %d killed at %s %d, %q", n, call, at, too)
	}
	text, err := json.Marshal(order)
	if err != nil {
		w.t.Fatal(err)
	}
	p := w.command(append([]string{"PAW_TEST_CHILD=" + string(text)}, env...), words...)
	code := p.end()
	w.note("  exit %d %s", code, strings.TrimSpace(p.out.String()))
	switch {
	case code == 0:
		w.whole++
	case code == -1 && len(env) == 0:
		w.kills++
	}
	return code == 0
}

// dying begins a command of which the process that comes to a system call for the n-th time is killed before it.
func dying(call string, n int) []string {
	return []string{strace, "-f", "-qqq", "-o", "/dev/null", "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n)}
}

// strace is the program, "" where it is not to be used.
var strace = ""

// recovered ends what is open, at times cut in turn, and checks that doing so again changes nothing.
func (w *movesWorld) recovered(before map[string]map[string]string) {
	w.t.Helper()
	w.removeLocks() // paw names those of killed gits, and the user removes them
	if w.random.IntN(3) == 0 {
		w.run(childMove{Path: w.p.Path, End: true})
		w.removeLocks()
	}
	at := gitdir.Checkout{Path: w.Dir, AdminDir: filepath.Join(w.Dir, ".git")}
	end := func() {
		if ended, err := w.m.Moves().EndMove(w.t.Context(), at); err != nil {
			w.fail("the checkout: %v", err)
		} else if ended != nil {
			w.note("  recover: %s", ended)
		}
		if ended, err := w.m.Moves().EndMoveIn(w.t.Context(), w.p.Path); err != nil {
			w.fail("the agent: %v", err)
		} else if ended != nil {
			w.note("  recover: %s", ended)
		}
	}
	end()
	for dir, files := range before {
		w.wantKept(dir, files)
	}
	once := w.state()
	end()
	if diff := cmp.Diff(once, w.state()); diff != "" {
		w.fail("recover twice is not recover once:\n%s", diff)
	}
	for _, dir := range []string{w.Dir, w.p.Path} {
		admin := gittest.GitDir(w.t, dir)
		if disk.Exists(filepath.Join(admin, journal.File)) || disk.Exists(filepath.Join(admin, "index.lock")) {
			left, _ := filepath.Glob(filepath.Join(admin, "*.lock"))
			w.fail("%s: a journal or a lock is left: %v, %q", dir, disk.Exists(filepath.Join(admin, journal.File)), left)
		}
	}
}

// removeLocks removes what killed gits have left.
func (w *movesWorld) removeLocks() {
	removeRefLocks(w.t, w.m.Repository.CommonDir)
	for _, dir := range []string{w.Dir, w.p.Path} {
		lock := filepath.Join(gittest.GitDir(w.t, dir), "index.lock")
		os.Remove(lock)
	}
}

func (w *movesWorld) before() map[string]map[string]string {
	return map[string]map[string]string{w.Dir: w.files(w.Dir), w.p.Path: w.files(w.p.Path)}
}

// rewinds goes to a turn or a rescue, after a new turn.
func (w *movesWorld) rewinds() {
	w.n++
	turn, err := w.m.Snapshots().Take(w.t.Context(), w.p.Path, fmt.Sprintf("refs/paw/s_agent/turn/%d", w.n), "turn\n")
	if err != nil {
		w.fail("a turn: %v", err)
	}
	w.goals = append(w.goals, turn.Commit)
	goal := w.pick(w.goals)
	if w.random.IntN(3) > 0 { // with something that no turn has
		w.edit(w.p.Path)
	}
	w.note("rewind to %.10s", goal)
	w.moves(goal, "")
}

// updates brings main into the worktree, with a commit of both: the files are those of main then, or those that are there.
func (w *movesWorld) updates() {
	w.n++
	now, err := w.m.Snapshots().Take(w.t.Context(), w.p.Path, "", "now\n")
	if err != nil {
		w.fail("a snapshot: %v", err)
	}
	head := w.git("commit-tree", "-m", "merged", "-p", w.in("rev-parse", "HEAD"), "-p", "main", w.pick([]string{"main", now.Commit})+"^{tree}")
	goal := gitWith(w.t, w.Dir, objects.Author, "commit-tree", "-m", "updated", "-p", head, head+"^{tree}")
	w.git("update-ref", fmt.Sprintf("refs/paw/s_agent/updated/%d", w.n), goal)
	w.note("update to %.10s", goal)
	w.moves(goal, now.Commit)
}

// moves puts the worktree to goal, and checks what has become of it. was is the commit that its files must equal, "" for any.
func (w *movesWorld) moves(goal, was string) {
	const now = "refs/paw/s_agent/now"
	rescue, op, at := fmt.Sprintf("refs/paw/s_agent/rescue/%d", w.n), fmt.Sprintf("refs/paw/s_agent/op/%d", w.n), w.git("for-each-ref", "--format=%(objectname)", now)
	along := []refs.Change{{Ref: op, To: goal, From: refs.None}}
	if at != goal {
		along = append(along, refs.Change{Ref: now, To: goal, From: gocmp.Or(at, refs.None)})
	}
	before, head := w.before(), w.in("rev-parse", "HEAD")
	whole := w.run(childMove{Path: w.p.Path, Target: goal, Was: was, Rescue: rescue, Along: along})
	open := disk.Exists(filepath.Join(gittest.GitDir(w.t, w.p.Path), journal.File))
	j, _ := journal.Read(gittest.GitDir(w.t, w.p.Path))
	if open && at != goal && w.random.IntN(3) == 0 { // another paw writes down the state that it had taken before the move
		removeRefLocks(w.t, w.m.Repository.CommonDir)
		at = w.git("commit-tree", "-m", "other", "-p", "main", "main^{tree}")
		w.git("update-ref", now, at)
		w.note("  another paw moves %s", now)
	}
	edited := w.since(w.p.Path, before)
	w.recovered(before)
	took, is := w.git("for-each-ref", op) != "", w.git("for-each-ref", "--format=%(objectname)", now)
	if want := whole || open && !j.Back; want && !took || open && j.Back && took || took && is != goal || !took && is != at {
		w.fail("the refs that move along: %s is there: %v; %s was at %q and is at %q", op, took, now, at, is)
	}
	switch {
	case took && (open || !edited):
		w.wantAt(goal)
	case !edited && w.in("rev-parse", "HEAD") != head:
		w.fail("nothing has moved, and HEAD was at %s", head)
	}
	if saved := w.git("for-each-ref", "--format=%(objectname)", rescue); saved != "" {
		w.goals = append(w.goals, saved)
	}
}

// wantAt fails unless the worktree has each file of a snapshot, and HEAD of then.
func (w *movesWorld) wantAt(goal string) {
	w.t.Helper()
	to, err := w.m.Objects().State(w.t.Context(), goal)
	if at := w.in("rev-parse", "HEAD"); err != nil || at != to.Head {
		w.fail("HEAD is at %s, and was at %s when %s was taken: %v", at, to.Head, goal, err)
	}
	for name := range strings.Lines(w.in("diff", "--cached", "--name-only") + "\n") { // what git ignores needs an entry to be seen
		if name = strings.TrimSpace(name); name != "" && git.In(w.p.Path).Run(w.t.Context(), "check-ignore", "-q", "--no-index", name) != nil {
			w.fail("%s is staged", name)
		}
	}
	for line := range strings.Lines(w.git("ls-tree", "-r", goal) + "\n") {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[1] != "blob" {
			continue
		}
		content, err := os.ReadFile(w.path(fields[3]))
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(w.in("ls-files", "-v", "--", fields[3]), "S ") { // outside of a sparse checkout
			continue
		}
		if is := blobID(string(content)); err != nil || is != fields[2] && blobID(rot(string(content))) != fields[2] {
			w.fail("%s is not as at %.10s: %v", fields[3], goal, err)
		}
	}
}

// landing moves main to a commit with some files of the agent, or back. It may take over what the user has not committed, and give
// that back.
func (w *movesWorld) landing(back bool) {
	from := w.git("rev-parse", "main")
	move := childMove{Path: w.p.Path, From: from}
	if back {
		if len(w.lands) == 0 {
			return
		}
		last := w.lands[len(w.lands)-1]
		move.To, move.FilesTo = last.from, last.handed
	} else {
		now, err := w.m.Snapshots().Take(w.t.Context(), w.p.Path, "", "now\n")
		if err != nil {
			w.fail("a snapshot: %v", err)
		}
		tree := now.Commit + "^{tree}"
		w.n++
		if w.random.IntN(3) == 0 {
			index := []string{"GIT_INDEX_FILE=" + filepath.Join(realTemp(w.t), "index")}
			gitWith(w.t, w.Dir, index, "read-tree", "main")
			_ = git.Repo{Dir: w.Dir}.WithEnv(index...).Run(w.t.Context(), "add", "-A")
			move.FilesFrom = w.git("commit-tree", "-m", "handed", "-p", from, gitWith(w.t, w.Dir, index, "write-tree"))
			if w.random.IntN(2) == 0 {
				tree = move.FilesFrom + "^{tree}"
			}
			move.Along = append(move.Along, refs.Change{Ref: fmt.Sprintf("refs/paw/s_agent/landed/%d/handed", w.n), To: move.FilesFrom})
		}
		move.To = w.git("commit-tree", "-m", "landed", "-p", from, tree)
		w.git("update-ref", fmt.Sprintf("refs/paw/s_agent/landed/%d/after", w.n), move.To)
	}
	w.note("move main from %.10s to %.10s, handed %.10s, back %.10s", from, move.To, move.FilesFrom, move.FilesTo)
	before, bits := w.before(), w.bits()
	status := func() string {
		said := w.git("status", "--porcelain", "--untracked-files=all")
		if move.FilesFrom+move.FilesTo != "" { // what was handed over comes back, and is staged no more
			lines := strings.Split(regexp.MustCompile(`(?m)^...`).ReplaceAllString(said, ""), "\n")
			slices.Sort(lines)
			said = strings.Join(lines, "\n")
		}
		return said
	}
	was := status()
	w.run(move)
	edited := w.since(w.Dir, before)
	w.recovered(before)
	switch at := w.git("rev-parse", "main"); {
	case at == move.To && back:
		w.lands = w.lands[:len(w.lands)-1]
	case at == move.To && at != from:
		w.lands = append(w.lands, landed{from, move.FilesFrom})
	case at != from:
		w.fail("main is at %s", at)
	default:
		if now := status(); !edited && (now != was || w.bits() != bits) {
			w.fail("not landed, and status says\n%s\nthen\n%s\nbits\n%s\nthen\n%s", was, now, bits, w.bits())
		}
	}
	for name, content := range before[w.Dir] { // what no side has is the user's
		if now, err := os.ReadFile(filepath.Join(w.Dir, name)); !edited && strings.HasSuffix(name, ".log") && !strings.Contains(w.git("ls-tree", "-r", "--name-only", from)+w.git("ls-tree", "-r", "--name-only", move.To), name) && (err != nil || string(now) != content) {
			w.fail("%s, which is ignored, has changed: %v", name, err)
		}
	}
}

// bits are the entries of the user's index that hide something.
func (w *movesWorld) bits() string {
	var found []string
	for line := range strings.Lines(w.git("ls-files", "-v") + "\n") {
		if !strings.HasPrefix(line, "H ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return strings.Join(found, "\n")
}

// TestMovesFollowTheModel takes random steps. No byte that was there is lost: it is in a file, or in a commit that a ref leads to.
// Recover twice is recover once.
func TestMovesFollowTheModel(t *testing.T) {
	steps, seed := 200, uint64(1)
	if text := os.Getenv("PAW_MOVES_STEPS"); text != "" {
		steps, _ = strconv.Atoi(text)
		strace = needStrace(t)
	}
	if text := os.Getenv("PAW_MOVES_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	kills, whole := 0, 0
	for taken := 0; taken < steps; seed++ {
		w := newMovesWorld(t, seed)
		w.note("seed %d", seed)
		for range min(40, steps-taken) {
			taken++
			switch n := w.random.IntN(20); {
			case n < 11:
				w.edit(w.p.Path)
			case n < 13:
				w.edit(w.Dir)
			case n < 15:
				w.rewinds()
			case n < 16:
				w.updates()
			default:
				w.landing(n == 19)
			}
		}
		kills, whole = kills+w.kills, whole+w.whole
		w.git("fsck", "--no-progress")
	}
	t.Logf("%d kills, %d moves that came to their end", kills, whole)
}

func gitWith(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	out, err := git.Repo{Dir: dir}.WithEnv(env...).Output(t.Context(), args...)
	if err != nil {
		t.Fatalf("in %s: %v", dir, err)
	}
	return strings.TrimRight(out, "\n")
}

func removeRefLocks(t *testing.T, commonDir string) {
	t.Helper()
	if err := filepath.WalkDir(commonDir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") && filepath.Base(path) != "index.lock" && filepath.Base(path) != "paw-journal.lock" {
			return os.Remove(path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
