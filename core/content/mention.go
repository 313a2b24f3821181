package content

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/files"
	"hermes/core/realpath"
)

// Limits of what a text names.
const (
	maxMentions    = 20       // of one message that are looked at
	maxMentionText = 64 << 10 // bytes of a text; the rest is left out, and said to be
	maxListing     = 200      // entries of a folder
)

// Diff is the word that stands for what changed since the last commit: @diff. A file of that name
// is @./diff.
const Diff = "diff"

var mention = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)@(?:"([^"\n]+)"|(\S+))`) })

// Words are what a text names as @word or @"two words", each once, in order.
func Words(text string) []string {
	var out []string
	for _, m := range mention().FindAllStringSubmatch(text, -1) {
		word := m[1]
		if word == "" {
			word = strings.TrimRight(m[2], ".,;:!?)")
		}
		if word != "" && len(out) < maxMentions && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// IsURL reports a word that is a page of the web.
func IsURL(word string) bool {
	return strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://")
}

// named is a file or folder that a text names.
type named struct {
	word, full string
	info       fs.FileInfo
	err        error // it is there, and not attached
}

// find looks for what word names in cwd. ok is false when no file was meant.
func find(cwd, word string) (n named, ok bool) {
	if word == Diff || IsURL(word) {
		return n, false
	}
	home, _ := os.UserHomeDir() // without one, ~ stays as it is written
	n = named{word: word, full: realpath.Of(home, cwd, word)}
	if n.info, n.err = os.Stat(n.full); n.err != nil {
		return n, hasImageName(word) && !errors.Is(n.err, fs.ErrNotExist)
	}
	if !hasImageName(word) {
		n.err = reachable(home, cwd, n.full)
	}
	return n, true
}

// reachable refuses what a text of somebody else, pasted into a message, could name to get at it:
// what is outside of the session's folder, and what is hidden.
func reachable(home, cwd, full string) error {
	root := realpath.Of(home, cwd, ".")
	rel, err := filepath.Rel(root, full)
	switch {
	case err != nil || !filepath.IsLocal(rel):
		return errors.New("it is outside of this session's folder; /attach attaches it")
	case rel != "." && slices.ContainsFunc(strings.Split(rel, string(filepath.Separator)), isHidden):
		return errors.New("it is hidden; /attach attaches it")
	default:
		return nil
	}
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") && name != ".github" }

// Mentioned loads the images, texts and folders that a text names as @path or @"path". One that
// cannot be read becomes a part that says why; one that stands in have already is left out.
func Mentioned(cwd, text string, have ...chat.Part) []chat.Part {
	var out []chat.Part
	for _, word := range Words(text) {
		n, ok := find(cwd, word)
		if !ok || slices.ContainsFunc(have, func(p chat.Part) bool { return p.Path == n.full }) {
			continue
		}
		p, err := n.load()
		if err != nil {
			p = chat.Part{Kind: chat.PartFile, Name: word, Text: "[it could not be attached: " + withoutPath(err).Error() + "]"}
		}
		out = append(out, p)
	}
	return out
}

func (n named) load() (chat.Part, error) {
	switch {
	case n.err != nil:
		return chat.Part{}, n.err
	case n.info.IsDir() && !hasImageName(n.word):
		return n.listing()
	case n.info.Size() > maxText && n.info.Mode().IsRegular() && !hasImageName(n.word):
		return n.head()
	}
	p, err := loadPart("", n.full)
	if hasImageName(n.word) {
		return p, err
	}
	p.Name = n.word
	p.Text = cutText(p.Text, int64(len(p.Text)))
	return p, err
}

// head is the beginning of a text that is too long to be read whole.
func (n named) head() (chat.Part, error) {
	f, err := os.Open(n.full)
	if err != nil {
		return chat.Part{}, err
	}
	defer f.Close()
	data := make([]byte, maxMentionText+utf8.UTFMax)
	got, err := f.Read(data)
	if err != nil {
		return chat.Part{}, err
	}
	head := string(data[:got])
	if text := cutText(head, n.info.Size()); http.DetectContentType(data) != chat.PDF && utf8.ValidString(text) && !strings.Contains(text, "\x00") {
		return chat.Part{Kind: chat.PartFile, Name: n.word, Media: "text/plain", Path: n.full, Text: text}, nil
	}
	return loadPart("", n.full) // no text: kept as it is, up to a limit
}

// cutText is the beginning of a text of size bytes, up to whole characters, with a line that says
// what is missing.
func cutText(s string, size int64) string {
	if size <= maxMentionText || len(s) <= maxMentionText {
		return s
	}
	end := maxMentionText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + fmt.Sprintf("\n[only the first %d of %d kB are attached; the file has the rest]", maxMentionText>>10, size>>10)
}

// listing is a folder as a text: its entries, folders with a slash, files with their size.
func (n named) listing() (chat.Part, error) {
	f, err := os.Open(n.full)
	if err != nil {
		return chat.Part{}, err
	}
	defer f.Close()
	list, err := f.ReadDir(maxListing + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return chat.Part{}, err
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var b strings.Builder
	for _, e := range list[:min(len(list), maxListing)] {
		b.WriteString(entryLine(e) + "\n")
	}
	b.WriteString(listingNote(len(list)))
	return chat.Part{Kind: chat.PartFile, Name: strings.TrimSuffix(n.word, "/") + "/", Media: "text/plain", Path: n.full, Text: b.String()}, nil
}

// entryLine is an entry of a folder on one line, whatever its name holds.
func entryLine(e fs.DirEntry) string {
	name := quotedName(e.Name())
	info, err := e.Info()
	switch {
	case e.IsDir():
		return name + "/"
	case err != nil || !info.Mode().IsRegular():
		return name
	default:
		return fmt.Sprintf("%s  %d bytes", name, info.Size())
	}
}

// Describe says in a few words what each word of a text would attach, by the name that it has in
// the text: its size, what a folder is, or why it cannot. It reads no content. What is no file, no
// page and no diff is left out.
func Describe(cwd, text string) []string {
	var out []string
	for _, word := range Words(text) {
		n, ok := find(cwd, word)
		switch {
		case word == Diff:
			out = append(out, "diff")
		case IsURL(word):
			out = append(out, word+" · web page")
		case !ok:
		case n.err != nil:
			out = append(out, word+" · not attached: "+withoutPath(n.err).Error())
		case n.info.IsDir():
			out = append(out, strings.TrimSuffix(word, "/")+"/ · folder")
		default:
			size := Kilobytes(n.info.Size())
			if n.info.Size() > maxMentionText && !hasImageName(word) {
				size += fmt.Sprintf(", of a text the first %d kB", maxMentionText>>10)
			}
			out = append(out, word+" · "+size)
		}
	}
	return out
}

// FromNamed makes a part of a file that a text names, of size bytes: of a long text its beginning.
func FromNamed(name string, data []byte, size int64) (chat.Part, error) {
	if head := cutText(string(data[:min(len(data), maxMentionText+utf8.UTFMax)]), size); !IsImage(data) && http.DetectContentType(data) != chat.PDF &&
		utf8.ValidString(head) && !strings.Contains(head, "\x00") {
		return chat.Part{Kind: chat.PartFile, Name: name, Media: "text/plain", Text: head}, nil
	}
	return From(name, data)
}

// FromOpen is FromNamed for a file of size bytes that is read over a connection: of a text only the
// beginning is fetched, and of anything else nothing when it is larger than most.
func FromOpen(name string, f io.Reader, size, most int64) (chat.Part, error) {
	data, err := io.ReadAll(io.LimitReader(f, maxMentionText+utf8.UTFMax))
	if err != nil {
		return chat.Part{}, err
	}
	if p, err := FromNamed(name, data, size); err == nil && p.Media == "text/plain" && p.Text != "" {
		return p, nil
	}
	if size > most {
		return chat.Part{}, fmt.Errorf("it has %d MB, and at most %d are attached", size>>20, most>>20)
	}
	rest, err := io.ReadAll(io.LimitReader(f, most+1-int64(len(data))))
	if err != nil {
		return chat.Part{}, err
	}
	return FromNamed(name, append(data, rest...), size)
}

// Listing is a folder as a text.
func Listing(entries []files.Entry) string {
	var b strings.Builder
	for _, e := range entries[:min(len(entries), maxListing)] {
		b.WriteString(quotedName(e.Name))
		if e.Dir {
			b.WriteString("/")
		}
		b.WriteString("\n")
	}
	b.WriteString(listingNote(len(entries)))
	return b.String()
}

// quotedName is a name on one line, whatever it holds.
func quotedName(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// listingNote says that entries are left out, or that there are none.
func listingNote(entries int) string {
	switch {
	case entries > maxListing:
		return fmt.Sprintf("[and more: only %d entries are listed]\n", maxListing)
	case entries == 0:
		return "[the folder is empty]\n"
	}
	return ""
}

// Kilobytes is a size in words.
func Kilobytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d kB", (n+500)/1000)
}
