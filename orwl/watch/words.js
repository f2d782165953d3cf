// What a task does, in words.
const long = ms => ms < 1000 ? Math.round(ms) + ' ms' : ms < 100e3 ? (ms / 1000).toFixed(1) + ' s' : ms < 5400e3 ? Math.round(ms / 60e3) + ' min' : Math.round(ms / 3600e3) + ' h'
const many = (n, what) => n + ' ' + what + (n === 1 ? '' : 's')
const rate = v => v < 10 ? v.toFixed(1) : Math.round(v) + '' // of something in a second
function does(l, k) {
  const p = programOf(l), s = l.states[k], w = l.wait.get(k)
  if (s === 'c') return 'computes, in round ' + l.rounds[k] + (l.work.has(k) ? ', for ' + long(l.work.get(k)) : '') + (l.where && l.where[k] ? ', at ' + l.where[k] : '')
  if (s === 'q') return 'is ready, but all workers of its node are busy'
  if (w) {
    const what = (w.write ? 'write ' : 'read ') + (p.resources[w.resource] ?? 'something')
    return (s === 'd' ? 'waits for the bytes to ' : 'waits for its turn to ') + what + (w.ms ? ', for ' + long(w.ms) : '')
  }
  return states[s][0] + (s === 'i' && p.rounds[k] && l.rounds[k] >= p.rounds[k] ? ': it has ended' : '')
}
function chain(l, k) {
  const way = [k], seen = new Set(way)
  for (let w = l.wait.get(k); w && w.behind >= 0 && !seen.has(w.behind); w = l.wait.get(k)) { k = w.behind; way.push(k); seen.add(k) }
  return way
}
const numberOf = (l, name) => programOf(l) ? programOf(l).names.indexOf(name) : -1

// Numbers and words.
function numbers(l, picture) {
  const p = programOf(l), box = $('numbers'), b = before(l, 5000), parts = []
  const rounds = b ? Math.max(0, (l.sum - b.sum) / (l.states.length || 1) / (l.at - b.at) * 1000) : 0
  let done = 0, all = 0
  p.rounds.forEach((r, k) => { all += r; done += Math.min(r, l.rounds[k]) })
  let old = null
  if (picture) for (const q of pictures) if (q.at < picture.at && picture.at - q.at < 8000 && !old) old = q
  if (l.grids && l.grids.length) {
    done = all = 0
    for (const g of l.grids) { done += g.done; all += g.total }
    if (l.grids.length > 1) for (const g of l.grids.slice(0, 6)) parts.push(['of ' + (g.grid || 'a grid'), Math.floor(100 * g.done / Math.max(1, g.total)) + ' %'])
  }
  if (old && picture.total) parts.push(['sweeps a second', ((picture.done - old.done) / (picture.at - old.at) * 1000).toFixed(1)])
  if (b) parts.push(['rounds a second', rate(rounds)])
  if (l.nodes.length > 1) parts.push(['nodes', l.nodes.length])
  if (l.life && l.life.number > 1) parts.push(['lives', l.life.number])
  box.textContent = ''
  if (all) {
    const d = document.createElement('div'), bar = document.createElement('progress')
    bar.max = all; bar.value = done; bar.setAttribute('aria-label', 'progress')
    const was = b && b.grids ? b.grids.reduce((sum, g) => sum + g.done, 0) : 0
    const left = l.grids && l.grids.length ? (b && done > was ? (all - done) / (done - was) * (l.at - b.at) / 1000 : 0) : rounds > 0 ? (all - done) / (l.states.length * rounds) : 0
    d.append(bar, ' ', Object.assign(document.createElement('b'), {textContent: Math.floor(100 * done / all) + ' %'}), left ? ' done, about ' + long(left * 1000) + ' left' : ' done')
    box.append(d)
  }
  for (const [what, n] of parts) { const d = document.createElement('div'); d.append(Object.assign(document.createElement('b'), {textContent: n}), ' ' + what); box.append(d) }
  for (const s in states) { const n = $('n' + s); if (n) n.textContent = l.count[s] }
}
// workers says how busy the workers were, in the five seconds before a look.
function workers(l) {
  let all = 0, busy = 0, asleep = 0, n = 0
  for (let k = looks.indexOf(l); k >= 0 && looks[k].program === l.program && l.at - looks[k].at < 5000; k--) {
    const seen = looks[k], p = programOf(seen), bodies = new Array(seen.nodes.length).fill(0)
    for (let t = 0; t < seen.states.length; t++) if (seen.states[t] === 'c') bodies[p.nodes[t]]++
    seen.nodes.forEach((x, m) => { all += x.workers; asleep += x.asleep; busy += Math.min(bodies[m] * (p.every || 1), x.workers - x.asleep) })
    n++
  }
  $('workers').hidden = !all
  if (!all) return
  const part = x => Math.round(100 * x / all), parts = {wc: part(busy), wa: part(asleep)}
  parts.ws = Math.max(0, 100 - parts.wc - parts.wa)
  for (const id in parts) $(id).style.width = parts[id] + '%'
  const b = before(l, 5000), sum = x => x.nodes.reduce((n, y) => n + y.taken, 0), taken = b ? Math.max(0, sum(l) - sum(b)) / (l.at - b.at) * 1000 : 0
  $('wtext').textContent = many(Math.round(all / n), 'worker') + ': ' + parts.wc + ' % of their time in bodies, ' + parts.ws + ' % looking for work, ' + parts.wa + ' % asleep' +
    (taken ? '; ' + rate(taken) + ' times a second, a worker took a task of another one' : '')
}

