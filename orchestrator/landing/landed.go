package landing

import (
	"fmt"
	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
)

// Landed is the result of a landing, or for a dry run its plan.
type Landed struct {
	session.Landing
	Session string
	Commits int    // number of commits that the target got
	Nothing bool   // the target has all of the work already
	LeftOut int    // if Nothing: the last turn, if its work is neither in the worktree nor in the target; 0 for none
	Brings  string // command that lands turn LeftOut
	Checks  []string
	BadEnd  string   // how the last turn of what lands ended, if not well
	Along   string   // work of somebody else that lands too, because the agent began in the midst of it
	Listed  []string // files that change in the target, a line for each; only for a dry run

	tree string // of After
}

// mostFiles limits the files that a plan lists.
const mostFiles = 20

// Plan returns what a dry run would land, nil for nothing.
func (l *Landed) Plan() []string {
	if l.Nothing {
		return nil
	}
	what := "land what " + l.Session + "/" + l.Agent + " has done"
	if l.Turns != "" {
		what = fmt.Sprintf("land %s of %s/%s", turns.Words(l.Turns), l.Session, l.Agent)
	}
	if l.Turn > 0 {
		what += fmt.Sprintf(", as it was at the end of turn %d,", l.Turn)
	}
	lines := []string{
		fmt.Sprintf("%s into %s: %s, as %s", what, l.Target, errs.Counted(l.Files, "file"), form(l)),
		"title: " + l.Title,
	}
	if l.Without > 0 {
		lines[0] = fmt.Sprintf("take turn %d of %s/%s out of %s: %s", l.Without, l.Session, l.Agent, l.Target, errs.Counted(l.Files, "file"))
	}
	if l.Along != "" {
		lines = append(lines, "along comes "+l.Along)
	}
	if l.BadEnd != "" {
		lines = append(lines, l.BadEnd+": what it left lands")
	}
	for i, file := range l.Listed {
		if i == mostFiles {
			lines = append(lines, "  and "+errs.Counted(len(l.Listed)-i, "other file"))
			break
		}
		lines = append(lines, "  "+file)
	}
	for _, command := range l.Checks {
		lines = append(lines, "check what would land: "+display.Title(command))
	}
	return lines
}

// form says in which form, and in how many commits, work lands.
func form(l *Landed) string {
	if l.As == string(Merge) {
		return "a merge"
	}
	return errs.Counted(l.Commits, "commit")
}

// String says what has landed.
func (l *Landed) String() string {
	name := l.Session + "/" + l.Agent
	if l.Without > 0 && l.Nothing {
		return fmt.Sprintf("%s: nothing to take out, %s has nothing of turn %d", name, l.Target, l.Without)
	}
	if l.Without > 0 {
		return fmt.Sprintf("took turn %d of %s out of %s: %s, %.12s %q", l.Without, name, l.Target, errs.Counted(l.Files, "file"), l.After, l.Title)
	}
	if l.Nothing && l.LeftOut > 0 {
		return fmt.Sprintf("%s: nothing to land, and turn %d is not in its worktree; %s brings it", name, l.LeftOut, l.Brings)
	}
	if l.Nothing {
		return fmt.Sprintf("%s: nothing to land, %s has all of it", name, l.Target)
	}
	brings := ""
	if l.Turns != "" {
		brings = " (" + turns.Words(l.Turns) + ")"
	}
	return fmt.Sprintf("landed %s%s in %s: %s, %s %.12s %q", name, brings, l.Target, errs.Counted(l.Files, "file"), form(l), l.After, l.Title)
}
