package command

import (
	"slices"
	"strings"
)

func containerHandlers() map[string]handler {
	return map[string]handler{
		"docker podman nerdctl":                                         judgeDocker,
		"docker-compose podman-compose":                                 func(w *walker, c cmd) { judgeCompose(w, c.args) },
		"terraform tofu terragrunt":                                     judgeTerraform,
		"aws gcloud az doctl linode-cli oci ibmcloud aliyun scw hcloud": judgeCloudTool,
	}
}

func judgeDocker(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("docker.options"), true)
	if o.hasOption("H", "host", "c", "context") {
		w.addEffect(NetOut, LevelSensitive, "", c.name+" works with another engine")
	}
	verb, rest, sub := o.firstOperand(), o.operandsAfter(1), secondOperand(o)
	if isOneOf(wordList("docker.groups"), verb) {
		verb, rest = verb+" "+sub, rest[min(1, len(rest)):]
	}
	kind, act, grouped := strings.Cut(verb, " ")
	if grouped && (kind == "container" || kind == "image") {
		verb = act
	}
	if dockerReads(verb, act, grouped) {
		return
	}
	switch {
	case isOneOf("run create", verb):
		w.dockerRun(rest)
	case verb == "exec":
		w.dockerExec(rest)
	case verb == "build", verb == "buildx build", verb == "buildx bake", grouped && kind == "image" && act == "build":
		w.dockerBuild(rest)
	case w.dockerReaches(c, verb, kind, rest):
	case dockerManages(verb, kind, act, grouped):
		w.addEffect(Run, LevelStandard, verb, c.name+" "+verb+" manages containers")
	case verb == "compose":
		judgeCompose(w, rest)
	case isOneOf("rm rmi prune", verb), grouped && isOneOf("rm prune remove", act):
		w.addEffect(Delete, LevelSensitive, joinedText(rest), c.name+" "+verb+" deletes containers, images or their data")
	case verb == "cp":
		w.dockerCopy(rest)
	case isOneOf("save export", verb):
		w.addOutputs(parseOptions(rest, "o output", false).valuesOf("o", "output"))
	case isOneOf("load import commit", verb):
		w.addEffect(Run, LevelStandard, verb, c.name+" "+verb+" makes an image")
	default:
		w.addEffect(NetOut, LevelSensitive, verb, c.name+" "+verb+" changes a registry, a cluster or the engine")
	}
}

// dockerReads reports whether a verb only shows something.
func dockerReads(verb, act string, grouped bool) bool {
	return verb == "" || isOneOf(wordList("docker.shows"), strings.TrimSpace(verb)) || grouped && isOneOf(wordList("docker.group-shows"), act)
}

// dockerManages reports whether a verb starts, stops or fetches, and destroys nothing.
func dockerManages(verb, kind, act string, grouped bool) bool {
	return isOneOf(wordList("docker.manages"), verb) || verb == "buildx create" || verb == "buildx use" ||
		grouped && isOneOf("network volume", kind) && isOneOf("create connect disconnect", act)
}

// dockerReaches are verbs that reach further than they look.
func (w *walker) dockerReaches(c cmd, verb, kind string, rest []field) bool {
	text := joinedText(rest)
	switch {
	case kind == "volume" && strings.Contains(text, "device="):
		w.addEffect(Privilege, LevelAlways, text, "the volume is a folder or device of the machine")
	case isOneOf("kill stop restart", verb) && namedByCommand(rest), verb == "update" && strings.Contains(text, "restart"), verb == "import" && strings.Contains(text, "://"):
		w.addEffect(System, LevelSensitive, verb, c.name+" "+verb+" reaches containers or images that the command does not name, or changes what starts by itself")
	default:
		return false
	}
	return true
}

// namedByCommand reports whether the containers are those that another command lists.
func namedByCommand(list []field) bool {
	for _, f := range list {
		if f.dyn && f.from.data {
			return true
		}
	}
	return false
}

func (w *walker) dockerCopy(args []field) {
	o := parseOptions(args, "", false)
	switch {
	case len(o.operands) != 2:
	case isRemotePath(o.operands[1].text):
		w.addRead(o.operands[0], true)
	default:
		w.addWrite(o.operands[1], "writes")
		_, inside, _ := strings.Cut(o.operands[0].text, ":")
		w.replacesIn([]field{{text: inside, dyn: true}}, o.operands[1])
	}
}

