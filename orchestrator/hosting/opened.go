package hosting

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Opened is a pull request that was opened, as its server has it now.
type Opened struct {
	Number int
	State  string // open, merged or closed
	Commit string // tip of its branch on the server
	Base   string // branch to merge it into
	Checks []Check
}

// Check is a check that ran on a commit.
type Check struct {
	Name   string
	Result Result
	Job    string // number by which the server keeps its log, "" for none
	Page   string // web address
}

// Result is how a check ended.
type Result string

// The results. A check that was skipped or cancelled is none of them.
const (
	Passed  Result = "passed"
	Failed  Result = "failed"
	Pending Result = "pending"
)

// Remark is a comment of a review, in a thread that is not resolved.
type Remark struct {
	File   string // "" for one on the whole
	Line   int    // 0 where the line is gone
	Author string
	Text   string
}

// Count returns how many checks have a result.
func (o Opened) Count(is Result) (n int) {
	for _, c := range o.Checks {
		if c.Result == is {
			n++
		}
	}
	return n
}

// InWords says how a pull request stands: what came of it, else of its checks.
func (o Opened) InWords() string {
	how := o.State
	failed, passed, pending := o.Count(Failed), o.Count(Passed), o.Count(Pending)
	switch {
	case how != "open":
	case failed > 0:
		how = fmt.Sprintf("%d failed", failed)
	case passed > 0 && pending == 0:
		how = "passed"
	}
	if pending > 0 && o.State == "open" {
		how = strings.TrimPrefix(how+", ", "open, ") + fmt.Sprintf("%d under way", pending)
	}
	return fmt.Sprintf("#%d %s", o.Number, how)
}

// Retarget changes the branch that a pull request is to be merged into.
func (p Program) Retarget(ctx context.Context, of Place, number int, base string) error {
	args := []string{"mr", "update", strconv.Itoa(number), "--repo", of.Page(), "--target-branch", base}
	if p.Name == "gh" {
		args = []string{"pr", "edit", strconv.Itoa(number), "--repo", of.Host + "/" + of.Path, "--base", base}
	}
	_, err := p.run(ctx, "", args...)
	return err
}

// PullIn parses the web address of a pull request.
func PullIn(address string) (of Place, number int, ok bool) {
	for _, mark := range []string{"/pull/", "/-/merge_requests/"} {
		if page, word, found := strings.Cut(address, mark); found {
			of, ok = PlaceOf(page)
			number, err := strconv.Atoi(strings.TrimRight(word, "/"))
			return of, number, ok && err == nil
		}
	}
	return of, 0, false
}

// Opened asks the server for a pull request and its checks.
func (p Program) Opened(ctx context.Context, of Place, number int) (o Opened, err error) {
	if p.Name == "gh" {
		o, err = p.openedOnGitHub(ctx, of, number)
	} else {
		o, err = p.openedOnGitLab(ctx, of, number)
	}
	if err == nil && o.State == "" {
		err = p.unsaid(number)
	}
	return o, err
}

func (p Program) openedOnGitLab(ctx context.Context, of Place, number int) (Opened, error) {
	var said struct {
		State        string `json:"state"`
		SHA          string `json:"sha"`
		TargetBranch string `json:"target_branch"`
		HeadPipeline struct {
			ID int `json:"id"`
		} `json:"head_pipeline"`
	}
	err := p.api(ctx, of, &said, fmt.Sprintf("merge_requests/%d", number))
	o := Opened{Number: number, State: strings.Replace(said.State, "opened", "open", 1), Commit: said.SHA, Base: said.TargetBranch}
	if err == nil && said.HeadPipeline.ID != 0 {
		o.Checks, err = p.jobs(ctx, of, said.HeadPipeline.ID)
	}
	return o, err
}

func (p Program) openedOnGitHub(ctx context.Context, of Place, number int) (Opened, error) {
	var said struct {
		State       string     `json:"state"`
		HeadRefOid  string     `json:"headRefOid"`
		BaseRefName string     `json:"baseRefName"`
		Rollup      []rolledUp `json:"statusCheckRollup"`
	}
	err := p.said(ctx, &said, "pr", "view", strconv.Itoa(number), "--repo", of.Host+"/"+of.Path, "--json", "state,headRefOid,baseRefName,statusCheckRollup")
	o := Opened{Number: number, State: strings.ToLower(said.State), Commit: said.HeadRefOid, Base: said.BaseRefName}
	for _, one := range said.Rollup {
		o.Checks = append(o.Checks, one.check())
	}
	return o, err
}

