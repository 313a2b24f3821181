package connect

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// CompleteAddress puts the scheme before an address that was written without one: http for what
// cannot be beyond the own network (this machine, private addresses, names without a dot), where a
// certificate is rare, https for everything else. What is no address stays as it is.
func CompleteAddress(address string) string {
	address = strings.TrimSpace(address)
	if !IsAddress(address) || hasScheme(address) {
		return address
	}
	u, err := url.Parse("//" + address)
	if err != nil {
		return address
	}
	if isNearby(u.Hostname()) {
		return "http://" + address
	}
	return "https://" + address
}

// IsAddress reports whether a person who writes this means the address of a server: a URL, or a
// host with a port, with a dot, or this machine's name.
func IsAddress(s string) bool {
	if hasScheme(s) {
		return true
	}
	if strings.Contains(s, "://") || strings.ContainsAny(s, " \t@") {
		return false
	}
	u, err := url.Parse("//" + s)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := u.Hostname()
	return u.Port() != "" || host == "localhost" || strings.Contains(strings.Trim(host, "."), ".") || net.ParseIP(host) != nil
}

func hasScheme(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// isNearby judges a host by its text alone: nothing is looked up.
func isNearby(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return !strings.Contains(strings.Trim(host, "."), ".")
}