// walkInContainer walks a command in a container: its paths are not those of this machine.
func (w *walker) walkInContainer(args []field) {
	if len(args) == 0 {
		return
	}
	saved := w.ctx
	there := *w.ctx
	there.Local = false
	w.ctx = &there
	restore := w.openScope()
	w.runWords(args)
	restore()
	w.ctx = saved
}

func (w *walker) dockerExec(rest []field) {
	in := parseOptions(rest, wordList("docker.exec-options"), true)
	if in.hasOption("privileged") {
		w.addEffect(Privilege, LevelAlways, "", "it runs with all rights of the machine")
	}
	w.addEffect(Run, LevelStandard, in.firstOperand(),
		"runs a command in the container "+in.firstOperand())
	w.walkInContainer(in.operandsAfter(1))
}

func (w *walker) dockerRun(args []field) {
	o := parseOptions(args, wordList("docker.run-options"), true)
	mounted := false
	for _, s := range o.set {
		switch {
		case s.name == "privileged" && s.value.text != "false":
			w.addEffect(Privilege, LevelAlways, "--privileged",
				"the container has all rights of the machine")
		case isOneOf(wordList("docker.namespaces"), s.name) && s.value.text == "host":
			if s.name == "network" || s.name == "net" {
				w.addEffect(NetOut, LevelSensitive, "--"+s.name+"=host", "the container shares the network of the machine")
				continue
			}
			w.addEffect(Privilege, LevelAlways, "--"+s.name+"=host", "the container shares the "+s.name+" of the machine")
		case isOneOf(wordList("docker.rights"), s.name) && s.value.text != "no-new-privileges" && s.value.text != "no-new-privileges:true":
			w.addEffect(Privilege, LevelAlways, s.value.text, "the container gets rights with --"+s.name)
		case isOneOf("v volume mount", s.name):
			mounted = w.judgeMount(s.value) || mounted
		}
	}
	if v := valueOr(o, "", "restart"); v == "always" || v == "unless-stopped" {
		w.addEffect(Persist, LevelSensitive, "--restart="+v, "the container comes back whenever the machine starts")
	}
	w.addEffect(Run, LevelStandard, o.firstOperand(), "runs a container of "+o.firstOperand())
	if mounted {
		w.judgeMounted(o)
	}
}

// judgeMount asks about folders of the machine that a container gets; it reports whether the
// project is one.
func (w *walker) judgeMount(f field) bool {
	src, _, _ := strings.Cut(f.text, ":")
	if strings.Contains(f.text, "=") && strings.Contains(f.text, ",") {
		src = ""
		for p := range strings.SplitSeq(f.text, ",") {
			if name, v, _ := strings.Cut(p, "="); name == "source" || name == "src" {
				src = v
			}
			if p == "type=volume" || p == "type=tmpfs" {
				return p == "type=volume"
			}
		}
	}
	if src == "" || !strings.ContainsAny(src, "/.~") && !strings.Contains(src, unknown) {
		return src != "" && strings.Contains(f.text, ":") // a named volume: what is in it can be lost
	}
	at := partOf(f, src)
	switch p := w.placeOf(at); {
	case p.kind == placeSocket:
		w.addEffect(Privilege, LevelAlways, src, "the container gets the socket of the engine: that is as good as root")
	case p.kind == placeProject && !p.top:
		return true
	case p.kind == placeTemp, p.kind == placeCredential && isDotenv(p.path):
	case p.kind == placeUnknown:
		w.addEffect(Write, LevelSensitive, src,
			"the container gets a folder that is known only when it runs")
	default:
		w.addEffect(Privilege, LevelAlways, src, "the container gets "+w.nameOf(at))
	}
	return false
}

// judgeMounted looks at what a container does that has the project: as if it ran here.
func (w *walker) judgeMounted(o options) {
	for _, v := range o.valuesOf("entrypoint") {
		w.walkInContainer(append([]field{v}, o.operandsAfter(1)...))
		return
	}
	rest := o.operandsAfter(1)
	if len(rest) == 0 || strings.HasPrefix(rest[0].text, "-") || allHandlers()[rest[0].text] == nil {
		return // the image says what runs
	}
	w.walkInContainer(rest)
}

