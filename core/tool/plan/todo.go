// Package plan holds the todo tool: the list of steps that an agent keeps for itself and the person
// watches.
//
// The contract: a session has one list. Every write publishes event.TodoChanged with the whole
// list, after it was saved.
package plan

import (
	"cmp"
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/tool"
)

//go:embed todo.md
var todoDoc string

// Store keeps the list of each session.
type Store interface {
	Load(ctx context.Context, session string) ([]event.TodoItem, error)
	Save(ctx context.Context, session string, items []event.TodoItem) error
}

const (
	maxItems = 256
	maxRunes = 4000 // of one item
)

type todoArgs struct {
	Todos *[]event.TodoItem `json:"todos"`
	Merge bool              `json:"merge"`
}

// Todo returns the todo tool.
func Todo(s Store) tool.Tool {
	t := &todo{store: s}
	return tool.Typed(tool.Spec{
		Name: "todo", Toolset: "todo", Description: todoDoc, Serial: true,
		Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"properties":{
			"todos":{"type":"array","maxItems":%d,"description":"The list; leave it out to read it","items":{"type":"object","additionalProperties":false,
				"required":["content"],"properties":{
				"id":{"type":"string","maxLength":64,"description":"Stable name of the item; given one when left out"},
				"content":{"type":"string","minLength":1,"maxLength":%d},
				"status":{"type":"string","enum":["pending","in_progress","completed","cancelled"]}}}},
			"merge":{"type":"boolean","default":false,"description":"Change and add items by id instead of replacing the list"}}}`, maxItems, maxRunes)),
		Intent: tool.Arg(func(a todoArgs) intent.Intent { return intent.ReadsOnly(a.gist()) }),
	}, t.updateList)
}

func (a todoArgs) gist() string {
	if a.Todos == nil {
		return "read the list"
	}
	if len(*a.Todos) == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", len(*a.Todos))
}

type todo struct {
	store Store
	mu    sync.Mutex // load, change and save belong together
}

func (t *todo) updateList(ctx context.Context, c tool.Call, a todoArgs) (tool.Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	items, err := t.store.Load(ctx, c.Session)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the todo list could not be read: %w", err)
	}
	if a.Todos == nil {
		return tool.Result{Text: renderItems(items)}, nil
	}
	if !a.Merge {
		items = nil
	}
	items, err = mergeItems(items, *a.Todos)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	if err := t.store.Save(ctx, c.Session, items); err != nil {
		return tool.Result{}, fmt.Errorf("the todo list could not be saved: %w", err)
	}
	c.Publish(event.TodoChanged{Items: items})
	return tool.Result{Text: renderItems(items)}, nil
}

// mergeItems changes items of known ids and adds the others. Of two with one id in a call the later
// counts.
func mergeItems(items, with []event.TodoItem) ([]event.TodoItem, error) {
	items = slices.Clone(items)
	for _, n := range with {
		n.Content = strings.TrimSpace(n.Content)
		if n.Content == "" {
			return nil, errors.New("a todo has no content: say what is to be done")
		}
		n.ID = strings.TrimSpace(n.ID)
		if n.ID == "" {
			n.ID = freeID(items, with)
		}
		i := slices.IndexFunc(items, func(x event.TodoItem) bool { return x.ID == n.ID })
		if i < 0 {
			n.Status = cmp.Or(n.Status, "pending")
			items = append(items, n)
			continue
		}
		n.Status = cmp.Or(n.Status, items[i].Status)
		items[i] = n
	}
	if len(items) > maxItems {
		return nil, fmt.Errorf("the list would have %d items, at most %d are kept: replace it (merge=false) and leave out what is done", len(items), maxItems)
	}
	return items, nil
}

// freeID is the smallest number that neither the list nor the call uses.
func freeID(lists ...[]event.TodoItem) string {
	for n := 1; ; n++ {
		id := strconv.Itoa(n)
		used := slices.ContainsFunc(lists, func(l []event.TodoItem) bool {
			return slices.ContainsFunc(l, func(x event.TodoItem) bool { return x.ID == id })
		})
		if !used {
			return id
		}
	}
}

func renderItems(items []event.TodoItem) string {
	if len(items) == 0 {
		return "The todo list is empty."
	}
	marks := map[string]string{"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]"}
	var b strings.Builder
	done := 0
	for _, i := range items {
		if i.Status == "completed" || i.Status == "cancelled" {
			done++
		}
		fmt.Fprintf(&b, "%s %s: %s\n", marks[i.Status], i.ID, i.Content)
	}
	fmt.Fprintf(&b, "%d of %d done", done, len(items))
	return b.String()
}
