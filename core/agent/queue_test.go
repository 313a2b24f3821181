package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/testskip"
	"hermes/core/tool"
)

// gatedModel answers with a tool call that waits for a token, so that tests decide what arrives
// during a turn.
func gatedRig(t testing.TB, script ...reply) (*rig, chan struct{}) {
	token := make(chan struct{})
	wait := newTool("token", nil, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		select {
		case <-token:
			return tool.Result{Text: "got"}, nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	})
	return rigWith(t, []tool.Tool{wait}, script...), token
}

func texts(q []event.QueuedInput) []string {
	var out []string
	for _, i := range q {
		out = append(out, i.Text)
	}
	return out
}

func TestQueueRunsInOrder(t *testing.T) {
	r, token := gatedRig(t, callsTools(fakeCall{"token", "{}"}), says("1"), says("2"), says("3"))
	r.submit("one", "")
	first[event.ToolStarted](r.sink)
	r.submit("two", event.InputQueue)
	r.submit("three", event.InputQueue)
	if q := texts(r.agent.Queue(r.uid)); !slices.Equal(q, []string{"two", "three"}) {
		t.Fatalf("queue %q", q)
	}
	stored, err := r.svc.LoadQueue(context.Background(), r.uid)
	if err != nil || !slices.Equal(texts(stored), []string{"two", "three"}) {
		t.Fatalf("stored %q, %v", texts(stored), err)
	}
	token <- struct{}{}
	r.ended(3)
	r.idle()
	wantShape(t, r, "user:one", "assistant:+1", "tool:got", "assistant:1", "user:two", "assistant:2", "user:three", "assistant:3")
	if len(r.agent.Queue(r.uid)) != 0 {
		t.Fatal("the queue is not empty")
	}
}

func TestSteerIsSeenAtTheNextStep(t *testing.T) {
	r, token := gatedRig(t, callsTools(fakeCall{"token", "{}"}), says("as you wish"))
	r.submit("go", "")
	first[event.ToolStarted](r.sink)
	r.submit("left", event.InputSteer)
	r.submit("no, right", event.InputSteer)
	token <- struct{}{}
	r.ended(1)
	r.idle()
	wantShape(t, r, "user:go", "assistant:+1", "tool:got", "user:left\n\nno, right", "assistant:as you wish")
	q := r.model.seen()[1].Messages
	if got := q[len(q)-1].Text; got != steered+"left\n\nno, right" {
		t.Fatalf("the model saw %q", got)
	}
}

// A person who edits a command that waits for approval denies it and types their own: that one must
// not be asked about.
func TestACommandThatAPersonSteersWithRunsWithoutAsking(t *testing.T) {
	ran := make(chan string, 2)
	shell := newTool("terminal", commands, func(_ context.Context, c tool.Call) (tool.Result, error) {
		ran <- argument(c, "command")
		return tool.Result{Text: "ok"}, nil
	})
	r := rigWith(t, []tool.Tool{shell}, callsTools(fakeCall{"terminal", `{"command":"rm -rf ."}`}), callsTools(fakeCall{"terminal", `{"command":"rm -rf build"}`}), says("done"))
	r.submit("clean up", "")
	asked := first[event.ApprovalAsked](r.sink)
	r.submit("$ rm -rf build", event.InputSteer)
	if err := r.gate.Answer(asked.ID, event.DecisionDeny); err != nil {
		t.Fatal(err)
	}
	r.ended(1)
	r.idle()
	if n := len(each[event.ApprovalAsked](r.sink)); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if got := <-ran; got != "rm -rf build" || len(ran) > 0 {
		t.Errorf("ran %q and %d more", got, len(ran))
	}
}

func TestSteerThatComesTooLateIsTheNextPrompt(t *testing.T) {
	late := make(chan struct{})
	r := newRig(t, func(ctx context.Context, q provider.Request, yield func(provider.Chunk, error) bool) {
		yield(textChunk("a"), nil)
		<-late
		yield(endChunk(chat.FinishStop), nil)
	}, says("b"))
	r.submit("go", "")
	first[event.TextDelta](r.sink)
	r.submit("more", event.InputSteer)
	close(late)
	r.ended(2)
	r.idle()
	wantShape(t, r, "user:go", "assistant:a", "user:more", "assistant:b")
}

func TestInterruptingMessagesAreJoinedAndGoFirst(t *testing.T) {
	r, _ := gatedRig(t, callsTools(fakeCall{"token", "{}"}), says("ok"), says("later"))
	r.submit("go", "")
	first[event.ToolStarted](r.sink)
	r.submit("queued", event.InputQueue)
	w := r.agent.knownWorker(r.uid)
	w.change.Lock() // both arrive before the turn has ended
	for _, text := range []string{"stop", "do this"} {
		if err := w.enqueueInput(context.Background(), Input{Text: text, Mode: event.InputInterrupt}); err != nil {
			t.Fatal(err)
		}
	}
	w.change.Unlock()
	r.ended(3)
	r.idle()
	h := shape(r.history())
	if want := []string{"user:stop\n\ndo this", "assistant:ok", "user:queued", "assistant:later"}; !slices.Equal(h[3:], want) {
		t.Fatalf("%q", h)
	}
}