// rolledUp is a check as GitHub has it: a job of a workflow, or the status that another program reports.
type rolledUp struct {
	Name       string `json:"name"`
	Workflow   string `json:"workflowName"` // as gh has it
	CheckSuite struct {
		Run struct {
			Workflow struct {
				Name string `json:"name"`
			} `json:"workflow"`
		} `json:"workflowRun"`
	} `json:"checkSuite"` // has the workflow's name in an answer to a query
	Conclusion string `json:"conclusion"`
	Details    string `json:"detailsUrl"`
	Context    string `json:"context"` // this and the next two: of another program
	State      string `json:"state"`
	Target     string `json:"targetUrl"`
}

// check names a job with its workflow: jobs of two workflows may have the same name.
func (r rolledUp) check() Check {
	c := Check{Name: r.Name + r.Context, Result: gitHubResult(r.Conclusion + r.State), Page: r.Details + r.Target}
	if workflow := r.Workflow + r.CheckSuite.Run.Workflow.Name; workflow != "" {
		c.Name = workflow + " / " + c.Name
	}
	if run, job, _ := strings.Cut(c.Page, "/job/"); strings.Contains(run, "/actions/runs/") {
		c.Job = job
	}
	return c
}

func gitHubResult(word string) Result {
	switch strings.ToUpper(word) {
	case "FAILURE", "ERROR", "TIMED_OUT", "STARTUP_FAILURE", "ACTION_REQUIRED":
		return Failed
	case "SUCCESS", "NEUTRAL":
		return Passed
	case "SKIPPED", "CANCELLED", "STALE":
		return ""
	}
	return Pending
}

// jobs returns the jobs of a pipeline of GitLab.
func (p Program) jobs(ctx context.Context, of Place, pipeline int) (checks []Check, err error) {
	var said []struct {
		ID      int    `json:"id"`
		Name    string `json:"name"`
		Stage   string `json:"stage"`
		Status  string `json:"status"`
		Allowed bool   `json:"allow_failure"`
		Page    string `json:"web_url"`
	}
	err = p.api(ctx, of, &said, fmt.Sprintf("pipelines/%d/jobs?per_page=100", pipeline), "--paginate")
	for _, one := range said {
		c := Check{Name: one.Stage + " / " + one.Name, Job: strconv.Itoa(one.ID), Page: one.Page}
		switch one.Status {
		case "failed":
			if c.Result = Failed; one.Allowed {
				c.Result = Passed
			}
		case "success":
			c.Result = Passed
		case "created", "pending", "preparing", "running", "scheduled", "waiting_for_resource":
			c.Result = Pending
		}
		checks = append(checks, c)
	}
	return checks, err
}

// checksQuery asks GitHub for the checks of a branch, with the names of their workflows.
const checksQuery = `query($owner:String!,$name:String!,$ref:String!,$endCursor:String){repository(owner:$owner,name:$name){object(expression:$ref){` +
	`... on Commit{statusCheckRollup{contexts(first:100,after:$endCursor){pageInfo{hasNextPage endCursor} nodes{... on CheckRun{name conclusion checkSuite{workflowRun{workflow{name}}}} ` +
	`... on StatusContext{context state}}}}}}}}`

// FailedOn returns the names of the checks that failed on the newest commit of a branch.
func (p Program) FailedOn(ctx context.Context, of Place, branch string) (map[string]bool, error) {
	var checks []Check
	if p.Name == "gh" {
		var said []rolledUp
		if err := p.graph(ctx, of, &said, ".object.statusCheckRollup.contexts.nodes", checksQuery, "-f", "ref=refs/heads/"+branch); err != nil {
			return nil, err
		}
		for _, one := range said {
			checks = append(checks, one.check())
		}
	} else {
		var said []struct {
			ID int `json:"id"`
		}
		err := p.api(ctx, of, &said, "pipelines?per_page=1&ref="+url.QueryEscape(branch))
		if err == nil && len(said) > 0 {
			checks, err = p.jobs(ctx, of, said[0].ID)
		}
		if err != nil {
			return nil, err
		}
	}
	failed := map[string]bool{}
	for _, one := range checks {
		failed[one.Name] = failed[one.Name] || one.Result == Failed
	}
	return failed, nil
}

