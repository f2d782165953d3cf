// Drawing. Each state has a colour and a shape, so that it is told without the colour.
let colours = {}
function theme(to) {
  document.documentElement.dataset.theme = to
  $('theme').textContent = to === 'dark' ? 'Light' : 'Dark'
  const s = getComputedStyle(document.documentElement)
  for (const k of ['back', 'ink', 'soft', 'line', 'panel', 'c', 'd', 't', 'q', 'i', 'x', 'hot', 'good']) colours[k] = s.getPropertyValue('--' + k).trim()
  drawn = null // the tables have the colours, too
  for (const s in tiled) delete tiled[s]
  drawLegend(); soon()
}
function shape(g, s, x, y, w, h) {
  g.fillStyle = g.strokeStyle = colours[s]
  const e = Math.max(1, Math.min(3, Math.round(Math.min(w, h) / 7)))
  if (s === 'c') { g.fillRect(x, y, w, h); return }
  g.lineWidth = s === 't' ? e + 0.5 : 1
  const b = g.lineWidth / 2
  if (s !== 'i' || w > 6) g.strokeRect(x + b, y + b, w - 2 * b, h - 2 * b)
  if (s === 'd') g.fillRect(x, y + Math.ceil(h / 2), w, Math.floor(h / 2))
  if (s === 'q') g.fillRect(x + w / 2 - Math.max(1, h / 6), y + h / 2 - Math.max(1, h / 6), Math.max(2, h / 3), Math.max(2, h / 3))
  if (s === 'i' && w <= 6) g.fillRect(x + w / 2 - 1, y + h / 2 - 1, 2, 2)
  if (s === 'x') { g.beginPath(); g.moveTo(x, y); g.lineTo(x + w, y + h); g.moveTo(x + w, y); g.lineTo(x, y + h); g.stroke() }
}
// tile fills an area with the shapes of a state, as the legend has them.
const tiled = {}
function tile(g, s) {
  if (!tiled[s]) { const c = document.createElement('canvas'); c.width = c.height = 8; const t = c.getContext('2d'); if (s !== 'c') { t.globalAlpha = 0.3; t.fillStyle = colours[s]; t.fillRect(0, 0, 8, 8); t.globalAlpha = 1 } shape(t, s, 0, 0, 8, 8); tiled[s] = c }
  return g.createPattern(tiled[s], 'repeat')
}
function paper(c, w, h) {
  const r = window.devicePixelRatio || 1
  c.style.height = h + 'px'
  if (c.width !== Math.round(w * r) || c.height !== Math.round(h * r)) { c.width = Math.round(w * r); c.height = Math.round(h * r) }
  const g = c.getContext('2d')
  g.setTransform(r, 0, 0, r, 0, 0); g.clearRect(0, 0, w, h)
  return g
}
function drawLegend() {
  const box = $('legend'); box.textContent = ''
  for (const s in states) {
    const span = document.createElement('span'), c = document.createElement('canvas')
    c.style.width = '16px'; span.title = states[s][1]
    shape(paper(c, 16, 16), s, 0, 0, 16, 16)
    span.append(c, document.createTextNode(states[s][0] + ' '), Object.assign(document.createElement('b'), {id: 'n' + s}))
    box.append(span)
  }
}

