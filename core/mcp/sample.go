package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/chat"
	"hermes/core/content"
)

// Sample is what a server wants the person's model to answer, in a call of its own.
type Sample struct {
	Server    string
	Session   string // of the call that it asks in
	Turn      string
	CallID    string
	System    string
	Text      string
	Parts     []chat.Part // images
	MaxTokens int
	Limit     time.Duration // for the answer
}

// Sampled is what the model said.
type Sampled struct {
	Text  string
	Model string
}

// Limits of a server that is allowed to ask the model, when the settings say nothing else.
const (
	sampleTokens    = 4096
	samplesAMinute  = 10
	samplesACall    = 10
	sampleTime      = time.Minute
	maxSampleText   = 100_000 // characters
	maxSampleImages = 5
)

// codeRejected is the protocol's code for: the person said no.
const codeRejected = -1

// sampleModel has the person's model answer a server, where the settings allow it and the person
// does.
func (s *server) sampleModel(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) { //nolint:staticcheck // older servers have it
	me, set := s.newestCall(), s.currentSettings()
	no := func(why string) (*sdk.CreateMessageResult, error) { //nolint:staticcheck // as above
		s.log.addNote("it asked for an answer of the model: " + why)
		return nil, &jsonrpc.Error{Code: codeRejected, Message: why}
	}
	if me == nil {
		return no("that is possible in a call only")
	}
	q, err := s.asSample(set, r.Params)
	if err != nil {
		return no(err.Error())
	}
	if err := s.countSample(me, set); err != nil {
		return no(err.Error())
	}
	q.Server, q.Session, q.Turn, q.CallID = set.Name, me.session, me.turn, me.id
	defer me.holdClock()()
	got, err := s.m.o.Sample(ctx, q)
	if err != nil {
		return no(plainText(err.Error()))
	}
	//nolint:staticcheck // as above
	return &sdk.CreateMessageResult{Content: &sdk.TextContent{Text: got.Text}, Model: got.Model, Role: "assistant", StopReason: "endTurn"}, nil
}

// asSample reads what is asked, within bounds.
func (s *server) asSample(set Settings, p *sdk.CreateMessageParams) (Sample, error) { //nolint:staticcheck // as above
	most := cmp.Or(set.Sampling.MaxTokens, sampleTokens)
	q := Sample{System: plainText(p.SystemPrompt), MaxTokens: most, Limit: cmp.Or(set.Sampling.Timeout, sampleTime)}
	if p.MaxTokens > 0 {
		q.MaxTokens = int(min(p.MaxTokens, int64(most)))
	}
	var texts []string
	for _, m := range p.Messages {
		switch c := m.Content.(type) {
		case *sdk.TextContent:
			text := plainText(c.Text)
			if len(p.Messages) > 1 {
				text = string(m.Role) + ": " + text
			}
			texts = append(texts, text)
		case *sdk.ImageContent:
			if !content.IsImage(c.Data) || len(q.Parts) == maxSampleImages {
				return q, errors.New("only a few images are shown to a model, and nothing else that is no text")
			}
			q.Parts = append(q.Parts, chat.Part{Kind: chat.PartImage, Name: set.Name, Media: c.MIMEType, Data: c.Data})
		default:
			return q, fmt.Errorf("a model is given texts and images, not %T", c)
		}
	}
	q.Text = strings.Join(texts, "\n\n")
	switch {
	case len(q.Text)+len(q.System) > maxSampleText:
		return q, fmt.Errorf("it is longer than %d characters", maxSampleText)
	case strings.TrimSpace(q.Text) == "" && len(q.Parts) == 0:
		return q, errors.New("it says nothing")
	}
	return q, nil
}

// countSample counts one more, or says why there were enough.
func (s *server) countSample(me *calling, set Settings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.sampled = slices.DeleteFunc(s.sampled, func(at time.Time) bool { return now.Sub(at) > time.Minute })
	if most := cmp.Or(set.Sampling.PerMinute, samplesAMinute); len(s.sampled) >= most {
		return fmt.Errorf("it did so %d times within a minute (sampling.max_rpm)", most)
	}
	if me.samples >= samplesACall {
		return fmt.Errorf("it did so %d times in one call", samplesACall)
	}
	me.samples++
	s.sampled = append(s.sampled, now)
	return nil
}
