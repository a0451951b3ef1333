// Text that is not saved yet, kept in the browser: one draft for each tab and drill.

const PREFIX = "mha-drill:draft:"
const TAB = "mha-drill:tab"
const tab = await takeTab()

// {text, version}: unsaved text of this tab, and which version of the file it began from.
export const ownDraft = drill => read(`${PREFIX}${drill}:${tab}`)

export const keepDraft = (drill, draft) => write(`${PREFIX}${drill}:${tab}`, draft)

export const dropDraft = drill => localStorage.removeItem(`${PREFIX}${drill}:${tab}`)

// A draft of a tab that is no longer there, with what forgets it.
export async function lostDraft(drill) {
  const start = `${PREFIX}${drill}:`
  const held = await heldTabs()
  const key = Object.keys(localStorage).find(
    name => name.startsWith(start) && name !== start + tab && !held.has(name.slice(start.length)))
  const draft = key && read(key)
  return draft ? {...draft, forget: () => localStorage.removeItem(key)} : null
}

// Hints that were given, so that they are there after the page is loaded again.
const hints = drill => `mha-drill:hints:${drill}`
export const keptHints = drill => read(hints(drill)) ?? []
export const keepHints = (drill, said) => write(hints(drill), said)

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key))
  } catch {
    return null
  }
}

function write(key, data) {
  try {
    localStorage.setItem(key, JSON.stringify(data))
  } catch {
    // Full or forbidden: the page works without, and the file has what was saved.
  }
}

// A name for this tab that it keeps when loaded again, and that a copy of the tab does not share.
async function takeTab() {
  const kept = sessionStorage.getItem(TAB)
  if (kept && await hold(kept)) return kept
  const made = crypto.randomUUID()
  sessionStorage.setItem(TAB, made)
  await hold(made)
  return made
}

// True if the name is ours from now on, until the tab is closed.
function hold(name) {
  if (!navigator.locks) return Promise.resolve(true)
  return new Promise(done => {
    navigator.locks.request(TAB + name, {ifAvailable: true}, lock => {
      done(lock !== null)
      return lock && new Promise(() => {})
    })
  })
}

async function heldTabs() {
  const state = await navigator.locks?.query()
  return new Set(state?.held.map(lock => lock.name.replace(TAB, "")))
}
