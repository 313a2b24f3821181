package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		s.serveModels(w)
		return
	}
	for _, f := range formats {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, f.path) {
			s.serveAnswer(w, r, f)
			return
		}
	}
	writeJSON(w, http.StatusNotFound, errorObject("no such path: "+r.URL.Path, "not_found"))
}

func (s *Server) serveModels(w http.ResponseWriter) {
	models := s.script.Models
	if models == nil {
		models = []Model{{ID: "test-model"}}
	}
	rows := make([]Model, 0, len(models))
	for _, m := range models {
		m.Object = "model"
		rows = append(rows, m)
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": rows})
}

func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request, f *format) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	req, options, err := parse(r, body, f)
	if err != nil {
		s.mu.Lock()
		s.note(req)
		s.mu.Unlock()
		f.refuse(w, http.StatusBadRequest, "the request is not valid: "+err.Error(), "")
		return
	}
	if tokens := len(body) / 4; s.script.Window > 0 && tokens > s.script.Window {
		f.refuse(w, http.StatusBadRequest, fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages "+
			"resulted in %d tokens. Please reduce the length of the messages.", s.script.Window, tokens), "context_length_exceeded")
		return
	}
	turn, ok := s.take(&req, options)
	if !ok {
		f.refuse(w, http.StatusBadRequest,
			fmt.Sprintf("the script of this test server has %d turns and all are taken", len(s.script.Turns)), "script_over")
		return
	}
	if turn.Fault == FaultNoUsage && options {
		f.refuse(w, http.StatusBadRequest, "Unrecognized request argument supplied: stream_options", "unknown_parameter")
		return
	}
	if turn.Fault == FaultSlow && !s.pause(r, turn.Wait) {
		return
	}
	if turn.Status != 0 && turn.Status != http.StatusOK {
		serveStatus(w, turn, f)
		return
	}
	if s.script.Window > 0 && turn.Usage == nil {
		turn.Usage = &Usage{Input: len(body) / 4, Output: 1 + len(turn.Text)/4}
	}
	answer(w, r, turn, req)
}

// parse reads what the script needs; options says whether the client asked for a usage chunk.
func parse(r *http.Request, body []byte, f *format) (req Request, options bool, err error) {
	var in struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		Options  json.RawMessage `json:"stream_options"`
		Messages []Message       `json:"messages"`
		Tools    []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return req, false, err
	}
	req = Request{
		At: time.Now(), Path: r.URL.Path, Header: r.Header.Clone(), Body: body,
		Model: in.Model, Stream: in.Stream, Messages: in.Messages, Turn: -1, format: f,
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Name+t.Function.Name)
	}
	if in.Tools != nil && len(in.Tools) == 0 { // as several vendors refuse it
		return req, false, errors.New("[] is too short - 'tools'")
	}
	return req, len(in.Options) > 0, f.check(req)
}

// take logs the request and gives it the next turn. A turn that rejects stream_options is not used
// up by the rejection.
func (s *Server) take(req *Request, options bool) (Turn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.note(*req) }()
	if s.script.Rule != nil {
		if turn, ok := s.script.Rule(*req); ok {
			return turn, true
		}
	}
	if s.script.AuxText != "" && len(req.Tools) == 0 {
		return Turn{Text: s.script.AuxText}, true
	}
	turns := s.script.Turns
	if len(turns) == 0 || (s.next >= len(turns) && !s.script.Loop) {
		return Turn{}, false
	}
	req.Turn = s.next % len(turns)
	turn := turns[req.Turn]
	if turn.Fault != FaultNoUsage || !options {
		s.next++
	}
	return turn, true
}

// note logs a request. The caller holds mu.
func (s *Server) note(req Request) {
	s.requests = append(s.requests, req)
	if n := len(s.requests) - s.script.Keep; s.script.Keep > 0 && n > 0 {
		s.requests = slices.Delete(s.requests, 0, n)
	}
	close(s.came)
	s.came = make(chan struct{})
}

// pause waits for d (0: for ever) and reports whether the client is still there.
func (s *Server) pause(r *http.Request, d time.Duration) bool {
	var after <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return true
	case <-r.Context().Done():
		return false
	}
}

// words are the vendor's usual words for a status.
var words = map[int][2]string{
	400: {"Invalid request.", "invalid_request"},
	401: {"Incorrect API key provided.", "invalid_api_key"},
	402: {"Insufficient balance.", "insufficient_quota"},
	403: {"You are not allowed to use this model.", "forbidden"},
	404: {"The model does not exist.", "model_not_found"},
	429: {"Rate limit reached.", "rate_limit_exceeded"},
	500: {"The server had an error while processing your request.", "server_error"},
	503: {"The engine is currently overloaded, please try again later.", "overloaded"},
}

func serveStatus(w http.ResponseWriter, t Turn, f *format) {
	if t.RetryAfter != "" {
		w.Header().Set("Retry-After", t.RetryAfter)
	}
	if t.Body != "" {
		w.WriteHeader(t.Status)
		_, _ = io.WriteString(w, t.Body)
		return
	}
	f.refuse(w, t.Status, t.Message, t.Code)
}

// refuse answers with an error in the form of the format; message and code are the vendor's usual
// ones when empty.
func (f *format) refuse(w http.ResponseWriter, status int, message, code string) {
	usual := words
	if f.words != nil {
		usual = f.words
	}
	if message == "" {
		message = usual[status][0]
	}
	if code == "" {
		code = usual[status][1]
	}
	writeJSON(w, status, f.object(message, code))
}

func errorObject(message, code string) map[string]any {
	return map[string]any{"error": map[string]any{"message": message, "type": code, "param": nil, "code": code}}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
