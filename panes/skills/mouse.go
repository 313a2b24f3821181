package skills

import tea "github.com/charmbracelet/bubbletea"

// RowAt implements ui.Lister: a row of the skills, or of the versions of one.
func (v *Overlay) RowAt(x, y int) (row int, chosen, ok bool) {
	row, ok = v.lines.At(x, y)
	if v.mode == looking {
		return row, row == v.pastAt, ok
	}
	return row, row == v.selectedIndex(), ok && (v.mode == listing || v.mode == filtering)
}

// ChooseRow implements ui.Lister.
func (v *Overlay) ChooseRow(row int) tea.Cmd {
	if v.mode == looking {
		v.selectVersion(row)
		return nil
	}
	v.selectShown(row)
	return v.requestText()
}
