package core

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/agent"
	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/testwait"
	"hermes/core/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakePool has two back ends and runs nothing: commands come back as their output.
type fakePool struct {
	backend.Pool // what is not used here panics

	mu       sync.Mutex
	selected map[string]string
	got      []backend.Request
	ended    []string // sessions that were closed
	closed   bool
}

func (p *fakePool) Exec(_ context.Context, r backend.Request) (backend.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, r)
	return backend.Result{Backend: "here", Output: []byte("ran " + r.Command), Dir: r.Home}, nil
}

func (p *fakePool) List(uid string) []backend.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []backend.Status{
		{Name: "here", Kind: "local", Traits: event.Traits{Local: true}, Default: true},
		{Name: "box", Kind: "local", Traits: event.Traits{Local: true}},
	}
	for i := range list {
		list[i].Selected = list[i].Name == p.selected[uid]
	}
	return list
}

func (p *fakePool) Select(uid, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name != "here" && name != "box" {
		return os.ErrNotExist
	}
	p.selected[uid] = name
	return nil
}

func (p *fakePool) Keep(string, string) (release func()) { return func() {} }

func (p *fakePool) Reconfigure(*config.Config) error { return nil }

func (p *fakePool) CloseSession(_ context.Context, uid string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, uid)
	return nil
}

func (p *fakePool) Close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return nil
}

// place is a home and a folder to work in, in which programs are opened one after the other.
type place struct {
	t         *testing.T
	home, cwd string
}

func newPlace(t *testing.T) place {
	return place{t, t.TempDir(), t.TempDir()}
}

func (p place) write(text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// program is an opened App and what it says.
type program struct {
	*App
	t    *testing.T
	box  *event.Mailbox
	pool *fakePool
	seen []event.Envelope
}

// open starts a program as the workbench would, without a network: only offline can answer.
func (p place) open(change func(*Options)) *program {
	p.t.Helper()
	o := config.Options{Home: p.home, Env: []string{"HOME=" + p.home}, Flags: map[string]string{"model.provider": "offline"}}
	c, problems := config.Load(o)
	bus := event.NewBus()
	x := &program{t: p.t, box: bus.Subscribe(event.Limits{}), pool: &fakePool{selected: map[string]string{}}}
	options := Options{
		Bus: bus, Config: c, Reload: &o, Problems: problems, Session: session.Config{Source: "tui"}, Cwd: p.cwd,
		Pool: func(*event.Bus, *config.Config) (Pool, error) { return x.pool, nil },
	}
	if change != nil {
		change(&options)
	}
	var err error
	if x.App, err = Open(context.Background(), options); err != nil {
		p.t.Fatal(err)
	}
	return x
}

func (x *program) close() {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := x.Close(ctx); err != nil {
		x.t.Error(err)
	}
	x.box.Close()
	if !x.pool.closed {
		x.t.Error("the pool was not closed")
	}
}

// wait returns the first event of a type that fits, past ones included.
func wait[E event.Event](x *program, fits func(E) bool) E {
	x.t.Helper()
	late := time.After(testwait.Hang)
	for {
		for _, e := range x.seen {
			if v, ok := e.Event.(E); ok && (fits == nil || fits(v)) {
				return v
			}
		}
		select {
		case <-x.box.Ready():
			x.seen = append(x.seen, x.box.Drain()...)
		case <-late:
			var none E
			x.t.Fatalf("no %T came", none)
			return none
		}
	}
}

func (x *program) say(uid, text string) event.TurnEnded {
	x.t.Helper()
	x.seen = nil
	if err := x.Submit(context.Background(), uid, agent.Input{From: chat.Person(), Text: text}); err != nil {
		x.t.Fatal(err)
	}
	return wait[event.TurnEnded](x, nil)
}

const uid = "0199a000-0000-7000-8000-000000000001"

func TestAConversationIsKeptAndFoundAgain(t *testing.T) {
	p := newPlace(t)
	x := p.open(nil)
	if list, err := x.Sessions.List(context.Background(), session.Filter{}); err != nil || len(list) != 0 {
		t.Fatalf("a workbench that was only looked at has %d sessions, %v", len(list), err)
	}
	if end := x.say(uid, "$ uname --quokka"); end.Reason != event.TurnDone {
		t.Fatalf("%+v", end)
	}
	if got := x.pool.got; len(got) != 1 || got[0].Home != p.cwd || got[0].Dir != "" || got[0].Session != uid || !got[0].Merge {
		t.Fatalf("%+v", got)
	}
	if err := x.SelectBackend(context.Background(), uid, "box"); err != nil {
		t.Fatal(err)
	}
	x.close()

	x = p.open(nil)
	defer x.close()
	found, err := x.Sessions.Search(context.Background(), session.Query{Text: "quokka"})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("not found: %+v, %v", found, err)
	}
	info, err := x.Resume(context.Background(), uid)
	if err != nil || info.Cwd != p.cwd || info.Source != "tui" {
		t.Fatalf("%+v, %v", info, err)
	}
	if x.pool.selected[uid] != "box" || x.backendOf(uid, "").Name != "box" || x.backendOf(uid, "nowhere").Name != "here" {
		t.Errorf("the selected back end is %q", x.pool.selected[uid])
	}
	history, err := x.Sessions.History(context.Background(), uid)
	ran := slices.ContainsFunc(history, func(m chat.Message) bool {
		return m.Result != nil && strings.Contains(m.Result.Text, "ran uname --quokka")
	})
	if err != nil || !ran {
		t.Fatalf("%+v, %v", history, err)
	}
}