func TestAfterAnInterruptTheQueueWaitsForThePerson(t *testing.T) {
	ctx := context.Background()
	r, _ := gatedRig(t, callsTools(fakeCall{"token", "{}"}), says("ok"), says("ok"))
	r.submit("go", "")
	first[event.ToolStarted](r.sink)
	r.submit("one", event.InputQueue)
	r.submit("two", event.InputQueue)
	r.submit("three", event.InputQueue)
	q := r.agent.Queue(r.uid)
	r.agent.Interrupt(r.uid)
	r.ended(1)
	r.idle()
	if n := first[event.Notice](r.sink); !strings.Contains(n.Text, "3 queued messages") {
		t.Fatalf("%+v", n)
	}
	if err := r.agent.DropQueued(ctx, r.uid, q[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := r.agent.EditQueued(ctx, r.uid, q[2].ID, "drei"); err != nil {
		t.Fatal(err)
	}
	if r.agent.DropQueued(ctx, r.uid, q[0].ID) == nil {
		t.Fatal("dropped twice")
	}
	if err := r.agent.PromoteQueued(ctx, r.uid, q[2].ID, event.InputSteer); err != nil {
		t.Fatal(err)
	}
	r.ended(3)
	r.idle()
	if h := shape(r.history()); !slices.Equal(h[3:], []string{"user:drei", "assistant:ok", "user:two", "assistant:ok"}) {
		t.Fatalf("%q", h)
	}
}

func TestAQueueFoundAfterARestartIsShownAndNotRun(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, says("a"), says("b"))
	left := []event.QueuedInput{{ID: "q1", Text: "left over", Mode: event.InputQueue, Parts: []chat.Part{{Kind: chat.PartPaste, Text: "p"}}}}
	if err := r.svc.SaveQueue(ctx, r.uid, left); err != nil {
		t.Fatal(err)
	}
	if err := r.agent.Open(ctx, r.uid); err != nil {
		t.Fatal(err)
	}
	if c := first[event.QueueChanged](r.sink); len(c.Items) != 1 || r.agent.Busy(r.uid) {
		t.Fatalf("%+v", c)
	}
	r.submit("hi", "")
	r.ended(1)
	r.idle()
	wantShape(t, r, "user:hi", "assistant:a")
	if err := r.agent.Resume(ctx, r.uid); err != nil {
		t.Fatal(err)
	}
	r.ended(2)
	r.idle()
	if h := r.history(); len(h) != 4 || h[2].Text != "left over" || len(h[2].Parts) != 1 {
		t.Fatalf("%q", shape(h))
	}
}

// Whatever is submitted, in whatever mode and at whatever moment, is afterwards exactly once in the
// history or in the visible queue, and what is stored of the queue is what is shown.
func TestNothingSubmittedIsLostOrDoubled(t *testing.T) {
	testskip.Long(t, "random turns of many sessions")
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.SampledFrom([]string{"interrupt", "queue", "steer", "esc", "breathe", "breathe"}), 1, 15).Draw(rt, "ops")
		fate := rapid.SliceOfN(rapid.SampledFrom([]string{"call", "say", "fail", "slow"}), 1, 10).Draw(rt, "model")
		r := newRig(t)
		step := 0
		r.model.always = func(ctx context.Context, q provider.Request, yield func(provider.Chunk, error) bool) {
			r.model.mu.Lock()
			f := fate[step%len(fate)]
			step++
			r.model.mu.Unlock()
			map[string]reply{
				"call": callsTools(fakeCall{"echo", `{"v":"` + fmt.Sprint(step) + `"}`}), "say": says("ok"),
				"fail": fails("x", provider.ClassAuth, 401), "slow": slowly("ok"),
			}[f](ctx, q, yield)
		}
		var sent []string
		for i, op := range ops {
			switch op {
			case "esc":
				r.agent.Interrupt(r.uid)
			case "breathe":
				time.Sleep(2 * time.Millisecond) // lets turns run between the inputs; nothing waits for it
			default:
				text := fmt.Sprintf("<%d>", i)
				sent = append(sent, text)
				r.submit(text, event.InputMode(op))
			}
		}
		r.idle()
		checkOnce(rt, r, sent)
	})
}

func slowly(text string) reply {
	return func(ctx context.Context, q provider.Request, yield func(provider.Chunk, error) bool) {
		select {
		case <-time.After(5 * time.Millisecond):
			says(text)(ctx, q, yield)
		case <-ctx.Done():
			hangs("", nil)(ctx, q, yield)
		}
	}
}

func checkOnce(t *rapid.T, r *rig, sent []string) {
	var all strings.Builder
	for _, m := range r.history() {
		if m.Role == chat.RoleUser {
			all.WriteString(m.Text)
		}
	}
	shown := texts(r.agent.Queue(r.uid))
	all.WriteString(strings.Join(shown, ""))
	for _, text := range sent {
		if n := strings.Count(all.String(), text); n != 1 {
			t.Fatalf("%s is there %d times: %s", text, n, all.String())
		}
	}
	stored, err := r.svc.LoadQueue(context.Background(), r.uid)
	if err != nil || !slices.Equal(texts(stored), shown) {
		t.Fatalf("stored %q, shown %q, %v", texts(stored), shown, err)
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	r := newRig(t)
	r.model.always = func(ctx context.Context, q provider.Request, yield func(provider.Chunk, error) bool) {
		if len(q.Messages) == 1 {
			callsTools(fakeCall{"echo", `{"v":"` + q.Session + `"}`})(ctx, q, yield)
			return
		}
		says("for "+q.Session)(ctx, q, yield)
	}
	uids := []string{r.uid}
	for range 15 {
		uids = append(uids, r.newSession())
	}
	for _, uid := range uids {
		if err := r.agent.Submit(context.Background(), uid, Input{Text: "hi"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, uid := range uids {
		r.uid = uid
		r.idle()
		wantShape(t, r, "user:hi", "assistant:+1", "tool:echo "+uid, "assistant:for "+uid)
	}
	r.ended(16)
	for _, uid := range uids {
		if r.agent.Busy(uid) {
			t.Errorf("%s is busy", uid)
		}
	}
}
