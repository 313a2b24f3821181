package shell

import (
	"path"
	"slices"
	"strings"

	"hermes/core/shelltext"
)

// simpleCommands lists the simple commands of a shell line, also those that others start. What does
// not parse gives none: the shell will say what is wrong.
func simpleCommands(command string) []shelltext.Command {
	list, _ := shelltext.Commands(command)
	return list
}

// knownTexts are words as they are known; one that needs the shell to be known becomes "".
func knownTexts(words []shelltext.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if w.Known() {
			out[i] = w.Text
		}
	}
	return out
}

// neverEnds says why a foreground command would hang or escape, or "" when nothing points to it. It
// is advice for a model, no guard.
func neverEnds(command string) string {
	calls := simpleCommands(command)
	waits := slices.ContainsFunc(calls, func(c shelltext.Command) bool { return firstWord(knownTexts(c.Words)) == "wait" })
	for _, c := range calls {
		words := knownTexts(c.Words)
		switch name := path.Base(firstWord(words)); {
		case slices.Contains(c.Through, "timeout"): // it ends
		case c.Background && !waits:
			return "The command puts something into the background with &: nobody would see its output or end it."
		case slices.Contains([]string{"nohup", "setsid", "disown"}, name) && !asksHelp(words):
			return name + " lets a process escape: nobody would see its output or end it."
		case startsServer(words):
			return "This starts something that runs until it is stopped (" + strings.Join(words[:min(3, len(words))], " ") + ")."
		}
	}
	return ""
}

func asksHelp(words []string) bool {
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.Contains([]string{"-h", "--help", "help", "-V", "-v", "--version", "version"}, w)
	})
}

// startsServer reports whether words start a known server or watcher.
func startsServer(words []string) bool {
	words = dropLauncher(words)
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
	case "vite":
		return !has("build", "optimize")
	case "tail":
		return has("-f", "-F", "--follow")
	case "manage.py":
		return has("runserver")
	}
	starts := func(with string) bool { return hasPrefix(words, with) }
	if slices.ContainsFunc(composers, starts) {
		return !has("-d", "--detach", "--wait")
	}
	return slices.ContainsFunc(knownServers(), starts)
}

// composers show the output of services until they end, unless they are told not to wait for them.
var composers = []string{"docker compose up", "podman compose up", "docker-compose up"}

// runsServer knows the usual script names of JavaScript projects.
func runsServer(words []string) bool {
	if words[0] == "run" || words[0] == "run-script" {
		words = words[1:]
	}
	return len(words) > 0 && slices.Contains([]string{"dev", "start", "serve", "watch", "preview", "develop"}, words[0])
}

func knownServers() []string {
	return []string{
		"uvicorn", "gunicorn", "hypercorn", "daphne", "waitress-serve", "http.server", "flask run", "next dev", "next start", "nuxt dev", "ng serve",
		"astro dev", "remix dev", "webpack serve", "webpack-dev-server", "nodemon", "live-server", "http-server", "serve", "rails server", "rails s",
		"jekyll serve", "hugo server", "mkdocs serve", "jupyter notebook", "jupyter lab", "streamlit run", "redis-server", "mongod", "caddy run",
		"kubectl port-forward", "php -S", "watch", "celery worker", "air", "gradio",
	}
}

// dropLauncher drops what starts a program of the project or of a language: npx, python -m and the
// like. The copy may be changed.
func dropLauncher(words []string) []string {
	words = slices.Clone(words)
	for range 8 {
		n := 0
		for _, p := range []string{
			"npx", "bunx", "uv run", "poetry run", "pipenv run", "python -m", "python3 -m", "pnpm dlx",
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
		if firstWord(words) == "-m" {
			words = words[1:]
		}
	}
	return words
}
