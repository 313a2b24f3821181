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
		"curl":                        judgeCurl,
		"wget wget2 aria2c axel":      judgeWget,
		"http https xh httpie curlie": judgeHTTPie,
		"nc ncat netcat nc.openbsd nc.traditional socat telnet":             judgeConnect,
		"ssh mosh autossh sshpass ssh-copy-id slogin rsh rlogin":            judgeSSH,
		"ping ping6 dig nslookup host traceroute tracepath mtr whois drill": judgeLookup,
		"openssl": judgeOpenSSL,
	}
}

// curlSettings are options of curl that change what it does as a whole.
func (w *walker) curlSettings(o options) {
	for _, v := range o.valuesOf("K", "config") {
		w.addEffect(NetOut, LevelSensitive, v.text, "the options of curl stand in "+v.text)
	}
	for _, v := range o.valuesOf("x", "proxy", "preproxy", "socks5", "socks5-hostname", "socks4", "socks4a", "doh-url") {
		if v.text != "" && !isLocalhost(v.text) {
			w.addEffect(NetOut, LevelSensitive, v.text, "what curl sends goes through "+v.text)
		}
	}
	for _, v := range o.valuesOf("w", "write-out") {
		if strings.Contains(v.text, "%output{") || strings.HasPrefix(v.text, "@") && w.placeOf(partOf(v, v.text[1:])).kind != placeProject {
			w.addEffect(Write, LevelSensitive, v.text, "curl writes a file that its format names")
		}
	}
	if o.hasOption("engine") {
		w.addEffect(Exec, LevelAlways, "engine", "curl loads a library")
	}
	for _, v := range o.valuesOf("output-dir") {
		w.addWrite(v, "writes")
	}
}

func judgeCurl(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("curl.options"), false)
	if o.hasOption("version", "V", "help", "h", "manual") && len(o.operands) == 0 {
		return
	}
	w.curlSettings(o)
	if o.hasOption("n", "netrc", "netrc-optional", "netrc-file") {
		w.addEffect(Credential, LevelSensitive, "netrc", "curl sends the password that .netrc keeps for the host")
	}
	if o.hasOption("unix-socket", "abstract-unix-socket") {
		w.addEffect(Privilege, LevelAlways, "", "it talks to a program of this machine through a socket")
	}
	var saved []field
	for _, s := range o.set {
		switch {
		case s.name == "o" || s.name == "output":
			saved = append(saved, s.value)
		case s.name == "O" || s.name == "remote-name" || s.name == "remote-name-all" || s.name == "J":
			saved = append(saved, w.remoteNames(o.operands)...)
		case isOneOf(wordList("curl.writes"), s.name):
			w.addOutputs([]field{s.value})
		}
	}
	w.addOutputs(saved)
	urls := append(append([]field(nil), o.operands...), o.valuesOf("url")...)
	w.judgeUpload(o, urls)
	w.addFetch(urls)
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

// judgeUpload asks about data that leaves the machine.
func (w *walker) judgeUpload(o options, urls []field) {
	method := ""
	if v := o.valuesOf("X", "request"); len(v) > 0 {
		method = strings.ToUpper(v[0].text)
	}
	body, file := w.hasBody(o)
	if o.hasOption("Q", "quote") {
		method = "QUOTE"
	}
	if o.hasOption("G", "get") && !file {
		body = false
	}
	local := len(urls) > 0
	for _, u := range urls {
		local = local && isLocalhost(u.text)
	}
	switch {
	case w.in.any && file, w.in.secret:
		w.addEffect(NetOut, LevelSensitive, firstHost(urls),
			"sends what it is handed to "+firstHost(urls))
	case file && !local:
		w.addEffect(NetOut, LevelSensitive, firstHost(urls), "sends a file to "+firstHost(urls))
	case body || method != "" && !isOneOf("GET HEAD OPTIONS", method):
		level := LevelSensitive
		if local && !file && method != "DELETE" {
			level = LevelStandard
		}
		w.addEffect(NetOut, level, firstHost(urls), "sends data to "+firstHost(urls))
	}
}

