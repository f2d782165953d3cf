package resp

import "strings"

// tableCommands are the subcommands of COMMAND. The first is COMMAND alone, too.
func tableCommands() []*command {
	return []*command{
		{name: "info", arity: -2, about: "What commands take: all, or those named", do: commandInfo},
		{name: "count", arity: 2, about: "How many commands there are", do: commandCount},
		{name: "list", arity: 2, since: "7.0.0", about: "The names of the commands", do: commandList},
		{name: "docs", arity: -2, since: "7.0.0", about: "What commands are for", do: commandDocs},
		{name: "help", arity: 2, since: "5.0.0", about: "This list", do: help},
	}
}

func commandCount(c *conn, _ [][]byte) { c.number(int64(len(c.server.inOrder))) }

func commandList(c *conn, _ [][]byte) {
	c.array(len(c.server.inOrder))
	for _, cmd := range c.server.inOrder {
		c.text(cmd.name)
	}
}

func commandInfo(c *conn, args [][]byte) {
	if len(args) < 3 {
		c.array(len(c.server.inOrder))
		for _, cmd := range c.server.inOrder {
			c.row(cmd)
		}
		return
	}
	c.array(len(args) - 2)
	for _, name := range args[2:] {
		if cmd := c.server.find(name); cmd != nil {
			c.row(cmd)
		} else {
			c.null()
		}
	}
}

// row is a command as COMMAND shows it: name, arity, flags, first and last key and
// step, categories, and what has no use here but a place: tips, key specifications.
func (c *conn) row(cmd *command) {
	c.array(10)
	c.text(cmd.name)
	c.number(int64(cmd.arity))
	c.words(strings.Fields(cmd.flags))
	c.number(int64(cmd.keys.first))
	c.number(int64(cmd.keys.last))
	c.number(int64(cmd.keys.step))
	c.words(cmd.categories())
	c.array(0)
	c.array(0)
	c.array(len(cmd.sub))
	for _, sub := range cmd.sub {
		c.row(sub)
	}
}

func (c *conn) words(all []string) {
	c.set(len(all))
	for _, w := range all {
		c.status(w)
	}
}

// categories are the command's classes of Redis's access lists.
func (c *command) categories() []string {
	var all []string
	has := func(flag string) bool { return strings.Contains(c.flags, flag) }
	if c.group == "generic" {
		all = append(all, "@keyspace")
	}
	if has("readonly") {
		all = append(all, "@read")
	}
	if has("write") {
		all = append(all, "@write")
	}
	if c.group == "string" || c.group == "connection" {
		all = append(all, "@"+c.group)
	}
	if has("fast") {
		return append(all, "@fast")
	}
	return append(all, "@slow")
}

func commandDocs(c *conn, args [][]byte) {
	found := c.server.inOrder
	if len(args) > 2 {
		found = nil
		for _, name := range args[2:] {
			if cmd := c.server.find(name); cmd != nil {
				found = append(found, cmd)
			}
		}
	}
	c.docs(found)
}

func (c *conn) docs(all []*command) {
	c.mapping(len(all))
	for _, cmd := range all {
		c.text(cmd.name)
		entries := 3 + int(oneIf(len(cmd.sub) > 0))
		c.mapping(entries)
		c.text("summary")
		c.text(cmd.about)
		c.text("since")
		c.text(cmd.since)
		c.text("group")
		c.text(cmd.group)
		if len(cmd.sub) > 0 {
			c.text("subcommands")
			c.docs(cmd.sub)
		}
	}
}
