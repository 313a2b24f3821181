package workbench

import (
	"fmt"
	"strings"
	"time"

	"hermes/core/usermodel"
	"hermes/panes/memory"
)

// userModelFile is the user model as the memory pane shows it: an entry a value.
func (r remembered) userModelFile() memory.File {
	f := memory.File{Target: memory.UserModel, Name: "user model"}
	m, err := r.app.UserModel().Load()
	if err != nil {
		f.Problem = err.Error()
	}
	if m.Off {
		f.Problem = "off: nothing is counted, nothing is told; hermes memory user on"
	}
	for _, key := range usermodel.Keys() {
		for _, v := range m.Of(key) {
			f.Entries = append(f.Entries, memory.Entry{Text: key + ": " + v.String()})
		}
	}
	return f
}

// changeKnown changes a value. What is written is "key: value".
func (r remembered) changeKnown(c memory.Change) (string, *memory.Refused, error) {
	s := r.app.UserModel()
	oldKey, old := valueOf(c.Old)
	key, value := valueOf(c.New)
	if c.New != "" {
		if err := s.Set(key, value, time.Now()); err != nil {
			return "", &memory.Refused{Reason: fmt.Sprintf("%v; write it as key: value", err)}, nil
		}
	}
	if c.Old != "" && (oldKey != key || !strings.EqualFold(old, value)) {
		if _, err := s.Forget(oldKey, old); err != nil {
			return "", nil, err
		}
	}
	if c.New == "" {
		return "forgotten: " + old + "; it is not counted again", nil, nil
	}
	return "kept: " + value + "; new sessions know", nil, nil
}

// valueOf reads an entry: key, value, and behind it the evidence.
func valueOf(entry string) (key, value string) {
	key, value, _ = strings.Cut(entry, ":")
	value, _, _ = strings.Cut(value, usermodel.Evidently)
	return strings.TrimSpace(key), strings.TrimSpace(value)
}
