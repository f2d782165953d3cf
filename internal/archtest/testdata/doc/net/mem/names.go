package mem

const Limit = 1

const (
	// One and Two share a comment.
	One = 1
	Two = 2

	Three = 3
	Four  = 4 // has its own
	Five  = 5
)

var Table, other = []int{1}, 2

type Fabric struct{}

func New() *Fabric { return nil }

func (f *Fabric) Close() {}

func (f *Fabric) String() string { return "well known" }

// Ranks is documented.
type Ranks[K, V any] interface {
	Rank() K
	Size() V // documented, too
}

type hidden[K, V any] struct{}

func (h *hidden[K, V]) Shown() {}

func unseen() {}