func TestResumeOfWhatIsNotThere(t *testing.T) {
	x := newPlace(t).open(nil)
	defer x.close()
	for range 2 { // the first failure must not count as open
		if _, err := x.Resume(context.Background(), uid); err == nil {
			t.Fatal("a session that nobody made was resumed")
		}
	}
}

func TestEnsureMakesOneSession(t *testing.T) {
	x := newPlace(t).open(nil)
	defer x.close()
	for range 3 {
		if err := x.Ensure(context.Background(), uid); err != nil {
			t.Fatal(err)
		}
	}
	list, err := x.Sessions.List(context.Background(), session.Filter{})
	if err != nil || len(list) != 1 || list[0].UID != uid {
		t.Fatalf("%+v, %v", list, err)
	}
}

func TestEditedSettingsTakeEffect(t *testing.T) {
	p := newPlace(t)
	p.write("approvals:\n  mode: manual\n")
	var changed *config.Config
	x := p.open(func(o *Options) { o.Changed = func(c *config.Config) { changed = c } })
	defer x.close()
	p.write("approvals:\n  mode: off\n  deny: [git push*]\ncommand_allowlist: [make test]\nmodel:\n  api_key: a-brand-new-secret\n")
	wait[event.ConfigReloaded](x, nil)
	policy := x.Gate.Policy()
	if policy.Mode != "off" || !slices.Equal(policy.Deny, []string{"git push*"}) || !slices.Equal(policy.Allow, []string{"make test"}) {
		t.Errorf("%+v", policy)
	}
	if changed == nil || changed.Approvals.Mode != "off" {
		t.Error("nobody was told")
	}
	p.write("approvals:\n  mode: smart\n")
	wait(x, func(event.ConfigReloaded) bool { return x.Gate.Policy().Mode == "smart" })
	p.write("approvals:\n  mode: of\n")
	told := wait(x, func(e event.ConfigReloaded) bool { return len(e.Problems) > 0 })
	if !strings.Contains(told.Problems[0], "config.yaml") {
		t.Errorf("%q", told.Problems)
	}
}

func TestProblemsAreSaidAndStopNothing(t *testing.T) {
	p := newPlace(t)
	p.write("approvals:\n  mode: of\n")
	x := p.open(nil)
	defer x.close()
	if told := wait[event.ConfigReloaded](x, nil); len(told.Problems) != 1 {
		t.Errorf("%q", told.Problems)
	}
	if x.Gate.Policy().Mode != "manual" {
		t.Error("a broken mode switched asking off")
	}
}

// An overloaded server has a ladder of six tries of its own: what the settings say holds there too.
func TestTheNumberOfTriesHoldsUnlessItIsChanged(t *testing.T) {
	for settings, want := range map[string]int{"{}": 3, "agent: {api_max_retries: 5}": 5} {
		p := newPlace(t)
		p.write(settings)
		x := p.open(nil)
		if got := x.agentSettings("").Retries; got != want {
			t.Errorf("%s: %d tries", settings, got)
		}
		x.close()
	}
}

