package chat

// Author says whose words a message of RoleUser holds. The zero Author is unknown, as in
// conversations of older versions.
type Author struct {
	Kind AuthorKind `json:"kind"`
	ID   string     `json:"id,omitempty"` // which one: the id of a process, the name of a schedule or of a peer
}

// AuthorKind is what an Author is.
type AuthorKind string

// Kinds of author. Only the words of a person allow anything: a command that a person typed runs
// unasked.
const (
	AuthorPerson   AuthorKind = "person"
	AuthorProcess  AuthorKind = "process"  // a program that the agent started in the background
	AuthorSchedule AuthorKind = "schedule" // a plan that came due
	AuthorPeer     AuthorKind = "peer"     // somebody else in a chat
	AuthorAgent    AuthorKind = "agent"    // another agent
	AuthorSummary  AuthorKind = "summary"  // this program, of the messages that it stands for
)

// Person is the one who sits in front of the program.
func Person() Author { return Author{Kind: AuthorPerson} }

// IsPerson reports whether the person wrote it, as far as that is known for sure.
func (a Author) IsPerson() bool { return a.Kind == AuthorPerson }

// Other reports whether it is known that somebody or something else than the person wrote it.
func (a Author) Other() bool { return a.Kind != "" && a.Kind != AuthorPerson }

// Summary is who writes what stands for older messages.
func Summary() Author { return Author{Kind: AuthorSummary} }

// IsSummary reports whether the message stands for older ones.
func (a Author) IsSummary() bool { return a.Kind == AuthorSummary }

// Words names an author: "Background process p1". The person, and who is unknown, is "You".
func (a Author) Words() string {
	name, ok := map[AuthorKind]string{
		AuthorProcess: "Background process", AuthorSchedule: "Schedule", AuthorPeer: "Peer", AuthorAgent: "Agent",
		AuthorSummary: "Summary",
	}[a.Kind]
	switch {
	case !a.Other():
		return "You"
	case !ok:
		name = "Program"
	}
	if a.ID == "" {
		return name
	}
	return name + " " + a.ID
}
