package resp

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/tidwall/redcon"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/apps/dht/table"
)

// reply is what a connection is about to write, in the protocol that its client has
// asked for.
//
// A long value is not copied into the reply: out has what comes before and after it.
type reply struct {
	out    []byte
	values []longValue
	long   int // bytes of values
	v3     bool
}

// longValue is a value that is written behind the first bytes of out.
type longValue struct {
	at    int
	value []byte
}

// size is how many bytes the reply has.
func (r *reply) size() int { return len(r.out) + r.long }

// whole appends a string. Its bytes must not change before the reply is written.
func (r *reply) whole(b []byte) {
	if len(b) <= table.LongValue {
		r.bytes(b)
		return
	}
	r.head('$', len(b))
	r.later(b)
	r.out = append(r.out, "\r\n"...)
}

// later appends a long value that is not copied.
func (r *reply) later(b []byte) {
	r.values = append(r.values, longValue{len(r.out), b})
	r.long += len(b)
}

// cut takes away all but the first bytes of out, and the values behind these. A value is followed by the end of its line,
// so none of an earlier reply is at begun.
func (r *reply) cut(begun int, memory *budget.Budget) {
	for last := len(r.values) - 1; last >= 0 && r.values[last].at >= begun; last-- {
		v := &r.values[last]
		r.long -= len(v.value)
		memory.Give(v.value)
		v.value, r.values = nil, r.values[:last]
	}
	r.out = r.out[:begun]
}

// pieces are the reply as it is written.
func (r *reply) pieces() (p net.Buffers) {
	from := 0
	for _, v := range r.values {
		p = append(p, r.out[from:v.at], v.value)
		from = v.at
	}
	return append(p, r.out[from:])
}

func (r *reply) ok()                  { r.out = redcon.AppendOK(r.out) }
func (r *reply) status(text string)   { r.out = redcon.AppendString(r.out, text) }
func (r *reply) number(n int64)       { r.out = redcon.AppendInt(r.out, n) }
func (r *reply) text(s string)        { r.out = redcon.AppendBulkString(r.out, s) }
func (r *reply) bytes(b []byte)       { r.out = redcon.AppendBulk(r.out, b) }
func (r *reply) array(n int)          { r.out = redcon.AppendArray(r.out, n) }
func (r *reply) failure(text string)  { r.out = redcon.AppendError(r.out, text) }
func (r *reply) flag(yes bool)        { r.number(oneIf(yes)) }
func (r *reply) protocol(e error)     { r.failure("ERR " + e.Error()) }
func (r *reply) storeError(err error) { r.failure(inRedisWords(err)) }

// These replies have a form of their own in RESP3, which redcon does not know.

func (r *reply) null() {
	if r.v3 {
		r.out = append(r.out, "_\r\n"...)
		return
	}
	r.out = redcon.AppendNull(r.out)
}

func (r *reply) mapping(pairs int) {
	if !r.v3 {
		r.array(2 * pairs)
		return
	}
	r.head('%', pairs)
}

func (r *reply) set(n int) {
	if !r.v3 {
		r.array(n)
		return
	}
	r.head('~', n)
}

// verbatim is a text for people.
func (r *reply) verbatim(text string) {
	if !r.v3 {
		r.text(text)
		return
	}
	r.head('=', len(text)+len("txt:"))
	r.out = append(append(append(r.out, "txt:"...), text...), "\r\n"...)
}

func (r *reply) head(kind byte, n int) {
	r.out = strconv.AppendInt(append(r.out, kind), int64(n), 10)
	r.out = append(r.out, "\r\n"...)
}

func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// Redis's words for what can be wrong.
const (
	textSyntax     = "ERR syntax error"
	textNotInteger = "ERR value is not an integer or out of range"
	textOverflow   = "ERR increment or decrement would overflow"
	textNoAuth     = "NOAUTH Authentication required."
	textWrongPass  = "WRONGPASS invalid username-password pair or user is disabled."
	textTooMany    = "ERR too many wrong passwords from this address: wait a second, and see that the client has the right one"
	textNoPassword = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	textHelloAuth  = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
	textNoProto    = "NOPROTO unsupported protocol version"
	textCursor     = "ERR invalid cursor"
	textExpireNX   = "ERR NX and XX, GT or LT options at the same time are not compatible"
	textExpireGT   = "ERR GT and LT options at the same time are not compatible"
	textDatabase   = "ERR DB index is out of range"
	textClients    = "ERR max number of clients reached"
	textNoRoom     = "OOM clients and keys take all that -memory allows: no room for the request"
	textNoReply    = "OOM clients and keys take all that -memory allows: no room for the reply"
	textNoClient   = "OOM clients and keys take all that -memory allows: no room for one more client"
	textName       = "ERR Client names cannot contain spaces, newlines or special characters."
)

func textArity(command string) string {
	return fmt.Sprintf("ERR wrong number of arguments for '%s' command", command)
}

func textExpire(command string) string {
	return fmt.Sprintf("ERR invalid expire time in '%s' command", command)
}

func textSubcommand(container string, sub []byte) string {
	return fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.", shown(sub), container)
}

// textUnknown shows the command and how its arguments begin, as much as fits a line.
func textUnknown(args [][]byte) string {
	text := fmt.Sprintf("ERR unknown command '%s', with args beginning with: ", shown(args[0]))
	if ofOtherTypes[strings.ToLower(string(shown(args[0])))] {
		return fmt.Sprintf("ERR unknown command '%s': this server keeps strings only, and COMMAND LIST names its commands; "+
			"for a benchmark: redis-benchmark -t ping,set,get,incr,mset", shown(args[0]))
	}
	begin := len(text)
	for _, a := range args[1:] {
		if len(text)-begin >= mostShown {
			break
		}
		text += fmt.Sprintf("'%s' ", a[:min(len(a), mostShown-(len(text)-begin))])
	}
	return text
}

// ofOtherTypes are the commands of lists, sets, hashes and streams that redis-benchmark sends
// unless it is told what to test. It shows the first error, and ends.
var ofOtherTypes = map[string]bool{
	"lpush": true, "rpush": true, "lpop": true, "rpop": true, "lrange": true, "sadd": true, "spop": true,
	"hset": true, "zadd": true, "zpopmin": true, "xadd": true,
}

// mostShown is how much of what a client sent is sent back in an error.
const mostShown = 128

func shown(arg []byte) []byte { return arg[:min(len(arg), mostShown)] }

// inRedisWords is a store's error as clients know it, or as it is.
func inRedisWords(err error) string {
	text := strings.TrimPrefix(err.Error(), "table: ")
	switch {
	case errors.Is(err, table.ErrNotInteger):
		return textNotInteger
	case errors.Is(err, table.ErrOverflow):
		return textOverflow
	case err == errNoReply:
		return textNoReply
	case errors.Is(err, table.ErrFull):
		return "OOM " + text
	}
	return "ERR " + text
}
