package conversation

// Catches implements ui.Catcher: while a completion is open, the keys that move in it belong to it. While somebody browses,
// tab goes back to writing.
func (p *Pane) Catches(key string) bool {
	switch key {
	case "tab":
		return p.browsing || p.composer.Completing()
	case "up", "down", "ctrl+p", "ctrl+n", "enter", "esc":
		return p.composer.Completing()
	default:
		return false
	}
}
