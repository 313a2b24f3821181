package chat

// Extent is how much text there is, for an estimate of what it costs.
type Extent struct {
	Texts int // messages, or calls
	Bytes int
	Runes int
}

// Volume is what a model is sent of a conversation, summed up without reading it.
type Volume struct {
	Said, Calls, Results Extent
	Counted              int // tokens that the provider counted with the newest answer; 0: it does not count
}
