// Package config is everything a person can set: one config.yaml, secrets in .env, the environment
// and flags.
//
// The contract:
//
//   - Load never fails. What is broken keeps its default and is named in a Problem with file, line,
//     column, the offending text, why it is wrong and what to write instead. Everything else in the
//     same file still counts.
//   - Precedence: flags > environment > config.yaml > .env > defaults. Origin tells where a value
//     came from.
//   - Secrets live in the environment or in .env. They are read with Secret, never put into the
//     environment of this process (and so not of its children), and never part of Values.
//   - ${VAR} in a value is replaced from the environment, then .env; an unset one stays as it is
//     written.
//   - A Python hermes may share the home. Its keys are accepted without a word, its files are never
//     written.
//   - Keys with live:"yes" take effect while the program runs (see Watch); the others at the next
//     start.
//
// The struct tags of Config are the schema: key names the YAML key, also lists other spellings,
// oneof, min and max bound a value, null says what `null` means, refuses and strict say what holds
// while the key cannot be read (see Area), regexp says that a text is one, scalar takes any one
// value as text, short names the field that a plain scalar sets, later marks what is read and
// checked but used by no part of this version, doc is for people.
package config

import "time"

// Config is the settings in effect. It is immutable after Load: a change makes a new Config.
type Config struct {
	Model            Model                `key:"model" live:"yes"`
	Providers        map[string]Provider  `key:"providers" live:"yes" doc:"model servers by name"`
	Fallbacks        []Fallback           `key:"fallback_providers" also:"fallback_model" live:"yes" doc:"models that answer when the chosen one cannot, in this order, for the rest of a turn: provider/model each, or the keys provider, model, base_url, key_env, api_mode, context_length"`
	KeyStrategies    map[string]string    `key:"credential_pool_strategies" oneof:"fill_first|round_robin|least_used|random" live:"yes" doc:"by provider: which of several keys a turn takes"`
	PromptCaching    PromptCaching        `key:"prompt_caching" live:"yes"`
	Agent            Agent                `key:"agent"`
	Terminal         Terminal             `key:"terminal"`
	Approvals        Approvals            `key:"approvals" live:"yes"`
	CommandAllowlist []string             `key:"command_allowlist" strict:"" live:"yes" doc:"commands that need no approval, each exactly as it is written here"`
	Display          Display              `key:"display"`
	ToolOutput       ToolOutput           `key:"tool_output"`
	Compression      Compression          `key:"compression"`
	Auxiliary        Auxiliary            `key:"auxiliary"`
	ModelTiers       ModelTiers           `key:"model_tiers" live:"yes"`
	CodeExecution    CodeExecution        `key:"code_execution" live:"yes"`
	Web              Web                  `key:"web"`
	Security         Security             `key:"security"`
	Checkpoints      Checkpoints          `key:"checkpoints"`
	Memory           Memory               `key:"memory"`
	Skills           Skills               `key:"skills"`
	Learning         Learning             `key:"learning"`
	MCPServers       map[string]MCPServer `key:"mcp_servers" live:"yes" doc:"servers of tools by name"`
	MCP              MCP                  `key:"mcp"`
	MCPWait          time.Duration        `key:"mcp_discovery_timeout" min:"0" doc:"how long the first message of a session waits for servers that are starting; hermes run waits for their whole start"`
	Hooks            Hooks                `key:"hooks" live:"yes"`
	Plugins          map[string]Plugin    `key:"plugins" live:"yes" doc:"what you set for plugins, by name"`
	Keys             map[string][]string  `key:"keys" live:"yes" doc:"keys by action, for example session.new: ctrl+t; ids are in docs/keys.md"`
	Toolsets         []string             `key:"toolsets" refuses:"tools" live:"yes" doc:"sets of tools that the agent is given; empty: all"`
	Logging          Logging              `key:"logging"`
	FileReadMaxChars int                  `key:"file_read_max_chars" min:"1000" doc:"most characters of one read_file answer"`

	paths  Paths
	places map[string]place
	unused map[string]place // what is set for the Python hermes only
	env    environment
	broken bool               // config.yaml could not be read as a whole
	doubts map[string]Problem // settings that restrict something and could not be read, by key

	serverDoubts map[string]Problem // what could not be read of mcp_servers, by path
}

