package core

import (
	"context"
	_ "embed" // the script around a check
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes/core/approval"
	"hermes/core/event"
	"hermes/core/execcode"
	"hermes/core/intent"
	"hermes/core/learn"
)

//go:embed evals.py
var runCheck string

// Exit codes of evals.py, beside 0 and 1 of a check that ran.
const (
	unmade  = 97 // the world of the check cannot be made
	missing = 98 // it failed, and called a program that is not here
)

// tryCheck runs a check of a skill where it reaches nothing: in an empty folder, with no network
// and no variables of the person's. What the settings forbid does not run there either. The error
// is that it could not run to its end, which says nothing of the skill.
func (p *learnPart) tryCheck(ctx context.Context, t learn.Trial) (int, error) {
	report, err := p.scripts.engine.Probe(ctx, "")
	switch {
	case err != nil:
		return 0, err
	case report.Isolation.Landlock == 0 || !report.Isolation.Seccomp:
		return 0, errors.New("this machine cannot keep a check in: " + strings.Join(report.Isolation.Missing(), "; "))
	}
	if err := p.allowCheck(ctx, t.Script); err != nil {
		return 0, err
	}
	job, err := json.Marshal(map[string]any{"files": t.Files, "script": t.Script})
	if err != nil {
		return 0, err
	}
	res := p.scripts.engine.Run(ctx, execcode.Script{
		Mode: execcode.Strict, Limits: execcode.Limits{Timeout: t.Time, Stdout: 1 << 10, Stderr: 4 << 10, Procs: 128},
		Code: strings.Replace(runCheck, "JOB", fmt.Sprintf("%q", job), 1),
	})
	switch {
	case ctx.Err() != nil:
		return 0, errors.New("it was interrupted")
	case !res.Began():
		return 0, errors.New(res.Error)
	case res.ExitCode == unmade:
		return 0, errors.New("the world of the check cannot be made: " + res.Output)
	case res.Status == execcode.TimedOut:
		return 0, fmt.Errorf("it took longer than %s", t.Time)
	case res.ExitCode == missing:
		return 0, errors.New("this machine has no program " + strings.TrimSpace(res.Output))
	case res.ExitCode != 0 && res.ExitCode != 1:
		return 0, fmt.Errorf("it was ended from outside: exit code %d", res.ExitCode)
	}
	return res.ExitCode, nil
}

// allowCheck asks the gate as if nobody were there.
func (p *learnPart) allowCheck(ctx context.Context, script string) error {
	policy := p.a.Gate.Policy()
	policy.Unattended = true
	v, err := approval.New(policy, nil).Check(ctx, approval.Request{
		Dir: "/world", Project: "/world", Sandboxed: true, Sandbox: "strict", Detail: script,
		Intent: intent.Intent{Gist: "a check of a skill", Shell: &intent.Shell{Command: script}}, Publish: func(event.Event) {},
	})
	if err == nil && !v.Allowed {
		err = errors.New("it may not run unasked: " + v.Analysis.Reason)
	}
	return err
}
