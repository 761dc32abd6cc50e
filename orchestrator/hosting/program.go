package hosting

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"paw/config/display"
)

// Request is a pull request to open. Its branch is on the server already.
type Request struct {
	From, Into   Place
	Branch, Base string
	Title, Body  string
	Draft        bool
	Web          bool // open the browser with the form filled in
}

// Program is an installed gh or glab.
type Program struct {
	Name string // name of the program, as ProgramFor returns it
	Path string
	Dir  string
	Env  []string

	limit time.Duration // of one call, 0 for patience
}

// patience limits how long gh or glab may take for one call.
const patience = 30 * time.Second

// ProgramFor returns the name of the program for pull requests on a server of that kind, "" for
// none.
func ProgramFor(kind Kind) string {
	switch kind {
	case GitHub:
		return "gh"
	case GitLab:
		return "glab"
	case Bitbucket, Gitea:
	}
	return ""
}

// Find returns the web address of the open pull request for the same branches, "" for none.
func (p Program) Find(ctx context.Context, r Request) (string, error) {
	args := []string{"mr", "list", "--repo", r.Into.Page(), "--source-branch", r.Branch, "--target-branch", r.Base, "--output", "json"}
	if p.Name == "gh" {
		args = []string{"pr", "list", "--repo", r.Into.Host + "/" + r.Into.Path, "--head", r.Branch, "--base", r.Base, "--state", "open", "--json", "url,headRepositoryOwner"}
	}
	var found []struct {
		URL    string `json:"url"`
		WebURL string `json:"web_url"`
		Owner  *struct {
			Login string `json:"login"`
		} `json:"headRepositoryOwner"`
	}
	if err := p.said(ctx, &found, args...); err != nil {
		return "", err
	}
	for _, one := range found {
		if one.Owner != nil && !strings.EqualFold(one.Owner.Login, r.From.Owner()) { // a branch of the same name in another fork
			continue
		}
		if address(one.URL+one.WebURL) == "" {
			return "", fmt.Errorf("%s: says %q, which is no address", p.Name, one.URL+one.WebURL)
		}
		return one.URL + one.WebURL, nil
	}
	return "", nil
}

// address returns a line if it is a web address, else "".
func address(line string) string {
	if strings.HasPrefix(line, "https://") || strings.HasPrefix(line, "http://") {
		if display.Title(line) == line {
			return line
		}
	}
	return ""
}

// Ask opens a pull request and returns its web address, "" if the browser was opened instead.
func (p Program) Ask(ctx context.Context, r Request) (string, error) {
	args, input := p.glab(r), ""
	if p.Name == "gh" {
		args, input = p.gh(r), r.Body
	}
	out, err := p.run(ctx, input, args...)
	if err != nil || r.Web {
		return "", err
	}
	last := ""
	for line := range strings.Lines(out) {
		last = cmp.Or(address(strings.TrimSpace(line)), last)
	}
	if last == "" {
		return "", fmt.Errorf("%s: says %q, and no address", p.Name, display.Graphemes.Cut(strings.TrimSpace(out), longestSaid))
	}
	return last, nil
}

func (p Program) gh(r Request) []string {
	head := r.Branch
	if r.From != r.Into {
		head = r.From.Owner() + ":" + r.Branch
	}
	args := []string{"pr", "create", "--repo", r.Into.Host + "/" + r.Into.Path, "--head", head, "--base", r.Base, "--title", r.Title, "--body-file", "-"}
	return append(args, flags(r)...)
}

func (p Program) glab(r Request) []string {
	args := []string{"mr", "create", "--repo", r.Into.Page(), "--source-branch", r.Branch, "--target-branch", r.Base, "--title", r.Title, "--description", r.Body, "--yes"}
	if r.From != r.Into {
		args = append(args, "--head", r.From.Page())
	}
	return append(args, flags(r)...)
}

func flags(r Request) (args []string) {
	if r.Draft {
		args = append(args, "--draft")
	}
	if r.Web {
		args = append(args, "--web")
	}
	return args
}

