package agent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/core/chat"
)

const (
	pruneBytes = 2000 // smaller results stay: a line in their place saves nothing worth the loss
	pruneGain  = 10   // percent of the limit that must be saved: every change of what was sent before costs the provider's cache
	pruneShare = 0.25 // of the limit that stays as it is, when the settings name no share
	pruneHead  = 80   // characters of a result that its line shows
)

// prune takes old results of tools out of what the model is shown, one line in the place of each, when that makes room that is
// worth it. It returns the share of the conversation that is gone. The store keeps every result whole, and so does the screen.
func (t *turn) prune(limit int) float64 {
	share := t.settings.KeepShare
	if share <= 0 {
		share = pruneShare
	}
	through := stale(t.history, int(float64(limit)*share))
	if through <= t.w.pruned {
		return 0
	}
	before, after := estimate(t.shown()), estimate(pruned(t.history, through))
	if (before-after)*100 < limit*pruneGain {
		return 0
	}
	t.w.pruned = through
	t.a.d.Log.Info("old results of tools are sent as one line each", "session", t.w.uid, "through", through, "before", before, "after", after)
	return float64(before-after) / float64(before)
}

// shown is the history as the model sees it.
func (t *turn) shown() []chat.Message { return pruned(t.history, t.w.pruned) }

// stale is the id of the newest result that has fresh tokens of conversation after it and that the model has answered; 0: none.
func stale(history []chat.Message, fresh int) int64 {
	tokens, answered := 0, false
	for i, m := range slices.Backward(history) {
		if answered && tokens >= fresh && m.Result != nil && m.ID > 0 {
			return m.ID
		}
		tokens += estimate(history[i : i+1])
		answered = answered || m.Role == chat.RoleAssistant
	}
	return 0
}

// pruned is history with one line in the place of every large result up to the message through. It changes nothing but these
// texts: calls and results stay pairs. What is not stored yet (ID 0) is new and stays.
func pruned(history []chat.Message, through int64) []chat.Message {
	if through == 0 {
		return history
	}
	out := slices.Clone(history)
	later := map[string]bool{}
	for i := range slices.Backward(out) {
		r := out[i].Result
		if r == nil || len(r.Text) < pruneBytes {
			continue
		}
		if out[i].ID == 0 || out[i].ID > through {
			later[r.Name+"\x00"+r.Text] = true
			continue
		}
		line := prunedLine(out[i], later[r.Name+"\x00"+r.Text])
		if len(line) < len(r.Text) {
			short := *r
			short.Text = line
			out[i].Result = &short
		}
	}
	return out
}

func prunedLine(m chat.Message, again bool) string {
	if again {
		return fmt.Sprintf("[left out: a later call of %s gave exactly this result]", m.Result.Name)
	}
	where := ""
	if m.Result.Spill != "" {
		where = " all of it: " + m.Result.Spill + ";"
	}
	head := strings.ToValidUTF8(m.Result.Text[:min(len(m.Result.Text), utf8.UTFMax*pruneHead)], "")
	return fmt.Sprintf("[left out to save room: %d bytes from %s, which began %q;%s session_search with session_id %s, around_message_id %d and "+
		"role_filter tool shows more of it; call again for how it is now]",
		len(m.Result.Text), m.Result.Name, clip(head, pruneHead), where, m.Session, m.ID)
}
