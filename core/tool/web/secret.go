package web

import (
	"net/url"
	"slices"
	"strings"

	"hermes/core/logs"
)

// secretIn reports whether a text holds a known secret or something shaped like a key. A model that
// was talked into it would send one away as part of an address. Words are looked at one by one: a
// name before a value (token=) says nothing here.
func secretIn(text string) bool {
	forms := []string{text}
	if plain, err := url.QueryUnescape(text); err == nil {
		forms = append(forms, plain)
	}
	for _, form := range forms {
		for _, word := range strings.FieldsFunc(form, func(r rune) bool { return strings.ContainsRune(" \t\r\n=&?#;,\"'<>()[]{}|", r) }) {
			if logs.Redact(word) != word {
				return true
			}
		}
	}
	return false
}

// credentialParameter returns the name of the first parameter that usually carries a credential.
// The names are those of the Python program: narrow, because words like code and key are parts of
// ordinary addresses.
func credentialParameter(u *url.URL) string {
	names := []string{
		"access_token", "api_key", "apikey", "auth_token", "authorization", "awsaccesskeyid", "client_secret", "credential", "credentials",
		"jwt", "password", "passwd", "secret", "session_id", "signature", "token", "x-amz-security-token", "x-amz-signature",
	}
	for name, values := range u.Query() {
		if slices.Contains(names, strings.ToLower(name)) && len(values) > 0 && values[0] != "" {
			return strings.ToLower(name)
		}
	}
	return ""
}
