package openai_test

import (
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
)

// BenchmarkStream is an answer of 100 kB in pieces of 20 characters, over loopback.
func BenchmarkStream(b *testing.B) {
	s := modeltest.NewScript(b, modeltest.Script{Turns: []modeltest.Turn{{Text: strings.Repeat("twenty characters.. ", 5000), Chunk: 20}}, Loop: true})
	p := modeltest.Client(b, openai.Make, provider.Endpoint{Name: "test", BaseURL: s.URL})
	r := provider.Request{Model: "m", Messages: []chat.Message{{Role: chat.RoleUser, Text: "go"}}}
	b.SetBytes(100_000)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range p.Stream(b.Context(), r) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkFirstChunk is the way from Stream to the first chunk with 200 messages of history: what
// a request costs us.
func BenchmarkFirstChunk(b *testing.B) {
	s := modeltest.NewScript(b, modeltest.Script{Turns: []modeltest.Turn{{Text: "Hello."}}, Loop: true})
	p := modeltest.Client(b, openai.Make, provider.Endpoint{Name: "test", BaseURL: s.URL})
	r := provider.Request{Model: "m", System: strings.Repeat("system ", 2000)}
	for range 100 {
		r.Messages = append(r.Messages, chat.Message{Role: chat.RoleUser, Text: strings.Repeat("question ", 50)},
			chat.Message{Role: chat.RoleAssistant, Text: strings.Repeat("answer ", 100)})
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range p.Stream(b.Context(), r) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
