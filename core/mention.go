package core

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"hermes/core/chat"
	"hermes/core/content"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/tool"
	"hermes/core/tool/web"
)

const (
	namedTime = 12 * time.Second // for all that one message names
	maxDiff   = 64 << 10         // characters
)

// readMentioned reads what a person's text names and is no file here: resources of servers, what
// changed since the last commit (@diff), pages of the web (@https://...), files of other back
// ends (@box:/work/a.go). One that cannot be read is a part that says so. Files are read by the
// agent, in the session's folder.
func (a *App) readMentioned(ctx context.Context, uid, text string) []chat.Part {
	out := a.MCP.Mentioned(ctx, text)
	ctx, cancel := context.WithTimeout(ctx, namedTime)
	defer cancel()
	for _, word := range content.Words(text) {
		switch {
		case word == content.Diff:
			out = append(out, diffPart(ctx, a.cwdOf(ctx, uid)))
		case content.IsURL(word):
			out = append(out, a.readPage(ctx, uid, word))
		default:
			if n, ok := a.findThere(uid, word); ok {
				out = append(out, n.loadPart(ctx))
			}
		}
	}
	return out
}

func (a *App) cwdOf(ctx context.Context, uid string) string {
	info, err := a.Sessions.Get(ctx, uid)
	if err != nil {
		return a.Cwd()
	}
	return cmp.Or(info.Cwd, a.Cwd())
}

// readPage reads a page as web_extract would, where the settings let that run.
func (a *App) readPage(ctx context.Context, uid, address string) chat.Part {
	if err := a.whyRefused(tool.Spec{Toolset: "web"}, intent.Intent{Reads: true}); err != nil {
		return chat.Part{Kind: chat.PartResource, Name: address, URI: address, Text: "[the page was not read: " + err.Error() + "]"}
	}
	a.Bus.Publish(event.Header{Session: uid}, event.Notice{Level: event.Info, Text: "reading " + address})
	return web.New(*webOptions(a.Config())).Attach(ctx, uid, address)
}

// diffPart is what git says changed in a work tree since its last commit, and which files git does
// not know yet. The folder is named in full, so that a repository whose settings say that its files
// lie elsewhere shows none of there.
func diffPart(ctx context.Context, cwd string) chat.Part {
	p := chat.Part{Kind: chat.PartFile, Name: content.Diff, Media: "text/x-diff"}
	diff, err := runDiff(ctx, cwd, "HEAD", "--", cwd)
	if err != nil { // before the first commit
		if first, e := runDiff(ctx, cwd, "--cached", "--", cwd); e == nil {
			diff, err = first, nil
		}
	}
	if err != nil {
		p.Text = "[there is no diff: " + err.Error() + "]"
		return p
	}
	p.Text = diff
	if cut := tool.CutText(diff, maxDiff); cut.Left > 0 {
		p.Text = cut.Head + fmt.Sprintf("\n[... %d characters left out: git diff shows them]\n", cut.Left) + cut.Tail
	}
	if fresh, err := runGit(ctx, cwd, nil, "ls-files", "--others", "--exclude-standard", "--", cwd); err == nil && fresh != "" {
		p.Text += "\n[not known to git yet:]\n" + tool.CutText(fresh, maxDiff/8).Head
	}
	if p.Text == "" {
		p.Text = "[nothing changed since the last commit]"
	}
	return p
}
