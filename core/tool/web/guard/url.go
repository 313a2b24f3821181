package guard

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// maxURL is longer than any address that servers take, and short enough to show.
const maxURL = 8 << 10

// CheckURL parses what a model gave as a URL and judges everything that can be judged without
// asking anybody. The URL it returns is in one form: ASCII host in small letters, an IP address in
// its usual spelling, no fragment.
func (g *Guard) CheckURL(raw string) (*url.URL, error) {
	u, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	if err := g.checkHost(u.Hostname()); err != nil {
		return nil, err
	}
	if err := checkPort(u); err != nil {
		return nil, err
	}
	if rule := g.o.Blocklist.Match(u.Hostname()); rule != "" {
		return nil, &Refusal{Target: u.Hostname(), Why: "the blocklist of this machine names it: " + rule}
	}
	return u, nil
}

// parseURL brings a URL into one form, or says what is wrong with it.
func parseURL(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	refuse := func(why string) error { return &Refusal{Target: clipURL(raw), Why: why} }
	switch {
	case raw == "":
		return nil, refuse("it is empty")
	case len(raw) > maxURL:
		return nil, refuse(fmt.Sprintf("it is longer than %d bytes", maxURL))
	case strings.ContainsFunc(raw, isInvisible):
		return nil, refuse("it has control or invisible characters in it")
	case strings.ContainsRune(raw, '\\'):
		return nil, refuse("it has a backslash in it, which programs read in different ways; write %5C or /")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refuse("it is no valid URL")
	}
	switch {
	case u.Scheme == "" && u.Host == "":
		return nil, refuse("it has no scheme; write https:// in front of it")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refuse(fmt.Sprintf("the scheme %s is not for here; only http and https are", clipURL(u.Scheme)))
	case u.Opaque != "" || u.Hostname() == "":
		return nil, refuse("it names no host")
	case u.User != nil:
		return nil, &Refusal{Target: shortURL(u), Why: "it carries a user name or password; a URL is no place for them"}
	}
	host, err := normalHost(u.Hostname())
	if err != nil {
		return nil, refuse(err.Error())
	}
	u.Fragment, u.RawFragment = "", ""
	port := u.Port()
	u.Host = host
	if port != "" {
		u.Host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	return u, nil
}

func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar
}

// normalHost gives a host its one spelling: as the network will see it.
func normalHost(host string) (string, error) {
	if strings.ContainsRune(host, '%') {
		return "", fmt.Errorf("the host %s has a zone or an escape in it", clipURL(host))
	}
	if !strings.ContainsRune(host, ':') {
		ascii, err := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false)).ToASCII(host)
		if err != nil {
			return "", fmt.Errorf("%s is no host name", clipURL(host))
		}
		host = strings.TrimSuffix(strings.ToLower(ascii), ".")
	}
	ip, ok, err := parseIP(host)
	switch {
	case err != nil:
		return "", fmt.Errorf("the host %s is no valid address", clipURL(host))
	case ok && ip.Is6():
		return "[" + ip.String() + "]", nil
	case ok:
		return ip.String(), nil
	case !isPlausibleHost(host):
		return "", fmt.Errorf("%s is no host name", clipURL(host))
	}
	return host, nil
}

// isPlausibleHost is what DNS can carry: labels of 1 to 63 letters, digits, - and _.
func isPlausibleHost(host string) bool {
	if len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// names that mean this machine or its network wherever they are asked for; a leading dot means all
// below.
var (
	localNames    = []string{"localhost", ".localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback", ".local", ".internal", ".home.arpa", ".lan", ".intranet"}
	metadataNames = []string{"metadata", "metadata.google.internal", "metadata.goog", ".metadata.goog", "metadata.azure.internal", "instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.packet.net"}
)

func isNamed(host string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return host == n || strings.HasPrefix(n, ".") && strings.HasSuffix(host, n)
	})
}

func (g *Guard) checkHost(host string) error {
	if isNamed(host, metadataNames) {
		return &Refusal{Target: host, Why: Metadata.describe()}
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.checkAddress(host, ip)
	}
	if g.o.AllowPrivate {
		return nil
	}
	if isNamed(host, localNames) || !strings.Contains(host, ".") {
		return &Refusal{Target: host, Why: "it is a name of this machine or its network; web.allow_private_urls: true in config.yaml allows it"}
	}
	return nil
}

// badPorts are those that browsers refuse, because what listens there takes a request of HTTP for
// its own language.
const badPorts = " 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 " +
	"389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 " +
	"6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 11211 "

func checkPort(u *url.URL) error {
	port := u.Port()
	if port == "" {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strings.Contains(badPorts, " "+strconv.FormatUint(n, 10)+" ") {
		return &Refusal{Target: shortURL(u), Why: "the port " + clipURL(port) + " is not one of the web"}
	}
	return nil
}

func portOf(s string) uint16 {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}

// shortURL is a URL for messages: no password, no query, nothing after it.
func shortURL(u *url.URL) string {
	return clipURL((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
}

func clipURL(s string) string {
	s = strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 120 {
		return string(r[:117]) + "..."
	}
	return s
}
