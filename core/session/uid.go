package session

import "time"

// NewUID returns the uid of a session that is not stored yet. Hand it to Create once there is
// something to keep.
func NewUID() string { return newUID(time.Now()) }
