// Package looks makes an [inspect.State] from a [Look] at a program. The runtime takes the Look: it
// copies what each access and each queue looks like, while the tasks run. [Sightings] remember since
// when they have looked so. Nothing here waits or reads a clock.
package looks
