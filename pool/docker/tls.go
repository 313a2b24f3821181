package docker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
)

// clientConfig reads the certificates.
func (t tlsFiles) clientConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.trusting} //nolint:gosec // what the docker context or DOCKER_TLS_VERIFY says
	if t.ca != "" {
		pem, err := os.ReadFile(t.ca)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New(t.ca + " holds no certificate")
		}
	}
	if t.cert == "" || t.key == "" {
		return c, nil
	}
	pair, err := tls.LoadX509KeyPair(t.cert, t.key)
	if err != nil {
		return nil, err
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
