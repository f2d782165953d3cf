'use strict'
const $ = id => document.getElementById(id)
const facts = JSON.parse($('facts').textContent), n = facts.events
const causes = 3, fromCol = 0, lastsCol = 1, whatCol = 2, taskCol = 3, resourceCol = 4, behindCol = 5, onPath = 0x80
let columns = null, order = null // of events; null until they are unpacked
let byTask = false, begin = 0, end = facts.seconds / facts.tick, top_ = 0 // what is shown: from when to when, in ticks, and the first lane
const all = end

// The data: six columns, and the order of the workers' lanes.
async function unpack() {
  const text = atob($('events').textContent), bytes = new Uint8Array(text.length)
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k)
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  const words = new Uint32Array(await new Response(plain).arrayBuffer())
  columns = []
  for (let c = 0; c < 6; c++) columns.push(words.subarray(c * n, (c + 1) * n))
  order = words.subarray(6 * n)
  $('events').remove()
}
const lanes = () => byTask ? facts.lanes : facts.workers
const eventAt = (l, k) => byTask ? l.first + k : order[l.first + k] // event k of a lane
const start = (l, k) => columns[fromCol][eventAt(l, k)]
const finish = (l, k) => { const e = eventAt(l, k); return columns[fromCol][e] + columns[lastsCol][e] }
function firstAfter(l, t) { // the first event that ends after a time
  let low = 0, high = l.count
  while (low < high) { const m = (low + high) >> 1; if (finish(l, m) <= t) low = m + 1; else high = m }
  return low
}

// Words.
function time(s) {
  if (s < 1e-6) return (s * 1e9).toFixed(0) + ' ns'
  if (s < 1e-3) return +(s * 1e6).toFixed(1) + ' µs'
  if (s < 1) return +(s * 1e3).toFixed(2) + ' ms'
  return +s.toFixed(2) + ' s'
}
const percent = x => (100 * x).toFixed(1) + ' %'
const many = (n, what) => n + ' ' + what + (n === 1 ? '' : 's')
const taskName = k => facts.tasks[k] + (facts.nodes > 1 ? ' (node ' + facts.on[k] + ')' : '')
function row(table, ...cells) { const r = table.insertRow(); for (const c of cells) r.insertCell().textContent = c }
function words() {
  const spent = facts.spent, sum = spent.reduce((a, b) => a + b, 0) || 1, waited = spent.slice(0, causes), whole = facts.tasks.length * facts.seconds || 1
  const most = facts.waits[0]
  let text = many(facts.tasks.length, 'task') + ' on ' + many(facts.nodes, 'node') + ' took ' + time(facts.seconds) + '. ' +
    'At most ' + many(facts.workers.length, 'body').replace('bodys', 'bodies') + ' ran at a time, and these lanes were in use for ' + percent(facts.busy) + ' of the time. '
  if (most) {
    const worst = waited.indexOf(Math.max(...waited))
    text += 'Tasks that did not run ' + ['waited for a turn most of the time', 'waited for data most of the time', 'were queued for a worker most of the time'][worst] + '.'
  }
  $('summary').textContent = text
  facts.whats.map((name, k) => [spent[k], name]).filter(x => x[0] > 0).sort((a, b) => b[0] - a[0]).forEach(([v, name]) => row($('spent'), percent(v / whole), name + ', ' + time(v)))
  row($('spent'), percent(Math.max(0, 1 - sum / whole)), 'nothing: before the first and after the last, or too short to be recorded')
  if (facts.travelled > 0) $('hidden').textContent = 'Bytes from other nodes travelled for ' + time(facts.travelled) + ' in sum. The announcements have hidden ' + percent(facts.hidden / facts.travelled) + ' of it: the tasks did something else.'
  for (const w of facts.waits) {
    const behind = w.behind >= 0 ? ', behind ' + taskName(w.behind) : ''
    row($('waits'), time(w.seconds), facts.whats[w.cause] + ': ' + w.resource + behind + ', ' + many(w.times, 'time'))
  }
  if (!facts.waits.length) row($('waits'), '', 'No wait was recorded.')
  const p = facts.path
  const on = facts.whats.map((name, k) => [facts.onpath[k] / p.seconds, name]).filter(x => x[0] >= 0.005).sort((a, b) => b[0] - a[0]).map(x => x[1] + ' ' + percent(x[0])).join(', ')
  $('path').textContent = p.seconds ? time(p.seconds) + ', from task to task ' + many(p.steps, 'time') + ': ' + on + '. The lanes show it as a line on top.' : 'No work was recorded.'
  for (const part of p.parts) row($('parts'), percent(part.seconds / p.seconds), part.what + ' of ' + part.of + (facts.nodes > 1 ? ' (node ' + part.node + ')' : '') + ', ' + many(part.times, 'time'))
  let notes = 'Lanes of workers are packed: bodies that ran at the same time are in different ones. '
  if (facts.left) notes += 'The recording was full: ' + facts.left + ' later slices and turns are missing. '
  if (facts.nodes > 1 && facts.apart > 0) notes += 'The clocks of the nodes are up to ' + time(facts.apart) + ' apart.'
  $('notes').textContent = notes
}

