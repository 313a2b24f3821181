// Package killtest proves that an acknowledged message survives a kill -9 at any moment. It is a
// package of its own so that its minute of work runs beside the other tests.
//
// A killed process does not test the disk's own cache: what was written stays in the page cache.
// Losing power needs a machine that can be reset.
package killtest
