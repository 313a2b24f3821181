// Package judges holds the vendors' own clients as judges: what they understand of an answer of the
// scripted servers (modeltest) must be what our readers understand. `.ci/sdk-judges` installs the
// clients of sdk/package-lock.json and runs the tests.
package judges
