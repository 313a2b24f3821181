package config

// Fallback is a model that answers when the chosen one cannot.
type Fallback struct {
	Provider      string `key:"provider" live:"yes" doc:"name of a provider"`
	Model         string `key:"model" short:"yes" live:"yes" doc:"model, or provider/model"`
	BaseURL       string `key:"base_url" url:"yes" live:"yes" doc:"address of its server, when no provider of the settings has it"`
	KeyEnv        string `key:"key_env" also:"api_key_env" live:"yes" doc:"name of the variable that holds its key"`
	Mode          string `key:"api_mode" oneof:"|chat_completions|codex_responses|anthropic_messages" live:"yes" doc:"wire format of that server"`
	ContextLength int    `key:"context_length" min:"0" live:"yes" doc:"tokens that the model can hold"`
}

// Ref is the model as "provider/model", or what of it is there.
func (f Fallback) Ref() string {
	switch {
	case f.Provider == "", f.Provider == "auto":
		return f.Model
	case f.Model == "":
		return f.Provider
	default:
		return f.Provider + "/" + f.Model
	}
}

// String is the fallback as settings are listed.
func (f Fallback) String() string {
	out := f.Ref()
	if f.BaseURL != "" {
		out += " at " + f.BaseURL
	}
	if f.KeyEnv != "" {
		out += " with " + f.KeyEnv
	}
	return out
}

// checkFallbacks finds fallbacks without a model: nothing can be asked there.
func (c *Config) checkFallbacks() []Problem {
	where := c.places["fallback_providers"]
	var out []Problem
	for _, f := range c.Fallbacks {
		if f.Model == "" {
			out = append(out, Problem{
				File: where.file, Line: where.line, Column: where.column, Text: f.String(),
				Why: "a fallback without a model:", Fix: "write provider/model, or both keys",
			})
		}
	}
	return out
}
