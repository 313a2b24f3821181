package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		s.serveModels(w)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		s.serveChat(w, r)
	default:
		writeError(w, http.StatusNotFound, "no such path: "+r.URL.Path, "not_found")
	}
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

func (s *Server) serveChat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	req, options, err := parse(r, body)
	if err != nil {
		writeError(w, http.StatusBadRequest, "the request is not JSON: "+err.Error(), "invalid_request")
		return
	}
	turn, ok := s.take(&req, options)
	if !ok {
		writeError(w, http.StatusBadRequest,
			fmt.Sprintf("the script of this test server has %d turns and all are taken", len(s.script.Turns)), "script_over")
		return
	}
	if turn.Fault == FaultNoUsage && options {
		writeError(w, http.StatusBadRequest, "Unrecognized request argument supplied: stream_options", "unknown_parameter")
		return
	}
	if turn.Fault == FaultSlow && !s.pause(r, turn.Wait) {
		return
	}
	if turn.Status != 0 && turn.Status != http.StatusOK {
		serveStatus(w, turn)
		return
	}
	answer(w, r, turn, req)
}

// parse reads what the script needs; options says whether the client asked for a usage chunk.
func parse(r *http.Request, body []byte) (req Request, options bool, err error) {
	var in struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		Options  json.RawMessage `json:"stream_options"`
		Messages []Message       `json:"messages"`
		Tools    []struct {
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
		Model: in.Model, Stream: in.Stream, Messages: in.Messages, Turn: -1,
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Function.Name)
	}
	return req, len(in.Options) > 0, nil
}

// take logs the request and gives it the next turn. A turn that rejects stream_options is not used up by the rejection.
func (s *Server) take(req *Request, options bool) (Turn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		s.requests = append(s.requests, *req)
		close(s.came)
		s.came = make(chan struct{})
	}()
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

func serveStatus(w http.ResponseWriter, t Turn) {
	if t.RetryAfter != "" {
		w.Header().Set("Retry-After", t.RetryAfter)
	}
	if t.Body != "" {
		w.WriteHeader(t.Status)
		_, _ = io.WriteString(w, t.Body)
		return
	}
	message, code := t.Message, t.Code
	if message == "" {
		message = words[t.Status][0]
	}
	if code == "" {
		code = words[t.Status][1]
	}
	writeError(w, t.Status, message, code)
}

func errorObject(message, code string) map[string]any {
	return map[string]any{"error": map[string]any{"message": message, "type": code, "param": nil, "code": code}}
}

func writeError(w http.ResponseWriter, status int, message, code string) {
	writeJSON(w, status, errorObject(message, code))
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
