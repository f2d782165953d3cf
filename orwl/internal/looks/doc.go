// Package looks makes an [inspect.State] from a [Look] at a program. The runtime takes the Look: it
// copies what each access and each queue looks like, while the tasks run. [Sightings] remember since
// when they have looked so. Nothing here waits or reads a clock.
//
// It makes an [inspect.Placement], too, and counts the bytes that go from node to node.
package looks
