package connect_test

import (
	"testing"

	"hermes/core/connect"
)

func TestAnAddressWithoutASchemeIsCompleted(t *testing.T) {
	for _, row := range []struct{ given, want string }{
		{"127.0.0.1:8000", "http://127.0.0.1:8000"},
		{" localhost:1234/v1 ", "http://localhost:1234/v1"},
		{"localhost", "http://localhost"},
		{"gpu-box:8000/v1", "http://gpu-box:8000/v1"},
		{"192.168.1.7:11434", "http://192.168.1.7:11434"},
		{"[::1]:8080", "http://[::1]:8080"},
		{"models.example.com/v1", "https://models.example.com/v1"},
		{"8.8.8.8:443", "https://8.8.8.8:443"},
		{"http://models.example.com/", "http://models.example.com/"},
		{"https://127.0.0.1:1", "https://127.0.0.1:1"},
	} {
		got := connect.CompleteAddress(row.given)
		if got != row.want || !connect.IsAddress(row.want) {
			t.Errorf("%q is completed to %q, want %q", row.given, got, row.want)
		}
	}
	for _, s := range []string{
		"", "openai", "my server", "me@host.example", "ftp://host.example", "file:///etc/passwd",
		"::", "host:port", ".",
	} {
		if got := connect.CompleteAddress(s); got != s || connect.IsAddress(s) {
			t.Errorf("%q is taken for the address %q", s, got)
		}
	}
}

func TestMovingToAnAddressWithoutAScheme(t *testing.T) {
	c := connect.Choice{Server: connect.Server{Name: connect.Custom, Own: true}}
	if err := c.Move("127.0.0.1:8000/v1/"); err != nil || c.Server.BaseURL != "http://127.0.0.1:8000/v1" {
		t.Errorf("moved to %q: %v", c.Server.BaseURL, err)
	}
	if err := c.Move("nonsense"); err == nil {
		t.Error("a word was taken for an address")
	}
}
