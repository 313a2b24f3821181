package config

import (
	"slices"
	"time"
)

// Auxiliary names models for work beside the conversation.
type Auxiliary struct {
	Compression AuxiliaryModel `key:"compression"`
	Vision      AuxiliaryModel `key:"vision"`
	Approval    AuxiliaryModel `key:"approval"`
	Title       AuxiliaryModel `key:"title" also:"title_generation"`
	Learning    AuxiliaryModel `key:"learning"`
	Procedure   AuxiliaryModel `key:"procedure"`
}

// AuxiliaryModel is a model for one such work. Without one it is the conversation's own, or the
// work is not done: titles.
type AuxiliaryModel struct {
	Provider string        `key:"provider" live:"yes" doc:"name of a provider; empty, auto or main: found by the model's name"`
	Model    string        `key:"model" live:"yes" doc:"model, or provider/model; empty: the conversation's own"`
	Fallback []string      `key:"fallback" live:"yes" doc:"models that are asked in this order when it fails, each as provider/model"`
	Timeout  time.Duration `key:"timeout" min:"1" live:"yes" doc:"longest time for one piece of work, with all that is tried for it"`
}

// Refs are the models that are asked, one after the other; none: the conversation's own.
func (m AuxiliaryModel) Refs() []string {
	if ref := m.Ref(); ref != "" {
		return append([]string{ref}, m.Fallback...)
	}
	return slices.Clone(m.Fallback)
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

func defaultAuxiliary() Auxiliary {
	return Auxiliary{
		Compression: AuxiliaryModel{Timeout: time.Minute}, Approval: AuxiliaryModel{Timeout: 20 * time.Second}, Title: AuxiliaryModel{Timeout: 30 * time.Second},
		Vision: AuxiliaryModel{Timeout: 2 * time.Minute}, Learning: AuxiliaryModel{Timeout: 2 * time.Minute}, Procedure: AuxiliaryModel{Timeout: 2 * time.Minute},
	}
}

// ModelTiers names the models that new sessions begin with, by how much their first request asks.
type ModelTiers struct {
	Enabled  bool   `key:"enabled" live:"yes" doc:"choose the model of a new session by its first request; /model and --model win"`
	Small    string `key:"small" live:"yes" doc:"model for what is easy (complexity below 0.3), as provider/model; empty: the usual one"`
	Standard string `key:"standard" live:"yes" doc:"model for what lies between (below 0.7)"`
	Strong   string `key:"strong" live:"yes" doc:"model for what is hard"`
	Code     string `key:"code" live:"yes" doc:"model for requests for code; empty: by their complexity"`
}
