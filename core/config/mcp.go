package config

import (
	"bytes"
	"cmp"
	"path/filepath"
	"strings"
	"time"
)

// MCPServer is one server of tools that speaks the model context protocol: a program (command) or
// an address (url). The names of its keys are those of the files that people already have.
type MCPServer struct {
	Command        string            `key:"command" live:"yes" doc:"program to start; it speaks over its standard input and output"`
	Args           []string          `key:"args" live:"yes" doc:"its arguments"`
	Env            map[string]string `key:"env" secret:"yes" live:"yes" doc:"variables that it gets beside the safe ones (PATH, HOME, LANG, ...); ${NAME} has to be set"`
	Cwd            string            `key:"cwd" live:"yes" doc:"folder that it starts in; empty: the one that hermes was started in"`
	Backend        string            `key:"backend" live:"yes" doc:"back end that it runs in; empty: this machine"`
	URL            string            `key:"url" also:"serverUrl,httpUrl" url:"yes" live:"yes" doc:"address of a server that is reached over HTTP"`
	Transport      string            `key:"transport" also:"type" oneof:"|stdio|http|streamable-http|streamable_http|sse" fold:"yes" live:"yes" doc:"how it is spoken to; empty: by command and url, and sse where http is not answered"`
	Headers        map[string]string `key:"headers" also:"http_headers" secret:"yes" live:"yes" doc:"sent with every request to url"`
	Auth           string            `key:"auth" oneof:"|none|oauth" live:"yes" doc:"oauth: log in with hermes mcp login; empty: when the server asks for it"`
	OAuth          MCPOAuth          `key:"oauth"`
	Enabled        string            `key:"enabled" oneof:"|yes|no" bools:"yes,no" live:"yes" doc:"no: it is not started"`
	Start          string            `key:"start" oneof:"|skill" live:"yes" doc:"skill: it is started only when a skill is loaded that names it (mcp_servers); empty: when a session needs its tools"`
	Disabled       bool              `key:"disabled" live:"yes" doc:"as enabled: no"`
	Trust          bool              `key:"trust" live:"yes" doc:"believe what it says of its tools: those that say that they only read run unasked"`
	Timeout        time.Duration     `key:"timeout" min:"0" live:"yes" doc:"longest silence of a call; progress begins it anew; 0: 300 s"`
	ConnectTimeout time.Duration     `key:"connect_timeout" also:"startup_timeout_sec" min:"0" live:"yes" doc:"longest start; 0: 60 s"`
	Permissions    MCPPermissions    `key:"permissions"`
	Tools          MCPTools          `key:"tools"`
	Roots          []string          `key:"roots" live:"yes" doc:"folders that it is told to work in; empty: it is told none"`
	Elicitation    string            `key:"elicitation" oneof:"|yes|no" bools:"yes,no" live:"yes" doc:"no: it may not ask you questions"`
	Sampling       MCPSampling       `key:"sampling"`
}

// MCPSampling lets a server ask your model.
type MCPSampling struct {
	Enabled   bool          `key:"enabled" live:"yes" doc:"it may ask your model something while a call runs; you are asked before"`
	MaxTokens int           `key:"max_tokens_cap" min:"0" live:"yes" doc:"most tokens of an answer; 0: 4096"`
	PerMinute int           `key:"max_rpm" min:"0" live:"yes" doc:"most answers a minute; 0: 10"`
	Timeout   time.Duration `key:"timeout" min:"0" live:"yes" doc:"longest time for an answer; 0: 60 s"`
}

// MCPOAuth is how a person logs in to a server.
type MCPOAuth struct {
	ClientID     string   `key:"client_id" live:"yes" doc:"identity of this program there; an https address: the page that describes it; empty: it is registered at the first login"`
	ClientSecret string   `key:"client_secret" secret:"yes" live:"yes" doc:"secret of that identity"`
	Scopes       []string `key:"scopes" also:"scope" live:"yes" doc:"rights to ask for; empty: what the server names"`
	Port         int      `key:"redirect_port" min:"0" max:"65535" live:"yes" doc:"port on this machine that the browser comes back to; 0: any"`
}