// hasBody reports whether curl is given data to send, and whether that comes from a file.
func (w *walker) hasBody(o options) (body, file bool) {
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

func firstHost(fs []field) string {
	if len(fs) == 0 {
		return "a host that is known only when it runs"
	}
	return strings.ReplaceAll(fs[0].text, unknown, "…")
}

// addFetch notes where a program connects to, and what is strange about that.
func (w *walker) addFetch(urls []field) {
	if w.out.secret {
		w.addEffect(NetOut, LevelSensitive, firstHost(urls), "sends a secret to "+firstHost(urls))
	}
	if len(urls) == 0 {
		w.addEffect(NetIn, LevelStandard, "", "fetches from the network")
	}
	w.nearby = len(urls) > 0 && !slices.ContainsFunc(urls, func(u field) bool { return !localAddress(u.text) })
	for _, u := range urls {
		switch host := hostOf(u.text); {
		case strings.HasPrefix(u.text, "file:"):
			w.addRead(field{text: "/" + strings.TrimLeft(strings.TrimPrefix(u.text, "file:"), "/")}, true)
			continue
		case isMetadataHost(host):
			w.addEffect(Credential, LevelSensitive, u.text, "asks "+host+" for the keys of this machine")
		case hasLookalikes(host):
			w.addEffect(Hidden, LevelAlways, host, "the name of the host "+host+" holds letters that can pass for others")
		case isEnginePort(u.text):
			w.addEffect(Privilege, LevelAlways, u.text,
				"it talks to a container engine: that is as good as root")
		case schemeOf(u.text) != "" && !isOneOf("http https ftp ftps", schemeOf(u.text)):
			w.addEffect(NetOut, LevelSensitive, u.text, "it speaks "+schemeOf(u.text)+" with "+host)
		}
		w.addEffect(NetIn, LevelStandard, u.text, "fetches "+strings.ReplaceAll(u.text, unknown, "…"))
	}
}

func schemeOf(u string) string {
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

func isLocalhost(u string) bool {
	h := dottedAddress(hostOf(u))
	return h == "localhost" || strings.HasPrefix(h, "127.") || h == "::1" || h == "0.0.0.0" || strings.HasSuffix(h, ".localhost")
}

// isMetadataHost reports whether a host gives out the keys of a cloud machine.
func isMetadataHost(h string) bool {
	h = dottedAddress(h)
	return strings.HasPrefix(h, "169.254.") || h == "metadata.google.internal" || h == "metadata" || h == "100.100.100.200" || h == "fd00:ec2::254" || h == "2852039166" || h == "0xa9fea9fe"
}

// dottedAddress is an address as people write it, where h is one number, or has octal or
// hexadecimal parts, as the C library takes them.
func dottedAddress(h string) string {
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

// isEnginePort reports whether an address is the port of a container engine.
func isEnginePort(u string) bool {
	return strings.Contains(u, ":2375") || strings.Contains(u, ":2376") || strings.Contains(u, ":10250") || strings.Contains(u, ":2379")
}

func judgeWget(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("wget.options"), false)
	if o.hasOption("version", "V", "help", "h") && len(o.operands) == 0 {
		return
	}
	w.wgetSettings(c, o)
	stdout := false
	saved := o.valuesOf("O", "output-document")
	for _, f := range saved {
		stdout = stdout || f.text == "-" || f.text == "/dev/stdout"
	}
	switch dir := o.valuesOf("P", "directory-prefix", "d", "dir"); {
	case len(saved) > 0:
		w.addOutputs(saved)
	case len(dir) > 0:
		w.addOutputs(dir)
	case !o.hasOption("spider"):
		w.addOutputs(w.remoteNames(o.operands))
	}
	w.addOutputs(o.valuesOf("o", "output-file", "a", "append-output"))
	w.addFetch(o.operands)
	if stdout || o.hasOption("q") && strings.Contains(joinedText(c.args), "O-") {
		w.out.net, w.out.any = true, true
	}
}

// wgetSettings are options of wget and aria2c that run programs, send data or change how they work.
func (w *walker) wgetSettings(c cmd, o options) {
	for _, s := range o.set {
		if strings.HasPrefix(s.name, "on-download") || strings.HasPrefix(s.name, "on-bt") || s.name == "config" || s.name == "conf-path" {
			w.addEffect(Exec, LevelAlways, s.name, c.name+" is given settings or a program to run")
		}
	}
	if o.hasOption("use-askpass") {
		w.addEffect(Exec, LevelAlways, "", "wget runs a program that asks for a password")
	}
	for _, v := range o.valuesOf("e", "execute") {
		w.addEffect(NetOut, LevelSensitive, v.text, "wget is given the setting "+v.text)
	}
	if o.hasOption("post-data", "post-file", "body-data", "body-file") || o.hasOption("method") {
		w.addEffect(NetOut, LevelSensitive, firstHost(o.operands), "sends data to "+firstHost(o.operands))
	}
}

func joinedText(args []field) string {
	return " " + joinWords(args).text
}

func judgeHTTPie(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("httpie.options"), false)
	w.addOutputs(o.valuesOf("o", "output"))
	rest := o.operands
	method := "GET"
	if len(rest) > 0 && strings.ToUpper(rest[0].text) == rest[0].text && strings.Trim(rest[0].text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		method, rest = rest[0].text, rest[1:]
	}
	body := false
	for _, a := range o.operandsAfter(1) {
		body = body || strings.Contains(a.text, "=") && !strings.Contains(a.text, "==") || strings.Contains(a.text, "@")
	}
	if method != "GET" && method != "HEAD" && method != "OPTIONS" || body || w.in.any {
		w.addEffect(NetOut, LevelSensitive, firstHost(rest), "sends data to "+firstHost(rest))
	}
	if len(rest) > 1 {
		rest = rest[:1]
	}
	w.addFetch(rest)
	w.out.net, w.out.any = true, true
}

// judgeConnect judges nc, socat and telnet.
func judgeConnect(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("nc.options"), false)
	if o.hasOption("h", "help", "version", "V") && len(o.operands) == 0 {
		return
	}
	if o.hasOption("z") && !w.in.any && !o.hasOption("e", "c") {
		w.addEffect(NetIn, LevelStandard, firstOperand(c), "tries whether "+firstOperand(c)+" answers")
		return
	}
	why := "it opens a connection that can carry anything"
	for _, v := range o.valuesOf("e", "c") {
		why = "it hands " + v.text + " to the network"
	}
	for _, a := range o.operands {
		if strings.Contains(strings.ToUpper(a.text), "EXEC:") || strings.Contains(strings.ToUpper(a.text), "SYSTEM:") {
			why = "it hands a program to the network"
		}
	}
	w.addEffect(NetOut, LevelAlways, firstOperand(c), why)
	w.out.net, w.out.any = true, true
}

