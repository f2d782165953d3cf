package transport

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// CheckAddress is what is wrong with an address, nil if it can be resolved.
func CheckAddress(address string) error {
	if strings.HasPrefix(address, "/") {
		_, err := Addresses(address)
		return err
	}
	_, _, err := net.SplitHostPort(address)
	return err
}

// Addresses parses a list of multiaddresses with commas between them.
func Addresses(list string) (all []multiaddr.Multiaddr, err error) {
	for one := range strings.SplitSeq(list, ",") {
		a, err := multiaddr.NewMultiaddr(one)
		if err != nil {
			return nil, fmt.Errorf("p2p: address %q: %w", one, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// mostListed is how long the list of addresses of a node may be.
const mostListed = 512

// List is a list of addresses, which Addresses parses: as many as fit, beginning with the first.
func List(all []multiaddr.Multiaddr) string {
	var list strings.Builder
	for _, a := range all {
		if list.Len() > 0 && list.Len()+len(a.String()) >= mostListed {
			break
		}
		if list.Len() > 0 {
			list.WriteByte(',')
		}
		list.WriteString(a.String())
	}
	return list.String()
}

// resolve is what an address may mean: host:port, where the port is one of TCP or of QUIC, or
// multiaddresses with commas between.
func resolve(ctx context.Context, address string, quic bool) ([]multiaddr.Multiaddr, error) {
	if strings.HasPrefix(address, "/") {
		return Addresses(address)
	}
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("p2p: address %q: %w", address, err)
	}
	if name == "" {
		name = "0.0.0.0"
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("p2p: address %q: the port is no number up to 65535", address)
	}
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip", name)
	if err != nil {
		return nil, fmt.Errorf("p2p: address %q: %w", address, err)
	}
	var all []multiaddr.Multiaddr
	for _, ip := range ips {
		a, err := at(ip, int(n), quic)
		if err != nil {
			return nil, fmt.Errorf("p2p: address %q: %w", address, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// at is the multiaddress of a port, of TCP or of QUIC.
func at(ip net.IP, port int, quic bool) (multiaddr.Multiaddr, error) {
	if !quic {
		return manet.FromNetAddr(&net.TCPAddr{IP: ip, Port: port})
	}
	udp, err := manet.FromNetAddr(&net.UDPAddr{IP: ip, Port: port})
	if err != nil {
		return nil, err
	}
	return udp.Encapsulate(quicSuffix), nil
}

var quicSuffix = multiaddr.StringCast("/quic-v1")

// HostPort is the address of a port, of TCP or of QUIC, as host:port.
func HostPort(a multiaddr.Multiaddr) (string, error) {
	ip, err := manet.ToIP(a)
	if err != nil {
		return "", err
	}
	port, err := a.ValueForProtocol(multiaddr.P_TCP)
	if err != nil {
		port, err = a.ValueForProtocol(multiaddr.P_UDP)
	}
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(ip.String(), port), nil
}

// SeenFrom is the address of a node that listens at all its interfaces, for a node that
// has seen it at the other end of a connection.
func SeenFrom(address string, remote multiaddr.Multiaddr) string {
	name, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(name); err != nil || name != "" && (ip == nil || !ip.IsUnspecified()) {
		return address
	}
	ip, err := manet.ToIP(remote)
	if err != nil {
		return address
	}
	return net.JoinHostPort(ip.String(), port)
}

const (
	seedSize = 32 // of an Ed25519 key, and of a private network's

	// publicKey is the key of runs that have none and stay on one machine. It is
	// no secret, and keeps no process out.
	publicKey = "orwl: a run without a key"
)

// derive makes a seed for one purpose from a run's key.
func derive(key []byte, purpose string) []byte {
	if key == nil {
		key = []byte(publicKey)
	}
	seed, err := hkdf.Key(sha256.New, key, nil, purpose, seedSize)
	if err != nil {
		panic(fmt.Sprintf("p2p: deriving %q: %v", purpose, err)) // the size is allowed
	}
	return seed
}

// Identity is the private key of a node. Every process with the run's key can make it, so
// nodes need not tell each other their public keys.
func Identity(key []byte, number int) crypto.PrivKey { return identity(key, nodePurpose(number)) }

// nodePurpose is what the identity of a node is derived for.
func nodePurpose(number int) string { return fmt.Sprintf("orwl node %d", number) }

// identity is the private key that is derived for a purpose.
func identity(key []byte, purpose string) crypto.PrivKey {
	private, _, err := crypto.GenerateEd25519Key(bytes.NewReader(derive(key, purpose)))
	if err != nil {
		panic(fmt.Sprintf("p2p: identity of %q: %v", purpose, err)) // a seed has the right size
	}
	return private
}

// nameOf is the public name of that identity.
func nameOf(key []byte, purpose string) corepeer.ID {
	id, err := corepeer.IDFromPrivateKey(identity(key, purpose))
	if err != nil {
		panic(fmt.Sprintf("p2p: name of %q: %v", purpose, err)) // every Ed25519 key has one
	}
	return id
}

// identities are the public names of all nodes, by number.
func identities(key []byte, nodes int) []corepeer.ID {
	ids := make([]corepeer.ID, nodes)
	for i := range ids {
		ids[i] = nameOf(key, nodePurpose(i))
	}
	return ids
}
