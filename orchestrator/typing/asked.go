package typing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
)

// Asked is a question with which an agent waits.
type Asked struct {
	cli.Question
	Agent string
	ID    string // identity of this question, with these options, asked this time
	Hook  string // question as the CLI's hook reports it, which may be longer or shorter than Text
	Turn  int    // 0 for a question outside of a turn, which also has no Since
	Since time.Time

	permission string // id with which the CLI's channel can answer, "" where only keys do
	offered    bool   // the options are those of the channel, which knows all of them
}

// pick returns the index of the only option that an answer means. Numbers and words count only if
// the question still has the form in which the user has read it.
func (a *Asked) pick(answer string, sameForm bool) (int, error) {
	means := cli.Meaning(strings.ToLower(strings.TrimSpace(answer)))
	if short := map[cli.Meaning]cli.Meaning{"y": cli.MeansYes, "n": cli.MeansNo}[means]; short != "" {
		means = short
	}
	var fitting []int
	for i, o := range a.Options {
		if means == o.Means() && means != cli.MeansText && means != cli.MeansOther {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) == 0 && sameForm {
		if n, err := strconv.Atoi(string(means)); err == nil && n >= 1 && n <= len(a.Options) {
			fitting = []int{n - 1}
		}
	}
	if len(fitting) == 0 && sameForm {
		for i, o := range a.Options {
			if words := strings.TrimSpace(answer); strings.EqualFold(words, o.Label) || words != "" && strings.EqualFold(words, o.Name) {
				fitting = append(fitting, i)
			}
		}
	}
	refused := errs.New(errs.Refused, "%s: %q is not one of its answers: %s", a.Agent, answer, a.offers())
	switch {
	case len(fitting) > 1:
		refused = errs.New(errs.Refused, "%s: %q is more than one of its answers: %s", a.Agent, answer, a.offers())
	case len(fitting) == 1 && a.Options[fitting[0]].Means() == cli.MeansText:
		refused = errs.New(errs.Refused, "%s: this answer is a text, which can only be typed in its pane", a.Agent)
	case len(fitting) == 1:
		return fitting[0], nil
	}
	return 0, refused
}

// picks is like pick, for several options with commas between them where options are ticked.
func (a *Asked) picks(answer string, sameForm bool) (all []int, err error) {
	one, err := a.pick(answer, sameForm)
	if err == nil || a.Submit == "" {
		return []int{one}, err
	}
	for word := range strings.SplitSeq(answer, ",") {
		n, err := a.pick(word, sameForm)
		if err == nil && a.Options[n].Box == "" {
			err = errs.New(errs.Refused, "%s: %q is no answer that is ticked", a.Agent, a.Options[n].Label)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// together returns the picked options as one.
func (a *Asked) together(picked []int) cli.Option {
	took := a.Options[picked[0]]
	for _, n := range picked[1:] {
		took.Label += ", " + a.Options[n].Label
	}
	return took
}

// offers lists the options in one line.
func (a *Asked) offers() string {
	var all []string
	for i, o := range a.Options {
		all = append(all, fmt.Sprintf("%d %s", i+1, o.Label))
	}
	return strings.Join(all, ", ")
}

// identity returns an id that differs for different questions, and for one that is asked again: a
// hash of the words and options on the screen and, where the CLI's channel has an id for the
// question, "-" with a hash of that id. While a menu covers a permission its words and options
// differ, but the second part is the same.
func (a *Asked) identity() string {
	form := fmt.Sprintf("%d %d %q", a.Turn, a.Since.UnixNano(), a.Text)
	for _, o := range a.Options {
		form += fmt.Sprintf(" %q %q", o.Label, o.About)
	}
	id := digest(form)
	if a.permission != "" {
		id += "-" + digest(fmt.Sprintf("%d %d %q", a.Turn, a.Since.UnixNano(), a.permission))
	}
	return id
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// sameForm reports whether two identities have the same words and options. The channel may report a
// permission later than the screen shows it.
func sameForm(one, other string) bool {
	form, permission, known := strings.Cut(one, "-")
	form2, permission2, known2 := strings.Cut(other, "-")
	return form == form2 && (permission == permission2 || !known || !known2)
}

// sameQuestion reports whether two identities belong to the same question, even if its form
// differs.
func sameQuestion(one, other string) bool {
	_, permission, known := strings.Cut(one, "-")
	_, permission2, known2 := strings.Cut(other, "-")
	return sameForm(one, other) || known && known2 && permission == permission2
}
