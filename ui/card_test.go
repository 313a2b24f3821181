package ui

import "testing"

// Names in a card may be those of servers, plugins and skills of somebody else.
func TestACardsNamesCommandNoTerminal(t *testing.T) {
	evil := []Fact{{Name: "a\x1b]0;owned\a\nb\u202e", Text: "x"}}
	one, many := NewCard("t\x1b[2J", evil).(*card), NewCards("t", 2, 0, func(int) []Fact { return evil }).(*card)
	many.turnTo(1)
	if one.Title() != "t" || one.facts[0].Name != "a b" || many.facts[0].Name != "a b" {
		t.Errorf("%q %q %q", one.Title(), one.facts[0].Name, many.facts[0].Name)
	}
}
