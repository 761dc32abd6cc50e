package review

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const patch = `diff --git a/src/a.go b/src/a.go
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/src/a.go
+++ b/src/a.go
@@ -3,5 +3,6 @@ package a
 
 func a() {
-	old()
-	older()
+	one()
+	two()
+	three()
 }
@@ -20 +21,0 @@ func b() {
---- gone
diff --git a/new file b/new file
new file mode 100644
index 0000000000000000000000000000000000000000..3333333333333333333333333333333333333333
--- /dev/null
+++ b/new file	
@@ -0,0 +1 @@
+++ hello
\ No newline at end of file
diff --git a/pic.png b/pic.png
new file mode 100644
index 0000000000000000000000000000000000000000..4444444444444444444444444444444444444444
GIT binary patch
literal 3
Kc${NkU|;|M00ICL

literal 0
HcmV?d00001

`

func TestCommentsAreFoundBelowTheirLines(t *testing.T) {
	text := ForEditor(patch, "what shop/web has done")
	if strings.Contains(text, "HcmV?d00001") || strings.Contains(text, "index 1111") {
		t.Errorf("for nobody to read:\n%s", text)
	}
	edited := "> about all of it\n" + text
	say := func(below, said string) {
		if !strings.Contains(edited, below+"\n") {
			t.Fatalf("no line %q", below)
		}
		edited = strings.Replace(edited, below+"\n", below+"\n"+said+"\n", 1)
	}
	say("+	two()", "> why two?\n>\n>  and not three")
	say("-	older()", ">keep this")
	say("diff --git a/new file b/new file", "> about the file")
	say("+++ hello", "> no greeting")
	say("---- gone", "> was good")
	say("Binary file", "> too large")
	say("@@ -3,5 +3,6 @@ package a", ">   ")
	edited = strings.Replace(edited, " func a() {\n", "", 1) // somebody deleted it to read better
	got, err := Comments(text, edited)
	if err != nil {
		t.Fatal(err)
	}
	want := []Comment{
		{Text: "about all of it"},
		{Path: "src/a.go", First: 5, Last: 6, Removed: true, Excerpt: "\told()\n\tolder()", Text: "keep this"},
		{Path: "src/a.go", First: 5, Last: 6, Excerpt: "\tone()\n\ttwo()", Text: "why two?\n\n and not three"},
		{Path: "src/a.go", First: 20, Last: 20, Removed: true, Excerpt: "--- gone", Text: "was good"},
		{Path: "new file", Text: "about the file"},
		{Path: "new file", First: 1, Last: 1, Excerpt: "++ hello", Text: "no greeting"},
		{Path: "pic.png", Text: "too large"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, edited)
	}
}

func TestEditedLinesAreNoComments(t *testing.T) {
	text := ForEditor(patch, "x")
	edited := strings.Replace(text, "+	two()", "+	too()", 1)
	var other *EditedError
	if _, err := Comments(text, edited); !errors.As(err, &other) || other.Line != "+	too()" {
		t.Errorf("%v", err)
	}
	for _, same := range []string{text, strings.ReplaceAll(text, "\n \n", "\n\n"), strings.ReplaceAll(text, "\n", "\r\n"), "", "\n\n"} {
		if got, err := Comments(text, same); err != nil || len(got) != 0 {
			t.Errorf("%v, %v in %q", got, err, same)
		}
	}
}

func TestStaleComments(t *testing.T) {
	c := Comment{Path: "a", First: 2, Last: 3, Excerpt: "two\nthree", Text: "x"}
	for now, want := range map[string]bool{
		"one\ntwo\nthree\n": false, "one\ntwo\nthree": false, "one\r\ntwo\r\nthree\r\n": false,
		"one\ntwo\n": true, "zero\none\ntwo\nthree\n": true, "one\ntwo\nThree\n": true, "": true,
	} {
		if c.Stale(now, true) != want {
			t.Errorf("%q: stale %v", now, !want)
		}
	}
	if !c.Stale("", false) || (Comment{Path: "a"}).Stale("x", true) || !(Comment{Path: "a"}).Stale("", false) || (Comment{}).Stale("", false) {
		t.Error("of files and of all of it")
	}
	gone := c
	if gone.Removed = true; gone.Stale("one\n", true) || gone.Stale("", false) {
		t.Error("nobody can tell of removed lines")
	}
}

