package core

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"hermes/core/event"
	"hermes/core/memory"
	"hermes/core/tool"
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
func (a *App) Remembered(uid string, c memory.Change, action event.MemoryAction) {
	if !c.Nothing() {
		a.Bus.Publish(event.Header{Session: uid}, remember.Changed(c, action, event.MemoryByPerson))
	}
}

// quietTime is how long the files must rest before a change of them is told: an editor writes in
// several steps.
const quietTime = 100 * time.Millisecond

// memoryPart is what the agent remembers across sessions, and whether the files are followed.
type memoryPart struct {
	quiet
	follower
	a    *App
	mu   sync.Mutex // of follower: anybody may ask for it
	tool *remember.Memory
}

func (p *memoryPart) Start(context.Context) error {
	p.a.Memory = memory.New(p.a.opts.Config.Paths().Home, p.a.memoryLimits)
	p.tool = remember.New(p.a.Memory, p.a.memorySettings)
	return nil
}

func (p *memoryPart) Tools() []tool.Tool { return []tool.Tool{remember.Tool(p.tool)} }

func (p *memoryPart) Forget(session string) { p.tool.Forget(session) }

func (p *memoryPart) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopFollowing(ctx, "changes of memory were still being told")
}

// FollowMemory tells of changes of the memory files by anybody, as MemoryChanged with the action
// "disk", until the App is closed. Nothing is watched before somebody looks at memory. Calling it
// again does nothing.
func (a *App) FollowMemory() error {
	p := &a.memories
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		return nil
	}
	dir, err := a.Memory.Made()
	if err != nil {
		return err
	}
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	if err := files.Add(dir); err != nil {
		_ = files.Close()
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.startFollowing("memory", stop, func() {
		defer func() { _ = files.Close() }()
		a.tellFiles(ctx, files)
	})
	return nil
}

func (a *App) tellFiles(ctx context.Context, files *fsnotify.Watcher) {
	changed := map[memory.Target]bool{}
	rest := time.NewTimer(quietTime)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-files.Events:
			if !ok {
				return
			}
			for _, t := range memory.Targets() {
				if filepath.Base(e.Name) == t.File() && e.Op != fsnotify.Chmod {
					changed[t] = true
					rest.Reset(quietTime)
				}
			}
		case _, ok := <-files.Errors: // what was lost is seen at the next change
			if !ok {
				return
			}
		case <-rest.C:
			for t := range changed {
				a.Bus.Publish(event.Header{}, event.MemoryChanged{Target: string(t), Action: event.MemoryOnDisk, By: event.MemoryByDisk})
			}
			clear(changed)
		}
	}
}