// The map has a tile for each node. Few tasks are rows with their names, and many are small rectangles.
let cells = [], tiles = []
function layout(l, width) {
  const p = programOf(l), groups = l.nodes.map(() => []), wide = p.names.length <= 48
  p.nodes.forEach((n, k) => groups[n] && groups[n].push(k))
  const high = Math.max(260, window.innerHeight - 330)
  let best = null
  for (const s of wide ? [30] : [26, 22, 18, 15, 12, 10, 8]) {
    for (let cols = 1; cols <= Math.min(groups.length, wide ? 2 : 12); cols++) {
      const tile = Math.floor((width - 10 * (cols - 1)) / cols)
      if (tile < (wide ? 260 : 90) && cols > 1) break
      const w = wide ? tile : s, per = Math.max(1, Math.floor(tile / w))
      let h = 0
      for (let k = 0; k < groups.length; k += cols) h += 30 + Math.max(...groups.slice(k, k + cols).map(g => Math.ceil(g.length / per))) * s
      const now = {s, w, cols, tile, per, h}
      if (!best || h < best.h && best.h > high) best = now
      if (h <= high) { best = now; break }
    }
    if (best.h <= high) break
  }
  cells = new Array(p.names.length); tiles = []
  let y = 0
  for (let k = 0; k < groups.length; k += best.cols) {
    let tall = 0
    groups.slice(k, k + best.cols).forEach((g, c) => {
      const x = c * (best.tile + 10)
      tiles.push({node: k + c, x, y, w: best.tile})
      g.forEach((task, n) => cells[task] = {x: x + n % best.per * best.w, y: y + 22 + Math.floor(n / best.per) * best.s, w: best.w - (best.s > 6 ? 2 : 1), h: best.s - (best.s > 6 ? 2 : 1)})
      tall = Math.max(tall, Math.ceil(g.length / best.per) * best.s)
    })
    y += 30 + tall
  }
  return {height: y, wide}
}
function fit(g, text, width) {
  if (g.measureText(text).width <= width) return text
  while (text.length > 1 && g.measureText(text + '…').width > width) text = text.slice(0, -1)
  return text + '…'
}
const scale = f => 'hsl(' + (260 - 200 * f) + ' 70% ' + (25 + 45 * f) + '%)' // dark is behind, light is ahead
function drawMap(l) {
  const width = $('map').clientWidth, {height, wide} = layout(l, width), p = programOf(l), g = paper($('tasks'), width, height)
  const name = picked(l), way = name === null || numberOf(l, name) < 0 ? [] : chain(l, numberOf(l, name)), culprit = l.why.task ? numberOf(l, l.why.task) : -1
  g.font = '12px system-ui, sans-serif'; g.textBaseline = 'middle'
  for (const t of tiles) {
    const n = l.nodes[t.node]
    let text = 'node ' + t.node + ' · ' + n.process
    if (t.w < 140) text = 'node ' + t.node + (n.silent > 1000 ? ' silent' : '')
    else if (t.w < 220) text = 'node ' + t.node + (n.workers ? ' · ' + (n.workers - n.asleep) + '/' + n.workers + ' awake' : '')
    else if (n.silent > 1000) text = 'node ' + t.node + ' · does not answer for ' + long(n.silent) + ' · ' + n.process
    else if (n.starting) text += ' · waits for the other nodes to begin'
    else if (n.workers) text += ' · ' + (n.workers - n.asleep) + ' of ' + many(n.workers, 'worker') + ' awake'
    g.fillStyle = n.silent > 1000 ? colours.hot : colours.soft
    g.fillText(fit(g, text, t.w), t.x, t.y + 10)
  }
  let least = Infinity, far = 0
  for (const r of l.rounds) { least = Math.min(least, r); far = Math.max(far, r) }
  for (let k = 0; k < cells.length; k++) {
    const c = cells[k], s = l.states[k]
    if (!c) continue
    if (wide) {
      if (wave) { g.fillStyle = scale(far > least ? (l.rounds[k] - least) / (far - least) : 1); g.fillRect(c.x + 6, c.y + 4, 20, 20) } else shape(g, s, c.x + 6, c.y + 4, 20, 20)
      g.fillStyle = colours.ink; g.font = '600 14px system-ui, sans-serif'
      const name = fit(g, p.names[k], c.w * 0.55); g.fillText(name, c.x + 34, c.y + 14)
      const from = 34 + g.measureText(name + '  ').width
      const w = l.wait.get(k), on = w && (w.behind >= 0 ? p.names[w.behind] : l.on && l.on[k])
      g.fillStyle = colours.soft; g.font = '13px system-ui, sans-serif'
      g.fillText(fit(g, wave ? 'round ' + l.rounds[k] : states[s][0] + (on ? ' → ' + on : s === 'c' ? ', round ' + l.rounds[k] : ''), c.w - from - 4), c.x + from, c.y + 14)
    } else if (wave) {
      g.fillStyle = scale(far > least ? (l.rounds[k] - least) / (far - least) : 1); g.fillRect(c.x, c.y, c.w, c.h)
    } else shape(g, s, c.x, c.y, c.w, c.h)
  }
  const ring = (k, colour, width, dash) => {
    const c = cells[k]; if (!c) return
    g.strokeStyle = colour; g.lineWidth = width; g.setLineDash(dash || [])
    wide ? g.strokeRect(c.x + 1.5, c.y, c.w - 3, c.h) : g.strokeRect(c.x - 1, c.y - 1, c.w + 2, c.h + 2); g.setLineDash([])
  }
  if (culprit >= 0 && l.why.stands) ring(culprit, colours.hot, 3)
  way.forEach((k, n) => ring(k, colours.ink, n ? 1.5 : 2.5, n ? [4, 3] : null))
  let note = ''
  if (p.every > 1) note = 'The run has more tasks than fit: each rectangle is one of ' + p.every + '. '
  if (wave) note += 'Dark is behind and light is ahead: rounds ' + (least === Infinity ? 0 : least) + ' to ' + far + '. '
  if (!p.names.length) note += 'No node has told of a task yet.'
  $('note').textContent = note
}
function drawTime() {
  const c = $('time'), width = c.clientWidth, g = paper(c, width, 56), l = shown()
  if (!looks.length) return
  const last = looks[looks.length - 1].at, first = Math.max(looks[0].at, last - 6e4), to = t => (t - last + 6e4) / 6e4 * width, fill = {}
  for (const s of 'ctdqx') fill[s] = tile(g, s)
  for (let k = 0; k < looks.length; k++) {
    const a = looks[k]; if (a.at < first) continue
    const x = to(a.at), w = Math.max(1, (k + 1 < looks.length ? to(looks[k + 1].at) : width) - x), all = a.states.length || 1
    let y = 56
    for (const s of 'ctdqix') { const h = a.count[s] / all * 56; y -= h; if (s !== 'i') { g.fillStyle = fill[s]; g.fillRect(x, y, w + 0.5, h) } }
    if (a.why.stands) { g.fillStyle = colours.hot; g.fillRect(x, 0, w + 0.5, 4) }
  }
  if (at >= 0) { g.fillStyle = colours.ink; g.fillRect(to(l.at) - 1, 0, 3, 56) }
}
// drawLives draws the lives of the run over the last minute: a band each, a stroke for each whole cut, and the time between two lives.
function drawLives(l) {
  const f = l.life
  if (!f) return
  const c = $('lives'), width = c.clientWidth, h = 40, g = paper(c, width, h), last = looks[looks.length - 1].at
  const to = t => Math.max(0, Math.min(width, (new Date(t) - last + 6e4) / 6e4 * width)), all = [...(f.past || []), f]
  g.font = '12px system-ui, sans-serif'; g.textBaseline = 'middle'
  all.forEach((q, n) => {
    const x = to(q.began), end = n === all.length - 1 ? width : to(q.ended || q.began)
    if (end <= 0) return
    g.fillStyle = colours.panel; g.fillRect(x, 14, end - x, h - 14)
    g.strokeStyle = colours.soft; g.lineWidth = 1; g.strokeRect(x + 0.5, 14.5, Math.max(0, end - x - 1), h - 15)
    g.fillStyle = colours.ink
    if (end - x > 50) g.fillText(fit(g, 'life ' + q.number + ' · ' + many(q.seats.length, 'node'), end - x - 10), x + 6, 24)
    if (n < all.length - 1) { // the end of a life, and the recovery
      const next = Math.max(end + 2, to(all[n + 1].began))
      g.fillStyle = colours.hot; g.fillRect(end, 14, next - end, h - 14)
      g.fillText('✗', Math.max(0, end - 4), 7)
    }
  })
  g.fillStyle = colours.good
  let run = 0, round = 0, number = 0
  for (const a of looks) {
    const q = a.life
    if (!q) continue
    if ((q.cut_round !== round || q.cut_run !== run) && q.number === number && later(q)) g.fillRect(to(a.at - q.cut_age_seconds * 1000) - 1, 31, 2, 9)
    run = q.cut_run; round = q.cut_round; number = q.number
  }
  if (at >= 0) { g.fillStyle = colours.ink; g.fillRect(to(l.at) - 1, 0, 3, h) }
}
const size = b => b < 1e3 ? Math.round(b) + ' B' : b < 1e6 ? (b / 1e3).toFixed(0) + ' kB' : b < 1e9 ? (b / 1e6).toFixed(1) + ' MB' : (b / 1e9).toFixed(1) + ' GB'
function before(l, ms) { // a look some time before
  const k = looks.indexOf(l)
  let b = k
  while (b > 0 && looks[b - 1].program === l.program && l.at - looks[b].at < ms) b--
  return b < k ? looks[b] : null
}
function drawSent(l) {
  const b = before(l, 2000), box = $('sent')
  $('sentbox').hidden = !l.sent || !b
  if (!l.sent || !b || !b.sent) return
  const n = l.sent.length, rate = l.sent.map((row, i) => Array.from({length: n}, (_, j) => Math.max(0, ((row || [])[j] || 0) - ((b.sent[i] || [])[j] || 0)) / (l.at - b.at) * 1000))
  const top = Math.max(...rate.map(r => Math.max(...r)))
  box.textContent = top ? '' : 'None now.'
  if (!top) return
  if (n <= 6) {
    const t = document.createElement('table'), head = t.insertRow()
    head.append(th('from \\ to'))
    for (let j = 0; j < n; j++) head.append(th(j))
    rate.forEach((row, i) => { const r = t.insertRow(); r.append(th(i)); row.forEach((v, j) => { const d = r.insertCell(); d.textContent = i === j ? '' : size(v); if (v > top / 2) d.style.fontWeight = 700 }) })
    box.append(t)
    return
  }
  const c = document.createElement('canvas'); box.append(c)
  const w = Math.min(340, box.clientWidth), g = paper(c, w, w), s = w / n
  c.style.width = w + 'px'; c.setAttribute('role', 'img'); c.setAttribute('aria-label', 'bytes from node to node')
  rate.forEach((row, i) => row.forEach((v, j) => { g.fillStyle = colours.c; g.globalAlpha = 0.08 + 0.92 * Math.sqrt(v / top); g.fillRect(j * s, i * s, s - (s > 5), s - (s > 5)) }))
  const say = document.createElement('p'); say.className = 'small soft'; say.textContent = 'A row sends to the columns. The darkest is ' + size(top) + ' a second.'
  box.append(say)
}
function th(text) { const e = document.createElement('th'); e.textContent = text; return e }
function drawField(l) {
  let p = null
  for (const q of pictures) if (q.at <= l.at + 1500) p = q
  $('fieldbox').hidden = !p
  if (!p) return null
  const src = 'data:image/png;base64,' + p.png
  if ($('field').src !== src) $('field').src = src
  $('caption').textContent = p.title
  return p
}

