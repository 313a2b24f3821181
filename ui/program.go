// Package ui is the frame of the screen: the only user of tea.Program. It knows panes by the Pane
// interface only.
//
// The contract:
//
//   - One event loop. Events reach it through one bridge, at most one batch a frame; panes fold
//     them in with Apply.
//   - Update changes state and marks dirty. A frame is composed and painted at once after a person
//     did something, else at most every 33 ms while something changes. While nothing changes,
//     nothing runs and nothing is written.
//   - What a pane's command returns comes back to that pane; a FrameMsg asks something of the
//     frame.
//   - One table of actions (see Action) feeds keys, bottom rows, help, palette, slash commands and
//     docs/keys.md.
//   - The terminal is given back in every case: normal end, suspend, a process that borrows it,
//     SIGTERM, a panic, a terminal that takes no more bytes.
package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/crash"
	"hermes/themes"
	"hermes/ui/screen"
)

// Program is the running screen.
type Program struct {
	opt    Options
	frame  *frame
	tea    *tea.Program
	bridge *bridge
	keys   *wholeKeys // nil where keys come from no terminal
	stop   chan struct{}
	once   sync.Once
	on     chan struct{} // closed once tea is there
	taken  atomic.Int64  // messages
}

// ErrStuck says that the terminal took no more bytes, so that the end could not be drawn.
var ErrStuck = errors.New("the terminal does not take any output; it was given back by force")

// exitWithin is how long the event loop has to end once it was asked to.
const exitWithin = 2 * time.Second

// New prepares the screen. It subscribes to the bus at once, so that no event is missed before Run.
func New(opt Options) *Program {
	if opt.Output == nil {
		opt.Output = os.Stdout
	}
	if opt.Input == nil {
		opt.Input = keyboardInput()
	}
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Command == nil {
		opt.Command = exec.CommandContext
	}
	term := newTerminal(opt.Input, opt.Output)
	opt.W, opt.H = term.size(opt.W, opt.H)
	p := &Program{opt: opt, bridge: newBridge(opt.Bus), stop: make(chan struct{}), on: make(chan struct{})}
	out := screen.New(opt.Output)
	if opt.NoMouse {
		_ = out.SetMouse(false) // writes the sequence that is the default anyway
	}
	p.frame = newFrame(opt, out, term)
	p.frame.wrote, p.frame.stop = p.bridge.noteFrameBytes, p.stop
	return p
}

// Close ends the subscription and every timer. Run does it; a program that never ran needs it.
func (p *Program) Close() {
	p.once.Do(func() {
		close(p.stop)
		p.bridge.box.Close()
	})
}

// Model returns the root model, for tests that run it in a tea.Program of their own.
func (p *Program) Model() tea.Model { return p.frame }

