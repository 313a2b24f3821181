package event

import "hermes/core/chat"

// weightOf is about how many bytes of text a waiting fact keeps alive; its other fields are small.
func weightOf(e Event) int {
	switch f := e.(type) {
	case MessageAdded:
		return messageWeight(f.Message)
	case MessageSealed:
		return messageWeight(f.Message)
	case ToolStarted:
		return len(f.Call.Args) + len(f.Call.Invalid)
	case ToolEnded:
		return resultWeight(f.Result)
	case ApprovalAsked:
		return len(f.Detail) + len(f.Diff) + len(f.Call.Args)
	case ProcessEnded:
		return len(f.Command)
	case ProcedureRan:
		return procedureWeight(f)
	default:
		return 0
	}
}

func messageWeight(m chat.Message) int {
	n := len(m.Text) + len(m.Reasoning) + len(m.Opaque)
	for _, c := range m.Calls {
		n += len(c.Args) + len(c.Invalid)
	}
	for _, a := range m.Parts {
		n += len(a.Text)
	}
	if m.Result != nil {
		n += resultWeight(*m.Result)
	}
	return n
}

func procedureWeight(p ProcedureRan) int {
	n := len(p.Why)
	for _, s := range p.Steps {
		n += len(s.Name) + len(s.Command) + len(s.Said)
	}
	return n
}

func resultWeight(r chat.ToolResult) int {
	n := len(r.Text)
	for _, d := range r.Diffs {
		n += len(d.Unified)
	}
	return n
}