func TestATimeForTheRequestCoversAllOfIt(t *testing.T) {
	got := endpointOf(&config.Config{}, "lab", config.Provider{Timeout: 7 * time.Second}).Timeouts
	if want := 7 * time.Second; got.Total != want || got.FirstByte != want || got.Thinking != want {
		t.Errorf("%+v", got)
	}
}

func TestSettingsReachTheAgent(t *testing.T) {
	p := newPlace(t)
	p.write(`
agent: {max_turns: 0, api_max_retries: 0}
compression: {threshold: 0.7, target_ratio: 0.3, protect_first_n: 4, protect_last_n: 5}
tool_output: {max_bytes: 2000, max_lines: 30}
toolsets: [file]
display: {busy_input_mode: queue}
providers:
  mine:
    base_url: http://127.0.0.1:9/v1
    models: {big: {context_length: 12345, price_in: 1.5, price_out: 2}}
`)
	x := p.open(nil)
	defer x.close()
	s := x.agentSettings("")
	if s.MaxTurns < 1e9 || s.Retries != -1 || s.CompressAt != 0.7 || s.Busy != event.InputQueue || !slices.Equal(s.Toolsets, []string{"file"}) {
		t.Errorf("%+v", s)
	}
	if s.KeepShare != 0.3 || s.ProtectFirst != 4 || s.ProtectLast != 5 {
		t.Errorf("%+v", s)
	}
	x.Tools.Run(context.Background(), "terminal", tool.Call{Session: uid, Args: []byte(`{"command":"true"}`)})
	if got := x.pool.got; len(got) != 1 || got[0].MaxOutput != 1600 { // the rest is for the lines after the output
		t.Errorf("asked for %+v", got)
	}
	if read, _ := x.Tools.Lookup("read_file"); !strings.Contains(string(read.Schema), `"maximum":30`) {
		t.Errorf("%s", read.Schema)
	}
	_, m, err := x.Models.Resolve(context.Background(), "mine/big")
	if err != nil || m.Window != 12345 || m.PriceIn != 1.5 || m.PriceOut != 2 || !m.Priced {
		t.Errorf("%+v, %v", m, err)
	}
	_, m, err = x.Models.Resolve(context.Background(), "mine/other")
	if err != nil || m.Window != 0 {
		t.Errorf("what nobody knows is not unknown: %+v, %v", m, err)
	}
	x.opts.Session.Toolsets = []string{"terminal"}
	if got := x.agentSettings("").Toolsets; !slices.Equal(got, []string{"terminal"}) {
		t.Errorf("the toolsets of this run: %q", got)
	}
}

func TestAPoolThatFailsLeavesNothingOpen(t *testing.T) {
	p := newPlace(t)
	c, _ := config.Load(config.Options{Home: p.home, Env: []string{"HOME=" + p.home}})
	_, err := Open(context.Background(), Options{
		Bus: event.NewBus(), Config: c,
		Pool: func(*event.Bus, *config.Config) (Pool, error) { return nil, os.ErrPermission },
	})
	if err == nil || !strings.Contains(err.Error(), "back ends") {
		t.Fatal(err)
	}
	p.open(nil).close() // the database is free
}

func TestCloseEndsARunningTurn(t *testing.T) {
	x := newPlace(t).open(nil)
	if err := x.Submit(context.Background(), uid, agent.Input{Text: "ask which one?"}); err != nil {
		t.Fatal(err)
	}
	wait[event.QuestionAsked](x, nil) // the turn waits for a person
	x.close()
	x.seen = append(x.seen, x.box.Drain()...)
	if end := wait[event.TurnEnded](x, nil); end.Reason != event.TurnInterrupted {
		t.Errorf("%+v", end)
	}
	if err := x.Agent.Submit(context.Background(), uid, agent.Input{Text: "more"}); err == nil {
		t.Error("a closed program takes prompts")
	}
}

func TestAToolsetThatDoesNotExistIsSaid(t *testing.T) {
	p := newPlace(t)
	c, _ := config.Load(config.Options{Home: p.home, Env: []string{"HOME=" + p.home}})
	_, err := Open(context.Background(), Options{
		Bus: event.NewBus(), Config: c, Session: session.Config{Toolsets: []string{"terminl"}},
		Pool: func(*event.Bus, *config.Config) (Pool, error) { return &fakePool{}, nil },
	})
	var unknown tool.UnknownError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "did you mean terminal?") {
		t.Fatal(err)
	}
}
