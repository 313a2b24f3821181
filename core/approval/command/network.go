package command

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func networkTools() map[string]handler {
	return map[string]handler{
		"curl":                        curl,
		"wget wget2 aria2c axel":      wget,
		"http https xh httpie curlie": httpie,
		"nc ncat netcat nc.openbsd nc.traditional socat telnet":             connect,
		"ssh mosh autossh sshpass ssh-copy-id slogin rsh rlogin":            ssh,
		"ping ping6 dig nslookup host traceroute tracepath mtr whois drill": lookup,
		"openssl": openssl,
	}
}

// curlSettings are options of curl that change what it does as a whole.
func (w *walker) curlSettings(o options) {
	for _, v := range o.values("K", "config") {
		w.add(NetOut, LevelSensitive, v.text, "the options of curl stand in "+v.text)
	}
	for _, v := range o.values("x", "proxy", "preproxy", "socks5", "socks5-hostname", "socks4", "socks4a", "doh-url") {
		if v.text != "" && !localhost(v.text) {
			w.add(NetOut, LevelSensitive, v.text, "what curl sends goes through "+v.text)
		}
	}
	for _, v := range o.values("w", "write-out") {
		if strings.Contains(v.text, "%output{") || strings.HasPrefix(v.text, "@") && w.place(part(v, v.text[1:])).kind != placeProject {
			w.add(Write, LevelSensitive, v.text, "curl writes a file that its format names")
		}
	}
	if o.has("engine") {
		w.add(Exec, LevelAlways, "engine", "curl loads a library")
	}
	for _, v := range o.values("output-dir") {
		w.writes(v, "writes")
	}
}

func curl(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("curl.options"), false)
	if o.has("version", "V", "help", "h", "manual") && len(o.operands) == 0 {
		return
	}
	w.curlSettings(o)
	if o.has("n", "netrc", "netrc-optional", "netrc-file") {
		w.add(Credential, LevelSensitive, "netrc", "curl sends the password that .netrc keeps for the host")
	}
	if o.has("unix-socket", "abstract-unix-socket") {
		w.add(Privilege, LevelAlways, "", "it talks to a program of this machine through a socket")
	}
	var saved []field
	for _, s := range o.set {
		switch {
		case s.name == "o" || s.name == "output":
			saved = append(saved, s.value)
		case s.name == "O" || s.name == "remote-name" || s.name == "remote-name-all" || s.name == "J":
			saved = append(saved, w.remoteNames(o.operands)...)
		case isOneOf(wordList("curl.writes"), s.name):
			w.outputs([]field{s.value})
		}
	}
	w.outputs(saved)
	urls := append(append([]field(nil), o.operands...), o.values("url")...)
	w.sends(o, urls)
	w.fetches(urls)
	if len(saved) == 0 {
		w.out.net, w.out.any = true, true
	}
}

// remoteNames are the files that -O makes.
func (w *walker) remoteNames(urls []field) []field {
	var out []field
	for _, u := range urls {
		name := u.text[strings.LastIndexByte(u.text, '/')+1:]
		name, _, _ = strings.Cut(name, "?")
		if name == "" {
			name = "download"
		}
		out = append(out, field{text: name, dyn: u.dyn})
	}
	return out
}

// sends asks about data that leaves the machine.
func (w *walker) sends(o options, urls []field) {
	method := ""
	if v := o.values("X", "request"); len(v) > 0 {
		method = strings.ToUpper(v[0].text)
	}
	body, file := w.bodies(o)
	if o.has("Q", "quote") {
		method = "QUOTE"
	}
	if o.has("G", "get") && !file {
		body = false
	}
	local := len(urls) > 0
	for _, u := range urls {
		local = local && localhost(u.text)
	}
	switch {
	case w.in.any && file, w.in.secret:
		w.add(NetOut, LevelSensitive, first(urls), "sends what it is handed to "+first(urls))
	case file && !local:
		w.add(NetOut, LevelSensitive, first(urls), "sends a file to "+first(urls))
	case local && !file && method != "DELETE":
	case body || method != "" && !isOneOf("GET HEAD OPTIONS", method):
		w.add(NetOut, LevelSensitive, first(urls), "sends data to "+first(urls))
	}
}

// bodies reports whether curl is given data to send, and whether that comes from a file.
func (w *walker) bodies(o options) (body, file bool) {
	for _, s := range o.set {
		if !isOneOf(wordList("curl.sends"), s.name) {
			continue
		}
		body = true
		w.out.secret = w.out.secret || s.value.from.secret
		v := s.value.text
		switch s.name {
		case "T", "upload-file":
			file = true
		case "data-raw", "form-string":
		case "data-urlencode":
			file = file || strings.Contains(v, "@")
		default:
			file = file || strings.HasPrefix(v, "@") || strings.Contains(v, "=@") || strings.Contains(v, "=<")
		}
	}
	return body, file
}