// MCPPermissions bounds what the tools of a server may be used for. Earlier keys come first.
type MCPPermissions struct {
	DeniedTools         []string `key:"denied_tools" live:"yes" doc:"tools that are never used; * stands for any text"`
	AllowedPaths        []string `key:"allowed_paths" live:"yes" doc:"folders that paths in arguments must be in, links followed"`
	DeniedPaths         []string `key:"denied_paths" live:"yes" doc:"folders that no path in arguments may be in, links followed"`
	MaxFileSize         Size     `key:"max_file_size" live:"yes" doc:"largest file that is read or written; 0: any"`
	AllowedOperations   []string `key:"allowed_operations" live:"yes" doc:"the only SQL operations that statements in arguments may have: SELECT, EXPLAIN"`
	DeniedOperations    []string `key:"denied_operations" live:"yes" doc:"SQL operations that no statement may have: DROP, TRUNCATE"`
	MaxRows             int      `key:"max_rows" min:"0" live:"yes" doc:"most rows of a result; the rest is cut, and the model is told; 0: any"`
	AllowedTools        []string `key:"allowed_tools" live:"yes" doc:"tools that run unasked"`
	RequireConfirmation []string `key:"require_confirmation" live:"yes" doc:"tools that are asked about each time, in every mode"`
}

// MCPTools chooses among what a server offers.
type MCPTools struct {
	Include   []string `key:"include" live:"yes" doc:"the only tools that the agent is told of; empty: all"`
	Exclude   []string `key:"exclude" live:"yes" doc:"tools that the agent is not told of"`
	Resources string   `key:"resources" oneof:"|yes|no" bools:"yes,no" live:"yes" doc:"no: its resources are not offered"`
	Prompts   string   `key:"prompts" oneof:"|yes|no" bools:"yes,no" live:"yes" doc:"no: its prompts are no commands"`
}

// MCP is what holds for all servers.
type MCP struct {
	Defer float64 `key:"defer_at" min:"0" max:"1" live:"yes" doc:"share of the model's window that definitions of servers' tools may take; beyond it the agent searches for them; 1: never"`
}

// Off reports whether the server is not to be started.
func (s MCPServer) Off() bool { return s.Disabled || s.Enabled == "no" }

// mcpFile is the file beside config.yaml that older versions and other programs keep servers in.
const mcpFile = "mcp_config.json"

const ofServers = "mcp_servers."

// loadServers reads that file; config.yaml counts before it.
func (c *Config) loadServers() []Problem {
	data, problems := readFile(filepath.Join(c.paths.Home, mcpFile), mcpFile)
	if data == nil {
		for _, p := range problems {
			c.doubtServer(strings.TrimSuffix(ofServers, "."), p)
		}
		return problems
	}
	return append(problems, c.takeServers(mcpFile, data)...)
}

// takeServers takes the servers of a JSON (or YAML) file. The keys mcp_servers and mcpServers mean
// the same.
func (c *Config) takeServers(name string, data []byte) []Problem {
	p := parse(name, bytes.ReplaceAll(data, []byte{'\t'}, []byte{' '})) // JSON may be indented by tabs
	problems := p.problems
	for _, root := range p.roots {
		problems = append(problems, c.addLayer(name, func(d *decoder) {
			for _, pair := range d.listPairs(root, 0) {
				if pair.key.Value != "mcp_servers" && pair.key.Value != "mcpServers" {
					continue
				}
				if f, ok := fieldOf(configType, "mcp_servers"); ok {
					d.decodeValue(f.valueIn(d.root), f, pair.value, f.name)
				}
			}
		})...)
	}
	if len(p.problems) > 0 {
		c.doubtServer(strings.TrimSuffix(ofServers, "."), p.problems[0])
	}
	return problems
}

// doubtServer notes that what stands at a path of servers cannot be read: such a server is not
// started, since what was lost may have been a limit.
func (c *Config) doubtServer(path string, p Problem) {
	if path != "" && path+"." != ofServers && !strings.HasPrefix(path, ofServers) {
		return
	}
	if c.serverDoubts == nil {
		c.serverDoubts = map[string]Problem{}
	}
	c.serverDoubts[path] = p
}

// ServerProblem says why a server must not be started with these settings; "" when it may.
func (c *Config) ServerProblem(name string) string {
	for _, path := range sortedKeys(c.serverDoubts) {
		own := ofServers + name
		if path == "" || path+"." == ofServers || path == own || strings.HasPrefix(path, own+".") {
			return cmp.Or(c.serverDoubts[path].String(), "its settings cannot be read")
		}
	}
	return ""
}

// ProjectServers reads the servers that a project's file names, with the variables of c. The file
// is a stranger's until the person trusted it.
func (c *Config) ProjectServers(name string, data []byte) (*Config, []Problem) {
	p := Defaults()
	p.env, p.paths, p.places, p.unused = c.env, c.paths, map[string]place{}, map[string]place{}
	return p, p.takeServers(name, data)
}
