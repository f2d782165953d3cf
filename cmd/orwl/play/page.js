'use strict'
const $ = id => document.getElementById(id)
const make = (tag, text, more) => Object.assign(document.createElement(tag), {textContent: text}, more)

// Stories. Each has what the page begins with, and what to look at.
const stories = [
  {name: 'Readers go together', text: 'task writer: write field\ntask left: read field\ntask right: read field\ntask logger: read field',
   told: ['A resource grants its requests in their order. One writer has it alone. Readers that stand side by side share one grant.',
     'Let writer go on twice. It acquires, then it announces its next round and releases. All three readers now stand in one frame with ▶, so they read at the same time.',
     'Let left go on twice. Its next request joins the queue behind the writer: no reader can overtake it, so the writer does not starve.',
     'Now put the line of logger above the line of writer. It reads first, alone.']},
  {name: 'Announce early', text: 'task load: write raw\ntask filter: read raw, write clean\ntask store: read clean',
   told: ['A pipeline. Look at the queues before any task has moved: filter and store have announced what they need. They have not acquired it.',
     'So each resource knows who comes next. When load releases raw, the grant goes to filter at once. Between two computers the bytes travel at that moment, while filter may still be at work.',
     'Let load go on twice: its request of the next round stands behind filter before it has let go. That keeps the order for ever, with no barrier.',
     'Press "Any task" again and again. The rounds of the three tasks differ by one or two, never by more.']},
  {name: 'A deadlock, refused', text: 'task row1: write a, read b\ntask row2: write b, read a @-1',
   told: ['Each task writes its own row and reads the other one. The @-1 puts the second read first in the queue of a.',
     'Before such a program runs, it is proven: one round, played on empty queues, decides for all rounds and all speeds. This one is refused, and the proof names the circle.',
     'Try it step by step: no task can go on.',
     'Take away the @-1. Now the first requests are in one order for all, and no circle can be.']},
  {name: 'MCS with a lost flush', lock: 'mcs-no-flush', ranks: 2, acquisitions: 1, deaths: 0, network: '', off: 0,
   told: ['MCS is a queue of ranks. A rank that writes to the memory of another one must flush: until then the write may arrive late, or after others.',
     'This lock hands over without the flush; the line is marked. Explore all schedules: the simulator tries each order of steps and of arrivals, and finds a run in which the next holder sees old data. Step through it with ◀ and ▶.',
     'Choose mcs-flushed, which has the line, and explore again: it keeps its promises in all schedules.',
     'Let a rank die, or cut the network: while a rank is cut off, nothing passes between it and the others. Cut for ever, both sides learn of it, and still no two ranks have the lock.',
     'Or take another line away: the flag that is raised too late, or the notice that is never flushed.']},
]
const flaws = {'mcs-no-flush': 'noFlush', 'mcs-late-flag': 'lateFlag', 'd-mcs-unflushed': 'unflushed', 'ticket-read-add': 'readThenAdd', 'rw-no-recheck': 'noRecheck'}
const files = {mcs: 'mcs.go', 'd-mcs': 'mcs.go', ticket: 'ticket.go', rw: 'counting.go', hemlock: 'hemlock.go', rma: 'printed.go'}
const sources = /* sources */

// The state of the page, which a link holds: a system, or a lock.
let state = {story: 0}, trace = [], at = 0, locks = [], begun = false
function tell(n) { const s = stories[n]; state = s.text ? {story: n, text: s.text} : {story: n, lock: s.lock, ranks: s.ranks, acquisitions: s.acquisitions, deaths: s.deaths, network: s.network, off: s.off, seed: 1}; show() }
function show() {
  const s = stories[state.story]
  $('title').textContent = s.name
  $('told').replaceChildren(...s.told.map(p => make('p', p)))
  for (const b of $('stories').children) b.setAttribute('aria-pressed', b.textContent === s.name)
  $('system').hidden = !begun || state.lock !== undefined
  $('lock').hidden = !begun || state.lock === undefined
  if (!begun) return
  if (state.lock === undefined) { $('text').value = state.text; prove() }
  else { $('which').value = state.lock; $('ranks').value = state.ranks; $('acquisitions').value = state.acquisitions; $('deaths').checked = state.deaths > 0; $('network').value = state.network || ''; $('off').value = state.off || 0; $('offbox').hidden = !state.network; for (const o of $('off').options) o.disabled = +o.value > state.ranks; lockChosen() }
}

