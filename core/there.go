package core

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/checkpoint"
	"hermes/core/content"
	"hermes/core/files"
	"hermes/core/realpath"
	"hermes/core/room"
	"hermes/core/tool/file"
)

const (
	thereTime  = 2 * time.Second // for what is asked while a person types
	maxThere   = 1_000           // files that are listed, the newest
	maxFetched = 10 << 20        // bytes of a file that is attached
)

// FilesThere lists the files of the back end that a session uses, relative to the folder that its
// commands start in, when it is another machine: far says so. It starts nothing: of one that is not
// up there is no list.
func (a *App) FilesThere(ctx context.Context, uid string) (backend, folder string, list []string, far bool) {
	r, err := a.roomFinder().Find(uid, "")
	if err != nil || r.Name == "" {
		return "", "", nil, false
	}
	if !r.Ready {
		return r.Name, "", nil, true
	}
	ctx, cancel := context.WithTimeout(ctx, thereTime)
	defer cancel()
	at, err := r.Files.Resolve(ctx, "", ".")
	if err != nil {
		return r.Name, "", nil, true
	}
	return r.Name, at.Real, listThere(ctx, r.Files, at.Real), true
}

func listThere(ctx context.Context, there files.System, folder string) (out []string) {
	far, ok := there.(*files.Far)
	if folder != "/" && ok { // a whole machine is not walked through
		found, _ := far.Search(ctx, folder, files.Query{Names: unmeantThere, Most: maxThere}) // none, when it cannot be read
		return withFolders(found.Listed)
	}
	entries, _ := there.List(ctx, folder) // the same
	for _, e := range entries[:min(len(entries), maxThere)] {
		switch {
		case hiddenThere(e.Name):
		case e.Dir:
			out = append(out, e.Name+"/")
		default:
			out = append(out, e.Name)
		}
	}
	return out
}

// unmeantThere leaves out of a list what listHere does of the session's folder here, and what is
// not attached. It names nothing that is wanted: then .gitignore would not be asked.
var unmeantThere = []string{"!.*", "!node_modules/", "!vendor/", "!__pycache__/", "!target/", "!dist/"}

// withFolders are files in the order of names, with the folders that they are in.
func withFolders(listed []files.Listed) (out []string) {
	for _, f := range listed {
		out = append(out, f.Path)
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			out = append(out, dir+"/")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func hiddenThere(name string) bool { return strings.HasPrefix(name, ".") }

// namedThere is a file of a back end that a text names, as results of tools do: box:/work/a.go.
type namedThere struct {
	word, path string
	room       room.Room
	home       string // our data folder
}

// findThere reports false for a word that names no back end of another machine.
func (a *App) findThere(uid, word string) (n namedThere, ok bool) {
	backend, at, far := checkpoint.SplitFar(word)
	if !far {
		return n, false
	}
	r, err := a.roomFinder().Find(uid, backend)
	return namedThere{word, at, r, a.Config().Paths().Home}, err == nil && r.Name != ""
}

// resolvePath follows links, and refuses what a text of somebody else, pasted into a message, could
// name to get at it.
func (n namedThere) resolvePath(ctx context.Context) (real string, st realpath.Stat, err error) {
	root, err := n.room.Files.Resolve(ctx, "", ".")
	if err != nil {
		return "", st, err
	}
	at, err := n.room.Files.Resolve(ctx, "", n.path)
	if err != nil {
		return "", st, err
	}
	if !realpath.Within(at.Real, root.Real) {
		return "", st, fmt.Errorf("it is outside of %s, where commands start there", root.Real)
	}
	if slices.ContainsFunc(strings.Split(strings.TrimPrefix(at.Real, root.Real), "/"), hiddenThere) {
		return "", st, errors.New("it is hidden")
	}
	if err := file.MayBeNamed(n.home, n.room, at); err != nil { // the folder moves with the agent's cd
		return "", st, err
	}
	st, err = n.room.Files.Stat(ctx, at.Real)
	return at.Real, st, err
}

// loadPart reads it as a part of a message. One that cannot be read says so.
func (n namedThere) loadPart(ctx context.Context) chat.Part {
	p, err := n.readPart(ctx)
	if err != nil {
		p = chat.Part{Kind: chat.PartFile, Text: "[it could not be attached: " + files.Reason(err).Error() + "]"}
	}
	p.Name = n.word
	return p
}

func (n namedThere) readPart(ctx context.Context) (chat.Part, error) {
	real, st, err := n.resolvePath(ctx)
	if err != nil {
		return chat.Part{}, err
	}
	if st.Kind == realpath.Folder {
		entries, err := n.room.Files.List(ctx, real)
		return chat.Part{Kind: chat.PartFile, Media: "text/plain", Text: content.Listing(entries)}, err
	}
	f, st, err := n.room.Files.Open(ctx, real)
	if err != nil {
		return chat.Part{}, err
	}
	defer f.Close()
	return content.FromOpen(path.Base(real), f, st.Size, maxFetched)
}

// DescribeThere says in a few words what the words of a text would attach that name files of a back
// end. It starts nothing and reads no content.
func (a *App) DescribeThere(ctx context.Context, uid, text string) (out []string) {
	ctx, cancel := context.WithTimeout(ctx, thereTime)
	defer cancel()
	for _, word := range content.Words(text) {
		n, ok := a.findThere(uid, word)
		if !ok {
			continue
		}
		if !n.room.Ready {
			out = append(out, word+" · read when it is sent")
			continue
		}
		_, st, err := n.resolvePath(ctx)
		switch {
		case err != nil:
			out = append(out, word+" · not attached: "+files.Reason(err).Error())
		case st.Kind == realpath.Folder:
			out = append(out, word+" · folder")
		default:
			out = append(out, word+" · "+content.Kilobytes(st.Size))
		}
	}
	return out
}