// spent says what the tasks did in the last minute, and what those that waited had to wait for in the end.
let spentAt = 0
function spent(l) {
  if (at < 0 && l.at - spentAt < 900 && l.at >= spentAt) return
  const sum = {}, guilty = new Map(), scarce = new Map(), box = $('spent'), p = programOf(l)
  let all = 0, waits = 0, n = 0
  for (const a of looks) {
    if (a.at > l.at || l.at - a.at > 6e4) continue
    for (const s in a.count) { sum[s] = (sum[s] || 0) + a.count[s]; all += a.count[s] }
    a.blame.forEach((v, name) => { guilty.set(name, (guilty.get(name) || 0) + v); waits += v })
    a.waiters.forEach((v, name) => scarce.set(name, (scarce.get(name) || 0) + v))
    n++
  }
  $('spentbox').hidden = n < 2 || !all
  box.textContent = $('blame').textContent = ''
  if (n < 2 || !all) return
  spentAt = l.at
  for (const s of Object.keys(states).filter(s => sum[s]).sort((a, b) => sum[b] - sum[a])) {
    const row = document.createElement('div'), c = document.createElement('canvas')
    row.className = 'part'
    shape(paper(c, 14, 14), s, 0, 0, 14, 14)
    row.append(c, states[s][0] + ': ' + states[s][1], Object.assign(document.createElement('b'), {textContent: (100 * sum[s] / all).toFixed(0) + ' %'}))
    box.append(row)
  }
  if (waits * 100 < all) return
  const list = document.createElement('ol'), say = document.createElement('p')
  say.textContent = 'Those that waited for data or a turn had to wait, in the end, for:'
  for (const [name, v] of [...guilty].sort((a, b) => b[1] - a[1]).slice(0, 4).filter((x, k) => !k || x[1] > waits / 50)) {
    const item = document.createElement('li'), k = p.names.indexOf(name)
    item.append(k < 0 ? name : button(name), (k >= 0 && l.nodes.length > 1 ? ' (node ' + p.nodes[k] + ')' : '') + ', ' + (100 * v / waits).toFixed(0) + ' % of that time')
    list.append(item)
  }
  $('blame').append(say, list)
  const most = [...scarce].sort((a, b) => b[1] - a[1]).slice(0, 4).filter((x, k) => !k || x[1] > waits / 50)
  if (!most.length) return
  const which = document.createElement('p')
  which.append('The resources that they waited for longest: ')
  most.forEach(([name, v], k) => { const e = Object.assign(document.createElement('button'), {className: 'link', textContent: name}); e.onclick = () => follow(name); which.append(k ? ', ' : '', e, ' ' + (100 * v / waits).toFixed(0) + ' %') })
  $('blame').append(which)
}

