package conversation

import "hermes/ui"

// IDPrefix begins the ids of conversation panes; the session's uid follows after a colon.
const IDPrefix ui.ID = "conversation"
