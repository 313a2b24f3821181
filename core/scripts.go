package core

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"hermes/core/childenv"
	"hermes/core/config"
	"hermes/core/execcode"
	"hermes/core/tool/code"
	"hermes/core/tool/shell"
)

// scriptsPart is what runs scripts. Before the first one nothing of it runs.
type scriptsPart struct {
	quiet
	a      *App
	engine *execcode.Engine
}

func (p *scriptsPart) Start(context.Context) error {
	a, paths := p.a, p.a.Config().Paths()
	homes := []string{paths.Home}
	if paths.Profile != "" {
		homes = append(homes, filepath.Dir(filepath.Dir(paths.Home))) // of all profiles
	}
	p.engine = execcode.New(execcode.Options{
		Env: func() []string { return ScriptEnv(a.Config(), os.Environ()) }, Python: func() string { return expandHome(a.Config().CodeExecution.Python) },
		Homes: homes, Pool: a.Pool, Clean: shell.Readable, Log: a.log, Cache: filepath.Join(paths.CacheDir, "scripts.json"),
	})
	return nil
}

func (p *scriptsPart) Close(context.Context) error {
	p.engine.Close()
	return nil
}

// ProbeScripts says what scripts would run on with these settings, by running an empty one.
func ProbeScripts(ctx context.Context, c *config.Config) (execcode.Report, error) {
	e := execcode.New(execcode.Options{
		Env: func() []string { return ScriptEnv(c, os.Environ()) }, Python: func() string { return expandHome(c.CodeExecution.Python) },
		Homes: []string{c.Paths().Home},
	})
	defer e.Close()
	return e.Probe(ctx, "")
}

// codeSettings are those of execute_code in effect.
func (a *App) codeSettings() code.Settings { return CodeSettings(a.Config()) }

// CodeSettings translates the section code_execution.
func CodeSettings(c *config.Config) code.Settings {
	x := c.CodeExecution
	l := execcode.Limits{
		Timeout: x.Timeout, Calls: x.MaxToolCalls, Stdout: x.MaxStdout, Stderr: x.MaxStderr, Memory: int64(x.MemoryMB) << 20,
		Procs: x.MaxProcesses, Kernels: x.MaxKernels, Idle: x.KernelIdle,
	}
	if x.MemoryMB == 0 {
		l.Memory = -1
	}
	return code.Settings{Mode: execcode.Mode(x.Mode), Limits: l}
}

// EnvRule is what the settings say about the environment of scripts.
func EnvRule(c *config.Config) childenv.Rule {
	r := childenv.Rule{Passthrough: c.Terminal.EnvPassthrough, Credentials: keyNames(c)}
	if c.Model.APIKeyEnv != "" {
		r.Credentials = append(r.Credentials, c.Model.APIKeyEnv)
	}
	for _, p := range c.Providers {
		if p.KeyEnv != "" {
			r.Credentials = append(r.Credentials, p.KeyEnv)
		}
	}
	return r
}

// ScriptEnv is the environment of scripts: what of ours passes, and what was let through by name
// and is in .env only.
func ScriptEnv(c *config.Config, environ []string) []string {
	rule := EnvRule(c)
	env, _ := rule.Clean(environ)
	for _, name := range rule.Passthrough {
		there := slices.ContainsFunc(env, func(kv string) bool { return len(kv) > len(name) && kv[:len(name)+1] == name+"=" })
		if ok, _ := rule.Judge(name); !ok || there {
			continue
		}
		if v, set := c.Secret(name); set {
			env = append(env, name+"="+v)
		}
	}
	return env
}