func first(fs []field) string {
	if len(fs) == 0 {
		return "a host that is known only when it runs"
	}
	return strings.ReplaceAll(fs[0].text, unknown, "…")
}

// fetches notes where a program connects to, and what is strange about that.
func (w *walker) fetches(urls []field) {
	if w.out.secret {
		w.add(NetOut, LevelSensitive, first(urls), "sends a secret to "+first(urls))
	}
	if len(urls) == 0 {
		w.add(NetIn, LevelStandard, "", "fetches from the network")
	}
	w.nearby = len(urls) > 0 && !slices.ContainsFunc(urls, func(u field) bool { return !localAddress(u.text) })
	for _, u := range urls {
		switch host := hostOf(u.text); {
		case strings.HasPrefix(u.text, "file:"):
			w.reads(field{text: "/" + strings.TrimLeft(strings.TrimPrefix(u.text, "file:"), "/")}, true)
			continue
		case metadata(host):
			w.add(Credential, LevelSensitive, u.text, "asks "+host+" for the keys of this machine")
		case hasLookalikes(host):
			w.add(Hidden, LevelAlways, host, "the name of the host "+host+" holds letters that can pass for others")
		case engine(u.text):
			w.add(Privilege, LevelAlways, u.text, "it talks to a container engine: that is as good as root")
		case scheme(u.text) != "" && !isOneOf("http https ftp ftps", scheme(u.text)):
			w.add(NetOut, LevelSensitive, u.text, "it speaks "+scheme(u.text)+" with "+host)
		}
		w.add(NetIn, LevelStandard, u.text, "fetches "+strings.ReplaceAll(u.text, unknown, "…"))
	}
}

func scheme(u string) string {
	s, _, ok := strings.Cut(u, "://")
	if !ok || strings.Contains(s, unknown) {
		return ""
	}
	return strings.ToLower(s)
}

func hostOf(u string) string {
	if !strings.Contains(u, "://") {
		u = "http://" + u
	}
	p, err := url.Parse(u)
	if err != nil {
		return u
	}
	return p.Hostname()
}

func localhost(u string) bool {
	h := dotted(hostOf(u))
	return h == "localhost" || strings.HasPrefix(h, "127.") || h == "::1" || h == "0.0.0.0" || strings.HasSuffix(h, ".localhost")
}

// metadata reports whether a host gives out the keys of a cloud machine.
func metadata(h string) bool {
	h = dotted(h)
	return strings.HasPrefix(h, "169.254.") || h == "metadata.google.internal" || h == "metadata" || h == "100.100.100.200" || h == "fd00:ec2::254" || h == "2852039166" || h == "0xa9fea9fe"
}

// dotted is an address as people write it, where h is one number, or has octal or hexadecimal
// parts, as the C library takes them.
func dotted(h string) string {
	h = strings.ToLower(h)
	parts := strings.Split(h, ".")
	if h == "" || len(parts) > 4 || strings.ContainsAny(h, ":ghijklmnopqrstuvwyz-_") {
		return h
	}
	var v uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		if err != nil {
			return h
		}
		if i == len(parts)-1 {
			v = v<<(8*(5-len(parts))) | n
		} else {
			v = v<<8 | n
		}
	}
	return fmt.Sprintf("%d.%d.%d.%d", v>>24&255, v>>16&255, v>>8&255, v&255)
}

// engine reports whether an address is the port of a container engine.
func engine(u string) bool {
	return strings.Contains(u, ":2375") || strings.Contains(u, ":2376") || strings.Contains(u, ":10250") || strings.Contains(u, ":2379")
}

func wget(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("wget.options"), false)
	if o.has("version", "V", "help", "h") && len(o.operands) == 0 {
		return
	}
	w.wgetSettings(c, o)
	stdout := false
	saved := o.values("O", "output-document")
	for _, f := range saved {
		stdout = stdout || f.text == "-" || f.text == "/dev/stdout"
	}
	switch dir := o.values("P", "directory-prefix", "d", "dir"); {
	case len(saved) > 0:
		w.outputs(saved)
	case len(dir) > 0:
		w.outputs(dir)
	case !o.has("spider"):
		w.outputs(w.remoteNames(o.operands))
	}
	w.outputs(o.values("o", "output-file", "a", "append-output"))
	w.fetches(o.operands)
	if stdout || o.has("q") && strings.Contains(joinedText(c.args), "O-") {
		w.out.net, w.out.any = true, true
	}
}

