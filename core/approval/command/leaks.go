package command

import (
	"net/netip"
	"slices"
	"strings"
)

// runWatched runs the handler of a program, and asks when what it sends over the network is what a
// file or a command says.
func (w *walker) runWatched(c cmd, h handler) {
	reached, nearby := w.reached, w.nearby
	w.reached, w.nearby = usesNetwork(c), false
	h(w, c)
	w.noteOutput(c)
	if w.reached && (!w.nearby || redirectsHosts(c.args)) {
		w.askSentSecrets(c)
	} else if !w.reached {
		w.askBuiltAddresses(c)
	}
	w.reached, w.nearby = reached || w.reached, nearby
}

// askSentSecrets asks about words of a program that speaks with the network.
func (w *walker) askSentSecrets(c cmd) {
	for _, a := range c.args {
		if a.from.data && (!a.from.list || a.text != unknown) {
			w.addEffect(NetOut, LevelSensitive, a.text, "it puts what a file or a command says into what "+c.name+" sends")
		}
	}
	for name := range strings.FieldsSeq(wordList("network.sent-variables")) {
		if w.heldBy(name, false).data {
			w.addEffect(NetOut, LevelSensitive, name, c.name+" sends the variable "+name+", which holds what a file or a command says")
		}
	}
	if w.in.data && !w.in.list && readsAddresses(c) {
		w.addEffect(NetOut, LevelSensitive, c.name, c.name+" takes what it asks the network for from what it is sent")
	}
	for _, f := range w.addressFiles(c) {
		w.addEffect(NetOut, LevelSensitive, f.text, c.name+" sends, or asks for, what stands in "+strings.ReplaceAll(f.text, unknown, "…"))
	}
}

// askBuiltAddresses asks about an address that holds what a file or a command says, as a word of
// any program that may fetch it: of the project, or one whose network nobody knows.
func (w *walker) askBuiltAddresses(c cmd) {
	if _, passes := passing[c.name]; passes || isOneOf(wordList("network.keeps"), c.name) || isOneOf(wordList("shell.quiet"), c.name) || w.funcs[c.name] != nil {
		return
	}
	for _, a := range c.args {
		if a.from.data && (!a.from.list || a.text != unknown) && buildsAddress(a.text) {
			w.addEffect(NetOut, LevelSensitive, a.text, "it puts what a file or a command says into an address that "+c.name+" is given")
		}
	}
}

// buildsAddress reports whether an address of another machine in a text is only known when it runs.
func buildsAddress(text string) bool {
	for word := range strings.FieldsSeq(text) {
		for _, rest, found := strings.Cut(word, "://"); found; _, rest, found = strings.Cut(rest, "://") {
			if strings.Contains(rest, unknown) && !localAddress(rest) {
				return true
			}
		}
	}
	return false
}

// redirectsHosts reports whether options send what is meant for one host to another.
func redirectsHosts(args []field) bool {
	return slices.ContainsFunc(args, func(a field) bool {
		name, _, _ := strings.Cut(a.text, "=")
		return isOneOf("-x --proxy --preproxy --resolve --connect-to --socks4 --socks4a --socks5 --socks5-hostname --doh-url --dns-servers -K --config --next", name) || a.dyn && strings.HasPrefix(a.text, unknown)
	})
}

// readsAddresses reports whether a program reads from its input what to ask for.
func readsAddresses(c cmd) bool {
	switch c.name {
	case "nslookup", "whois", "host", "telnet":
		return true
	case "dig", "drill", "wget", "aria2c", "wget2", "git", "docker", "podman":
		return slices.ContainsFunc(c.args, func(a field) bool {
			return isOneOf("- /dev/stdin --stdin", a.text) || a.text == "-i-" || a.text == "-f-"
		})
	}
	return false
}

// addressFiles are files that a program takes addresses from, or sends the text of, beside bodies
// of requests.
func (w *walker) addressFiles(c cmd) (out []field) {
	add := func(list ...field) {
		for _, f := range list {
			if f.text != "-" && !w.listsAddresses(f) {
				out = append(out, f)
			}
		}
	}
	switch c.name {
	case "wget", "wget2", "aria2c":
		add(parseOptions(c.args, "i input-file O o P header U", false).valuesOf("i", "input-file")...)
	case "dig", "drill", "kdig":
		add(parseOptions(c.args, "f b k p q t x y c", false).valuesOf("f")...)
	case "curl":
		o := parseOptions(c.args, wordList("curl.options")+" url-query variable expand-url expand-data expand-header proxy-header", false)
		for _, v := range o.valuesOf("H", "header", "proxy-header", "url", "url-query", "variable", "data-urlencode") {
			if name, _, ok := strings.Cut(v.text, "@"); ok && (name == "" || !strings.ContainsAny(name, ":/=. ")) {
				add(v)
			}
		}
	}
	return out
}

// usesNetwork reports whether a program speaks with the network although it only shows something,
// by its name and verb, or by an address among its words.
func usesNetwork(c cmd) bool {
	verbs := wordList("reaching." + c.name)
	if verbs == "*" {
		return true
	}
	for _, a := range c.args {
		if isOneOf(verbs, a.text) {
			return true
		}
		if isOneOf("ffmpeg ffprobe ffplay magick convert identify pandoc xmllint wkhtmltopdf", c.name) && (strings.Contains(a.text, "://") || strings.HasPrefix(a.text, unknown)) {
			return true
		}
	}
	return false
}

// localAddress reports whether an address is one of this machine, whatever follows the host.
func localAddress(u string) bool {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		u = rest
	}
	if end := strings.IndexAny(u, "/?#"); end >= 0 {
		u = u[:end]
	}
	return !strings.ContainsAny(u, unknown+`@\`) && isLocalhost("http://"+u)
}

// publicOnly reports whether all addresses among words are plain ones of the open network: what
// comes from there is not of this machine.
func publicOnly(args []field) bool {
	some := false
	for _, a := range args {
		if strings.Contains(a.text, "file:") {
			return false
		}
		if !strings.Contains(a.text, "://") {
			continue
		}
		head, _, _ := strings.Cut(a.text[strings.Index(a.text, "://")+3:], "/")
		host := hostOf("http://" + head)
		if _, err := netip.ParseAddr(dottedAddress(host)); err == nil || strings.Contains(head, unknown) || !strings.Contains(host, ".") {
			return false
		}
		for _, end := range []string{".local", ".internal", ".lan", ".localhost", ".home", ".corp", ".intranet", ".test"} {
			if strings.HasSuffix(host, end) {
				return false
			}
		}
		some = true
	}
	return some
}
