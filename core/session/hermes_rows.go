package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/rows"
	"hermes/core/store"
)

func timeOfEpoch(seconds sql.NullFloat64) time.Time {
	if !seconds.Valid || seconds.Float64 <= 0 || seconds.Float64 > 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(seconds.Float64 * 1000)))
}

const hermesSessionColumns = `source parent_session_id started_at ended_at last_activity_at end_reason title title_source model
 model_config cwd git_repo_root billing_provider system_prompt system_prompt_hash input_tokens output_tokens cache_read_tokens
 reasoning_tokens actual_cost_usd estimated_cost_usd archived pinned hidden`

func (h *hermesDB) importSession(ctx context.Context, id string) (store.Import, error) {
	var source, parent, reason, title, titleSrc, model, config, cwd, root, provider, prompt, hash sql.NullString
	var started, ended, last, actual, estimated sql.NullFloat64
	var input, output, cached, reasoning, archived, pinned, hidden sql.NullInt64
	err := h.db.QueryRowContext(ctx, "SELECT "+h.selectList("sessions", hermesSessionColumns)+" FROM sessions WHERE id=?", id).Scan(
		&source, &parent, &started, &ended, &last, &reason, &title, &titleSrc, &model, &config, &cwd, &root, &provider, &prompt, &hash,
		&input, &output, &cached, &reasoning, &actual, &estimated, &archived, &pinned, &hidden)
	if err != nil {
		return store.Import{}, err
	}
	x := store.Session{
		UID: id, Parent: parent.String, Source: hermesSource, Title: oneLine(stripControls(title.String)), Model: model.String,
		Provider: provider.String, Cwd: cwd.String, Project: root.String, EndReason: reason.String,
		Started: timeOfEpoch(started), Ended: timeOfEpoch(ended), Last: timeOfEpoch(last),
		Archived: archived.Int64 != 0, Pinned: pinned.Int64 != 0, Hidden: hidden.Int64 != 0,
		Usage: hermesUsage(input, output, cached, reasoning, actual, estimated),
	}
	if x.Last.Before(x.Started) {
		x.Last = x.Started
	}
	if x.Project == "" {
		x.Project = x.Cwd
	}
	if x.Title != "" {
		x.TitleSrc = hermesTitleSrc(titleSrc.String)
	}
	if x.Kind, err = h.sessionKind(ctx, id, source.String, reason.String, parent.String, config.String); err != nil {
		return store.Import{}, err
	}
	if prompt.String == "" && hash.String != "" && h.columns["system_prompts"]["prompt"] {
		err := h.db.QueryRowContext(ctx, "SELECT prompt FROM system_prompts WHERE hash=?", hash.String).Scan(&prompt)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return store.Import{}, err
		}
	}
	return store.Import{Session: x, Prompt: prompt.String, Meta: map[string]string{hermesMetaKey: source.String}}, nil
}

// hermesTitleSrc takes a title of unknown origin for a person's: it is never changed then.
func hermesTitleSrc(src string) string {
	switch src {
	case "derived":
		return titleDerived
	case "llm":
		return titleModel
	default:
		return titleUser
	}
}

func hermesUsage(input, output, cached, reasoning sql.NullInt64, actual, estimated sql.NullFloat64) chat.Usage {
	u := chat.Usage{
		Input: int(input.Int64 + cached.Int64), Output: int(output.Int64), Cached: int(cached.Int64), Reasoning: int(reasoning.Int64),
	}
	cost := actual
	if !cost.Valid {
		cost = estimated
	}
	if cost.Valid {
		u.Cost, u.CostKnown = int64(math.Round(cost.Float64*1e6)), true
	}
	return u
}

// sessionKind reads the lineage: a session that ended in a compression goes on in a child and is
// not listed itself.
func (h *hermesDB) sessionKind(ctx context.Context, id, source, reason, parent, config string) (string, error) {
	var c map[string]json.RawMessage
	_ = json.Unmarshal([]byte(config), &c) // no JSON, no lineage
	switch {
	case source == "subagent" || c["_delegate_from"] != nil:
		return string(KindSubagent), nil
	case source == "cron":
		return string(KindCron), nil
	case reason == "compression":
		var children int
		err := h.db.QueryRowContext(ctx, "SELECT count(*) FROM sessions WHERE parent_session_id=?", id).Scan(&children)
		if err != nil || children > 0 {
			return string(KindCompaction), err
		}
	case c["_branched_from"] != nil:
		return string(KindBranch), nil
	case parent != "":
		var parentReason sql.NullString
		err := h.db.QueryRowContext(ctx, "SELECT end_reason FROM sessions WHERE id=?", parent).Scan(&parentReason)
		if err == nil && parentReason.String == "branched" {
			return string(KindBranch), nil
		}
	}
	return string(KindUser), nil
}

