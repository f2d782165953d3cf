// What a task does, in words.
const long = ms => ms < 1000 ? Math.round(ms) + ' ms' : ms < 100e3 ? (ms / 1000).toFixed(1) + ' s' : Math.round(ms / 60e3) + ' min'
const many = (n, what) => n + ' ' + what + (n === 1 ? '' : 's')
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
  const rate = b ? Math.max(0, (l.sum - b.sum) / (l.states.length || 1) / (l.at - b.at) * 1000) : 0
  let done = 0, all = 0
  p.rounds.forEach((r, k) => { all += r; done += Math.min(r, l.rounds[k]) })
  let old = null
  if (picture) for (const q of pictures) if (q.at < picture.at && picture.at - q.at < 8000 && !old) old = q
  if (picture && picture.total) {
    done = picture.done; all = picture.total
    if (old) parts.push(['sweeps a second', ((picture.done - old.done) / (picture.at - old.at) * 1000).toFixed(1)])
  }
  if (b) parts.push(['rounds a second', rate < 10 ? rate.toFixed(1) : Math.round(rate)])
  const w = l.nodes.reduce((n, x) => n + x.workers, 0), asleep = l.nodes.reduce((n, x) => n + x.asleep, 0)
  if (w) {
    let bodies = 0, n = 0
    for (let k = looks.indexOf(l); k >= 0 && l.at - looks[k].at < 5000; k--, n++) bodies += looks[k].count.c
    parts.push(['of ' + many(w, 'worker') + ' ran a body, on average', (bodies / n).toFixed(1)], ['asleep', asleep])
  }
  if (l.nodes.length > 1) parts.push(['nodes', l.nodes.length])
  box.textContent = ''
  if (all) {
    const d = document.createElement('div'), bar = document.createElement('progress')
    bar.max = all; bar.value = done; bar.setAttribute('aria-label', 'progress')
    const left = rate > 0 && !(picture && picture.total) ? (all - done) / (l.states.length * rate) : 0
    d.append(bar, ' ', Object.assign(document.createElement('b'), {textContent: Math.floor(100 * done / all) + ' %'}), left ? ' done, about ' + long(left * 1000) + ' left' : ' done')
    box.append(d)
  }
  for (const [what, n] of parts) { const d = document.createElement('div'); d.append(Object.assign(document.createElement('b'), {textContent: n}), ' ' + what); box.append(d) }
  for (const s in states) { const n = $('n' + s); if (n) n.textContent = l.count[s] }
}
let told = ''
function verdict(l) {
  const v = $('verdict')
  let head, text, kind = ''
  if (ended) { head = 'The program has ended, or this node has left'; text = l ? l.why.text : ''; kind = 'off' }
  else if (lost) { head = 'This node does not answer'; text = 'The page tries again. Another node of the run shows the same: the port plus the number of the node.'; kind = 'off' }
  else if (!l) { head = 'Connecting'; text = 'No tasks yet: the program has not made its runtime.'; kind = 'off' }
  else if (l.why.stands) { head = 'Something stands still. This is the culprit:'; text = l.why.text; kind = 'stands' }
  else { head = 'It moves'; text = l.why.text }
  if (wanted) head += ' · ' + wanted
  if (head + text === told) return
  told = head + text
  v.className = kind; $('head').textContent = head; $('text').textContent = text
}
let asked = 0, queue = null
function panel(l) {
  const box = $('why'), k = chosen === null ? -1 : numberOf(l, chosen)
  if (chosen === null) return
  box.className = ''; box.textContent = ''
  if (k < 0) { box.textContent = 'No task is called ' + chosen + ' at this moment.'; return }
  const p = programOf(l), way = chain(l, k), list = document.createElement('ol')
  way.forEach((m, n) => {
    const item = document.createElement('li'), name = Object.assign(document.createElement('button'), {className: 'link', textContent: p.names[m]})
    name.onclick = () => choose(p.names[m])
    item.append(name, ' (node ' + p.nodes[m] + ') ' + does(l, m))
    if (n === way.length - 1 && n) item.className = 'last'
    list.append(item)
  })
  const end = way[way.length - 1], w = l.wait.get(end), on = l.on && l.on[end]
  if (on) { const item = document.createElement('li'); item.className = 'last'; item.textContent = on + (l.states[end] === 'd' ? ': on their way' : ''); list.append(item) }
  const say = document.createElement('p')
  if (way.length > 1 || on) say.textContent = w && w.behind >= 0 ? 'These tasks wait for each other in a circle.' : 'Each one waits for the next. All of them wait for the last one.'
  else say.textContent = l.states[k] === 'c' ? 'It waits for nothing.' : ''
  let behind = 0
  for (const m of l.wait.keys()) if (m !== k && chain(l, m).includes(k)) behind++
  if (behind) say.textContent += ' ' + (behind === 1 ? '1 task waits' : behind + ' tasks wait') + ' for ' + p.names[k] + '.'
  box.append(list, say)
  const first = l.wait.get(k)
  if (first && first.resource >= 0) {
    const name = p.resources[first.resource], line = document.createElement('p')
    line.className = 'small'
    line.textContent = queue && queue.resource === name ? 'The queue of ' + name + ' (home: node ' + queue.home + ', ' + size(queue.size_bytes) + '): ' +
      (queue.queue.map(g => (g.granted ? 'now ' : 'then ') + g.mode + ' by ' + g.members.map(m => m.who).join(', ')).join('; ') || 'empty') : ''
    box.append(line)
    if (at < 0 && Date.now() - asked > 400) {
      asked = Date.now()
      fetch('/watch/resource?name=' + encodeURIComponent(name)).then(r => r.ok ? r.json() : null).then(q => { queue = q }, () => {})
    }
  }
}
function choose(name) { chosen = name; soon() }