// Model is the model to talk to. In the file it is a string ("provider/model" or "model") or a
// mapping.
type Model struct {
	Default       string            `key:"default" also:"model,name" short:"yes" live:"yes" doc:"model, or provider/model"`
	Provider      string            `key:"provider" live:"yes" doc:"name of the provider; empty or auto: found from the keys that are there"`
	BaseURL       string            `key:"base_url" url:"yes" live:"yes" doc:"address of a model server"`
	Mode          string            `key:"api_mode" oneof:"|chat_completions|codex_responses|anthropic_messages" live:"yes" doc:"wire format of that server; empty: by the provider and the address"`
	APIKeyEnv     string            `key:"api_key_env" also:"key_env" live:"yes" doc:"name of the variable that holds the key"`
	APIKey        string            `key:"api_key" secret:"yes" live:"yes" doc:"the key itself; better kept in .env"`
	ContextLength int               `key:"context_length" min:"0" null:"0" live:"yes" doc:"tokens that the model can hold; 0: as the provider says"`
	MaxTokens     int               `key:"max_tokens" min:"0" null:"0" live:"yes" doc:"most tokens of one answer; 0: the provider's default"`
	Headers       map[string]string `key:"default_headers" also:"extra_headers" secret:"yes" live:"yes" doc:"sent with every request"`
}

// PromptCaching is how servers keep the begins of requests, where the wire format says it.
type PromptCaching struct {
	TTL string `key:"cache_ttl" oneof:"|5m|1h" live:"yes" doc:"how long Anthropic keeps them; an hour costs more to write; empty: 5m"`
}

// Provider is a model server under a name of the person's choice.
type Provider struct {
	BaseURL string                `key:"base_url" also:"api,url" url:"yes" live:"yes" doc:"address of a model server"`
	Mode    string                `key:"api_mode" oneof:"|chat_completions|codex_responses|anthropic_messages" live:"yes" doc:"its wire format; empty: by the name, if it is a vendor's, and the address"`
	APIKey  string                `key:"api_key" secret:"yes" live:"yes" doc:"the key itself; better kept in .env"`
	Keys    []string              `key:"api_keys" secret:"yes" live:"yes" doc:"more keys, for when one is used up; ${NAME} takes one from .env"`
	KeyEnv  string                `key:"key_env" also:"api_key_env" live:"yes" doc:"name of the variable that holds the key; NAME_2, NAME_3 and so on hold more"`
	Model   string                `key:"model" also:"default_model" live:"yes" doc:"model used when none is named"`
	Models  map[string]ModelLimit `key:"models" live:"yes" doc:"models it offers: a list of names, or limits by name"`
	Headers map[string]string     `key:"extra_headers" secret:"yes" live:"yes" doc:"sent with every request"`
	Timeout time.Duration         `key:"request_timeout_seconds" min:"0" live:"yes" doc:"longest time for one try of an answer: connection, first byte and stream; 0: the built-in limits on silence"`
}

// ModelLimit overrides what is known about a model. Zero means unknown.
type ModelLimit struct {
	ContextLength int     `key:"context_length" also:"window" min:"0" live:"yes" doc:"tokens that the model can hold"`
	MaxTokens     int     `key:"max_tokens" min:"0" live:"yes" doc:"most tokens of one answer"`
	PriceIn       float64 `key:"price_in" min:"0" live:"yes" doc:"US dollars per million tokens read"`
	PriceOut      float64 `key:"price_out" min:"0" live:"yes" doc:"US dollars per million tokens written"`
	PriceCachedIn float64 `key:"price_cached_in" min:"0" live:"yes" doc:"US dollars per million tokens read from the provider's cache; 0: as the others"`
	PriceWrite    float64 `key:"price_cache_write" min:"0" live:"yes" doc:"US dollars per million tokens written to the provider's cache; 0: as the others"`
	Images        bool    `key:"images" also:"supports_vision" live:"yes" doc:"it takes images; what is known of a model counts too"`
	Files         bool    `key:"files" live:"yes" doc:"it reads PDF documents as they are; what is known of a model counts too"`
	Effort        string  `key:"reasoning_effort" oneof:"|none|minimal|low|medium|high|xhigh|max" live:"yes" doc:"how long this model thinks; empty: as agent.reasoning_effort says"`
}

// Agent bounds the tool loop.
type Agent struct {
	MaxTurns            int    `key:"max_turns" min:"0" null:"0" doc:"model calls in one turn; 0 or null: no limit"`
	APIMaxRetries       int    `key:"api_max_retries" min:"0" max:"20" doc:"most tries after a failed model call; some kinds of failure have fewer"`
	ReasoningEffort     string `key:"reasoning_effort" oneof:"|none|minimal|low|medium|high|xhigh|max" live:"yes" doc:"how long the model thinks; empty: its default"`
	ContextFileMaxChars int    `key:"context_file_max_chars" min:"0" null:"20000" doc:"most characters taken from AGENTS.md and the like"`
	SystemPrompt        string `key:"system_prompt" doc:"added to the system prompt of new sessions"`
}