func judgeSSH(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("ssh.options"), true)
	if o.hasOption("V", "version") && len(o.operands) == 0 || o.hasOption("Q", "G") {
		return
	}
	for _, v := range o.valuesOf("o") {
		name, value, _ := strings.Cut(v.text, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "proxycommand", "localcommand", "permitlocalcommand", "knownhostscommand", "pkcs11provider":
			w.addEffect(Exec, LevelAlways, v.text, "ssh runs "+value+" on this machine")
			w.walkInnerText(partOf(v, value))
		}
	}
	w.addEffect(NetOut, LevelSensitive, o.firstOperand(),
		"it logs in to another machine: "+o.firstOperand())
	if rest := o.operandsAfter(1); len(rest) > 0 {
		w.runJoined(rest)
	}
	w.out.net, w.out.any = true, true
}

func judgeLookup(w *walker, c cmd) {
	for _, a := range c.args {
		if a.from.secret {
			w.addEffect(NetOut, LevelSensitive, a.text, "it puts a secret into a name that it asks for")
		}
	}
	w.addEffect(NetIn, LevelStandard, firstOperand(c), "asks the network about "+firstOperand(c))
}

func judgeOpenSSL(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("openssl.options"), false)
	w.addOutputs(o.valuesOf("out", "keyout"))
	if firstOperand(c) == "engine" || len(o.valuesOf("engine")) > 0 || len(o.valuesOf("config")) > 0 && w.placeOf(o.valuesOf("config")[0]).kind != placeProject {
		w.addEffect(Exec, LevelAlways, firstOperand(c), "openssl loads a library")
	}
	for _, v := range append(o.valuesOf("in"), o.valuesOf("inkey", "key")...) {
		w.addRead(v, true)
	}
	switch verb := firstOperand(c); verb {
	case "s_client":
		if w.in.any && !w.in.plain {
			w.addEffect(NetOut, LevelAlways, verb, "it opens a connection that can carry anything")
		}
		w.addEffect(NetIn, LevelStandard, "", "opens a connection")
		w.out.net, w.out.any = true, true
	case "s_server":
		w.addEffect(NetOut, LevelAlways, verb, "it listens on the network")
	case "enc", "base64", "aes-256-cbc", "rsautl", "smime", "cms":
		if o.hasOption("d", "D", "decrypt") {
			w.out.decoded = true
		}
		w.passOnFiltered()
	}
	if o.hasOption("engine", "provider-path") {
		w.addEffect(Exec, LevelAlways, "", "openssl loads code")
	}
}
