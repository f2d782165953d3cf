let due = false
function soon() { if (!due) { due = true; requestAnimationFrame(draw) } }
function draw() {
  due = false
  const l = shown()
  verdict(l)
  $('pause').textContent = at < 0 ? 'Pause' : 'Go on'; $('pause').setAttribute('aria-pressed', at >= 0)
  $('wave').setAttribute('aria-pressed', wave)
  $('tasksbox').hidden = $('whybox').hidden = !l && tables.length > 0
  drawTables(l)
  if (!l || !programOf(l)) return
  const back = looks[looks.length - 1].at - l.at
  $('when').textContent = new Date(l.at).toLocaleTimeString() + (at < 0 ? '' : ', paused' + (back ? ', ' + long(back) + ' back' : '')) + ' · seen by node ' + l.from
  numbers(l, drawField(l)); workers(l); drawMap(l); drawTime(); lifeWords(l); drawLives(l); drawSent(l); spent(l)
  $('queuebox').hidden = true
  if (followed !== null) drawQueue(followed)
  panel(l)
}

// Mouse, touch and keys.
$('tasks').onclick = e => {
  const b = $('tasks').getBoundingClientRect(), x = e.clientX - b.left, y = e.clientY - b.top, l = shown()
  const k = cells.findIndex(c => c && x >= c.x - 1 && x <= c.x + c.w + 1 && y >= c.y - 1 && y <= c.y + c.h + 1)
  if (l && k >= 0) choose(programOf(l).names[k])
}
function moment(e) { const b = $('time').getBoundingClientRect(); if (looks.length) { at = nearest(looks[looks.length - 1].at - 6e4 + (e.clientX - b.left) / b.width * 6e4); soon() } }
$('time').onpointerdown = e => { $('time').setPointerCapture(e.pointerId); moment(e) }
$('time').onpointermove = e => { if (e.buttons) moment(e) }
$('pause').onclick = () => pause(at < 0); $('back').onclick = () => step(-1); $('fore').onclick = () => step(1)
$('copy').onclick = copy; $('help').onclick = () => $('keys').showModal()
$('wave').onclick = () => { wave = !wave; soon() }
$('theme').onclick = () => { const to = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'; try { localStorage.orwlTheme = to } catch {} theme(to) }
$('verdict').onclick = () => culprit()
function culprit() { const l = shown(); if (l) choose(l.why.task || (l.why.chain || [null])[0]) }
function beside(dx, dy) {
  const l = shown(); if (!l) return
  const k = chosen === null ? -1 : numberOf(l, chosen), c = cells[k]
  if (!c) { if (cells.length) choose(programOf(l).names[0]); return }
  let best = -1, far = Infinity
  cells.forEach((o, n) => {
    const x = o.x - c.x, y = o.y - c.y, along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx)
    if (along > 1 && along + 3 * across < far) { far = along + 3 * across; best = n }
  })
  if (best >= 0) choose(programOf(l).names[best])
}
document.onkeydown = e => {
  if (e.ctrlKey || e.metaKey || e.altKey || $('keys').open) return
  const inMap = document.activeElement === $('tasks'), button = document.activeElement && document.activeElement.tagName === 'BUTTON'
  const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}
  if (inMap && arrows[e.key]) beside(...arrows[e.key])
  else if (inMap && e.key === 'Enter') { const l = shown(), w = l && chosen !== null && l.wait.get(numberOf(l, chosen)); if (w && w.behind >= 0) choose(programOf(l).names[w.behind]) }
  else if (e.key === 'Escape') choose(null)
  else if (e.key === ' ' && !button) pause(at < 0)
  else if (e.key === '[') step(-1)
  else if (e.key === ']') step(1)
  else if (e.key === 'c') culprit()
  else if (e.key === 'w') $('wave').click()
  else if (e.key === 'l') copy()
  else if (e.key === 't') $('theme').click()
  else if (e.key === '?') $('keys').showModal()
  else return
  e.preventDefault()
}
window.onresize = () => { drawn = null; soon() }
fetch('/healthz').then(r => { $('more').hidden = !r.ok }, () => {}) // it is there beside metrics
let first = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
try { first = localStorage.orwlTheme || first } catch {}
theme(first)
