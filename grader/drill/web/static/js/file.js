// The file: an editor, saving, and what happens when the file is changed by somebody else.
import {makeEditor} from "../editor.js"
import {get, post} from "./api.js"
import {attempt} from "./attempt.js"
import {button, el, put} from "./dom.js"
import {dropDraft, keepDraft, lostDraft, ownDraft} from "./drafts.js"
import {announce} from "./live.js"
import {phrases} from "./phrases.js"
import {say} from "./words.js"

// Milliseconds of rest after which what was typed is kept in the browser.
const REST = 200

// `graded` is called with the look at each save.
export function makeFile(drill, graded) {
  // The version on the disk that the text here began from, and its text.
  let version = drill.version ?? "", base = drill.text ?? ""
  let timer = null, writing = Promise.resolve(), wroteAt = 0, grades = 0

  const status = el("span", {class: "say soft small"})
  const notice = el("div", {class: "notice", hidden: true})
  const place = el("div", {class: "editor"})
  const panel = el("section", {class: "panel file", "aria-labelledby": "file-name"},
    el("div", {class: "name"},
      el("h2", {id: "file-name"}, drill.file),
      el("span", {class: "soft small", id: "editor-keys"}, say("editor-keys"))),
    notice, place,
    el("div", {class: "acts"},
      button([say("save"), " ", el("kbd", {"aria-hidden": "true"}, saveKeys())], () => { save() },
        {class: "main", "aria-keyshortcuts": "Control+S Meta+S"}),
      status))
  const editor = makeEditor({
    parent: place, text: base, nonce: document.body.dataset.nonce, phrases: phrases(),
    label: say("editor", {file: drill.file}), describedBy: "editor-keys", changed,
    isPython: drill.file.endsWith(".py"),
  })
  if (drill.unreadable) tell(drill.unreadable)
  restore()

  function isClean() {
    return editor.text() === base
  }

  function changed() {
    tell(isClean() ? "" : say("unsaved"))
    clearTimeout(timer)
    timer = setTimeout(keep, REST)
  }

  function keep() {
    clearTimeout(timer)
    if (isClean()) dropDraft(drill.id)
    else keepDraft(drill.id, {text: editor.text(), version})
  }

  // One write after the other; a grade need not be waited for, a newer one ends it.
  async function save() {
    keep()
    const mine = writing = writing.catch(() => false).then(write)
    if (await mine) await grade()
  }

  // True if the file now has what is here.
  async function write() {
    const text = editor.text()
    tell(say("grading"))
    return reach(async () => {
      const answer = await post(`drills/${drill.id}/save`, {text, version})
      wroteAt = performance.now()
      if (answer.conflict) {
        offer(answer)
        return false
      }
      version = answer.version
      base = text
      notice.hidden = true
      keep()
      return true
    })
  }

  async function grade() {
    const mine = ++grades
    tell(say("grading"))
    await reach(async () => {
      const answer = await post(`drills/${drill.id}/grade`)
      if (mine !== grades || !answer.look) return
      const {refusal, score} = answer.look
      tell(!isClean() ? say("unsaved") : refusal ? say("saved-only") : say("saved", {score}))
      editor.mark(answer.look.line)
      graded(answer.look, answer.left)
    })
  }

  function reach(act) {
    return attempt(act, tell, say("not-saved"))
  }

  // A pulse that was asked for at this time says which version the disk has.
  async function see(there, asked) {
    if (!there || there === version || asked < wroteAt || !notice.hidden) return
    const found = await get(`drills/${drill.id}`)
    await writing
    if (found.version === version || found.text === null || asked < wroteAt) return
    if (!isClean()) return offer(found)
    editor.replace(found.text)
    version = found.version
    base = found.text
    await grade()
    tell(say("changed-outside"))
    announce(say("changed-outside"))
  }

  // The disk has what nobody here has seen: either text stays within reach of undo.
  function offer(their) {
    tell("")
    ask(say("conflict"), {
      [say("take-theirs")]: () => {
        editor.replace(their.text)
        base = their.text
        return settle(their)
      },
      [say("keep-mine")]: () => {
        const mine = editor.text()
        editor.replace(their.text)
        editor.replace(mine)
        return settle(their)
      },
    })
  }

  function settle(their) {
    version = their.version
    notice.hidden = true
    editor.focus()
    return save()
  }

  async function restore() {
    const own = ownDraft(drill.id)
    if (own && own.text !== base) {
      editor.replace(own.text)
      if (own.version === version) tell(say("restored"))
      else offer({text: base, version})
      return
    }
    const lost = await lostDraft(drill.id)
    if (!lost || lost.text === editor.text()) return lost?.forget()
    const done = () => { lost.forget(); notice.hidden = true; editor.focus() }
    ask(say("found-draft"), {
      [say("take-draft")]: () => { editor.replace(lost.text); done() },
      [say("drop-draft")]: done,
    })
  }

  function ask(question, answers) {
    const buttons = Object.entries(answers).map(([words, act]) => button(words, act))
    put(notice, el("p", {}, question), el("div", {class: "row"}, buttons))
    notice.hidden = false
    announce(question)
  }

  function tell(sentence) {
    status.textContent = sentence
  }

  return {
    panel, editor, save, see, keep, isClean,
    leave: () => { keep(); editor.destroy() },
  }
}

function saveKeys() {
  return /Mac|iP(hone|ad|od)/.test(navigator.platform) ? "⌘ S" : "Ctrl S"
}
