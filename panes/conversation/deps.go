// Package conversation is the pane that a person works in: the transcript of one session and the
// composer under it.
//
// The contract:
//
//   - The transcript is a virtual list of blocks. Only what is in the window is ever rendered; no
//     path walks the whole of it.
//   - Everything that comes from a model or a tool is sanitised before it is kept.
//   - All work that may wait happens in commands; results come back as messages of this package.
//   - What waits for a decision never takes keys from a composer that holds text.
//   - Nothing ticks. While a tool runs the pane asks for one refresh a second through RefreshAt.
package conversation

import (
	"context"
	"os/exec"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
)

// Deps is what the pane needs of the rest of the program. Transcript, Agent and NewSession are
// required, the others may be nil.
type Deps struct {
	Transcript Transcript
	Agent      Agent
	Files      Files
	History    History
	Commands   Commands
	Busy       event.InputMode  // what Enter does while a turn runs; empty means queue
	Now        func() time.Time // nil means time.Now
	Cwd        func(session string) string
	// ContentPath is the file that holds the content of a part, "" for none; may be nil. It is
	// asked while drawing.
	ContentPath func(blob string) string
	// Picture is what shows an image of a file on the whole terminal until a key is pressed; nil
	// when nothing can.
	Picture func(path string) *exec.Cmd
	// Key tells which key an action has now, so that hints stay true when a person changes it.
	Key func(id, usual string) string
	// Display is asked at every change of the settings; nil means DefaultDisplay.
	Display func() Display
	// NewSession makes a session for the first prompt of an empty pane.
	NewSession func(ctx context.Context) (uid string, err error)
	// Fork copies a session up to and including a message. nil takes the action away, as for the
	// two below.
	Fork func(ctx context.Context, session string, messageID int64) (uid string, err error)
	// Mark keeps that the turn of a message went well or badly; the same again takes that away.
	Mark func(session string, messageID int64, good bool) tea.Cmd
	// Retry answers the last prompt again.
	Retry func(ctx context.Context, session string) error
	// Undo removes the last prompt and its answer, and returns the prompt for the composer.
	Undo func(ctx context.Context, session string) (prompt compose.Prompt, err error)
}

// Display is what the settings say about the look.
type Display struct {
	Reasoning  bool // show what the model thinks while it does; a line that opens always stays
	Timestamps bool // show when something was said
	PasteLines int  // longer pastes become a chip; 0 for never
	PasteRunes int
}

// DefaultDisplay is the look without settings.
func DefaultDisplay() Display {
	return Display{Reasoning: true, Timestamps: true, PasteLines: compose.MaxPasteLines, PasteRunes: compose.MaxPasteRunes}
}

// Transcript reads what was said. Messages come oldest first.
type Transcript interface {
	// Page returns up to limit messages with Seq < beforeSeq (0: from the end), and whether there
	// are older ones.
	Page(ctx context.Context, session string, beforeSeq, limit int) (messages []chat.Message, more bool, err error)
	// Around returns up to limit messages around one message, and whether there are older ones.
	Around(ctx context.Context, session string, messageID int64, limit int) (messages []chat.Message, more bool, err error)
}

// Agent is who answers. What takes a context is called in commands and may wait; the others may
// not.
type Agent interface {
	// Submit hands over a prompt. An empty mode means the configured one. The prompt is persisted
	// when it returns.
	Submit(ctx context.Context, session, text string, parts []chat.Part, mode event.InputMode) error
	// Interrupt stops the running turn and reports whether there was one.
	Interrupt(session string) bool
	// Busy reports whether a turn runs, Waiting what waits for the person: for a pane that comes to
	// a session late.
	Busy(session string) bool
	Waiting(session string) ([]event.ApprovalAsked, []event.QuestionAsked)
	// Queue lists the prompts that wait.
	Queue(session string) []event.QueuedInput
	// EditQueued replaces the text of a waiting prompt, DropQueued removes it. Both fail when it
	// was taken up already.
	EditQueued(ctx context.Context, session, id, text string) error
	DropQueued(ctx context.Context, session, id string) error
	// PromoteQueued sends a waiting prompt as if it were submitted in that mode now.
	PromoteQueued(ctx context.Context, session, id string, mode event.InputMode) error
	// Resume sends on what an interrupted or failed turn left in the queue.
	Resume(ctx context.Context, session string) error
	// Answer settles an approval.
	Answer(approvalID string, d event.Decision) error
	// AnswerEdited settles an approval with a command that runs in place of the call's own.
	AnswerEdited(approvalID, command string) error
	// AnswerQuestion settles a question of the clarify tool.
	AnswerQuestion(id, text string) error
}

// Folder is where the words of a composer are looked for.
type Folder struct {
	Session, Cwd string
	Command      bool // for a command, which runs where the session's back end is
}

// Files lists paths for completion after @, and reads what is attached.
type Files interface {
	// List returns paths that may match prefix, best first or unsorted: below cwd and relative to it,
	// or of the back end that the session uses.
	List(ctx context.Context, in Folder, prefix string) []string
	// Dropped returns the path that a terminal pastes when the file of an image is dropped on it.
	// It reads nothing.
	Dropped(paste string) (path string, ok bool)
	// Load reads a file to be attached; relative paths start in cwd.
	Load(ctx context.Context, cwd, path string) (chat.Part, error)
	// Describe says in a few words what each @word of a text would attach; what attaches nothing is
	// left out.
	Describe(ctx context.Context, in Folder, text string) []string
	// Clipboard reads the image of the clipboard.
	Clipboard(ctx context.Context) (chat.Part, error)
}

// History keeps what was typed.
type History interface {
	Load(ctx context.Context) ([]compose.Prompt, error) // oldest first
	Append(ctx context.Context, p compose.Prompt) error
}

// Commands are the slash commands; *ui.Slash is one.
type Commands interface {
	List() []ui.SlashCommand
	// Run runs "/name arg..." for the focused session. ok is false when there is no such command.
	Run(line string) (cmd tea.Cmd, ok bool)
	// Unknown says that there is no such command, and which one may have been meant.
	Unknown(name string) ui.FrameMsg
	// Complete returns what finds the values for a command's argument, nil when it has none.
	Complete(name string) func(context.Context) []string
}
