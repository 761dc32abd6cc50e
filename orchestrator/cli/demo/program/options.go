package program

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/google/uuid"
)

const usage = `usage: demo-agent [--session-id ID [--fork ID] | --resume ID] [--ask-trust] [-p PROMPT] [--version] [PROMPT]

--fork begins with a copy of a conversation; --ask-trust first asks whether to trust the folder.

A small agent that needs no account. A plain prompt is noted in NOTES.md and committed.
In a conversation /help shows what to try, and /exit ends it.
A prompt with lines "do: STEP" does those steps instead:

  write PATH TEXT    the file is TEXT and a newline
  append PATH TEXT   TEXT and a newline go to the file's end
  remove PATH        delete the file
  run COMMAND        with sh -c; if it fails, so does the turn
  commit MESSAGE     commit everything
  outcome WORD       footer "outcome: WORD" of this prompt's next commit
  ask QUESTION       wait for y or n; n ends the turn
  sleep SECONDS      fractions allowed
  say TEXT           part of the answer
  fail MESSAGE       end the turn as an API error does
  limit SECONDS      end it as a usage limit does, which is lifted after that time
  exit CODE          end the program in the middle of the turn
  hang               until interrupted
`

// help is the text of /help. It fits into narrow panes and begins with what shows the behaviour of
// an agent.
const help = `I note a plain prompt in NOTES.md and commit it.
To see how other agents behave:
do: ask May I?       a permission; answer y or n
do: sleep 20         a long turn; Esc interrupts it
do: fail no luck     an error, as of a model
do: run ls           a command
do: write a.txt hi   a file, not committed
do: exit 3           the CLI ends in a turn
All: paw demo-agent --help. /exit or Ctrl-D leaves.`

type options struct {
	id       string // never empty, except to resume
	resume   bool
	fork     string // conversation to begin with a copy of, "" for none
	headless bool
	prompt   string // "" when no prompt was given
	version  bool
	asks     bool // ask whether to trust the folder, before anything else
}

func parseOptions(args []string) (options, error) {
	o := options{id: uuid.NewString()}
	set := flag.NewFlagSet("demo-agent", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&o.id, "session-id", o.id, "")
	resume := set.String("resume", "", "")
	set.StringVar(&o.fork, "fork", "", "")
	set.StringVar(&o.prompt, "p", "", "")
	set.BoolVar(&o.version, "version", false, "")
	set.BoolVar(&o.asks, "ask-trust", false, "")
	if err := set.Parse(args); err != nil {
		return options{}, err
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.resume, o.headless = given["resume"], given["p"]
	switch {
	case set.NArg() > 1 || o.headless && set.NArg() == 1:
		return options{}, errors.New("arguments: more than one prompt")
	case o.headless && o.prompt == "":
		return options{}, errors.New("-p: prompt is empty")
	case o.resume && given["session-id"]:
		return options{}, errors.New("--resume: not together with --session-id")
	case o.resume && given["fork"]:
		return options{}, errors.New("--resume: not together with --fork")
	case !validID.MatchString(o.id):
		return options{}, fmt.Errorf("--session-id: %q is not an id of letters, digits, _ and -", o.id)
	}
	if o.resume {
		o.id = *resume
	}
	if !o.headless {
		o.prompt = set.Arg(0)
	}
	return o, nil
}
