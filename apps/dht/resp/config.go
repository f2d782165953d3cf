package resp

import (
	"math"
	"strconv"
)

// configCommands are the subcommands of CONFIG.
func configCommands() []*command {
	return []*command{
		{name: "get", arity: -3, about: "What the server was told", do: configGet},
		{name: "help", arity: 2, since: "5.0.0", about: "This list", do: help},
	}
}

// configGet answers in the names that Redis has for it: programs ask for them.
func configGet(c *conn, args [][]byte) {
	o := c.server.options
	settings := [][2]string{
		{"save", ""}, {"appendonly", "no"}, {"databases", "1"}, {"maxmemory", strconv.Itoa(o.Memory.Usage().Limit)}, {"maxmemory-policy", "noeviction"},
		{"maxclients", strconv.Itoa(o.Clients)}, {"proto-max-bulk-len", strconv.Itoa(o.Bulk)},
		{"client-query-buffer-limit", strconv.Itoa(o.Request)}, {"timeout", strconv.Itoa(int(math.Ceil(o.Idle.Seconds())))},
	}
	var found [][2]string
	for _, s := range settings {
		for _, like := range args[2:] {
			if glob(lowered(nil, like)).matches([]byte(s[0])) {
				found = append(found, s)
				break
			}
		}
	}
	c.mapping(len(found))
	for _, s := range found {
		c.text(s[0])
		c.text(s[1])
	}
}
