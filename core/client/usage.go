package client

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/store"
)

// UsageReport is what model calls used: of one session, or of all.
type UsageReport struct {
	Session     string             `json:"session,omitempty"` // uid; "" for all
	Title       string             `json:"title,omitempty"`
	Composition *agent.Composition `json:"composition,omitempty"` // of the session's next call
	Total       store.UsageRow     `json:"total"`
	Today       store.UsageRow     `json:"today"`
	Days        []store.UsageRow   `json:"days"`
	Models      []store.UsageRow   `json:"models"`
	Purposes    []store.UsageRow   `json:"purposes"`           // "" is the conversation itself
	Sessions    []store.UsageRow   `json:"sessions,omitempty"` // of all sessions only
	Turns       []store.UsageRow   `json:"turns,omitempty"`    // of one session only
}

// UsageOf reports on a session, on all when session is "", since a time. Lists have at most limit
// rows, the newest first.
func UsageOf(ctx context.Context, c Client, session string, since time.Time, limit int) (UsageReport, error) {
	r := UsageReport{Session: session}
	f := store.UsageFilter{Session: session, Since: since}
	one := func(to *store.UsageRow, f store.UsageFilter) error {
		rows, err := c.History().UsageBy(ctx, store.UsageTotal, f)
		if len(rows) > 0 {
			*to = rows[0]
		}
		return err
	}
	year, month, day := time.Now().Date()
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.Local)
	if err := one(&r.Total, f); err != nil {
		return r, err
	}
	if err := one(&r.Today, store.UsageFilter{Session: session, Since: midnight}); err != nil {
		return r, err
	}
	f.Limit = limit
	lists := map[store.UsageBy]*[]store.UsageRow{
		store.UsageDay: &r.Days, store.UsageModel: &r.Models, store.UsagePurpose: &r.Purposes, store.UsageSession: &r.Sessions,
	}
	if session != "" {
		delete(lists, store.UsageSession)
		lists[store.UsageTurn] = &r.Turns
	}
	for by, to := range lists {
		rows, err := c.History().UsageBy(ctx, by, f)
		if err != nil {
			return r, err
		}
		*to = append([]store.UsageRow{}, rows...)
	}
	if session == "" {
		return r, nil
	}
	made, err := c.Composition(ctx, session)
	r.Composition = &made
	return r, err
}

// CacheRate is the share of what was read that came from a provider's cache: "83%", or "-" when
// nothing was read.
func CacheRate(u chat.Usage) string {
	if u.Input == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", u.Cached*100/u.Input)
}

// CostWords is what is known of the cost of calls: "$0.0123", "not known", "$0.0123 + 3 unpriced".
func CostWords(r store.UsageRow) string {
	cost := fmt.Sprintf("$%.4f", float64(r.Usage.Cost)/1e6)
	switch r.Unpriced {
	case 0:
		return cost
	case r.Calls:
		return "not known"
	default:
		return fmt.Sprintf("%s + %d unpriced", cost, r.Unpriced)
	}
}

// PurposeName is what model calls of a purpose are called.
func PurposeName(purpose string) string { return cmp.Or(purpose, "conversation") }

// SessionName is what a session is called in a list; one without an id was deleted.
func SessionName(uid, title string) string {
	switch {
	case uid == "":
		return "(deleted)"
	case title == "":
		return uid
	default:
		return uid + "  " + title
	}
}

// ShareName says what a share of a prompt is, for people.
func ShareName(name string) string {
	switch name {
	case "tools":
		return "tools: guidance"
	case "definitions":
		return "tools: definitions"
	case "context":
		return "project's instructions"
	case "summary":
		return "history: summary"
	case "messages", "calls", "results", "images", "documents":
		return "history: " + name
	default:
		return name
	}
}
