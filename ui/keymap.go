package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/text"
)

// keymap is what a person's configuration changes about keys.
type keymap struct{ changed map[string][]string }

// newKeymap takes what the configuration says. A file may hold anything, and the names of keys
// stand on the screen: what no key can be called is left out.
func newKeymap(changed map[string][]string) *keymap {
	k := &keymap{make(map[string][]string, len(changed))}
	for id, keys := range changed {
		k.changed[id] = slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
			return key == "" || strings.ContainsAny(key, "\n\t") || text.Sanitize(key) != key
		})
	}
	return k
}

// keysOf returns the keys of an action.
func (k *keymap) keysOf(a Action) []string {
	if keys, ok := k.changed[a.ID]; ok {
		return keys
	}
	return a.Keys
}

// firstKey returns the first key of an action: usual, unless the configuration changed it; "" when
// it has none.
func (k *keymap) firstKey(id, usual string) string {
	keys, changed := k.changed[id]
	switch {
	case !changed:
		return usual
	case len(keys) == 0:
		return ""
	default:
		return keys[0]
	}
}

// entry is an action with the pane that it belongs to; nil for the frame's and the program's own.
type entry struct {
	Action
	owner Pane
}

// disabledReason returns the reason why the action cannot run now, or "".
func (e entry) disabledReason() string {
	if e.Why == nil {
		return ""
	}
	return e.Why()
}

// globalActions are the actions that work everywhere.
func (f *frame) globalActions() []entry {
	var out []entry
	for _, a := range f.frameActions() {
		out = append(out, entry{Action: a})
	}
	for _, a := range f.opt.Actions {
		out = append(out, entry{Action: a})
	}
	if f.opt.More != nil { // last: the program's own commands count before them
		for _, a := range f.opt.More() {
			out = append(out, entry{Action: a})
		}
	}
	for i := range out {
		if out[i].Group == "" {
			out[i].Group = "everywhere"
		}
	}
	return out
}

func ofPane(p Pane) []entry {
	if p == nil {
		return nil
	}
	var out []entry
	for _, a := range p.Actions() {
		if a.Group == "" {
			a.Group, _, _ = strings.Cut(string(p.ID()), ":")
		}
		out = append(out, entry{a, p})
	}
	return out
}

// reachableActions lists every action that can be reached now: the focused pane's first, then the
// other panes', then the global ones. Of several conversations only the current one's count.
func (f *frame) reachableActions() []entry {
	first := f.focusedPane()
	out := ofPane(first)
	for _, p := range append([]Pane{f.convs.currentPane()}, f.opt.Side...) {
		if p != first {
			out = append(out, ofPane(p)...)
		}
	}
	return append(out, f.globalActions()...)
}

// findAction returns the action that key means now. A disabled action of the pane leaves the key to
// a global one, and while somebody types to the line.
func (f *frame) findAction(key string, typing bool) (entry, bool) {
	if typing && isPrintable(key) {
		return entry{}, false
	}
	list := f.actionsOnKey(key)
	if i := slices.IndexFunc(list, func(e entry) bool { return e.disabledReason() == "" }); i >= 0 {
		return list[i], true
	}
	if len(list) > 0 && !typing {
		return list[0], true
	}
	return entry{}, false
}

// actionsOnKey lists the actions of a key, the focused pane's first.
func (f *frame) actionsOnKey(key string) (out []entry) {
	for _, list := range [][]entry{ofPane(f.focusedPane()), f.globalActions()} {
		for _, e := range list {
			if slices.Contains(f.keys.keysOf(e.Action), key) {
				out = append(out, e)
			}
		}
	}
	return out
}

// explainKey says why a key did nothing: its action cannot run now, or it has none here.
func (f *frame) explainKey(key string) tea.Cmd {
	list := f.actionsOnKey(key)
	for _, e := range list {
		if why := e.disabledReason(); why != "" {
			return f.showToast(event.Info, e.Title+": "+why, "")
		}
	}
	if len(list) > 0 { // it can run by now
		return nil
	}
	hint := "/help lists the keys"
	if help := f.keys.firstKey("help", "F1"); help != "" {
		hint = help + " lists the keys"
	}
	return f.showToast(event.Info, text.Inline(key)+" does nothing here", hint)
}

// isPrintable reports keys that are text for somebody who types.
func isPrintable(key string) bool {
	return len([]rune(key)) == 1 || key == "space"
}

// KeyProblems reports what is wrong with configured keys: ids that no action has, and two actions
// of one Group on one key.
func KeyProblems(keys map[string][]string, groups ...[]Action) (unknown, conflicts []string) {
	var ids []string
	known := map[string]bool{}
	for _, group := range groups {
		for _, a := range group {
			known[a.ID] = true
			ids = append(ids, a.ID)
		}
		conflicts = append(conflicts, keyConflicts(keys, group)...)
	}
	for id := range keys {
		if !known[id] {
			unknown = append(unknown, fmt.Sprintf("keys: there is no action %q%s", id, didYouMean(id, ids)))
		}
	}
	slices.Sort(unknown)
	slices.Sort(conflicts)
	return unknown, slices.Compact(conflicts)
}

func keyConflicts(changed map[string][]string, group []Action) []string {
	k, taken := newKeymap(changed), map[string]string{}
	var out []string
	for _, a := range group {
		for _, key := range k.keysOf(a) {
			place := a.Group + "\x00" + key // the same key may mean something else in another pane
			if other := taken[place]; other != "" && other != a.ID {
				out = append(out, fmt.Sprintf("keys: %q is on both %s and %s; %s wins", key, other, a.ID, other))
				continue
			}
			taken[place] = a.ID
		}
	}
	return out
}

// runByID runs an action as the palette would.
func (f *frame) runByID(id, arg string) tea.Cmd {
	for _, e := range f.reachableActions() {
		if e.ID == id {
			return f.runAction(e, arg)
		}
	}
	return nil
}

// KeysMarkdown returns docs/keys.md: every listed action by group.
func KeysMarkdown(actions []Action) string {
	var b strings.Builder
	b.WriteString("# Keys and commands\n\nGenerated from the action table by `make docs`. Every key can be changed under `keys:` in `config.yaml`, by the id.\n")
	groups, order := map[string][]Action{}, []string{}
	for _, a := range actions {
		if a.Hidden {
			continue
		}
		if groups[a.Group] == nil {
			order = append(order, a.Group)
		}
		groups[a.Group] = append(groups[a.Group], a)
	}
	for _, g := range order {
		fmt.Fprintf(&b, "\n## %s\n\n| keys | command | what it does | id |\n| --- | --- | --- | --- |\n", g)
		for _, a := range groups[g] {
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", asCode(a.Keys), asCode(slashNames(a)), strings.TrimSpace(a.Title+". "+a.Help), a.ID)
		}
	}
	return b.String()
}

func slashNames(a Action) []string {
	if a.Slash == "" {
		return nil
	}
	out := []string{strings.TrimSpace("/" + a.Slash + " " + a.Arg)}
	for _, name := range a.Also {
		out = append(out, "/"+name)
	}
	return out
}

func asCode(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = "`" + strings.ReplaceAll(s, "|", "\\|") + "`"
	}
	return strings.Join(out, " ")
}
