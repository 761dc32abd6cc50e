package hosting

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/config/display"
)

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
	out, err := p.run(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	var said []struct {
		Number int `json:"number"`
		IID    int `json:"iid"`
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		return nil, fmt.Errorf("%s: says %q, which is not understood", p.Name, display.Graphemes.Cut(strings.TrimSpace(out), longestSaid))
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
	out, err := p.run(ctx, "", args...)
	if err != nil {
		return Thread{}, err
	}
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
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.Title == "" {
		return Thread{}, fmt.Errorf("%s: says %q, which is not understood", p.Name, display.Graphemes.Cut(strings.TrimSpace(out), longestSaid))
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
