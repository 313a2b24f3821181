package workbench

import (
	"context"
	"strings"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
)

// keepFirstPrompt puts what the person wrote behind the name of the program among what they sent
// before, as the line does. A history that cannot be written is told of when the line writes it.
func (w *workbench) keepFirstPrompt(prompt string) {
	if prompt != "" && !strings.HasPrefix(prompt, "/") {
		h := promptHistory{path: w.options.Core.Config.Paths().HistoryFile}
		_ = h.Append(context.Background(), compose.Prompt{Text: prompt})
	}
}

// firstPrompt sends what the person wrote behind the name of the program. What cannot be sent
// stands in the line, and so does a command: nothing runs that nobody has seen.
func (w *workbench) firstPrompt(ctx context.Context, uid, prompt string) {
	if !strings.HasPrefix(prompt, "/") {
		err := w.submitFirst(ctx, uid, approval.ExpandCommand(prompt))
		if err == nil || ctx.Err() != nil {
			return
		}
		w.options.Core.Bus.Publish(event.Header{}, event.Notice{
			Level: event.Error, Text: "Not sent: " + err.Error(), Hint: "the prompt is back in the line; enter tries again",
		})
	}
	w.program.Send(ui.BeginText{Text: prompt})
}

func (w *workbench) submitFirst(ctx context.Context, uid, prompt string) error {
	app, err := w.boot.waitForApp(ctx)
	if err != nil {
		return err
	}
	fresh, err := isFresh(ctx, app.Sessions, uid)
	if err != nil {
		return err
	}
	if !fresh {
		if _, err := app.Resume(ctx, uid); err != nil {
			return err
		}
	}
	return app.Submit(ctx, uid, agent.Input{From: chat.Person(), Text: prompt})
}
