'use strict'
const $ = id => document.getElementById(id)
const states = {
  c: ['computes', 'its body runs'], d: ['waits for data', 'the bytes are on their way'], t: ['waits for a turn', 'another task has the turn'],
  q: ['queued', 'ready, but no worker is free'], i: ['idle', 'not begun, or ended'], x: ['not heard from', 'its node does not answer']}

// Data. A look has its program's number, and a program has the names of the tasks.
const programs = new Map()
let looks = [], pictures = [], tables = [], at = -1 /* -1: live */, chosen = null, ended = false, lost = false, wave = false, wanted = null
const keep = 65e3, most = 2400
const shown = () => looks[at < 0 ? looks.length - 1 : at]
const programOf = l => programs.get(l.program)
let epoch = 0 // another life of the run, or another process at this port, numbers its programs anew

function took(l) {
  const w = l.waits
  l.program += epoch
  l.wait = new Map()
  for (let k = 0; k < w.length; k += 5) l.wait.set(w[k], {behind: w[k + 1], resource: w[k + 2], write: w[k + 3], ms: w[k + 4]})
  l.work = new Map()
  for (let k = 0; k < l.works.length; k += 2) l.work.set(l.works[k], l.works[k + 1])
  l.count = {c: 0, d: 0, t: 0, q: 0, i: 0, x: 0}
  for (const s of l.states) l.count[s]++
  l.sum = 0
  for (const r of l.rounds) l.sum += r
  if (looks.length && l.at <= looks[looks.length - 1].at) return // it came again, after a new connection
  blame(l)
  looks.push(l)
  while (at < 0 && looks.length > 1 && looks[0].at < l.at - keep || looks.length > most) { looks.shift(); if (at > 0) at-- }
  pictures = pictures.filter(p => p.at >= looks[0].at - 2000)
  tables = tables.filter(t => t.at >= looks[0].at - 6000)
  if (at < 0) soon()
}
const source = new EventSource('/watch/events')
source.addEventListener('program', e => {
  const p = JSON.parse(e.data), known = programs.get(epoch + p.id), texts = JSON.stringify([p.names, p.nodes])
  if (known && known.texts !== texts) epoch += 1e6
  p.texts = texts
  programs.set(epoch + p.id, p)
})
source.addEventListener('look', e => { lost = ended = false; took(JSON.parse(e.data)) })
source.addEventListener('picture', e => { pictures.push(JSON.parse(e.data)); if (at < 0) soon() })
source.addEventListener('tables', e => {
  tables.push(JSON.parse(e.data))
  if (!looks.length) { lost = ended = false; tables = tables.slice(-60) }
  if (at < 0) soon()
})
source.addEventListener('end', () => { ended = true; soon() }) // another life of the run may come to this port
source.onerror = () => { if (!ended) { lost = true; soon() } }
source.onopen = () => { lost = false; setTimeout(openLink, 400); soon() }

// blame counts in a look which task, or what else, those that wait have to wait for in the end.
function blame(l) {
  const p = programOf(l), ends = new Map()
  l.blame = new Map()
  l.waiters = new Map() // by resource: so many tasks wait for it
  if (!p) return
  for (const [k, w] of l.wait) if (w.resource >= 0 && l.states[k] !== 'q') { const n = p.resources[w.resource]; l.waiters.set(n, (l.waiters.get(n) || 0) + 1) }
  const name = k => {
    const way = []
    let end = null
    for (; end === null; ) {
      const w = l.wait.get(k)
      if (ends.has(k)) end = ends.get(k)
      else if (way.includes(k)) end = 'a circle of tasks' // short: a look that is true has none
      else if (w && w.behind >= 0 && l.states[k] !== 'q') { way.push(k); k = w.behind }
      else { end = l.states[k] === 'q' || l.states[k] === 'c' || l.states[k] === 'x' || !(l.on && l.on[k]) ? p.names[k] : l.on[k]; way.push(k) }
    }
    for (const m of way) ends.set(m, end)
    return end
  }
  for (const k of l.wait.keys()) if (l.states[k] !== 'q') { const n = name(k); l.blame.set(n, (l.blame.get(n) || 0) + 1) }
}

// Time: pause, step, and the link to a moment.
function nearest(t) {
  let best = 0
  for (let k = 1; k < looks.length; k++) if (Math.abs(looks[k].at - t) < Math.abs(looks[best].at - t)) best = k
  return best
}
function openLink() {
  const m = location.hash.match(/at=(\d+)/), task = location.hash.match(/task=([^&]+)/)
  if (task) chosen = decodeURIComponent(task[1])
  if (m && looks.length) {
    const k = nearest(+m[1])
    if (Math.abs(looks[k].at - m[1]) < 3000) at = k
    else wanted = 'The moment of this link is gone: the node keeps one minute, while somebody looks.'
  }
  history.replaceState(null, '', location.pathname)
  soon()
}
function pause(on) { at = on ? (at < 0 ? looks.length - 1 : at) : -1; wanted = null; soon() }
function step(by) { if (!looks.length) return; if (at < 0) at = looks.length - 1; at = Math.max(0, Math.min(looks.length - 1, at + by)); soon() }
async function copy() {
  const l = shown(); if (!l) return
  const link = location.origin + '/#at=' + l.at + (chosen ? '&task=' + encodeURIComponent(chosen) : '')
  pause(true)
  try { await navigator.clipboard.writeText(link); wanted = 'The link is copied. The node keeps this moment for a minute.' }
  catch { history.replaceState(null, '', link); wanted = 'The address of this page is the link. The node keeps this moment for a minute.' }
  soon()
}