func (w *walker) dockerBuild(args []field) {
	o := parseOptions(args, wordList("docker.build-options"), false)
	for _, v := range append(o.valuesOf("f", "file"), o.operands...) {
		switch {
		case v.text == "-":
			if w.in.net || !w.in.plain {
				w.addEffect(Exec, LevelSensitive, "-", "builds what it is sent")
			}
		case strings.Contains(v.text, "://"):
			w.addEffect(Exec, LevelSensitive, v.text, "builds what "+v.text+" says")
		case w.placeOf(v).kind != placeProject:
			w.addEffect(Exec, LevelSensitive, v.text, "builds what "+w.nameOf(v)+" says")
		}
	}
	for _, v := range o.valuesOf("o", "output") {
		dest := v.text
		for p := range strings.SplitSeq(v.text, ",") {
			if name, value, ok := strings.Cut(p, "="); ok {
				if dest = ""; name == "dest" {
					dest = value
					break
				}
			}
		}
		w.addOutputs([]field{partOf(v, dest)})
	}
	if o.hasOption("push", "secret", "ssh", "allow") || valueOr(o, "", "network") == "host" {
		w.addEffect(NetOut, LevelSensitive, "", "the build publishes, or gets secrets or rights")
	}
	w.addEffect(Run, LevelStandard, "build", "builds an image")
}

func judgeCompose(w *walker, args []field) {
	o := parseOptions(args, wordList("compose.options"), true)
	for _, v := range o.valuesOf("f", "file") {
		if v.text == "-" || w.placeOf(v).kind != placeProject {
			w.addEffect(Exec, LevelSensitive, v.text, "starts what "+v.text+" says")
		}
	}
	verb := o.firstOperand()
	rest := parseOptions(o.operandsAfter(1), wordList("compose.verb-options"), true)
	switch {
	case isOneOf(wordList("compose.shows"), verb) || verb == "":
	case isOneOf(wordList("compose.runs"), verb):
		w.addEffect(Run, LevelStandard, verb, "runs the containers of the project")
	case verb == "down":
		if rest.hasOption("v", "volumes", "rmi") || len(rest.valuesOf("v")) > 0 {
			w.addEffect(Delete, LevelSensitive, verb, "deletes the data of the project's containers")
		}
		w.addEffect(Run, LevelStandard, verb, "stops the containers of the project")
	case isOneOf("exec run", verb):
		for _, v := range rest.valuesOf("v", "volume") {
			w.judgeMount(v)
		}
		w.addEffect(Run, LevelStandard, rest.firstOperand(),
			"runs a command in the container "+rest.firstOperand())
		w.walkInContainer(rest.operandsAfter(1))
	default:
		w.addEffect(Delete, LevelSensitive, verb, "compose "+verb+" deletes or publishes")
	}
}

// judgeKubectl judges what reaches into containers, and shows secrets as a whole.
func judgeKubectl(w *walker, _ *program, c cmd, g parsed) bool {
	format := ""
	for _, o := range g.given {
		if isOneOf("o output", o.name) {
			format = o.value.text
		}
	}
	switch verb := firstText(g.operands); {
	case verb == "config":
		w.out.secret = w.out.secret || g.hasOption("raw")
	case verb == "exec":
		if at := slices.IndexFunc(c.args, func(f field) bool { return f.text == "--" }); at >= 0 {
			w.walkInContainer(c.args[at+1:])
		}
	case verb == "get" && !g.hasOption("raw") && format != "" && !isOneOf("name wide", format):
		for _, f := range g.operands[1:] {
			if strings.HasPrefix(f.text, "secret") || strings.Contains(f.text, ",secret") {
				w.addEffect(Credential, LevelSensitive, f.text, "shows secrets of the cluster")
				w.out.secret = true
			}
		}
	}
	return false
}

// firstText is the first of some words.
func firstText(words []field) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].text
}