// A system: the proof, and the play.
function prove() {
  const a = orwl.check(state.text), cycle = a.cycle || []
  $('verdict').className = a.alive ? '' : 'bad'
  $('head').textContent = a.error || a.words
  $('cycle').replaceChildren(...cycle.map(w => make('li', w.words)))
  $('advice').textContent = a.advice ? 'What to do: ' + a.advice + '.' : ''
  circle(cycle)
  played(a.error ? null : orwl.begin(state.text))
}
function circle(cycle) {
  const svg = $('circle'), ns = 'http://www.w3.org/2000/svg', n = cycle.length
  svg.toggleAttribute('hidden', !n || n > 12)
  svg.replaceChildren()
  if (!n || n > 12) return
  const add = (name, values, text) => { const e = document.createElementNS(ns, name); for (const k in values) e.setAttribute(k, values[k]); if (text) e.textContent = text; svg.append(e); return e }
  const tip = add('marker', {id: 'tip', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto'})
  const p = document.createElementNS(ns, 'path'); p.setAttribute('d', 'M0 0L10 5L0 10z'); p.style.fill = 'var(--bad)'; tip.append(p)
  const spot = k => { const w = 2 * Math.PI * k / n - Math.PI; return [320 + 210 * Math.cos(w), 150 + 105 * Math.sin(w)] }
  cycle.forEach((w, k) => {
    const [x, y] = spot(k), [u, v] = spot((k + 1) % n), mx = (x + u) / 2, my = (y + v) / 2
    if (n === 1) { add('path', {d: `M${x + 30} ${y - 17}C${x + 130} ${y - 110} ${x + 130} ${y + 110} ${x + 34} ${y + 17}`, 'marker-end': 'url(#tip)'}); add('text', {x: x + 112, y: y + 5}, w.mode + ' ' + w.resource); return }
    const bend = n === 2 ? 60 : 18, dx = u - x, dy = v - y, len = Math.hypot(dx, dy), qx = mx + dy / len * bend, qy = my - dx / len * bend
    const cutAt = (ax, ay, bx, by) => { const f = Math.min(62 / Math.abs(bx - ax || 1e-9), 20 / Math.abs(by - ay || 1e-9), 0.45); return [ax + (bx - ax) * f, ay + (by - ay) * f] }
    const [sx, sy] = cutAt(x, y, qx, qy), [ex, ey] = cutAt(u, v, qx, qy)
    add('path', {d: `M${sx} ${sy}Q${qx} ${qy} ${ex} ${ey}`, 'marker-end': 'url(#tip)'})
    add('text', {x: (mx + qx) / 2, y: (my + qy) / 2 + (qy < my ? -10 : 22), 'text-anchor': 'middle'}, 'waits to ' + w.mode + ' ' + w.resource)
  })
  cycle.forEach((w, k) => { const [x, y] = spot(k); add('rect', {class: 'box', x: x - 58, y: y - 16, width: 116, height: 32, rx: 5}); add('text', {x, y: y + 5, 'text-anchor': 'middle'}, w.task.length > 14 ? w.task.slice(0, 13) + '…' : w.task) })
}
let now = null
function played(s) {
  now = s && !s.error ? s : null
  const tasks = now ? now.tasks : [], queues = now ? now.queues : []
  $('tasks').replaceChildren(...tasks.map((t, k) => make('button', t.name + ', round ' + t.round + ': ' + t.does, {disabled: !t.can, onclick: () => { played(orwl.step(k)); const b = $('tasks').children[k]; if (b && !b.disabled) b.focus() }})))
  $('queues').replaceChildren(...queues.map(q => {
    const row = make('div', '', {className: 'queue'})
    row.append(make('b', q.resource + ':'))
    for (const g of q.groups) row.append(make('span', (g.granted ? '▶ ' : '') + g.mode + ' ' + g.members.map(m => m.task + (m.held ? ' (has it)' : '')).join(', '), {className: g.granted ? 'group now' : 'group'}))
    return row
  }))
  const stands = tasks.length > 0 && !tasks.some(t => t.can)
  $('stands').textContent = stands ? 'No task can go on.' : ''
  $('any').disabled = !tasks.some(t => t.can)
}
let turn = 0
function any() { // the tasks take turns
  for (let k = 0; k < now.tasks.length; k++) { const t = (turn + k) % now.tasks.length; if (now.tasks[t].can) { turn = t + 1; return played(orwl.step(t)) } }
}

// A lock: its text, the exploration, and the steps of a run.
const family = name => name.startsWith('d-mcs') ? 'd-mcs' : name.split('-')[0]
const game = () => ({lock: state.lock, ranks: state.ranks, acquisitions: state.acquisitions, deaths: state.deaths, network: state.network || '', off: state.off || 0, seed: state.seed || 1})
function lockChosen() {
  const l = locks.find(l => l.name === state.lock)
  $('about').textContent = l ? l.about + '. ' + (l.wrong ? 'It breaks a promise' + (l.ranks > 2 ? ', with ' + l.ranks + ' ranks.' : '.') : 'It keeps its promises.') : ''
  const box = $('source'), text = sources[files[family(state.lock)]] || '', flaw = flaws[state.lock]
  box.replaceChildren()
  let depth = -1, first = null
  for (const line of text.split('\n')) { // a line with the flaw, and the block that it opens
    const indent = line.match(/^\t*/)[0].length, hit = flaw && line.includes('.' + flaw)
    if (hit) depth = indent
    else if (depth >= 0 && line.trim() && indent <= depth) { if (line.trim() !== '}' || indent < depth) depth = -1 }
    const e = make(depth >= 0 ? 'mark' : 'span', line + (depth >= 0 ? '' : '\n'))
    box.append(e)
    if (hit && !first && !line.includes('{ //')) first = e
    if (depth >= 0 && line.trim() === '}' && indent === depth) depth = -1
  }
  if (first) box.scrollTop = Math.max(0, first.offsetTop - box.offsetTop - 60)
  found('', '')
  steps([])
}
function found(text, kind) { $('found').textContent = text; $('found').className = kind }
function later(work) { found('The simulator works.', ''); for (const id of ['explore', 'run', 'next']) $(id).disabled = true; setTimeout(() => { try { work() } finally { for (const id of ['explore', 'run', 'next']) $(id).disabled = false } }, 30) }
function explore() {
  later(() => {
    const a = orwl.explore(game())
    if (a.error) return found(a.error, 'bad')
    const how = a.runs + (a.runs === 1 ? ' schedule, ' : ' schedules, ') + a.states + ' states'
    if (a.broken) found('Broken, after ' + how + ': ' + a.broken, 'bad')
    else found(a.complete ? 'It keeps its promises in all schedules: ' + how + '.' + (state.network === 'heals' ? ' A cut that heals makes steps late, and each schedule with late steps is one of these.' : '') : 'No promise is broken in ' + how + '. There are more.', 'good')
    steps(a.trace || [], true)
  })
}
function run(seed) {
  state.seed = seed
  later(() => {
    const a = orwl.run(game())
    if (a.error) return found(a.error, 'bad')
    state.seed = a.seed
    found(a.broken ? 'Broken, in run ' + a.seed + ': ' + a.broken : 'Run ' + a.seed + ', of ' + a.trace.length + ' steps, keeps the promises.', a.broken ? 'bad' : 'good')
    steps(a.trace)
  })
}
function steps(all, last) {
  trace = all; at = last ? all.length - 1 : 0
  $('trace').replaceChildren(...all.map((s, k) => { const e = make('div', '', {onclick: () => { at = k; step() }}); e.setAttribute('role', 'listitem'); e.append(make('span', s.number), make('span', 'rank ' + s.rank), make('span', s.what), make('span', (s.where + ' ' + s.value).trim())); return e }))
  step()
}
function step() { // the words of the memory are as the steps so far have left them
  const words = new Map()
  trace.slice(0, at + 1).forEach(s => { const m = s.value.match(/^<- (.+)$/) || s.value.match(/^(?:\S+ \S+|\S+) -> (\S+)$/); if (s.where && m && !s.what.endsWith('...')) words.set(s.where, seen(s)) })
  drawNet(trace.slice(0, at + 1))
  $('words').replaceChildren(...[...words].map(([w, v]) => make('span', w + ' = ' + v)))
  ;[...$('trace').children].forEach((e, k) => { e.className = k === at ? 'now' : k > at ? 'later' : ''; if (k === at) { const box = $('trace'); if (e.offsetTop - box.offsetTop < box.scrollTop || e.offsetTop - box.offsetTop > box.scrollTop + box.clientHeight - 40) box.scrollTop = e.offsetTop - box.offsetTop - 60 } })
  $('where').textContent = trace.length ? 'step ' + (at + 1) + ' of ' + trace.length : 'No run yet: explore, or play one.'
  $('back').disabled = at <= 0; $('fore').disabled = at >= trace.length - 1
}
// drawNet draws the ranks that reach each other in one frame, and says which operations are under way.
function drawNet(past) {
  const off = new Set(), dead = new Set(), flying = []
  for (const s of past) {
    if (s.what === 'is cut off') off.add(s.rank)
    else if (s.what === 'is back') off.delete(s.rank)
    else if (s.what === 'crashes') dead.add(s.rank)
    else if (s.what.endsWith('...')) flying.push({rank: s.rank, where: s.where, value: s.value})
    else if (s.what.trim() === 'arrives') { const k = flying.findIndex(f => f.rank === s.rank && f.where === s.where && f.value === s.value); if (k >= 0) flying.splice(k, 1) }
  }
  const all = trace.length ? [...Array(state.ranks).keys()] : [], name = r => 'rank ' + r + (dead.has(r) ? ' †' : '')
  const sides = [all.filter(r => !off.has(r)), ...[...off].map(r => [r])].filter(g => g.length)
  const parts = sides.map((g, k) => [...(k ? [make('b', '✂', {className: 'cut'})] : []), make('span', g.map(name).join(', '), {className: 'group'})]).flat()
  const to = f => +(f.where.match(/^rank (\d+)/) || [])[1], held = flying.filter(f => to(f) !== f.rank && (off.has(f.rank) || off.has(to(f))))
  if (flying.length) parts.push(make('span', 'Under way: ' + flying.map(f => 'of rank ' + f.rank + ' to ' + f.where + (held.includes(f) ? ', kept back by the cut' : '')).join('; ')))
  $('net').replaceChildren(...parts)
  $('net').setAttribute('aria-label', sides.length > 1 ? 'The network is cut: ' + sides.map(g => g.map(name).join(', ')).join(' | ') : 'all ranks reach each other')
}
// seen is the value of a word after a step, as its line says.
function seen(s) {
  let m
  if ((m = s.value.match(/^<- (\S+)/))) return m[1]
  if ((m = s.value.match(/^replace (\S+) -> /))) return m[1]
  if ((m = s.value.match(/^(?:sum|add) (-?\d+) -> (-?\d+)/))) return +m[1] + +m[2]
  if ((m = s.value.match(/^(\S+) \? (\S+) -> (\S+)/))) return m[1] === m[3] ? m[2] : m[3]
  return s.value.replace(/^.*-> /, '')
}

// Sharing: a link has the whole state.
function link() { return location.href.split('#')[0] + '#' + encodeURIComponent(JSON.stringify(state)) }
async function share() {
  history.replaceState(null, '', link())
  try { await navigator.clipboard.writeText(link()); $('share').textContent = 'Copied' } catch { $('share').textContent = 'See the address' }
  setTimeout(() => { $('share').textContent = 'Share' }, 2000)
}
function open() {
  let s = null
  try { s = JSON.parse(decodeURIComponent(location.hash.slice(1))) } catch {}
  const num = (v, least, most) => Number.isInteger(v) && v >= least && v <= most
  if (s && num(s.story, 0, stories.length - 1) && (typeof s.text === 'string' || typeof s.lock === 'string' && num(s.ranks, 2, 3) && num(s.acquisitions, 1, 3) && num(s.deaths, 0, 1) && ['', 'heals', 'severs'].includes(s.network || '') && num(s.off || 0, 0, s.ranks))) { state = s; show() } else tell(0)
}
stories.forEach((s, n) => $('stories').append(make('button', s.name, {onclick: () => tell(n)})))
$('text').oninput = () => { state.text = $('text').value; prove() }
$('any').onclick = any; $('again').onclick = () => prove()
for (const id of ['which', 'ranks', 'acquisitions', 'deaths', 'network', 'off']) $(id).onchange = () => {
  state.lock = $('which').value; state.ranks = +$('ranks').value; state.acquisitions = +$('acquisitions').value; state.deaths = $('deaths').checked ? 1 : 0; state.network = $('network').value; state.off = +$('off').value
  const l = locks.find(l => l.name === state.lock)
  if (id === 'which' && l && l.ranks > state.ranks) state.ranks = l.ranks
  if (state.off > state.ranks) state.off = 0
  show()
}
$('explore').onclick = explore; $('run').onclick = () => run(state.seed || 1); $('next').onclick = () => run((state.seed || 1) + 1)
$('back').onclick = () => { at--; step() }; $('fore').onclick = () => { at++; step() }
$('trace').onkeydown = e => { const by = {ArrowUp: -1, ArrowDown: 1}[e.key]; if (by && at + by >= 0 && at + by < trace.length) { at += by; step(); e.preventDefault() } }
$('share').onclick = share
function theme(to) { document.documentElement.dataset.theme = to; $('theme').textContent = to === 'dark' ? 'Light' : 'Dark' }
$('theme').onclick = () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark')
theme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
window.onhashchange = open

// The simulator calls ready when it has begun.
function ready() {
  begun = true
  locks = orwl.locks()
  $('which').replaceChildren(...locks.map(l => make('option', l.name)))
  $('loading').hidden = true
  show()
}
open()
;(async () => {
  const bytes = Uint8Array.from(atob($('simulator').textContent), c => c.charCodeAt(0)), go = new Go()
  const wasm = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()
  await go.run((await WebAssembly.instantiate(wasm, go.importObject)).instance)
})().catch(e => { $('loading').hidden = false; $('loading').textContent = 'The simulator does not start in this browser: ' + e })
