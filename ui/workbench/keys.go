package workbench

import (
	"slices"

	"hermes/ui"
)

// allActions is the whole table: the frame's, the program's and every pane's.
func allActions() []ui.Action {
	return slices.Concat(ui.FrameActions(), Actions(), PaneActions())
}

// KeyProblems reports what is wrong with the keys of the settings, one sentence each.
func KeyProblems(keys map[string][]string) (unknown, conflicts []string) {
	return ui.KeyProblems(keys, ui.FrameActions(), Actions(), PaneActions())
}

// KeysMarkdown is docs/keys.md.
func KeysMarkdown() string { return ui.KeysMarkdown(allActions()) }
