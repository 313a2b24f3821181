package guard

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// Class is what kind of place an address is.
type Class int

// The classes. Only Public is reached unasked.
const (
	Public    Class = iota
	Private         // of a home, an office, a cluster
	Loopback        // this machine
	Shared          // behind a provider's address translation, 100.64.0.0/10
	Reserved        // documentation, benchmarks, not assigned, broken
	LinkLocal       // the same wire, and where clouds put their metadata
	Metadata        // hands out a machine's credentials
	Group           // multicast, broadcast
	Nowhere         // unspecified: 0.0.0.0 and ::, which systems take for themselves
)

// alwaysRefused reports classes that no setting opens.
func (c Class) alwaysRefused() bool { return c == Metadata || c == LinkLocal || c == Group }

func (c Class) describe() string {
	switch c {
	case Public:
		return "a public address"
	case Private:
		return "a private address"
	case Loopback:
		return "this machine itself"
	case Shared:
		return "a shared address of a provider's inner network (100.64.0.0/10)"
	case LinkLocal:
		return "a link-local address, where clouds keep the credentials of machines; nothing opens it"
	case Metadata:
		return "a service that hands out the credentials of machines; nothing opens it"
	case Group:
		return "a multicast or broadcast address; nothing opens it"
	case Nowhere:
		return "the unspecified address, which means this machine"
	default:
		return "a reserved address"
	}
}

// metadata services outside the link-local ranges, or worth a name of their own.
var metadata = []string{
	"169.254.169.254", "169.254.169.253", "169.254.170.2", "169.254.170.23", // AWS, Azure, Google, ECS, EKS
	"100.100.100.200", // Alibaba
	"192.0.0.192",     // Oracle
	"168.63.129.16",   // Azure's wire server, a public address
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
}

// ranges that are not public, the narrow before the wide.
var ranges = []struct {
	prefix string
	class  Class
}{
	{"0.0.0.0/32", Nowhere},
	{"0.0.0.0/8", Reserved},
	{"10.0.0.0/8", Private},
	{"100.64.0.0/10", Shared},
	{"127.0.0.0/8", Loopback},
	{"169.254.0.0/16", LinkLocal},
	{"172.16.0.0/12", Private},
	{"192.0.0.0/24", Reserved},
	{"192.0.2.0/24", Reserved},
	{"192.88.99.0/24", Reserved},
	{"192.168.0.0/16", Private},
	{"198.18.0.0/15", Reserved},
	{"198.51.100.0/24", Reserved},
	{"203.0.113.0/24", Reserved},
	{"224.0.0.0/4", Group},
	{"255.255.255.255/32", Group},
	{"240.0.0.0/4", Reserved},
	{"::/128", Nowhere},
	{"::1/128", Loopback},
	{"64:ff9b:1::/48", Private},
	{"2001::/23", Reserved}, // protocols; Teredo is looked into before
	{"2001:db8::/32", Reserved},
	{"3fff::/20", Reserved},
	{"5f00::/16", Reserved},
	{"fc00::/7", Private},
	{"fe80::/10", LinkLocal},
	{"fec0::/10", Private},
	{"ff00::/8", Group},
	{"2000::/3", Public}, // all that is assigned for the internet
	{"::/0", Reserved},
}

// Classify says what kind of place an address is. An IPv6 address that carries an IPv4 address is
// the worse of the two.
func Classify(a netip.Addr) Class {
	if !a.IsValid() {
		return Reserved
	}
	a = a.Unmap()
	if a.Zone() != "" {
		return LinkLocal
	}
	for _, m := range metadata {
		if a == netip.MustParseAddr(m) {
			return Metadata
		}
	}
	for _, v4 := range embeddedIPv4(a) {
		if c := Classify(v4); c != Public {
			return c
		}
	}
	if isNAT64(a) {
		return Public // what it carries was judged above
	}
	for _, r := range ranges {
		if netip.MustParsePrefix(r.prefix).Contains(a) {
			return r.class
		}
	}
	return Public // IPv4 that no range names
}

// isNAT64 reports 64:ff9b::/96, by which hosts without IPv4 reach all of it.
func isNAT64(a netip.Addr) bool { return a.Is6() && isWithin(a, "64:ff9b::/96") }

func isWithin(a netip.Addr, prefix string) bool { return netip.MustParsePrefix(prefix).Contains(a) }

// embeddedIPv4 lists the IPv4 addresses that an IPv6 address carries, by which packets may leave
// the IPv6 world.
func embeddedIPv4(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	switch {
	case isWithin(a, "64:ff9b::/96"), isWithin(a, "64:ff9b:1::/48"):
		return []netip.Addr{at(12)}
	case isWithin(a, "2002::/16"): // 6to4
		return []netip.Addr{at(2)}
	case isWithin(a, "2001::/32"): // Teredo: server, and client with its bits turned
		return []netip.Addr{at(4), netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})}
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return []netip.Addr{at(12)}
	case isWithin(a, "::ffff:0:0:0/96"), isWithin(a, "::/96") && a != netip.IPv6Unspecified() && a != netip.IPv6Loopback():
		return []netip.Addr{at(12)}
	}
	return nil
}

// parseIP reads a host as an IP address in every spelling that some resolver understands:
// 127.0.0.1, 2130706433, 0x7f.1, 017700000001, ::1, [::1]. ok is false for a name. A host that ends
// in a number but is no address is an error: nothing good is called that.
func parseIP(host string) (ip netip.Addr, ok bool, err error) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.ContainsRune(host, ':') {
		ip, err = netip.ParseAddr(host)
		return ip, err == nil, err
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if !isNumericLabel(parts[len(parts)-1]) {
		return netip.Addr{}, false, nil
	}
	ip, err = parseV4(parts)
	return ip, err == nil, err
}

// isNumericLabel reports what ends an IPv4 address as browsers and inet_aton see it.
func isNumericLabel(s string) bool {
	if s == "" {
		return false
	}
	if rest, hex := strings.CutPrefix(strings.ToLower(s), "0x"); hex {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return strings.Trim(s, "0123456789") == ""
}

var errNumber = errors.New("it looks like an IP address and is none")

// parseV4 reads one to four numbers; the last one fills what is left of the 32 bits.
func parseV4(parts []string) (netip.Addr, error) {
	if len(parts) > 4 {
		return netip.Addr{}, errNumber
	}
	var v uint64
	for i, p := range parts {
		n, err := parseNumber(p)
		if err != nil {
			return netip.Addr{}, err
		}
		if i == len(parts)-1 {
			left := 8 * (5 - len(parts))
			if n >= 1<<left {
				return netip.Addr{}, errNumber
			}
			v = v<<left | n
			break
		}
		if n > 255 {
			return netip.Addr{}, errNumber
		}
		v = v<<8 | n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), nil
}

func parseNumber(s string) (uint64, error) {
	base, digits := 10, s
	if rest, hex := strings.CutPrefix(strings.ToLower(s), "0x"); hex {
		base, digits = 16, rest
		if rest == "" {
			return 0, nil // browsers read 0x as zero
		}
	} else if len(s) > 1 && s[0] == '0' {
		base, digits = 8, s[1:]
	}
	n, err := strconv.ParseUint(digits, base, 33)
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}