// Display is how the screen looks and behaves.
type Display struct {
	Theme                  string `key:"theme" also:"skin" live:"yes" doc:"colours"`
	BusyInputMode          string `key:"busy_input_mode" oneof:"interrupt|queue|steer" live:"yes" doc:"what a message does while the agent works"`
	Language               string `key:"language" later:"yes" doc:"language of the interface"`
	Mouse                  string `key:"mouse" also:"mouse_tracking" oneof:"all|buttons|wheel|off" bools:"all,off" doc:"off leaves the mouse to the terminal; buttons and wheel: as all, for now"`
	ASCII                  bool   `key:"ascii" live:"yes" doc:"borders and marks in plain ASCII"`
	Bell                   bool   `key:"bell" also:"bell_on_complete" live:"yes" later:"yes" doc:"ring when a long turn ends"`
	Notify                 string `key:"notify" oneof:"unfocused|always|never" bools:"unfocused,never" live:"yes" doc:"desktop notification when a long turn ends"`
	Layout                 string `key:"layout" later:"yes" doc:"arrangement of the panes at start; empty: as the size allows"`
	ShowReasoning          bool   `key:"show_reasoning" live:"yes" doc:"show what the model thinks while it does; a line that opens stays in any case"`
	ShowCost               bool   `key:"show_cost" live:"yes" later:"yes" doc:"show the price in the status bar"`
	Timestamps             bool   `key:"timestamps" live:"yes" doc:"show the time of each message"`
	PasteCollapseThreshold int    `key:"paste_collapse_threshold" min:"0" live:"yes" doc:"pastes of more lines become a chip; 0: never"`
	PasteCollapseChar      int    `key:"paste_collapse_char" also:"paste_collapse_char_threshold" min:"0" live:"yes" doc:"pastes of more characters become a chip; 0: never"`
}

// ToolOutput bounds what tools show to the model.
type ToolOutput struct {
	MaxBytes      int `key:"max_bytes" min:"1000" doc:"most characters of one result; the rest is kept in a file"`
	MaxLines      int `key:"max_lines" min:"10" doc:"most lines that one read_file may ask for"`
	MaxLineLength int `key:"max_line_length" min:"80" doc:"read_file cuts longer lines"`
}

// Compression decides when old messages are replaced by a summary.
type Compression struct {
	Enabled               bool    `key:"enabled" doc:"compress long conversations"`
	Threshold             float64 `key:"threshold" min:"0" max:"0.99" doc:"share of the window that starts it; 0: 0.8, and 0.75 of a window below 128,000 tokens"`
	TargetRatio           float64 `key:"target_ratio" min:"0.05" max:"0.9" doc:"share of the threshold kept word for word, the newest messages"`
	ProtectFirstN         int     `key:"protect_first_n" min:"0" doc:"your first messages, which every summary quotes whatever else has to go"`
	ProtectLastN          int     `key:"protect_last_n" min:"0" doc:"last messages that are only summarised when a person asks for it, or when they alone are too long"`
	AbortOnSummaryFailure bool    `key:"abort_on_summary_failure" doc:"change nothing when the summary cannot be made"`
}

// Logging is what goes to logs/workbench.log.
type Logging struct {
	Level string `key:"level" oneof:"debug|info|warn|error" fold:"yes" live:"yes" doc:"least important entry that is written"`
}

// Defaults returns the settings of a program without any file.
func Defaults() *Config {
	return &Config{
		Agent: Agent{MaxTurns: 90, APIMaxRetries: 3, ContextFileMaxChars: 20_000},
		Terminal: Terminal{
			Backend: firstKind(), Cwd: ".", Timeout: 180 * time.Second, IdleTTL: 30 * time.Minute, Keep: 24 * time.Hour,
			MaxBackendsPerSession: 5, Fallback: "default", KindOptions: terminalDefaults(),
		},
		Approvals: Approvals{Mode: "manual", Level: 2, Timeout: 300 * time.Second, Remember: 720 * time.Hour},
		Security:  Security{AuditLog: true, RedactSecrets: true},
		Display: Display{
			Theme: "default", BusyInputMode: "interrupt", Language: "en", Mouse: "all", Notify: "unfocused",
			Timestamps: true, PasteCollapseThreshold: 5, PasteCollapseChar: 2000,
		},
		CodeExecution: defaultCodeExecution(),
		Checkpoints:   defaultCheckpoints(),
		Memory:        defaultMemory(),
		Skills:        defaultSkills(),
		Learning:      defaultLearning(),
		ToolOutput:    ToolOutput{MaxBytes: 50_000, MaxLines: 2000, MaxLineLength: 2000},
		Compression: Compression{
			Enabled: true, TargetRatio: 0.2, ProtectFirstN: 3, ProtectLastN: 20,
		},
		Auxiliary:        defaultAuxiliary(),
		Logging:          Logging{Level: "info"},
		MCP:              MCP{Defer: 0.05},
		MCPWait:          1500 * time.Millisecond,
		Web:              Web{ExtractCharLimit: 15_000, Timeout: 30 * time.Second, MaxDownload: 10 << 20, CacheTTL: 5 * time.Minute},
		FileReadMaxChars: 100_000,
	}
}
