
// The queue of a resource, as it is now: the one that is followed, or the one that the chosen task waits for.
let followed = null, asked = 0, queue = null
function follow(name) { followed = name; soon() }
function drawQueue(name) {
  $('queuebox').hidden = false
  $('queueof').textContent = name
  const box = $('queue'), known = queue && queue.resource === name
  box.textContent = ''
  if (known) for (const g of queue.queue) {
    const e = document.createElement('span')
    e.className = g.granted ? 'group now' : 'group'
    e.textContent = (g.granted ? '▶ ' : '') + g.mode + ': ' + g.members.map(m => m.who).join(', ')
    box.append(e)
  }
  if (known && !queue.queue.length) box.textContent = 'empty'
  $('queuenote').textContent = (known ? 'Home: node ' + queue.home + ', ' + size(queue.size_bytes) + ', ' + many(queue.version, 'write') + '. ' : '') +
    (at < 0 ? 'A frame is a group: those with ▶ have it, the others follow from left to right.' : 'This is the queue as it was when the page was paused.')
  if (at < 0 && Date.now() - asked > 240) {
    asked = Date.now()
    fetch('/watch/resource?name=' + encodeURIComponent(name)).then(r => r.ok ? r.json() : null).then(q => { queue = q }, () => {})
  }
}

// Tables: the locks of the run, and what the program shows of itself. A column of kind rate has counts, and the page shows how
// many there are in a second.
const shows = {
  rate, share: v => (100 * v).toFixed(v < 0.1 ? 1 : 0) + ' %',
  bytes: size, number: v => Number.isInteger(v) ? v + '' : v.toFixed(2)}
const fewRows = 16
let drawn = null
function drawTables(l) {
  const t = l ? l.at + 1500 : Infinity, box = $('tables')
  let now = null, old = null
  for (const q of tables) if (q.at <= t) now = q
  if (now === drawn) return
  drawn = now
  if (now) for (const q of tables) if (!old && q.at < now.at && now.at - q.at < 4500) old = q
  box.textContent = ''
  for (const a of now ? now.tables : []) {
    const b = old && old.tables.find(o => o.title === a.title), was = new Map((b ? b.rows : []).map(r => [r.name, r]))
    const value = (r, c) => a.columns[c].kind !== 'rate' ? r.values[c] : was.has(r.name) ? Math.max(0, r.values[c] - was.get(r.name).values[c]) / (now.at - old.at) * 1000 : 0
    const section = document.createElement('section')
    section.append(Object.assign(document.createElement('h2'), {textContent: a.title}))
    if (a.rows.length <= fewRows) section.append(lines(a, value))
    else a.columns.forEach((column, c) => strip(section, a, column, a.rows.map(r => value(r, c))))
    if (a.note) section.append(Object.assign(document.createElement('p'), {className: 'small soft', textContent: a.note}))
    box.append(section)
    for (const c of section.querySelectorAll('canvas')) c.paint()
  }
}
function lines(a, value) {
  const table = document.createElement('table'), head = table.insertRow()
  head.append(th(''))
  for (const c of a.columns) head.append(th(c.name))
  for (const r of a.rows) {
    const row = table.insertRow()
    row.insertCell().textContent = r.name
    a.columns.forEach((c, n) => { row.insertCell().textContent = shows[c.kind](value(r, n)) })
  }
  return table
}
// strip draws a column of many rows: a bar for each.
function strip(section, a, column, values) {
  const most = Math.max(...values), mean = values.reduce((x, y) => x + y, 0) / values.length, div = document.createElement('div'), c = document.createElement('canvas')
  const text = column.name + ': ' + shows[column.kind](Math.min(...values)) + ' to ' + shows[column.kind](most) + ', mean ' + shows[column.kind](mean)
  div.className = 'strip'
  div.append(Object.assign(document.createElement('div'), {className: 'small', textContent: text}), c)
  c.setAttribute('role', 'img'); c.setAttribute('aria-label', a.title + ', ' + text)
  c.paint = () => {
    const w = section.clientWidth, g = paper(c, w, 44), each = w / values.length
    g.fillStyle = colours.c
    values.forEach((v, k) => { const h = most ? Math.max(v ? 1 : 0, 42 * v / most) : 0; g.fillRect(k * each, 44 - h, Math.max(1, each - (each > 4 ? 1 : 0)), h) })
  }
  c.onmousemove = e => { const k = Math.min(values.length - 1, Math.floor(e.offsetX / c.clientWidth * values.length)); c.title = a.rows[k].name + ': ' + shows[column.kind](values[k]) }
  section.append(div)
}
