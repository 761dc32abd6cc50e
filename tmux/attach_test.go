package tmux

func attachMain(args []string) {}
