package agent

import (
	"context"
	"errors"
	"strings"

	"cluade/internal/policy"
	"cluade/tools"
)

// The tools that change what the agent owns. They are not in tools because the
// transcript is nobody else's.

// withSessionTools puts them where the model is told of them: before the tools
// that bring in others, as skill.
func (a *Agent) withSessionTools(set tools.Set) tools.Set {
	at := 0
	for at < len(set) && set[at].Name != "skill" {
		at++
	}
	return append(append(set[:at:at], a.compactTool()), set[at:]...)
}

const compactName = "compact"

// compactTool takes the model's summary. What is to be done with it waits for
// the end of the step, so that no call of the same step loses its result.
func (a *Agent) compactTool() *tools.Tool {
	return &tools.Tool{
		Name:   compactName,
		Desc:   "Replace the conversation by your summary: task, paths, decisions, what remains.",
		Params: `{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}`,
		Effect: policy.Session,
		Subject: func(_ *tools.Env, args *tools.Args) (policy.Subject, error) {
			if strings.TrimSpace(args.Text("summary")) == "" {
				return policy.Subject{}, errors.New("the summary is empty; nothing was compacted")
			}
			return policy.Subject{}, nil
		},
		Run: func(_ context.Context, _ *tools.Env, args *tools.Args) (tools.Result, error) {
			return tools.Result{Text: compactLater}, a.takeSummary(args.Text("summary"))
		},
	}
}