// Drawing. A column of pixels shows what was done in its time: each kind has as much of its height as of its time.
// A kind that fills the column has a shape of its own: see tall.
const high = 18, gap = 3, margin = 22
let label = 150, colours = [], ink = '', soft = '', hot = ''
const tall = (what, x, h) => what === 0 ? h / 4 : what === 1 ? h / 2 : what === 2 ? (x & 2 ? h / 4 : 0) : h
function theme(to) {
  document.documentElement.dataset.theme = to
  $('theme').textContent = to === 'dark' ? 'Light' : 'Dark'
  const s = getComputedStyle(document.documentElement), word = hex => { const v = parseInt(hex.trim().slice(1), 16); return 0xff000000 | (v & 0xff) << 16 | v & 0xff00 | v >> 16 }
  colours = facts.whats.map((_, k) => word(s.getPropertyValue('--w' + k)) >>> 0)
  ink = s.getPropertyValue('--ink'); soft = s.getPropertyValue('--soft'); hot = s.getPropertyValue('--hot')
  const box = $('legend')
  box.textContent = ''
  facts.whats.forEach((name, k) => {
    if (!facts.spent[k]) return
    const span = document.createElement('span'), c = document.createElement('canvas'), g = c.getContext('2d')
    c.width = c.height = 16; g.fillStyle = s.getPropertyValue('--w' + k)
    for (let x = 0; x < 16; x++) { const h = tall(k, x, 16); g.fillRect(x, 16 - h, 1, h) }
    span.append(c, name)
    box.append(span)
  })
  soon()
}
const shownLanes = () => Math.max(1, Math.floor((window.innerHeight - 260) / (high + gap)))
function draw() {
  due = false
  if (!columns) return
  const c = $('lanes'), list = lanes(), rows = Math.min(list.length, shownLanes()), r = window.devicePixelRatio || 1
  top_ = Math.max(0, Math.min(top_, list.length - rows))
  const width = c.clientWidth, height = margin + rows * (high + gap) + 4
  c.style.height = height + 'px'
  label = Math.min(150, Math.round(width / 4))
  const W = Math.round(width * r), H = Math.round(height * r), left = Math.round(label * r), w = W - left
  if (c.width !== W || c.height !== H) { c.width = W; c.height = H }
  const g = c.getContext('2d'), kinds = facts.whats.length, per = (end - begin) / w
  g.setTransform(1, 0, 0, 1, 0, 0); g.clearRect(0, 0, W, H)
  const h = Math.round(high * r), image = g.createImageData(w, h), pixels = new Uint32Array(image.data.buffer), share = new Float32Array(w * kinds), path = new Uint8Array(w)
  const lineColour = (() => { const v = parseInt(hot.trim().slice(1), 16); return (0xff000000 | (v & 0xff) << 16 | v & 0xff00 | v >> 16) >>> 0 })(), line = Math.max(2, Math.round(3 * r))
  g.font = 12 * r + 'px system-ui, sans-serif'; g.textBaseline = 'middle'
  for (let k = 0; k < rows; k++) {
    const l = list[top_ + k], y = Math.round((margin + k * (high + gap)) * r)
    share.fill(0); path.fill(0); pixels.fill(0)
    for (let e = firstAfter(l, begin); e < l.count; e++) {
      const at = eventAt(l, e), a = columns[fromCol][at]
      if (a >= end) break
      const b = a + columns[lastsCol][at], raw = columns[whatCol][at], what = raw & ~onPath
      const x = Math.max(0, (a - begin) / per), z = Math.min(w, (b - begin) / per)
      for (let i = Math.floor(x); i < z; i++) { share[i * kinds + what] += Math.min(z, i + 1) - Math.max(x, i); if (raw & onPath) path[i] = 1 }
    }
    for (let i = 0; i < w; i++) {
      let full = 0, some = 0, only = 0
      for (let q = 0; q < kinds; q++) if (share[i * kinds + q] > 0.004) { full += share[i * kinds + q]; some++; only = q }
      let y1 = h
      if (some === 1 && full > 0.9) {
        for (let t = tall(only, Math.floor(i / r), h); t > 0; t--) pixels[(--y1) * w + i] = colours[only]
      } else if (some) {
        const order = [4, 5, 6, 7, 8, 9, 10, 11, 3, 2, 1, 0]
        for (const q of order) if (q < kinds) for (let t = Math.round(share[i * kinds + q] * h); t > 0 && y1 > 0; t--) pixels[(--y1) * w + i] = colours[q]
      }
      if (path[i]) for (let t = 0; t < line; t++) pixels[t * w + i] = lineColour
    }
    g.putImageData(image, left, y)
    g.fillStyle = k === 0 || list[top_ + k - 1].node !== l.node ? ink : soft
    let name = (facts.nodes > 1 ? 'node ' + l.node + ' · ' : '') + l.name
    while (name.length > 2 && g.measureText(name).width > left - 10 * r) name = name.slice(0, -2) + '…'
    g.fillText(name, 4 * r, y + h / 2)
  }
  // The axis.
  g.fillStyle = soft; g.textBaseline = 'top'
  const seconds = (end - begin) * facts.tick, most = Math.max(1, w / (90 * r)), base = Math.pow(10, Math.floor(Math.log10(seconds / most)))
  const step = [1, 2, 5, 10].map(m => m * base).find(s => seconds / s <= most)
  for (let t = Math.ceil(begin * facts.tick / step) * step; t < end * facts.tick; t += step) {
    const x = left + (t / facts.tick - begin) / per
    g.fillRect(x, 14 * r, 1, H); g.fillText(time(t), x + 3 * r, 2 * r)
  }
  if (list.length > rows) { g.fillStyle = ink; g.fillText((top_ + 1) + ' to ' + (top_ + rows) + ' of ' + list.length, 4 * r, 2 * r) }
  $('by').textContent = byTask ? 'By worker' : 'By task'
}
let due = false
function soon() { if (!due) { due = true; requestAnimationFrame(draw) } }

