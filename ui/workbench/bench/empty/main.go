// Command empty is the least program of our stack that shows something: bubbletea at the highest
// frame rate that it draws, with glamour linked, whose tables are made before main. It is the floor
// for the first frame and for memory.
package main

import (
	"fmt"
	"os"

	tea "github.com/charmbracelet/bubbletea"
	_ "github.com/charmbracelet/glamour"
)

type model struct{}

func (model) Init() tea.Cmd { return nil }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.KeyMsg); ok {
		return m, tea.Quit
	}
	return m, nil
}

func (model) View() string { return "ready" }

func main() {
	if _, err := tea.NewProgram(model{}, tea.WithAltScreen(), tea.WithFPS(120)).Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
