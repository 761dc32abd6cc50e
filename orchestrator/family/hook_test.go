package family_test

import (
	"paw/orchestrator"
	"paw/orchestrator/family"
)

func init() { family.RunHook(orchestrator.Hook) }
