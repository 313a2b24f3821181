// Package judges holds the vendors' own clients as judges: what they understand of an answer of the
// scripted servers (modeltest) must be what our readers understand. npm installs what
// sdk/package-lock.json names; make check runs it.
package judges
