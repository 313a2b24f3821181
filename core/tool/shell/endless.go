package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is one simple command: its words, as far as they are literal.
type call struct {
	words      []string
	background bool // ends in &
}

// parse lists the simple commands of a shell line. What does not parse gives none: the shell will say what is wrong.
func parse(command string) []call {
	if len(command) > 64<<10 {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	var calls []call
	syntax.Walk(file, func(n syntax.Node) bool {
		if st, ok := n.(*syntax.Stmt); ok {
			c, simple := st.Cmd.(*syntax.CallExpr)
			switch {
			case simple && len(c.Args) > 0:
				calls = append(calls, call{literal(c.Args), st.Background})
			case st.Background:
				calls = append(calls, call{nil, true})
			}
		}
		return true
	})
	return calls
}

// literal returns the words without quotes; one that needs the shell to be known becomes "".
func literal(args []*syntax.Word) []string {
	var out []string
	for _, w := range args {
		text := ""
		for _, p := range w.Parts {
			switch p := p.(type) {
			case *syntax.Lit:
				text += p.Value
			case *syntax.SglQuoted:
				text += p.Value
			case *syntax.DblQuoted:
				if len(p.Parts) == 1 {
					if l, ok := p.Parts[0].(*syntax.Lit); ok {
						text += l.Value
					}
				}
			}
		}
		out = append(out, text)
	}
	return out
}

// neverEnds says why a foreground command would hang or escape, or "" when nothing points to it. It is advice for a
// model, no guard.
func neverEnds(command string) string {
	calls := parse(command)
	waits := slices.ContainsFunc(calls, func(c call) bool { return first(c.words) == "wait" })
	for _, c := range calls {
		switch name := path.Base(first(c.words)); {
		case c.background && !waits:
			return "The command puts something into the background with &: nobody would see its output or end it."
		case slices.Contains([]string{"nohup", "setsid", "disown"}, name) && !asksHelp(c.words):
			return name + " lets a process escape: nobody would see its output or end it."
		case serves(c.words):
			return "This starts something that runs until it is stopped (" + strings.Join(c.words[:min(3, len(c.words))], " ") + ")."
		}
	}
	return ""
}

func asksHelp(words []string) bool {
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.Contains([]string{"-h", "--help", "help", "-V", "-v", "--version", "version"}, w)
	})
}

// serves reports whether words start a known server or watcher.
func serves(words []string) bool {
	words = unwrap(words)
	if len(words) == 0 || asksHelp(words) {
		return false
	}
	words[0] = path.Base(words[0])
	has := func(flags ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(flags, w) })
	}
	switch words[0] {
	case "npm", "pnpm", "yarn", "bun", "deno":
		return len(words) > 1 && runsServer(words[1:])
	case "docker", "podman", "docker-compose":
		up := hasPrefix(words, "docker compose up") || hasPrefix(words, "podman compose up") || hasPrefix(words, "docker-compose up")
		return up && !has("-d", "--detach", "--wait")
	case "vite":
		return !has("build", "optimize")
	case "tail":
		return has("-f", "-F", "--follow")
	case "manage.py":
		return has("runserver")
	}
	return slices.ContainsFunc(servers(), func(p string) bool { return hasPrefix(words, p) })
}

// runsServer knows the usual script names of JavaScript projects.
func runsServer(words []string) bool {
	if words[0] == "run" || words[0] == "run-script" {
		words = words[1:]
	}
	return len(words) > 0 && slices.Contains([]string{"dev", "start", "serve", "watch", "preview", "develop"}, words[0])
}

func servers() []string {
	return []string{
		"uvicorn", "gunicorn", "hypercorn", "daphne", "waitress-serve", "http.server", "flask run", "next dev", "next start", "nuxt dev", "ng serve",
		"astro dev", "remix dev", "webpack serve", "webpack-dev-server", "nodemon", "live-server", "http-server", "serve", "rails server", "rails s",
		"jekyll serve", "hugo server", "mkdocs serve", "jupyter notebook", "jupyter lab", "streamlit run", "redis-server", "mongod", "caddy run",
		"kubectl port-forward", "php -S", "watch", "celery worker", "air", "gradio",
	}
}

// unwrap drops what only starts another program: env, sudo, npx, python -m and the like. The copy may be changed.
func unwrap(words []string) []string {
	words = slices.Clone(words)
	for range 8 {
		n := 0
		for _, p := range []string{
			"env", "sudo", "time", "exec", "command", "npx", "bunx", "uv run", "poetry run", "pipenv run", "python -m", "python3 -m", "pnpm dlx",
			"pnpm exec", "python", "python3", "node",
		} {
			if hasPrefix(words, p) {
				n = len(strings.Fields(p))
				break
			}
		}
		if n == 0 {
			return words
		}
		words = words[n:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") && words[0] != "-m" || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
		if first(words) == "-m" {
			words = words[1:]
		}
	}
	return words
}
