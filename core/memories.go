package core

import (
	"hermes/core/event"
	"hermes/core/memory"
	"hermes/core/tool/remember"
)

func (a *App) memoryLimits() memory.Limits {
	m := a.Config().Memory
	return memory.Limits{Notes: m.CharLimit, User: m.UserCharLimit}
}

func (a *App) memoryInPrompt() memory.Enabled {
	m := a.Config().Memory
	return memory.Enabled{Notes: m.Enabled, User: m.UserProfile}
}

func (a *App) memorySettings() remember.Settings {
	m := a.Config().Memory
	return remember.Settings{Notes: m.Enabled, User: m.UserProfile, Ask: m.WriteApproval}
}

// Remembered tells everybody what a person did to memory. uid may be "".
func (a *App) Remembered(uid string, c memory.Change, action string) {
	if !c.Nothing() {
		a.Bus.Publish(event.Header{Session: uid}, remember.Changed(c, action, "person"))
	}
}
