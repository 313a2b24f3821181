package core

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/recall"
	"hermes/core/testwait"
)

// vectorServer answers like an embedding server: a number a letter.
func vectorServer(t *testing.T) (url string, asked func() []string) {
	var mu sync.Mutex
	var all []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, r.Header.Get("Authorization")+" "+string(body))
		mu.Unlock()
		var q struct{ Input []string }
		_ = json.Unmarshal(body, &q)
		var data []string
		for i, text := range q.Input {
			v := make([]int, 26)
			for _, c := range strings.ToLower(text) {
				if c >= 'a' && c <= 'z' {
					v[c-'a']++
				}
			}
			numbers, _ := json.Marshal(v)
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, numbers))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

// Vectors are made beside the work, with the key of the provider that the settings name.
func TestVectorsAreMadeInTheBackground(t *testing.T) {
	url, asked := vectorServer(t)
	p := newPlace(t)
	p.write(`providers: {vectors: {base_url: ` + url + `, api_key: sk-vectors-1234567890abcdef}}
memory: {embedding: {model: vectors/letters}}
`)
	x := p.open(nil)
	defer x.close()
	s, err := x.LongTerm()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), recall.Item{Key: "zzzz", Value: "zyzzyva zzz"}); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(testwait.Hang); ; time.Sleep(5 * time.Millisecond) {
		model, have, err := s.Vectors(t.Context())
		if err != nil || model != "vectors/letters" || time.Now().After(late) {
			t.Fatal(model, have, err)
		}
		if have == 1 {
			break
		}
	}
	found, err := s.Recall(t.Context(), "zyzzyzzy", 5, 0)
	if err != nil || found.ByWords || len(found.Hits) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	for _, a := range asked() {
		if !strings.HasPrefix(a, "Bearer sk-vectors-1234567890abcdef {\"input\":[\"z") {
			t.Errorf("asked %s", a)
		}
	}
}

// The key of a vendor goes to no other server, and one without embeddings is said to have none.
func TestWhoMakesVectors(t *testing.T) {
	url, asked := vectorServer(t)
	t.Setenv("OPENAI_API_KEY", "sk-openai-1234567890abcdef")
	for model, want := range map[string]string{
		"custom/m":  "",
		"offline/m": "no embeddings",
	} {
		p := newPlace(t)
		p.write("providers: {custom: {base_url: " + url + "}}\nmemory: {embedding: {model: " + model + "}}\n")
		x := p.open(nil)
		_, err := x.longTerm.embedder.Embed(t.Context(), []string{"a"}, true)
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", model, err)
		}
		x.close()
	}
	for _, a := range asked() {
		if strings.Contains(a, "openai") {
			t.Errorf("the key of another vendor was sent: %s", a)
		}
	}
}