func TestPromptOfComments(t *testing.T) {
	got := Prompt([]Comment{
		{Text: " all good, but: "},
		{Path: "a.md", First: 2, Last: 3, Excerpt: "```go\nx\n```", Text: "fences?"},
		{Path: "b", First: 7, Last: 7, Removed: true, Excerpt: "old", Text: "why?"},
		{Path: "src/c.go", Text: "too long"},
		{Path: "src/gone.go", Text: "where is it?"},
	}, func(c Comment) bool { return c.Path == "a.md" || c.Path == "src/gone.go" })
	want := "I have reviewed your changes and have 5 comments. Please go through them one by one:\n\n" +
		"1.\nall good, but:\n\n" +
		"2. a.md:2-3 (these lines have changed since; this is what they were)\n````\n```go\nx\n```\n````\nfences?\n\n" +
		"3. b:7 (removed)\n```\nold\n```\nwhy?\n\n" +
		"4. src/c.go\ntoo long\n\n" +
		"5. src/gone.go (it is no longer there)\nwhere is it?\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCommentOnLinesOfAPatch(t *testing.T) {
	const patch = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+\ttwo\n+  \n@@ -9 +9 @@\n-old\n+new\ndiff --git a/b b/b\n"
	for _, c := range []struct {
		first, last int
		want        Comment
	}{
		{4, 4, Comment{Path: "a.go", First: 1, Last: 1, Excerpt: "one"}},
		{7, 7, Comment{Path: "a.go", First: 2, Last: 2, Excerpt: "\ttwo"}},
		{5, 6, Comment{Path: "a.go", First: 2, Last: 3, Excerpt: "two\nthree", Removed: true}},
		{4, 8, Comment{Path: "a.go", First: 1, Last: 3, Excerpt: "one\n\ttwo\n  "}},
		{7, 11, Comment{Path: "a.go", First: 9, Last: 9, Excerpt: "new"}},
		{10, 10, Comment{Path: "a.go", First: 9, Last: 9, Excerpt: "old", Removed: true}},
		{3, 3, Comment{Path: "a.go"}},
		{12, 12, Comment{Path: "b"}},
		{99, 99, Comment{Path: "b"}},
	} {
		if diff := cmp.Diff(c.want, On(patch, c.first, c.last, "")); diff != "" {
			t.Errorf("%d to %d (-want +got)\n%s", c.first, c.last, diff)
		}
	}
	const listed = "2 files, +1 -1\n  a.go  +1 -1\n  --- b  +0 -0\n\n" // as the desk shows a patch
	if diff := cmp.Diff(Comment{Path: "a.go", First: 9, Last: 9, Excerpt: "new"}, On(listed+patch, 15, 15, "")); diff != "" {
		t.Errorf("below a list of files (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(Comment{}, On(listed+patch, 1, 2, "")); diff != "" {
		t.Errorf("on a list of files (-want +got)\n%s", diff)
	}
	deleted := "diff --git a/b.go b/b.go\ndeleted file mode 100644\n--- a/b.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
	for line := range 5 {
		c := On(deleted, line, line, "why?")
		if c.Place() != "b.go (removed)" || c.Stale("", false) {
			t.Errorf("line %d of a deleted file: %+v", line, c)
		}
	}
	if c := On(deleted+patch, 6, 6, ""); c.Removed {
		t.Errorf("behind a deleted file: %+v", c)
	}
	if got := On("", 0, 0, "all of it"); got.Path != "" || got.Text != "all of it" {
		t.Errorf("of nothing: %+v", got)
	}
}

// Comments are found again in the patch on which they were made, and nowhere in one that has other lines there.
func TestCommentsStandInAPatch(t *testing.T) {
	for line, text := range strings.Split(strings.TrimSuffix(patch, "\n"), "\n") {
		c := On(patch, line, line, "why?")
		got := Lines(patch, []Comment{c})[0]
		if got < 0 || On(patch, got, got, "why?") != c || c.First > 0 && got != line {
			t.Errorf("%+v, made in line %d: in line %d\n%s", c, line, got, text)
		}
	}
	for _, c := range []Comment{{Path: "src/a.go", First: 3, Last: 3, Excerpt: "another"}, {Path: "src/a.go", First: 99, Last: 99, Excerpt: "new"}, {Path: "nowhere", First: 1, Last: 1}, {Path: "nowhere"}} {
		if got := Lines(patch, []Comment{c}); got[0] != -1 {
			t.Errorf("%+v: in line %d", c, got[0])
		}
	}
	if got := Lines("", []Comment{{Path: "a.go"}}); got[0] != -1 {
		t.Errorf("of nothing: %d", got)
	}
}

// What was sent goes, and nothing else: neither what came meanwhile, nor what is there twice and was sent once.
func TestWithoutWhatWasSent(t *testing.T) {
	one, two, three := Comment{Path: "a", Text: "one"}, Comment{Path: "a", Text: "two"}, Comment{Path: "a", Text: "three"}
	for _, c := range []struct{ list, sent, want []Comment }{
		{[]Comment{one, two}, []Comment{one, two}, nil},
		{[]Comment{one, two, three}, []Comment{one, two}, []Comment{three}},
		{[]Comment{three}, []Comment{one, two}, []Comment{three}},       // the sent ones were dropped meanwhile, and another one made
		{[]Comment{two, three}, []Comment{one, two}, []Comment{three}},  // one of them was
		{[]Comment{one, one, two}, []Comment{one}, []Comment{one, two}}, // the same was said again
		{nil, []Comment{one}, nil},
	} {
		if diff := cmp.Diff(c.want, Without(c.list, c.sent)); diff != "" {
			t.Errorf("%v without %v (-want +got)\n%s", c.list, c.sent, diff)
		}
	}
}