// Log returns the log of a check's failed steps, "" where the server keeps none.
func (p Program) Log(ctx context.Context, of Place, c Check) (string, error) {
	switch {
	case c.Job == "":
		return "", nil
	case p.Name == "gh":
		out, err := p.run(ctx, "", "run", "view", "--repo", of.Host+"/"+of.Path, "--job", c.Job, "--log-failed")
		lines := strings.Split(out, "\n")
		for i, line := range lines {
			lines[i] = withoutHead(line)
		}
		return strings.Join(lines, "\n"), err
	}
	return p.run(ctx, "", "api", "--hostname", of.Host, project(of)+"/jobs/"+c.Job+"/trace")
}

// withoutHead returns a line of a log without what gh writes before it: the job, its step and the time.
func withoutHead(line string) string {
	parts := strings.SplitN(line, "\t", 3)
	if len(parts) < 3 {
		return line
	}
	at, text, _ := strings.Cut(strings.TrimPrefix(parts[2], "\ufeff"), " ")
	if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
		return parts[2]
	}
	return text
}

// Remarks returns the comments of the threads of a pull request that are not resolved.
func (p Program) Remarks(ctx context.Context, of Place, number int) (all []Remark, err error) {
	if p.Name == "gh" {
		return p.gitHubRemarks(ctx, of, number)
	}
	var said []struct {
		Notes []struct {
			Body   string `json:"body"`
			Author struct {
				Username string `json:"username"`
			} `json:"author"`
			Resolvable bool `json:"resolvable"`
			Resolved   bool `json:"resolved"`
			Position   struct {
				Path string `json:"new_path"`
				Line int    `json:"new_line"`
			} `json:"position"`
		} `json:"notes"`
	}
	err = p.api(ctx, of, &said, fmt.Sprintf("merge_requests/%d/discussions?per_page=100", number), "--paginate")
	for _, thread := range said {
		for _, one := range thread.Notes {
			if one.Resolvable && !one.Resolved {
				all = append(all, Remark{one.Position.Path, one.Position.Line, one.Author.Username, one.Body})
			}
		}
	}
	return all, err
}

// threadsQuery asks GitHub for the threads of a review.
const threadsQuery = `query($owner:String!,$name:String!,$number:Int!,$endCursor:String){repository(owner:$owner,name:$name){pullRequest(number:$number){` +
	`reviewThreads(first:100,after:$endCursor){pageInfo{hasNextPage endCursor} nodes{isResolved path line comments(first:50){nodes{author{login} body}}}}}}}`

func (p Program) gitHubRemarks(ctx context.Context, of Place, number int) (all []Remark, err error) {
	var said []struct {
		IsResolved bool   `json:"isResolved"`
		Path       string `json:"path"`
		Line       int    `json:"line"`
		Comments   struct {
			Nodes []struct {
				Body   string `json:"body"`
				Author struct {
					Login string `json:"login"`
				} `json:"author"`
			} `json:"nodes"`
		} `json:"comments"`
	}
	err = p.graph(ctx, of, &said, ".pullRequest.reviewThreads.nodes", threadsQuery, "-F", "number="+strconv.Itoa(number))
	for _, thread := range said {
		for _, one := range thread.Comments.Nodes {
			if !thread.IsResolved {
				all = append(all, Remark{thread.Path, thread.Line, one.Author.Login, one.Body})
			}
		}
	}
	return all, err
}

// graph asks GitHub about a repository what gh has no command for; at is where in the answer that is. gh sets
// $endCursor of the query for every page.
func (p Program) graph(ctx context.Context, of Place, into any, at, query string, more ...string) error {
	owner, name, _ := strings.Cut(of.Path, "/")
	args := []string{"api", "--hostname", of.Host, "graphql", "--paginate", "--jq", ".data.repository" + at, "-f", "query=" + query, "-f", "owner=" + owner, "-f", "name=" + name}
	return p.said(ctx, into, append(args, more...)...)
}

// project returns the address of a repository in the API of GitLab.
func project(of Place) string { return "projects/" + url.PathEscape(of.Path) }

// api asks the API of GitLab about a repository.
func (p Program) api(ctx context.Context, of Place, into any, what string, more ...string) error {
	return p.said(ctx, into, append([]string{"api", "--hostname", of.Host, project(of) + "/" + what}, more...)...)
}
