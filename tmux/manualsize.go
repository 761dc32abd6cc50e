package tmux

// aroundManual lets commands make windows where the user's configuration has the global window-size at manual: tmux 3.3a
// dies there of each new window, and takes all sessions of the server along. Only for as long as the commands take is the
// option another one. A pane that is nowhere is the target, so that tmux looks at the global option and not at that of a
// window.
func aroundManual(commands ...command) []command {
	if len(commands) == 0 {
		return nil
	}
	const nowhere, was = "%999999999", "@paw_window_size"
	set := func(arguments string) string { return unaliased("set-option") + " -g " + arguments }
	before := command{"if-shell", "-F", "-t", nowhere, "#{==:#{window-size},manual}",
		set("-w window-size latest") + " ; " + set(was+" manual")}
	after := command{"if-shell", "-F", "-t", nowhere, "#{==:#{" + was + "},manual}",
		set("-w window-size manual") + " ; " + set("-u "+was)}
	return append(append([]command{before}, commands...), after)
}
