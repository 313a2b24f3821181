package event

import "hermes/core/chat"

// MessageAdded carries a complete message that was just persisted (user prompts, tool results).
type MessageAdded struct {
	fact
	Message chat.Message `json:"message"`
}

// MessageStarted announces an assistant message that will stream. Its row exists with
// StatusPartial.
type MessageStarted struct {
	fact
	MessageID int64  `json:"message_id"`
	Model     string `json:"model"`
	// From is set where the calls that follow are the person's own commands.
	From chat.Author `json:"from,omitzero"`
}

// MessageSealed ends a streamed message; Message is the persisted truth and replaces what was
// streamed.
type MessageSealed struct {
	fact
	Message chat.Message `json:"message"`
}

// MessageDiscarded removes a streamed message that a retry replaces.
type MessageDiscarded struct {
	fact
	MessageID int64         `json:"message_id"`
	Why       DiscardReason `json:"why"`
	Err       string        `json:"err,omitempty"` // of DiscardFailed, for people
}

// DiscardReason says why a message was taken back.
type DiscardReason string

// Reasons to take a message back.
const (
	DiscardEmpty       DiscardReason = "empty" // there was nothing in it
	DiscardFailed      DiscardReason = "failed"
	DiscardInterrupted DiscardReason = "interrupted"
)

// TextDelta appends to the text of a streaming message.
type TextDelta struct {
	delta
	MessageID int64  `json:"message_id"`
	Offset    int    `json:"offset"` // bytes before Text
	Text      string `json:"text"`
}

// ReasoningDelta appends to the reasoning of a streaming message.
type ReasoningDelta struct {
	delta
	MessageID int64  `json:"message_id"`
	Offset    int    `json:"offset"`
	Text      string `json:"text"`
}

// UsageTick is the session's token count so far; the latest wins.
type UsageTick struct {
	delta
	Session string     `json:"session"`
	Context int        `json:"context"` // tokens in the model's window now
	Window  int        `json:"window"`  // size of the window; 0 when unknown
	Total   chat.Usage `json:"total"`
}

// Compressed says that old messages were replaced by a summary. Tokens before and after.
type Compressed struct {
	fact
	Before int    `json:"before"`
	After  int    `json:"after"`
	By     string `json:"by,omitempty"` // the plugin that wrote the summary, when none of ours did
}