// Run shows the screen until the person quits, ctx ends or SIGTERM comes. It gives the terminal
// back before it returns.
func (p *Program) Run(ctx context.Context) error {
	if p.frame.terminal.out != nil && p.opt.Getenv("TERM") == "dumb" {
		return errors.New("this terminal says TERM=dumb and cannot show a screen; use `hermes run \"prompt\"` here")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.Close()
	forget := crash.OnPanic(func() { p.frame.terminal.giveBackUnasked(p.opt.Output, time.Second) })
	defer forget()
	if err := p.frame.terminal.takeOver(p.frame.screen); err != nil {
		return errors.Join(fmt.Errorf("the terminal could not be prepared: %w", err), p.frame.terminal.endRawMode())
	}
	in := wholeCharacters(p.opt.Input)
	keys, _ := in.(*wholeKeys)
	p.keys = keys
	p.tea = tea.NewProgram(p.frame, tea.WithInput(in), tea.WithOutput(p.opt.Output), tea.WithContext(ctx),
		tea.WithoutRenderer(), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(), tea.WithFilter(p.filterMessage))
	close(p.on)
	if keys != nil {
		p.askBackground(keys)
	}
	p.startFeeders(ctx)
	return p.runLoop(ctx)
}

// sendMessage gives the event loop a message, once it runs. It does nothing after its end.
func (p *Program) sendMessage(msg tea.Msg) {
	select {
	case <-p.on:
		p.tea.Send(msg)
	case <-p.stop:
	}
}

// startFeeders runs what feeds the event loop.
func (p *Program) startFeeders(ctx context.Context) {
	crash.Go("event bridge", func() { p.bridge.sendBatches(ctx, func(b batch) { p.tea.Send(b) }) })
	p.frame.terminal.watchSize(p.stop, func(w, h int) { p.tea.Send(tea.WindowSizeMsg{Width: w, Height: h}) })
	if p.opt.ThemeDir != "" {
		crash.Go("theme watcher", func() {
			// Without the folder there is nothing to watch; the built-in themes do not change.
			_ = themes.Watch(ctx, p.opt.ThemeDir, func(name string) { p.tea.Send(themeChanged{name}) })
		})
	}
}

// runLoop runs the event loop and sees to it that the end comes, even when the loop hangs in a
// write.
func (p *Program) runLoop(ctx context.Context) error {
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	defer signal.Stop(sig)
	done := make(chan error, 1)
	crash.Go("event loop", func() {
		_, err := p.tea.Run()
		done <- err
	})
	err := p.awaitEnd(ctx, done, sig)
	if errors.Is(err, ErrStuck) {
		p.frame.terminal.giveBackUnasked(p.opt.Output, 200*time.Millisecond)
		return err
	}
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		err = nil // that is how it was asked to end
	}
	return errors.Join(err, p.giveBack(), p.frame.failed)
}

// giveBack leaves the terminal as it was. One that takes no bytes gets exitWithin for them, as
// everything else at the end does.
func (p *Program) giveBack() error {
	done := make(chan error, 1)
	crash.Go("give back terminal", func() { done <- p.frame.screen.Leave() })
	select {
	case err := <-done:
		return errors.Join(err, p.frame.terminal.endRawMode())
	case <-time.After(exitWithin):
		p.frame.terminal.giveBackUnasked(p.opt.Output, 200*time.Millisecond)
		return ErrStuck
	}
}

// awaitEnd waits for the end of the loop, or for a reason to end it.
func (p *Program) awaitEnd(ctx context.Context, done <-chan error, sig <-chan os.Signal) error {
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return p.endLoop(done)
		case s := <-sig:
			// While a process has the terminal, ctrl+c is meant for that process.
			if s != syscall.SIGINT || !p.frame.terminal.lent.Load() {
				return p.endLoop(done)
			}
		}
	}
}

// endLoop asks the event loop to end and waits for it.
func (p *Program) endLoop(done <-chan error) error {
	crash.Go("quit", p.tea.Quit) // blocks while the loop does
	select {
	case err := <-done:
		return err
	case <-time.After(exitWithin):
		p.tea.Kill()
		return ErrStuck
	}
}

// Send asks something of the frame from outside of the event loop. It waits for the loop, and does
// nothing after its end.
func (p *Program) Send(msg FrameMsg) { p.sendMessage(msg) }

// Resize tells the screen its size in cells where no terminal does.
func (p *Program) Resize(w, h int) { p.sendMessage(tea.WindowSizeMsg{Width: w, Height: h}) }

// SetTheme changes the theme while the program runs.
func (p *Program) SetTheme(name string) { p.sendMessage(themeWanted{name}) }

// SetKeys changes the configured keys while the program runs.
func (p *Program) SetKeys(keys map[string][]string) { p.sendMessage(keysChanged{keys}) }

// filterMessage sees every message before the model does.
func (p *Program) filterMessage(m tea.Model, msg tea.Msg) tea.Msg {
	p.taken.Add(1)
	if p.keys != nil {
		msg = p.keys.pastes.restorePaste(msg)
	}
	return filterInput(m, msg)
}

// Taken counts the messages that the event loop took. While nothing happens it stands still: `make
// bench` watches it.
func (p *Program) Taken() int64 { return p.taken.Load() }

// Idle reports whether nothing is under way: every event is on the screen and every command's
// message was handled.
func (p *Program) Idle() bool { return p.bridge.isCaughtUp() && p.frame.inflight.Load() == 0 }
