package chat

import "testing"

// A call that is read from the store says what it did, as it said it when it ran.
func TestGistOfAStoredCall(t *testing.T) {
	for args, want := range map[string]string{
		`{"command":"ls"}`:                       "ls",
		`{"todos":[{"content":"a"}]}`:            "1 item",
		`{"todos":[{},{},{}],"merge":true}`:      "3 items",
		`{"urls":["https://a.example"]}`:         "https://a.example",
		`{"urls":["https://a.example","b","c"]}`: "https://a.example and 2 more",
		`{"urls":[7]}`:                           "",
		`{"urls":"x","todos":{}}`:                "",
		`{"action":"view","name":"write-it"}`:    "write-it",
		`not json`:                               "",
	} {
		if got := Gist([]byte(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