func judgeTerraform(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("terraform.options"), false)
	for _, v := range append(o.valuesOf("chdir", "plugin-dir"), o.operandsAfter(1)...) {
		if p := w.placeOf(v); strings.ContainsAny(v.text, "/") && p.kind != placeProject {
			w.addEffect(Exec, LevelSensitive, v.text,
				c.name+" works with "+w.nameOf(v)+", outside of the project")
		}
	}
	w.addOutputs(o.valuesOf("out"))
	if o.firstOperand() == "output" && (secretName(secondOperand(o)) || secretName(strings.ReplaceAll(secondOperand(o), "-", "_"))) {
		w.addEffect(Credential, LevelSensitive, secondOperand(o), "shows a secret")
		w.out.secret = true
	}
	switch verb, sub := o.firstOperand(), secondOperand(o); {
	case isOneOf(wordList("terraform.runs"), verb) || verb == "", isOneOf("state workspace", verb) && isOneOf("list show", sub), verb == "init":
		w.addEffect(Run, LevelStandard, verb, "runs "+c.name+" "+verb)
	default:
		w.addEffect(NetOut, LevelSensitive, verb, c.name+" "+verb+" changes what runs elsewhere")
	}
}

// cloudSecrets asks about words that mean keys.
func (w *walker) cloudSecrets(words string) bool {
	for _, bad := range []string{"secret", "password", "token", "access-key", "credential", "get-parameter", "get-session", "decrypt", "login", "auth ", "kms", "print-access", "keys list", "get-key"} {
		if strings.Contains(words, bad) && !strings.HasSuffix(words, "auth list") {
			w.addEffect(Credential, LevelSensitive, strings.TrimSpace(words),
				"it works with keys and secrets")
			w.out.secret = true
			return true
		}
	}
	return false
}

func (w *walker) cloudServer(o options) {
	if o.hasOption("endpoint-url") {
		w.addEffect(NetOut, LevelSensitive, "", "it speaks with a server of the command's choice")
	}
}

// s3Download is aws s3 cp from there to here.
func (w *walker) s3Download(c cmd, o options) bool {
	words := o.operands
	if c.name != "aws" || len(words) != 4 || words[0].text != "s3" || !isOneOf("cp sync", words[1].text) || !strings.HasPrefix(words[2].text, "s3://") || strings.Contains(words[3].text, "://") || o.hasOption("delete", "endpoint-url") {
		return false
	}
	w.addEffect(NetIn, LevelStandard, words[2].text, "fetches "+words[2].text)
	if words[3].text == "-" {
		w.out.net, w.out.any = true, true
		return true
	}
	to := words[3]
	if to.text == "." || strings.HasSuffix(to.text, "/") {
		to = partOf(to, strings.TrimSuffix(to.text, "/")+"/"+pathBase(words[2].text))
	}
	w.addOutputs([]field{to})
	w.addOutputs(words[3:4])
	return true
}

// judgeCloudTool judges aws and its like: what lists and describes is reading.
func judgeCloudTool(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("cloud.options"), false)
	words := ""
	reading := len(o.operands) == 0
	for _, f := range o.operands {
		words += " " + f.text
		verb := f.text
		reading = reading || isOneOf(wordList("cloud.shows"), verb) || strings.HasPrefix(verb, "describe-") || strings.HasPrefix(verb, "list-") || strings.HasPrefix(verb, "get-")
	}
	if w.cloudSecrets(words) {
		return
	}
	reading = reading || c.name == "gcloud" && isOneOf("read log", secondOperand(o)) || c.name == "aws" && o.firstOperand() == "logs" && isOneOf("tail filter-log-events", secondOperand(o))
	if w.cloudServer(o); w.s3Download(c, o) {
		return
	}
	for _, f := range o.operands {
		if c.name == "gcloud" && f.text == "run" { // a service of that name
			continue
		}
		reading = reading && !isOneOf(wordList("cloud.changes"), f.text) && !strings.HasPrefix(f.text, "delete-") && !strings.HasPrefix(f.text, "put-")
	}
	if !reading {
		w.addEffect(NetOut, LevelSensitive, strings.TrimSpace(words), c.name+words+" changes what runs elsewhere")
		return
	}
	w.addEffect(NetIn, LevelStandard, strings.TrimSpace(words), "asks about what runs elsewhere")
}
