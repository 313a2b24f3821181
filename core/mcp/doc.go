// Package mcp is the client of servers that speak the model context protocol: programs and
// addresses that bring the agent tools, prompts and resources.
//
// The contract:
//
//   - A server is a state machine with a goroutine of its own (server.go). It starts when somebody
//     wants it, never on the way of a program's start, and is tried for ever: after 1 s, doubling
//     to 5 min. Edits of the settings restart what they change and nothing else.
//   - What a server says is a stranger's word. Its tools reach the registry as tools of "mcp:NAME",
//     are asked about by their own rule, and what they say of themselves counts when the person
//     trusts the server.
//   - A definition is pinned by its hash when it is first seen (pin.go). One that changed is
//     blocked until the person has seen the difference; until then the model is told the old one.
//   - The person's limits come in this order (rule.go): denied_tools, arguments, allowed_tools,
//     require_confirmation, the level of the session. What is denied never reaches the server.
//   - A program runs in a back end of the pool and speaks over the pool's channel (wire.go), so
//     that its whole tree ends with it, and with us.
package mcp
