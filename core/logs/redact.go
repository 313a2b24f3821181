package logs

import "hermes/core/secret"

// Hidden stands where a secret was.
const Hidden = secret.Hidden

// AddSecrets makes Redact hide these values; see core/secret.
func AddSecrets(values ...string) { secret.Add(values...) }

// Redact returns text with every known secret and everything that looks like a key replaced by
// Hidden.
func Redact(text string) string { return secret.Redact(text) }
