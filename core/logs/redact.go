package logs

import "hermes/core/secret"

// Hidden stands where a secret was.
const Hidden = secret.Hidden

// Redact returns text with every known secret and everything that looks like a key replaced by
// Hidden.
func Redact(text string) string { return secret.Redact(text) }
