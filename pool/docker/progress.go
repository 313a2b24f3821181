package docker

import (
	"encoding/json"
	"fmt"
	"time"
)

// message is one line of a pull's stream.
type message struct {
	Status string `json:"status"`
	ID     string `json:"id"` // of a layer
	Detail struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Error       string `json:"error"`
	ErrorDetail struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"errorDetail"`
}

func (m message) failureText() string {
	if m.ErrorDetail.Message != "" {
		return m.ErrorDetail.Message
	}
	return m.Error
}

// layer is how far one layer is. Its bytes count twice: they are downloaded, and then extracted.
type layer struct {
	size               int64 // 0 while unknown
	fetched, extracted int64
	complete, wasThere bool
	downloaded         bool
}

// progress adds a pull's messages up. What it says never goes back.
type progress struct {
	layers map[string]*layer
	order  []string
	last   time.Time // of what was told
	told   int64
	total  int64
	tell   func(label string, done, total int64)
	now    func() time.Time
}

const tellEvery = 100 * time.Millisecond

func newProgress(tell func(label string, done, total int64)) *progress {
	return &progress{layers: map[string]*layer{}, tell: tell, now: time.Now}
}

// addLine takes one line of the stream, and says whether it shows that the pull goes on.
func (p *progress) addLine(line []byte) (advanced bool, err error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return false, fmt.Errorf("the engine's answer cannot be read: %w", err)
	}
	if text := m.failureText(); text != "" {
		return false, &pullError{text}
	}
	advanced = p.applyMessage(m)
	p.reportState(false)
	return advanced, nil
}

// applyMessage follows a layer through its states.
func (p *progress) applyMessage(m message) (advanced bool) {
	switch m.Status {
	case "Pulling fs layer", "Waiting", "Downloading", "Verifying Checksum", "Download complete", "Extracting", "Pull complete", "Already exists":
	default:
		return true // a line about the whole image
	}
	l := p.layerOf(m.ID)
	if l == nil {
		return false
	}
	before := *l
	switch m.Status {
	case "Downloading":
		l.learnSize(m.Detail.Total)
		l.fetched = max(l.fetched, m.Detail.Current)
	case "Verifying Checksum", "Download complete":
		l.downloaded, l.fetched = true, max(l.fetched, l.size)
	case "Extracting":
		l.learnSize(m.Detail.Total)
		l.downloaded, l.fetched = true, l.size
		l.extracted = max(l.extracted, min(m.Detail.Current, l.size))
	case "Pull complete":
		l.complete, l.fetched, l.extracted = true, l.size, l.size
	case "Already exists":
		l.complete, l.wasThere = true, true
	}
	return *l != before
}

// learnSize keeps the size of a layer that was unknown. Engines say small numbers of other units
// there too: the greatest is the bytes.
func (l *layer) learnSize(size int64) { l.size = max(l.size, size) }

const maxLayers = 1000 // an image has 127 at most

func (p *progress) layerOf(id string) *layer {
	l := p.layers[id]
	if l == nil && len(p.layers) < maxLayers {
		l = &layer{}
		p.layers[id] = l
		p.order = append(p.order, id)
	}
	return l
}

// reportState tells the state, at most ten times a second unless it is the last one.
func (p *progress) reportState(last bool) {
	now := p.now()
	if !last && now.Sub(p.last) < tellEvery {
		return
	}
	var done, total int64
	complete, known := 0, true
	for _, l := range p.layers {
		done += l.fetched + l.extracted
		total += 2 * l.size
		if l.complete {
			complete++
		}
		known = known && (l.size > 0 || l.wasThere || l.complete)
	}
	if last {
		known, complete, done = true, len(p.layers), max(total, p.total, 1)
		total = done
	}
	if !known {
		total = 0 // not all layers have said how large they are
	}
	p.told, p.total = max(p.told, done), max(p.total, total)
	if p.total > 0 {
		p.total = max(p.total, p.told) // an engine that counts more than it announced
	}
	p.last = now
	label := fmt.Sprintf("%d of %d layers", complete, len(p.layers))
	if len(p.layers) == 0 {
		label = "up to date"
	}
	p.tell(label, p.told, p.total)
}

// pullError is what a registry or engine said in the middle of the stream.
type pullError struct{ text string }

func (e *pullError) Error() string { return e.text }
