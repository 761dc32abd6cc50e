package orchestrator

// forced is whether the user forces something, and the command that does.
type forced struct {
	yes     bool
	command string
}

// commitAlone is the commit of a turn, where that is all there is of a state at its begin or end: what was not committed
// then is not known, because its snapshot was over the budget or failed. It is taken by force only, with a note.
func (p *Paw) commitAlone(agentName string, number int, side, commit string, byForce forced) (string, error) {
	if commit == "" {
		return "", failf(KindError, "turn %d of %s: there is no snapshot of its %s", number, agentName, side)
	}
	refused := failf(KindRefused, "turn %d of %s: there is no snapshot of its %s, only its commit is known", number, agentName, side)
	if !byForce.yes {
		return "", refused.hint("%s", byForce.command)
	}
	p.note("%s", refused.Message)
	return commit, nil
}
