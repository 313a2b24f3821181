// Package local is the kind of back end that is this machine itself: the user's own files and programs, without a sandbox.
//
// Commands get the user's environment without what looks like a secret (env.go) and run through pool/runner in this process.
package local