// run runs the program without prompts. The error contains its output. When ctx ends or patience is over, all
// processes of its group are killed; a process that it leaves behind may keep its output open.
func (p Program) run(ctx context.Context, stdin string, args ...string) (string, error) {
	limit := cmp.Or(p.limit, patience)
	asked := ctx
	ctx, end := context.WithTimeout(ctx, limit)
	defer end()
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Dir = p.Dir
	cmd.Env = append(append([]string{}, p.Env...), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_PROMPT=1", "NO_COLOR=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	called := p.Name + " " + strings.Join(args[:min(len(args), 2)], " ")
	err := cmd.Run()
	switch {
	case err != nil && asked.Err() != nil:
		return "", fmt.Errorf("%s: %w", called, asked.Err())
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("%s: took longer than %s", called, limit)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		if said := strings.TrimSpace(stderr.String()); said != "" {
			return "", fmt.Errorf("%s: %s", p.Name, display.Graphemes.Cut(display.Words(said), longestSaid))
		}
		return "", fmt.Errorf("%s: %w", p.Name, err)
	}
	return stdout.String(), nil
}

// said runs the program and parses the JSON that it prints. Where it prints nothing, into stays as it is: an empty list.
func (p Program) said(ctx context.Context, into any, args ...string) error {
	out, err := p.run(ctx, "", args...)
	if err != nil || strings.TrimSpace(out) == "" {
		return err
	}
	if err := json.Unmarshal(onePage(out), into); err != nil {
		return fmt.Errorf("%s: says %q, which is not understood", p.Name, display.Graphemes.Cut(strings.TrimSpace(out), longestSaid))
	}
	return nil
}

// onePage returns the one list of several that were printed one after the other, a page each, and anything else as it is.
func onePage(out string) []byte {
	var all []json.RawMessage
	for pages := json.NewDecoder(strings.NewReader(out)); pages.More(); {
		var page []json.RawMessage
		if pages.Decode(&page) != nil {
			return []byte(out)
		}
		all = append(all, page...)
	}
	list, _ := json.Marshal(all)
	return list
}

// unsaid is the error for an answer that has nothing of an issue or a pull request.
func (p Program) unsaid(number int) error {
	return fmt.Errorf("%s: its answer has nothing of %d", p.Name, number)
}

// longestSaid limits the program's output in an error message, in columns.
const longestSaid = 300

// Thread is an issue or a pull request; its texts come from other people.
type Thread struct {
	Pull   bool
	Number int
	Title  string
	Text   string
	Author string

	// The following fields are set for pull requests only.
	Branch string // source branch of the pull request
	Commit string // commit at the tip of Branch
	Fork   bool   // the branch is in another repository
}

// Ref returns the ref under which the server keeps the commit of a pull request.
func (t Thread) Ref(kind Kind) string {
	if kind == GitLab {
		return fmt.Sprintf("refs/merge-requests/%d/head", t.Number)
	}
	return fmt.Sprintf("refs/pull/%d/head", t.Number)
}

// Issue reads an issue of a repository.
func (p Program) Issue(ctx context.Context, of Place, number int) (Thread, error) {
	if p.Name == "gh" {
		return p.thread(ctx, Thread{Number: number}, "issue", "view", strconv.Itoa(number), "--repo", of.Host+"/"+of.Path, "--json", "number,title,body,author")
	}
	return p.thread(ctx, Thread{Number: number}, "issue", "view", strconv.Itoa(number), "--repo", of.Page(), "--output", "json")
}

// IssuesWith returns the numbers of the open issues with a label, sorted.
func (p Program) IssuesWith(ctx context.Context, of Place, label string) ([]string, error) {
	args := []string{"issue", "list", "--repo", of.Host + "/" + of.Path, "--state", "open", "--label", label, "--limit", "500", "--json", "number"}
	if p.Name != "gh" {
		args = []string{"issue", "list", "--repo", of.Page(), "--label", label, "--per-page", "100", "--output", "json"}
	}
	var said []struct {
		Number int `json:"number"`
		IID    int `json:"iid"`
	}
	if err := p.said(ctx, &said, args...); err != nil {
		return nil, err
	}
	var numbers []int
	for _, one := range said {
		numbers = append(numbers, one.Number+one.IID)
	}
	slices.Sort(numbers)
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return words, nil
}

// Pull reads a pull request of a repository.
func (p Program) Pull(ctx context.Context, of Place, number int) (Thread, error) {
	if p.Name == "gh" {
		return p.thread(ctx, Thread{Number: number, Pull: true}, "pr", "view", strconv.Itoa(number), "--repo", of.Host+"/"+of.Path,
			"--json", "number,title,body,author,headRefName,headRefOid,isCrossRepository")
	}
	return p.thread(ctx, Thread{Number: number, Pull: true}, "mr", "view", strconv.Itoa(number), "--repo", of.Page(), "--output", "json")
}

// thread runs the program and parses its JSON; gh and glab name the same fields differently.
func (p Program) thread(ctx context.Context, asked Thread, args ...string) (Thread, error) {
	var said struct {
		Title       string `json:"title"`
		Body        string `json:"body"`
		Description string `json:"description"`
		Author      struct {
			Login    string `json:"login"`
			Username string `json:"username"`
		} `json:"author"`
		HeadRefName   string `json:"headRefName"`
		SourceBranch  string `json:"source_branch"`
		HeadRefOid    string `json:"headRefOid"`
		SHA           string `json:"sha"`
		IsCross       bool   `json:"isCrossRepository"`
		SourceProject int    `json:"source_project_id"`
		TargetProject int    `json:"target_project_id"`
	}
	if err := p.said(ctx, &said, args...); err != nil {
		return Thread{}, err
	}
	if said.Title == "" {
		return Thread{}, p.unsaid(asked.Number)
	}
	asked.Title, asked.Text = said.Title, said.Body+said.Description
	asked.Author = said.Author.Login + said.Author.Username
	asked.Branch, asked.Commit = said.HeadRefName+said.SourceBranch, said.HeadRefOid+said.SHA
	asked.Fork = said.IsCross || said.SourceProject != said.TargetProject
	return asked, nil
}

// NumberIn parses the number of an issue or pull request of a repository as people write it: 12,
// #12, !12 or its web address.
func NumberIn(word string, of Place) (int, bool) {
	if rest, ok := strings.CutPrefix(word, of.Page()+"/"); ok {
		rest = strings.TrimPrefix(rest, "-/")
		kind, number, _ := strings.Cut(rest, "/")
		if kind != "issues" && kind != "pull" && kind != "merge_requests" && kind != "work_items" {
			return 0, false
		}
		word, _, _ = strings.Cut(number, "#")
		word = strings.TrimSuffix(word, "/")
	}
	n, err := strconv.Atoi(strings.TrimLeft(word, "#!"))
	return n, err == nil && n > 0
}