// wgetSettings are options of wget and aria2c that run programs, send data or change how they work.
func (w *walker) wgetSettings(c cmd, o options) {
	for _, s := range o.set {
		if strings.HasPrefix(s.name, "on-download") || strings.HasPrefix(s.name, "on-bt") || s.name == "config" || s.name == "conf-path" {
			w.add(Exec, LevelAlways, s.name, c.name+" is given settings or a program to run")
		}
	}
	if o.has("use-askpass") {
		w.add(Exec, LevelAlways, "", "wget runs a program that asks for a password")
	}
	for _, v := range o.values("e", "execute") {
		w.add(NetOut, LevelSensitive, v.text, "wget is given the setting "+v.text)
	}
	if o.has("post-data", "post-file", "body-data", "body-file") || o.has("method") {
		w.add(NetOut, LevelSensitive, first(o.operands), "sends data to "+first(o.operands))
	}
}

func joinedText(args []field) string {
	return " " + line(args).text
}

func httpie(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("httpie.options"), false)
	w.outputs(o.values("o", "output"))
	rest := o.operands
	method := "GET"
	if len(rest) > 0 && strings.ToUpper(rest[0].text) == rest[0].text && strings.Trim(rest[0].text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		method, rest = rest[0].text, rest[1:]
	}
	body := false
	for _, a := range o.after(1) {
		body = body || strings.Contains(a.text, "=") && !strings.Contains(a.text, "==") || strings.Contains(a.text, "@")
	}
	if method != "GET" && method != "HEAD" && method != "OPTIONS" || body || w.in.any {
		w.add(NetOut, LevelSensitive, first(rest), "sends data to "+first(rest))
	}
	if len(rest) > 1 {
		rest = rest[:1]
	}
	w.fetches(rest)
	w.out.net, w.out.any = true, true
}

// connect is nc, socat and telnet.
func connect(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("nc.options"), false)
	if o.has("h", "help", "version", "V") && len(o.operands) == 0 {
		return
	}
	if o.has("z") && !w.in.any && !o.has("e", "c") {
		w.add(NetIn, LevelStandard, operand(c), "tries whether "+operand(c)+" answers")
		return
	}
	why := "it opens a connection that can carry anything"
	for _, v := range o.values("e", "c") {
		why = "it hands " + v.text + " to the network"
	}
	for _, a := range o.operands {
		if strings.Contains(strings.ToUpper(a.text), "EXEC:") || strings.Contains(strings.ToUpper(a.text), "SYSTEM:") {
			why = "it hands a program to the network"
		}
	}
	w.add(NetOut, LevelAlways, operand(c), why)
	w.out.net, w.out.any = true, true
}

func ssh(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("ssh.options"), true)
	if o.has("V", "version") && len(o.operands) == 0 || o.has("Q", "G") {
		return
	}
	for _, v := range o.values("o") {
		name, value, _ := strings.Cut(v.text, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "proxycommand", "localcommand", "permitlocalcommand", "knownhostscommand", "pkcs11provider":
			w.add(Exec, LevelAlways, v.text, "ssh runs "+value+" on this machine")
			w.walkInnerText(part(v, value))
		}
	}
	w.add(NetOut, LevelSensitive, o.first(), "it logs in to another machine: "+o.first())
	if rest := o.after(1); len(rest) > 0 {
		w.joined(rest)
	}
	w.out.net, w.out.any = true, true
}

func lookup(w *walker, c cmd) {
	for _, a := range c.args {
		if a.from.secret {
			w.add(NetOut, LevelSensitive, a.text, "it puts a secret into a name that it asks for")
		}
	}
	w.add(NetIn, LevelStandard, operand(c), "asks the network about "+operand(c))
}

func openssl(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("openssl.options"), false)
	w.outputs(o.values("out", "keyout"))
	if operand(c) == "engine" || len(o.values("engine")) > 0 || len(o.values("config")) > 0 && w.place(o.values("config")[0]).kind != placeProject {
		w.add(Exec, LevelAlways, operand(c), "openssl loads a library")
	}
	for _, v := range append(o.values("in"), o.values("inkey", "key")...) {
		w.reads(v, true)
	}
	switch verb := operand(c); verb {
	case "s_client":
		if w.in.any && !w.in.plain {
			w.add(NetOut, LevelAlways, verb, "it opens a connection that can carry anything")
		}
		w.add(NetIn, LevelStandard, "", "opens a connection")
		w.out.net, w.out.any = true, true
	case "s_server":
		w.add(NetOut, LevelAlways, verb, "it listens on the network")
	case "enc", "base64", "aes-256-cbc", "rsautl", "smime", "cms":
		if o.has("d", "D", "decrypt") {
			w.out.decoded = true
		}
		w.passOnFiltered()
	}
	if o.has("engine", "provider-path") {
		w.add(Exec, LevelAlways, "", "openssl loads code")
	}
}
