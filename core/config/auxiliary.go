package config

import "time"

// Auxiliary names models for work beside the conversation.
type Auxiliary struct {
	Compression AuxiliaryModel `key:"compression"`
	Vision      AuxiliaryModel `key:"vision"`
}

// AuxiliaryModel is a model for one such work. Without one it is the conversation's own.
type AuxiliaryModel struct {
	Provider string        `key:"provider" doc:"name of a provider; empty, auto or main: found by the model's name"`
	Model    string        `key:"model" doc:"model, or provider/model; empty: the conversation's own"`
	Timeout  time.Duration `key:"timeout" min:"1" doc:"longest time for one piece of work, with all that is tried for it"`
}

// Ref is the model as "provider/model", "" for the conversation's own.
func (m AuxiliaryModel) Ref() string {
	switch m.Provider {
	case "", "auto", "main":
		return m.Model
	}
	if m.Model == "" {
		return m.Provider
	}
	return m.Provider + "/" + m.Model
}
