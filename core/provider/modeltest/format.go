package modeltest

// format is what is special to one wire format.
type format struct {
	path    string // the end of it
	ping    string // what keeps a stream alive and is no content
	run     func(*stream) error
	whole   func(Turn, Request) map[string]any // an answer in one piece
	failure func(s *stream, message string) error
	object  func(message, code string) map[string]any // an error
	words   map[int][2]string                         // the usual words for a status; nil: words
	check   func(Request) error                       // the vendor's rules for a request
}

var formats = []*format{completions, messages, responses}
