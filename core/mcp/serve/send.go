package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
)

const (
	maxSent     = 100_000 // characters of a message
	maxDetail   = 4_000   // characters of what is asked about
	newTarget   = "new"
	maxOpenAsks = 100
)

type sendIn struct {
	Target  string `json:"target" jsonschema:"the session_key of a conversation, or new"`
	Message string `json:"message"`
}

type sendOut struct {
	SessionKey string `json:"session_key"`
	Cursor     int64  `json:"cursor" jsonschema:"ask events_wait with it for what follows"`
}

func (s *Server) addSending() { addTool(s, "messages_send", false, s.sendMessage) }

func (s *Server) sendMessage(ctx context.Context, r *sdk.CallToolRequest, in sendIn) (sendOut, error) {
	if strings.TrimSpace(in.Message) == "" {
		return sendOut{}, errors.New("the message is empty")
	}
	if _, cut := cutText(in.Message, maxSent); cut {
		return sendOut{}, fmt.Errorf("the message is longer than %d characters: send less at a time", maxSent)
	}
	uid := session.NewUID()
	if in.Target != newTarget {
		info, err := s.findSession(ctx, in.Target)
		if err != nil {
			return sendOut{}, err
		}
		if uid = info.UID; !s.feed.hasWorkedIn(uid) {
			if _, err := s.o.Client.History().Open(ctx, uid, event.OpeningResume); err != nil {
				return sendOut{}, err
			}
		}
	}
	out := sendOut{SessionKey: uid, Cursor: s.feed.lastCursor()}
	from := chat.Author{Kind: chat.AuthorAgent, ID: clientName(r)}
	return out, s.o.Client.Submit(ctx, uid, agent.Input{From: from, Text: in.Message, Mode: event.InputQueue})
}

// clientName is what the client calls itself.
func clientName(r *sdk.CallToolRequest) string {
	p := r.Session.InitializeParams()
	if p == nil || p.ClientInfo == nil {
		return ""
	}
	name, _ := cutText(strings.Join(strings.Fields(p.ClientInfo.Name), " "), 60)
	return name
}

// hasWorkedIn reports whether this process told of the conversation: then it is open here.
func (f *feed) hasWorkedIn(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.ring, func(e happened) bool { return e.SessionKey == key && e.Type == "turn_started" })
}

func (f *feed) lastCursor() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// approval is something that the agent asks before it goes on.
type approval struct {
	ID         string   `json:"id"`
	SessionKey string   `json:"session_key"`
	Tool       string   `json:"tool"`
	Title      string   `json:"title"`
	Detail     string   `json:"detail,omitempty"`
	Effects    []string `json:"effects,omitempty"`
	Backend    string   `json:"backend,omitempty"`
	Decisions  []string `json:"decisions" jsonschema:"what permissions_respond takes for it"`
	CreatedAt  string   `json:"created_at"`
	Deadline   string   `json:"deadline,omitempty"`

	choices []event.Decision
}

// decisions are what a client may say, as the protocol of hermes-agent names it.
func decisions() map[string]event.Decision {
	return map[string]event.Decision{"allow-once": event.DecisionOnce, "allow-session": event.DecisionSession, "deny": event.DecisionDeny}
}

func approvalOf(e event.Envelope, x event.ApprovalAsked) approval {
	detail, _ := cutText(x.Detail, maxDetail)
	a := approval{
		ID: x.ID, SessionKey: e.Session, Tool: x.Call.Name, Title: x.Title, Detail: detail, Effects: x.Effects, Backend: x.Backend,
		CreatedAt: formatTime(e.At), choices: x.Choices,
	}
	if !x.Deadline.IsZero() {
		a.Deadline = formatTime(x.Deadline)
	}
	for name, d := range decisions() {
		if slices.Contains(x.Choices, d) {
			a.Decisions = append(a.Decisions, name)
		}
	}
	slices.Sort(a.Decisions)
	return a
}

type nothing struct{}

type openOut struct {
	Count     int        `json:"count"`
	Approvals []approval `json:"approvals"`
}

type respondIn struct {
	ID       string `json:"id" jsonschema:"from permissions_list_open"`
	Decision string `json:"decision" jsonschema:"allow-once, allow-session or deny"`
}

type respondOut struct {
	Resolved   bool   `json:"resolved"`
	ApprovalID string `json:"approval_id"`
	Decision   string `json:"decision"`
}

func (s *Server) addPermissions() {
	addTool(s, "permissions_list_open", true, s.listOpen)
	addTool(s, "permissions_respond", false, s.respond)
}

func (s *Server) listOpen(context.Context, *sdk.CallToolRequest, nothing) (openOut, error) {
	list := s.feed.openQuestions()
	return openOut{Count: len(list), Approvals: list}, nil
}

// openQuestions are the questions that wait, the oldest first.
func (f *feed) openQuestions() []approval {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]approval{}, f.open[:min(len(f.open), maxOpenAsks)]...)
}

func (s *Server) respond(_ context.Context, _ *sdk.CallToolRequest, in respondIn) (respondOut, error) {
	out := respondOut{ApprovalID: in.ID, Decision: in.Decision}
	list := s.feed.openQuestions()
	i := slices.IndexFunc(list, func(a approval) bool { return a.ID == in.ID })
	if i < 0 {
		return out, fmt.Errorf("nothing with the id %q waits for an answer: permissions_list_open has what does", in.ID)
	}
	d, known := decisions()[in.Decision]
	if !known || !slices.Contains(list[i].choices, d) {
		return out, fmt.Errorf("%q cannot be said to it: choose %s. What lasts longer only the person can allow", in.Decision, strings.Join(list[i].Decisions, ", "))
	}
	if err := s.o.Client.Answer(in.ID, d); err != nil {
		return out, err
	}
	out.Resolved = true
	return out, nil
}
