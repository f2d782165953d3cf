package resource

// mapping is a place's view of resources with guard pages.
type mapping struct {
	name   string // of the place, for whoever uses the view too late
	pages  *Pages // that alias is of
	alias  *Alias
	isOpen bool
	bytes  []byte // while it is open
	mode   Mode
}

// Call gives the place a name, which is how a [StaleViewError] calls it. It is
// called before the first request.
func (p *Place) Call(name string) { p.mapping().name = name }

func (p *Place) mapping() *mapping {
	x := p.extra()
	if x.view == nil {
		x.view = new(mapping)
	}
	return x.view
}

// open makes the resource's guarded memory accessible to the place.
func (p *Place) open(m Mode) ([]byte, error) {
	v := p.mapping()
	if v.isOpen && (m == Read || v.mode == Write) {
		return v.bytes, nil
	}
	p.shut()
	if err := v.use(p.r.pages); err != nil {
		return nil, p.error("map", err)
	}
	b, err := v.alias.Open(m)
	if err != nil {
		return nil, p.error("map", err)
	}
	v.isOpen, v.bytes, v.mode = true, b, m
	return b, nil
}

// use makes the mapping one of pages.
func (v *mapping) use(pages *Pages) error {
	if v.pages == pages {
		return nil
	}
	if v.alias != nil {
		if err := v.alias.Close(); err != nil {
			return err
		}
	}
	alias, err := pages.Alias(v.name)
	if err != nil {
		return err
	}
	v.pages, v.alias = pages, alias
	return nil
}

// shut ends the view: whoever still uses it faults.
func (p *Place) shut() {
	if p.x == nil || p.x.view == nil || !p.x.view.isOpen {
		return
	}
	v := p.x.view
	v.isOpen, v.bytes = false, nil
	if err := v.alias.Shut(); err != nil {
		// What should be out of reach is not: nobody can rely on it any more.
		p.r.Break(err)
	}
}