// Mouse and keys.
function zoom(by, at) {
  const least = Math.min(all, 200)
  const span = Math.max(least, Math.min(all, (end - begin) * by)), f = (at - begin) / (end - begin)
  begin = Math.max(0, Math.min(all - span, at - f * span)); end = begin + span
  soon()
}
function pan(by) { const span = end - begin; begin = Math.max(0, Math.min(all - span, begin + by * span)); end = begin + span; soon() }
const timeAt = e => { const b = $('lanes').getBoundingClientRect(); return begin + Math.max(0, e.clientX - b.left - label) / (b.width - label) * (end - begin) }
const middle = () => (begin + end) / 2
$('in').onclick = () => zoom(0.5, middle()); $('out').onclick = () => zoom(2, middle()); $('fit').onclick = () => { begin = 0; end = all; soon() }
$('by').onclick = () => { byTask = !byTask; top_ = 0; soon() }
$('theme').onclick = () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark')
$('lanes').addEventListener('wheel', e => {
  if (e.ctrlKey || e.metaKey || !e.shiftKey && lanes().length <= shownLanes()) { zoom(e.deltaY < 0 ? 0.8 : 1.25, timeAt(e)) } else { top_ += Math.sign(e.deltaY) * 3; soon() }
  e.preventDefault()
}, {passive: false})
let held = null
$('lanes').onpointerdown = e => { held = [e.clientX, begin]; $('lanes').setPointerCapture(e.pointerId) }
$('lanes').onpointerup = () => { held = null }
$('lanes').onpointermove = e => {
  const b = $('lanes').getBoundingClientRect()
  if (held) { const span = end - begin; begin = Math.max(0, Math.min(all - span, held[1] - (e.clientX - held[0]) / (b.width - label) * span)); end = begin + span; soon(); return }
  say(Math.floor((e.clientY - b.top - margin) / (high + gap)) + top_, timeAt(e))
}
// say tells what the event of a lane at a time is.
function say(lane, at) {
  const l = lanes()[lane]
  if (!l || !columns) return
  const k = firstAfter(l, at)
  if (k >= l.count || start(l, k) > at) { $('tip').textContent = l.name + ': nothing at ' + time(at * facts.tick); return }
  const e = eventAt(l, k), what = columns[whatCol][e] & ~onPath, resource = columns[resourceCol][e], behind = columns[behindCol][e]
  let text = taskName(columns[taskCol][e]) + ': ' + facts.whats[what] + ' for ' + time(columns[lastsCol][e] * facts.tick) + ', from ' + time(columns[fromCol][e] * facts.tick) + ' on'
  if (resource) text += what === 2 ? '; ' + facts.resources[resource - 1] + ' came last' : '; for ' + facts.resources[resource - 1]
  if (behind) text += what === 0 ? ', behind ' + taskName(behind - 1) : ', from ' + taskName(behind - 1)
  if (columns[whatCol][e] & onPath) text += '. It is on the critical path.'
  $('tip').textContent = text
}
document.onkeydown = e => {
  const keys = {ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => { top_--; soon() }, ArrowDown: () => { top_++; soon() }, '+': $('in').onclick, '-': $('out').onclick, 0: $('fit').onclick, t: $('by').onclick}
  if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return
  keys[e.key]()
  e.preventDefault()
}
window.onresize = soon
words()
theme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
unpack().then(() => { document.documentElement.dataset.ready = Math.round(performance.now()); draw() }, why => { $('summary').textContent = 'The data cannot be unpacked: ' + why })
