package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
)

const (
	maxConversations = 200
	maxMessages      = 200
	maxHits          = 100
	usualText        = 2_000   // characters of one message
	maxText          = 20_000  // the same when more is asked for
	maxResult        = 200_000 // characters of all messages of one result
	maxPages         = 40      // that one call reads
)

// conversation is one session as clients see it.
type conversation struct {
	SessionKey  string `json:"session_key"`
	SessionID   string `json:"session_id"`
	Platform    string `json:"platform" jsonschema:"where it was begun: tui, run, mcp, ..."`
	DisplayName string `json:"display_name"`
	Preview     string `json:"preview,omitempty"`
	Folder      string `json:"folder,omitempty"`
	Model       string `json:"model,omitempty"`
	Messages    int    `json:"messages"`
	CreatedAt   string `json:"created_at"`
	UpdatedAt   string `json:"updated_at"`
}

func conversationOf(i event.SessionInfo) conversation {
	return conversation{
		SessionKey: i.UID, SessionID: i.UID, Platform: i.Source, DisplayName: i.Title, Preview: i.Preview, Folder: i.Cwd, Model: i.Model,
		Messages: i.Messages, CreatedAt: formatTime(i.Started), UpdatedAt: formatTime(i.Last),
	}
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// message is one message of a conversation.
type message struct {
	ID          int64  `json:"id"`
	Seq         int    `json:"seq"`
	Role        string `json:"role"`
	From        string `json:"from,omitempty" jsonschema:"who wrote it, when that was not the person: agent, process, ..."`
	Content     string `json:"content"`
	Truncated   bool   `json:"truncated,omitempty"`
	Tool        string `json:"tool,omitempty" jsonschema:"whose result it is"`
	Attachments int    `json:"attachments,omitempty"`
	Status      string `json:"status,omitempty" jsonschema:"partial, cancelled or error; nothing when it is whole"`
	Timestamp   string `json:"timestamp"`
}

func messageOf(m chat.Message, most int) message {
	out := message{ID: m.ID, Seq: m.Seq, Role: string(m.Role), Attachments: len(m.Parts), Timestamp: formatTime(m.At)}
	text := m.Text
	if m.Result != nil {
		text, out.Tool = m.Result.Text, m.Result.Name
	}
	out.Content, out.Truncated = cutText(text, most)
	if m.From.Other() {
		out.From = string(m.From.Kind)
	}
	if m.Status != chat.StatusFinal {
		out.Status = string(m.Status)
	}
	return out
}

type listIn struct {
	Platform string `json:"platform,omitempty" jsonschema:"only those that were begun there"`
	Search   string `json:"search,omitempty" jsonschema:"a part of the title"`
	Limit    int    `json:"limit,omitempty" jsonschema:"1 to 200; 50 unless given"`
	Offset   int    `json:"offset,omitempty" jsonschema:"leave out as many"`
}

type listOut struct {
	Count         int            `json:"count"`
	Conversations []conversation `json:"conversations"`
}

type keyIn struct {
	SessionKey string `json:"session_key" jsonschema:"from conversations_list; last is the newest"`
}

type getOut struct {
	conversation
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	Parent       string `json:"parent,omitempty" jsonschema:"what it was forked from"`
}

type readIn struct {
	keyIn
	Limit        int  `json:"limit,omitempty" jsonschema:"1 to 200 messages; 50 unless given"`
	Before       int  `json:"before,omitempty" jsonschema:"only messages before this seq"`
	IncludeTools bool `json:"include_tools,omitempty" jsonschema:"results of tools too"`
	MaxChars     int  `json:"max_chars,omitempty" jsonschema:"of each message, up to 20000; 2000 unless given"`
}

type readOut struct {
	SessionKey string    `json:"session_key"`
	Count      int       `json:"count"`
	More       bool      `json:"more" jsonschema:"there are earlier ones: ask with before = the first seq"`
	Messages   []message `json:"messages"`
}

type attachmentsIn struct {
	keyIn
	MessageID int64 `json:"message_id" jsonschema:"the id from messages_read"`
}

type attachment struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Media     string `json:"media,omitempty"`
	URI       string `json:"uri,omitempty"`
	Size      int64  `json:"size,omitempty"`
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	Text      string `json:"text,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
}

type attachmentsOut struct {
	MessageID   int64        `json:"message_id"`
	Count       int          `json:"count"`
	Attachments []attachment `json:"attachments"`
}

type searchIn struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty" jsonschema:"1 to 100; 20 unless given"`
}

type hit struct {
	SessionKey  string `json:"session_key"`
	DisplayName string `json:"display_name"`
	MessageID   int64  `json:"message_id,omitempty" jsonschema:"nothing when the title matched"`
	Seq         int    `json:"seq,omitempty"`
	Role        string `json:"role,omitempty"`
	Tool        string `json:"tool,omitempty"`
	Snippet     string `json:"snippet"`
	Timestamp   string `json:"timestamp"`
}

type searchOut struct {
	Count int   `json:"count"`
	Total int   `json:"total" jsonschema:"messages that match, counted up to 5000"`
	Hits  []hit `json:"hits"`
}