const hermesMessageColumns = `role content tool_call_id tool_calls tool_name timestamp token_count finish_reason reasoning
 reasoning_content active compacted display_kind`

// importMessages are in the order of their ids: timestamps of a batch may be equal or wrong.
func (h *hermesDB) importMessages(ctx context.Context, id string) ([]store.StoredMessage, error) {
	answer := rows.Ask(ctx, h.db, "SELECT "+h.selectList("messages", hermesMessageColumns)+" FROM messages WHERE session_id=? ORDER BY id", id)
	var out []store.StoredMessage
	names := map[string]string{} // call id -> tool: older rows do not name the tool
	err := answer.Each(func(r rows.Scanner) error {
		m, err := hermesMessage(r, names)
		switch m.Role {
		case chat.RoleUser, chat.RoleAssistant, chat.RoleTool, chat.RoleSystem:
			out = append(out, m)
		default: // notes of that program to itself
		}
		return err
	})
	return out, err
}

func hermesMessage(row rows.Scanner, names map[string]string) (store.StoredMessage, error) {
	var role, content, callID, calls, tool, finish, reasoning, reasoning2, display sql.NullString
	var at sql.NullFloat64
	var tokens, active, compacted sql.NullInt64
	if err := row.Scan(&role, &content, &callID, &calls, &tool, &at, &tokens, &finish, &reasoning, &reasoning2,
		&active, &compacted, &display); err != nil {
		return store.StoredMessage{}, err
	}
	m := chat.Message{Role: chat.Role(role.String), Status: chat.StatusFinal, At: timeOfEpoch(at), Reasoning: reasoning.String}
	if m.Reasoning == "" {
		m.Reasoning = reasoning2.String
	}
	m.Finish = hermesFinish(finish.String)
	if tokens.Valid && m.Role == chat.RoleAssistant {
		m.Usage.Output = int(tokens.Int64)
	}
	text, parts := hermesContent(content.String)
	if m.Role == chat.RoleTool {
		if tool.String == "" {
			tool.String = names[callID.String]
		}
		m.Result = &chat.ToolResult{CallID: callID.String, Name: tool.String, Text: text}
	} else {
		m.Text, m.Parts = text, parts
		m.Calls = hermesCalls(calls.String)
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
	}
	out := store.StoredMessage{Message: m, Active: !active.Valid || active.Int64 != 0}
	out.Compacted = !out.Active && compacted.Int64 != 0
	if display.String == "hidden" { // scaffolding that nobody saw
		out.Active, out.Compacted = false, false
	}
	return out, nil
}

func hermesFinish(reason string) chat.Finish {
	switch f := chat.Finish(reason); f {
	case chat.FinishStop, chat.FinishToolCalls, chat.FinishLength, chat.FinishContentFilter, chat.FinishInterrupted, chat.FinishError:
		return f
	default:
		return ""
	}
}

// hermesContent reads plain text, or a marked JSON list of parts. Pictures and files are named
// only.
func hermesContent(content string) (text string, attached []chat.Part) {
	data, ok := strings.CutPrefix(content, "\x00json:")
	if !ok {
		return content, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(data), &parts) != nil {
		var one struct {
			Text string `json:"text"`
		}
		if json.Unmarshal([]byte(data), &one) == nil && one.Text != "" {
			return one.Text, nil
		}
		return data, nil
	}
	var texts []string
	for i, p := range parts {
		switch {
		case p.Text != "":
			texts = append(texts, p.Text)
		case strings.Contains(p.Type, "image"):
			attached = append(attached, chat.Part{Kind: chat.PartImage, Name: fmt.Sprintf("image %d (not imported)", i+1)})
		default:
			attached = append(attached, chat.Part{Kind: chat.PartFile, Name: fmt.Sprintf("%s %d (not imported)", p.Type, i+1)})
		}
	}
	return strings.Join(texts, "\n"), attached
}

// hermesCalls reads tool calls in the form of the OpenAI API.
func hermesCalls(text string) []chat.ToolCall {
	if text == "" {
		return nil
	}
	var in []struct {
		ID       string `json:"id"`
		CallID   string `json:"call_id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal([]byte(text), &in) != nil {
		return nil
	}
	out := make([]chat.ToolCall, 0, len(in))
	for _, c := range in {
		call := chat.ToolCall{ID: c.ID, Name: c.Function.Name}
		if call.ID == "" {
			call.ID = c.CallID
		}
		args := string(c.Function.Arguments)
		var quoted string
		if json.Unmarshal(c.Function.Arguments, &quoted) == nil { // a string that holds JSON
			args = quoted
		}
		if json.Valid([]byte(args)) {
			call.Args = json.RawMessage(args)
		} else {
			call.Invalid = args
		}
		out = append(out, call)
	}
	return out
}
