package claude

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"paw/config/disk"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
)

// Conversation looks for ID.jsonl in the folder of the worktree, then in the folders of other
// directories. claude opens a conversation only in the directory where it began and in other
// worktrees of the same repository (anthropics/claude-code#28769).
//
// An unused conversation that was closed regularly leaves a file without a message: claude neither
// resumes it ("No conversation found") nor starts it again ("already in use").
func (c driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	// The folders of all directories are many: the worktree's own is looked at first.
	own := ownTranscript(s)
	if message, err := firstMessage(own); err == nil && message != nil {
		return cli.Conversation{Found: true, Resumable: true, Transcript: own}, nil
	}
	files, err := filepath.Glob(filepath.Join(cli.GlobQuote(projects(s)), "*", s.ConversationID+".jsonl"))
	if err != nil {
		return cli.Conversation{}, err
	}
	reach := reachOf(s)
	found := cli.Conversation{Reason: "claude has no conversation of this id"}
	for _, file := range files {
		if ctx.Err() != nil {
			return cli.Conversation{}, ctx.Err()
		}
		message, err := firstMessage(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return cli.Conversation{}, err
		}
		switch {
		case message == nil:
			found = cli.Conversation{Found: true, Transcript: file, NewID: true, Reason: "the conversation has no message yet"}
		case isIn(reach, file):
			return cli.Conversation{Found: true, Resumable: true, Transcript: file}, nil
		default:
			found = cli.Conversation{Found: true, Transcript: file, NewID: true, Reason: "claude resumes it in " + message.Cwd + " only"}
		}
	}
	return found, nil
}

// Learn finds the conversations that /clear began under new ids. Those of `claude -p`, which the
// agent itself may run, do not count.
func (c driver) Learn(ctx context.Context, s cli.Spec) ([]string, error) {
	files, err := records.ByUse(filepath.Join(cli.GlobQuote(projects(s)), folderName(s.Resolved(s.Worktree)), "*.jsonl"))
	var ids []string
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if message, err := firstMessage(file); err == nil && message != nil && message.Entrypoint == "cli" && records.BeganHere(s, message.Timestamp) {
			ids = append(ids, strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		}
	}
	return ids, err
}

// ownTranscript returns the file of the agent's conversation in the folder of its worktree. For a
// worktree with a very long path it names no file.
func ownTranscript(s cli.Spec) string {
	return filepath.Join(projects(s), folderName(s.Resolved(s.Worktree)), s.ConversationID+".jsonl")
}

func projects(s cli.Spec) string {
	return filepath.Join(cli.Folder(s.Env, "CLAUDE_CONFIG_DIR", ".claude"), "projects")
}

// reachOf returns patterns of the names of the folders whose conversations a claude in the worktree can open.
func reachOf(s cli.Spec) (folders []string) {
	paths := []string{s.Worktree, s.RepoPath}
	// Each linked worktree has a gitdir file that names its .git file (gitrepository-layout(5)).
	links, _ := filepath.Glob(filepath.Join(cli.GlobQuote(s.GitCommonDir), "worktrees", "*", "gitdir"))
	for _, link := range links {
		if content, err := disk.ReadFile(link); err == nil {
			path := strings.TrimSpace(string(content))
			if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(link), path)
			}
			paths = append(paths, filepath.Dir(path))
		}
	}
	for _, path := range paths {
		if path != "" {
			folders = append(folders, folderName(s.Resolved(path)))
		}
	}
	return folders
}

// isIn reports whether a conversation file lies in one of the folders.
func isIn(folders []string, file string) bool {
	return slices.ContainsFunc(folders, func(pattern string) bool {
		match, err := filepath.Match(pattern, filepath.Base(filepath.Dir(file)))
		return err == nil && match
	})
}

// folderName returns a pattern for the name of a directory's folder below projects: each UTF-16
// unit except ASCII letters and digits becomes a dash; after 200 of them a checksum follows.
func folderName(dir string) string {
	var name strings.Builder
	for _, unit := range utf16.Encode([]rune(dir)) {
		if name.Len() == 200 {
			return name.String() + "-*"
		}
		if r := rune(unit); cli.Alphanumeric(r) {
			name.WriteRune(r)
		} else {
			name.WriteByte('-')
		}
	}
	return name.String()
}

// firstMessage returns the first line that the user wrote, nil when there is none.
func firstMessage(file string) (*turnLine, error) {
	var first *turnLine
	err := records.EachLine(file, func(line turnLine) bool {
		if line.isMessage() {
			first = &line
		}
		return first == nil
	})
	return first, err
}

// isMessage reports whether the user wrote the line. Notices and local commands are user lines too.
func (l turnLine) isMessage() bool {
	return l.Type == "user" && !l.IsMeta && !l.IsSidechain && slices.ContainsFunc(l.Message.Content, func(block records.Part) bool {
		isText := block.Text != "" && !strings.HasPrefix(block.Text, "<command-name>") && !strings.HasPrefix(block.Text, "<local-command-")
		return block.Type == "text" && isText || block.Type == "image" || block.Type == "document"
	})
}