// addReading adds what changes nothing.
func (s *Server) addReading() {
	addTool(s, "conversations_list", true, s.listConversations)
	addTool(s, "conversation_get", true, s.get)
	addTool(s, "messages_read", true, s.readMessages)
	addTool(s, "attachments_fetch", true, s.attachments)
	addTool(s, "messages_search", true, s.search)
	addTool(s, "events_poll", true, s.poll)
	addTool(s, "events_wait", true, s.wait)
}

func (s *Server) listConversations(ctx context.Context, _ *sdk.CallToolRequest, in listIn) (listOut, error) {
	found, err := s.o.Client.History().List(ctx, session.Filter{
		Limit: clampTo(in.Limit, 50, maxConversations), Offset: max(in.Offset, 0), Query: in.Search, Source: in.Platform,
	})
	out := listOut{Conversations: []conversation{}}
	for _, i := range found {
		out.Conversations = append(out.Conversations, conversationOf(i))
	}
	out.Count = len(found)
	return out, err
}

// findSession is the conversation that a key names.
func (s *Server) findSession(ctx context.Context, key string) (event.SessionInfo, error) {
	if key == "" {
		return event.SessionInfo{}, errors.New("session_key is empty: conversations_list has the keys")
	}
	return s.o.Client.History().Resolve(ctx, key)
}

func (s *Server) get(ctx context.Context, _ *sdk.CallToolRequest, in keyIn) (getOut, error) {
	i, err := s.findSession(ctx, in.SessionKey)
	if err != nil {
		return getOut{}, err
	}
	return getOut{conversation: conversationOf(i), InputTokens: i.Usage.Input, OutputTokens: i.Usage.Output, Parent: i.Parent}, nil
}

// readMessages collects messages from the newest on, until there are enough or the result is full.
func (s *Server) readMessages(ctx context.Context, _ *sdk.CallToolRequest, in readIn) (readOut, error) {
	i, err := s.findSession(ctx, in.SessionKey)
	if err != nil {
		return readOut{}, err
	}
	limit, most := clampTo(in.Limit, 50, maxMessages), clampTo(in.MaxChars, usualText, maxText)
	out := readOut{SessionKey: i.UID, Messages: []message{}}
	page := session.Page{BeforeSeq: max(in.Before, 0), Limit: maxMessages}
	size := 0
	for range maxPages {
		found, more, err := s.o.Client.History().Messages(ctx, i.UID, page)
		if err != nil {
			return readOut{}, err
		}
		for _, m := range slices.Backward(found) {
			if !isShown(m, in.IncludeTools) {
				continue
			}
			one := messageOf(m, most)
			if size += len(one.Content); len(out.Messages) == limit || size > maxResult && len(out.Messages) > 0 {
				out.More = true
				break
			}
			out.Messages = append(out.Messages, one)
		}
		if out.More || !more || len(found) == 0 {
			break
		}
		page.BeforeSeq = found[0].Seq
	}
	slices.Reverse(out.Messages)
	out.Count = len(out.Messages)
	return out, nil
}

// isShown reports whether clients are given a message: what was said, and what tools gave when that
// is asked for.
func isShown(m chat.Message, tools bool) bool {
	switch m.Role {
	case chat.RoleUser, chat.RoleAssistant:
		return m.Text != "" || len(m.Parts) > 0
	case chat.RoleTool:
		return tools && m.Result != nil
	default:
		return false
	}
}

func (s *Server) attachments(ctx context.Context, _ *sdk.CallToolRequest, in attachmentsIn) (attachmentsOut, error) {
	out := attachmentsOut{MessageID: in.MessageID, Attachments: []attachment{}}
	i, err := s.findSession(ctx, in.SessionKey)
	if err != nil {
		return out, err
	}
	found, _, err := s.o.Client.History().Messages(ctx, i.UID, session.Page{AroundID: in.MessageID, Limit: 1})
	at := slices.IndexFunc(found, func(m chat.Message) bool { return m.ID == in.MessageID })
	if err != nil || in.MessageID <= 0 || at < 0 {
		return out, fmt.Errorf("there is no message %d in %s: messages_read has the ids", in.MessageID, i.UID)
	}
	parts := found[at].Parts
	if r := found[at].Result; r != nil {
		parts = slices.Concat(parts, r.Parts)
	}
	size := 0
	for _, p := range parts {
		one := attachment{Kind: string(p.Kind), Name: p.Name, Media: p.Media, URI: p.URI, Size: p.Size, Width: p.Width, Height: p.Height}
		one.Text, one.Truncated = cutText(p.Text, min(maxText, max(maxResult-size, 0)))
		size += len(one.Text)
		out.Attachments = append(out.Attachments, one)
	}
	out.Count = len(out.Attachments)
	return out, nil
}

func (s *Server) search(ctx context.Context, _ *sdk.CallToolRequest, in searchIn) (searchOut, error) {
	query, _ := cutText(in.Query, 1000)
	found, err := s.o.Client.History().Search(ctx, session.Query{Text: query, Limit: clampTo(in.Limit, 20, maxHits)})
	out := searchOut{Total: found.Total, Count: len(found.Hits), Hits: []hit{}}
	for _, h := range found.Hits {
		out.Hits = append(out.Hits, hit{
			SessionKey: h.Session.UID, DisplayName: h.Session.Title, MessageID: h.MessageID, Seq: h.Seq, Role: string(h.Role), Tool: h.Tool,
			Snippet: h.Snippet, Timestamp: formatTime(h.At),
		})
	}
	return out, err
}