// lifeWords says which life the run is in, from where the next one would begin, and what ended the lives before.
const clock = t => new Date(t).toLocaleTimeString()
// behind says where a cut is. The end of a run is before round 1 of the next one.
const behind = (run, round) => 'behind round ' + round + (run > 1 ? ' of run ' + run : '')
// later reports whether the last whole cut is one that this life has made.
const later = f => f.cut_run > f.from_run || f.cut_run === f.from_run && f.cut_round > f.from_round
function lifeWords(l) {
  const f = l.life
  $('lifebox').hidden = !f
  if (!f) return
  let text = 'Life ' + f.number + ' since ' + clock(f.began) + (f.from_round || f.from_run > 1 ? ', from the cut ' + behind(f.from_run, f.from_round) : '') + '. '
  if (f.mortal) text += 'No other life can follow it: ' + f.mortal
  else if (later(f)) text += 'The last whole cut is ' + behind(f.cut_run, f.cut_round) + ', ' + long(f.cut_age_seconds * 1000) + ' old. If a node is lost now, the others go on from there.'
  else text += 'It has no cut of its own yet.'
  if (f.cut_failures) text += ' ' + many(f.cut_failures, 'part') + ' of cuts could not be kept.'
  $('life').textContent = text
  const list = $('past')
  list.textContent = ''
  for (const q of (f.past || []).slice(-4).reverse()) {
    const item = document.createElement('li')
    item.textContent = 'Life ' + q.number + ', for ' + long(new Date(q.ended || q.began) - new Date(q.began)) + ' on ' + many(q.seats.length, 'node') + ', ended' + (q.why ? ': ' + q.why.replace(/^orwl: /, '') : '.')
    list.append(item)
  }
}
const button = name => { const b = Object.assign(document.createElement('button'), {className: 'link', textContent: name}); b.onclick = () => choose(name); return b }
let told = ''
function verdict(l) {
  const v = $('verdict')
  let head, text, kind = ''
  if (ended) { head = 'The program has ended, or this node has left'; text = l ? l.why.text : ''; kind = 'off' }
  else if (lost) { head = 'This node does not answer'; text = 'The page tries again. Another node of the run shows the same: the port plus the number of the node.'; kind = 'off' }
  else if (!l && tables.length) { head = 'This program has no tasks'; text = 'Its figures are below.'; kind = 'off' }
  else if (!l) { head = 'Connecting'; text = 'No tasks yet: the program has not made its runtime.'; kind = 'off' }
  else if (l.why.stands) { head = 'Something stands still. This is the culprit:'; text = l.why.text; kind = 'stands' }
  else { head = 'It moves'; text = l.why.text }
  if (wanted) head += ' · ' + wanted
  if (head + text === told) return
  told = head + text
  v.className = kind; $('head').textContent = head; $('text').textContent = text
}
// picked is the task that is chosen. If none is, and something stands still, it is one that waits for the culprit.
function picked(l) {
  const first = l.why.stands && l.why.chain ? l.why.chain[0] : null
  return chosen !== null || first === null || numberOf(l, first) < 0 ? chosen : first
}
function panel(l) {
  const box = $('why'), name = picked(l), k = name === null ? -1 : numberOf(l, name)
  box.className = ''; box.textContent = ''
  if (name === null) { box.className = 'soft'; box.textContent = 'Choose a task: this says what it waits for.'; return }
  if (k < 0) { box.textContent = 'No task is called ' + name + ' at this moment.'; return }
  const p = programOf(l), way = chain(l, k), list = document.createElement('ol')
  way.forEach((m, n) => {
    const item = document.createElement('li')
    item.append(button(p.names[m]), (l.nodes.length > 1 ? ' (node ' + p.nodes[m] + ') ' : ' ') + does(l, m))
    if (n === way.length - 1 && n) item.className = 'last'
    list.append(item)
  })
  const end = way[way.length - 1], w = l.wait.get(end), on = l.on && l.on[end]
  if (on) { const item = document.createElement('li'); item.className = 'last'; item.textContent = on + (l.states[end] === 'd' ? ': on their way' : ''); list.append(item) }
  const say = document.createElement('p')
  if (l.states[k] === 'q') say.textContent = p.names[k] + ' waits for no task. It needs a worker, and gets one that becomes free.'
  else if (way.length > 1 || on) say.textContent = w && w.behind >= 0 ? 'These tasks wait for each other in a circle.' : 'Each one waits for the next. All of them wait for the last one.'
  else say.textContent = l.states[k] === 'c' ? 'It waits for nothing.' : ''
  let behind = 0
  for (const m of l.wait.keys()) if (m !== k && chain(l, m).includes(k)) behind++
  if (behind) say.textContent += ' ' + (behind === 1 ? '1 task waits' : behind + ' tasks wait') + ' for ' + p.names[k] + '.'
  box.append(list, say)
  const first = l.wait.get(k)
  if (first && first.resource >= 0 && followed === null) drawQueue(p.resources[first.resource])
}
function choose(name) { chosen = name; followed = null; soon() }

