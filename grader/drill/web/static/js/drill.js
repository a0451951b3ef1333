// One drill: the task, the file, the grade; or, once it has ended, its review.
import {get, post} from "./api.js"
import {makeClock} from "./clock.js"
import {el, put} from "./dom.js"
import {keepHints} from "./drafts.js"
import {makeFile} from "./file.js"
import {showFinished} from "./finished.js"
import {makeGrade, readLook} from "./grade.js"
import {announce} from "./live.js"
import {startPulse} from "./pulse.js"
import {showTalk} from "./talk.js"
import {say} from "./words.js"

// Shows it in `main`, its name and clock in `top`; gives what stops it.
export async function showDrill(main, top, id) {
  const drill = await get(`drills/${id}`)
  const title = say("title", {kind: drill.kind, exercise: drill.exercise})
  document.title = title
  if (!drill.finished && !drill.marking) return showOpen(main, top, drill, title)
  top(title)
  if (drill.finished) showFinished(main, drill)
  else showMarking(main, drill, ended => showEnded(main, ended))
  return () => {}
}

// A talk whose clock has stopped, to be marked; `done` is called once the drill is closed.
function showMarking(main, drill, done) {
  showTalk(main, drill.marking, async made => done(await post(`drills/${drill.id}/finish`, {made})))
}

function showEnded(main, ended) {
  showFinished(main, ended)
  announce(say("ended"))
  main.querySelector("[data-first]").focus()
}

function showOpen(main, top, drill, title) {
  const clock = makeClock(drill.left)
  const file = makeFile(drill, (look, left) => {
    clock.set(left)
    grade.show(look)
    announce(readLook(look))
  })
  const grade = makeGrade(drill, {
    save: () => file.isClean() ? null : file.save(),
    goTo: file.editor.show,
    marked: file.editor.mark,
    marking: mark,
    ended: end,
  })
  if (drill.look?.version === drill.version) file.editor.mark(drill.look?.line)
  put(main, el("div", {class: "drill"}, writeTask(drill), file.panel, grade.panel))
  top(title, clock.face)
  const stop = startPulse(drill.id, see)
  const keys = event => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s") {
      event.preventDefault()
      file.save()
    }
  }
  document.addEventListener("keydown", keys)
  addEventListener("pagehide", file.keep)
  let saves = drill.saves, isLeft = false, isEnded = false

  async function see(pulse, asked) {
    clock.set(pulse.left)
    if (pulse.finished) return end(await get(`drills/${drill.id}`))
    // A talk whose end came from elsewhere.
    if (pulse.talked) return mark((await get(`drills/${drill.id}`)).marking)
    await file.see(pulse.version, asked)
    if (pulse.saves === saves) return
    saves = pulse.saves
    // Graded somewhere else, it may be.
    const now = await get(`drills/${drill.id}`)
    grade.show(now.look)
  }

  function mark(marking) {
    if (isLeft || !marking) return
    leave()
    top(title)
    showMarking(main, {...drill, marking}, end)
  }

  function end(ended) {
    if (isEnded) return
    isEnded = true
    leave()
    keepHints(drill.id, [])
    top(title)
    showEnded(main, ended)
  }

  function leave() {
    if (isLeft) return
    isLeft = true
    stop()
    clock.stop()
    file.leave()
    document.removeEventListener("keydown", keys)
    removeEventListener("pagehide", file.keep)
  }

  return leave
}

function writeTask(drill) {
  return el("details", {class: "panel task", open: true},
    el("summary", {}, say("task")),
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": say("task")},
      drill.task.map(paragraph => el("p", {}, paragraph))))
}
