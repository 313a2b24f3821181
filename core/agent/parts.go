package agent

import (
	"errors"
	"slices"

	"hermes/core/chat"
	"hermes/core/content"
)

// Limits of the images of one request.
const (
	maxImages     = 20
	maxImageBytes = 8 << 20
	imageStep     = 5 // images given up at a time: each change of what was sent before costs the provider's cache
)

// keepParts stores what the parts of a result hold.
func (t *turn) keepParts(parts []chat.Part) []chat.Part {
	ctx, cancel := t.storingContext()
	defer cancel()
	return t.a.d.Sessions.KeepParts(ctx, t.w.uid, parts)
}

// presentParts makes of what messages carry what the model can be shown: the newest images with
// their bytes when it takes any, and texts. In the place of everything else stands a line, and so
// it does for what is missing or broken: no content can make a request fail for ever.
func (t *turn) presentParts(messages []chat.Message) []chat.Message {
	left := oldImages(messages)
	seen := 0
	documents, bytes := documentsIn(messages)
	for i, m := range messages {
		messages[i] = m.Reduce(func(p *chat.Part) string {
			switch {
			case p.IsDocument() && m.Result == nil:
				line := t.presentDocument(p, documents, bytes)
				documents, bytes = documents-1, bytes-p.Size
				return line
			case p.Kind != chat.PartImage && p.Text != "" && m.Result == nil:
				return ""
			case p.Kind != chat.PartImage && p.Text != "":
				return p.Instead("it holds this") + "\n" + p.Text
			case p.Kind != chat.PartImage:
				return p.Instead("its content is not shown to you")
			}
			seen++
			switch {
			case !t.model.Images:
				return t.unseenText(p, "you cannot see it, because this model takes no images")
			case seen <= left:
				return p.Instead("left out, because the newest images fill a request" + howToSeeAgain(p))
			}
			return t.loadImage(p)
		})
	}
	return messages
}

// howToSeeAgain tells how an image can be seen, and a document be read, once more.
func howToSeeAgain(p *chat.Part) string {
	switch {
	case p.Handle() == "":
		return ""
	case p.IsDocument():
		return "; read_file with the path " + p.Handle() + " reads its text"
	default:
		return "; read_file with the path " + p.Handle() + " shows it again"
	}
}

// loadImage fills in the bytes of an image, or returns the line that says why it has none.
func (t *turn) loadImage(p *chat.Part) string {
	data, err := t.a.d.Sessions.Content(p.Blob)
	if err == nil {
		var fit chat.Part
		fit, err = content.Stored(p.Name, p.Blob, data)
		p.Media = fit.Media
	}
	if err == nil && int64(len(data)) != p.Size { // the room of a request is counted by it
		err = errors.New("it is not of the size that it was kept with")
	}
	if err != nil {
		return p.Instead("it cannot be shown: " + err.Error())
	}
	p.Data = data
	return ""
}

// oldImages is how many images, from the oldest on, a request has no room for.
func oldImages(messages []chat.Message) int {
	var sizes []int64
	for i := range messages {
		messages[i].EachPart(func(p *chat.Part) {
			if p.Kind == chat.PartImage {
				sizes = append(sizes, p.Size)
			}
		})
	}
	room, bytes := maxImages, int64(0)
	for n, size := range slices.Backward(sizes) {
		if bytes += size; bytes > maxImageBytes || room == 0 {
			return min(len(sizes), (n+imageStep)/imageStep*imageStep)
		}
		room--
	}
	return 0
}

// withoutMedia is m with a line in the place of each of its images and documents. Where no tool
// reads them again (alone) the text of a document stands behind its line.
func withoutMedia(m chat.Message, alone bool) chat.Message {
	return m.Reduce(func(p *chat.Part) string {
		switch {
		case !isMedia(p):
			return ""
		case alone && p.IsDocument() && p.Text != "":
			return p.Instead("its pages are left out to save room, and this is its text") + "\n" + p.Text
		case alone:
			return p.Instead("left out to save room")
		}
		return p.Instead("left out to save room" + howToSeeAgain(p))
	})
}

// isMedia reports whether p is an image or a document: what is left out first.
func isMedia(p *chat.Part) bool { return p.Kind == chat.PartImage || p.IsDocument() }

// hasMedia reports whether a message carries images or documents.
func hasMedia(m chat.Message) (has bool) {
	m.EachPart(func(p *chat.Part) { has = has || isMedia(p) })
	return has
}
