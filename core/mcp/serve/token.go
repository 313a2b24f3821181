package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/core/atomicfile"
	"hermes/core/secret"
)

// TokenFile is where the token of clients over HTTP is kept, below the data folder.
func TokenFile(home string) string { return filepath.Join(home, "mcp-tokens", "serve.token") }

const shortestToken = 20

// Token is what clients over HTTP have to send. It is made at first and then stays, so that their
// settings do; who removes its file gets a new one.
func Token(home string) (string, error) {
	path := TokenFile(home)
	data, err := os.ReadFile(path)
	token := strings.TrimSpace(string(data))
	switch {
	case err == nil && len(token) >= shortestToken:
	case err == nil:
		return "", fmt.Errorf("%s holds no token: remove it, and a new one is made", path)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	default:
		token = rand.Text()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := atomicfile.Write(path, []byte(token+"\n"), 0o600); err != nil {
			return "", err
		}
	}
	secret.Add(token)
	return token, nil
}
