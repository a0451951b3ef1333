// What the last save came to, hints when asked for, the whole report, and the end of the drill.
import {place, post} from "./api.js"
import {attempt} from "./attempt.js"
import {button, el, put, svg} from "./dom.js"
import {keepHints, keptHints} from "./drafts.js"
import {announce} from "./live.js"
import {say} from "./words.js"

// `save` saves what is unsaved, `goTo` shows a line, `marking` lets points be
// marked, `ended` is called once the drill is closed.
export function makeGrade(drill, {save, goTo, marked, marking, ended}) {
  const hints = keptHints(drill.id)
  const result = el("div", {class: "stack"})
  const told = el("p", {class: "soft small", hidden: true})
  const list = el("ol", {class: "hints", "aria-label": say("hints")})
  const panel = el("section", {class: "panel grade", "aria-labelledby": "grade-title"},
    el("h2", {id: "grade-title"}, say("grade")),
    result,
    el("div", {class: "row"},
      drill.has_hints && button(say("hint"), trying(askHint)),
      drill.has_report && button(say("report"), trying(lookUp)),
      button(say("finish"), trying(askFinish))),
    told, list)
  show(drill.look)
  showHints()

  function show(look) {
    put(result, ...writeLook(look, goTo))
  }

  function showHints() {
    put(list, ...hints.map(said => el("li", {}, said)))
    list.hidden = hints.length === 0
  }

  async function askHint() {
    const given = await post(`drills/${drill.id}/hint`)
    if (given.number) {
      hints.push(given.said)
      keepHints(drill.id, hints)
      showHints()
    }
    tell(given.number ? given.more : given.said)
    announce(given.said)
    if (given.look) {
      show(given.look)
      marked(given.look.line)
    }
    // Below the buttons, which are often at the lower edge of the window.
    list.lastElementChild?.scrollIntoView({block: "nearest"})
  }

  async function lookUp() {
    const answer = await post(`drills/${drill.id}/report`)
    tell(answer.said)
    if (answer.there) openReport(drill.id, answer.said)
    else announce(answer.said)
  }

  async function askFinish() {
    const box = el("dialog", {"aria-labelledby": "finish-title"},
      el("h2", {id: "finish-title"}, say("finish-title")),
      el("p", {}, say("finish-what")),
      el("div", {class: "row"},
        button(say("finish-yes"), trying(async () => { box.close(); await save(); await close() }),
          {class: "main"}),
        button(say("finish-no"), () => box.close())))
    showBox(box)
  }

  // A talk is marked by oneself first.
  async function close() {
    const told = await post(`drills/${drill.id}/points`)
    if (told.points.length > 0) marking(told)
    else ended(await post(`drills/${drill.id}/finish`, {made: []}))
  }

  function trying(act) {
    return () => attempt(act, tell)
  }

  function tell(sentence) {
    told.textContent = sentence ?? ""
    told.hidden = !sentence
    if (sentence) told.scrollIntoView({block: "nearest"})
  }

  return {panel, show}
}

// The sentences of a look for those who listen.
export function readLook(look) {
  if (look.refusal) return look.refusal
  const change = look.change ? say("change", {change: look.change}) : ""
  return [say("score", {score: look.score}), change, look.passed ? say("passed") : look.wrong]
    .filter(Boolean).join(" ")
}

function writeLook(look, goTo) {
  if (!look) return [el("p", {class: "soft"}, say("no-grade"))]
  const there = look.line && button(say("go-to", {line: look.line}), () => goTo(look.line))
  if (look.refusal) return [el("p", {class: "refusal"}, look.refusal), there]
  const way = look.change?.startsWith("-") ? "down" : "up"
  return [
    el("p", {class: "score"},
      el("span", {class: "big"}, look.score), el("span", {class: "soft"}, say("of-100")),
      look.change && el("span", {class: way}, look.change)),
    meter(look.share),
    look.passed && el("p", {class: "passed"}, say("passed")),
    look.lost.length > 0 && writeLost(look.lost),
    look.wrong && el("p", {}, look.wrong),
    there,
  ]
}

function writeLost(lost) {
  return el("table", {class: "lost"}, el("caption", {}, say("lost-points")),
    el("tbody", {}, lost.map(({area, points}) =>
      el("tr", {}, el("th", {scope: "row"}, area), el("td", {}, `-${points}`)))))
}

function meter(share) {
  return el("div", {class: share >= 1 ? "meter full" : "meter", "aria-hidden": "true"},
    svg("svg", {viewBox: "0 0 100 1", preserveAspectRatio: "none"},
      svg("rect", {width: Math.max(0, share * 100), height: 1})))
}

// The report runs nothing and reaches nothing: it is shut in by its own policy and by its frame.
export function frameReport(drill) {
  return el("iframe", {class: "report-frame", sandbox: "", title: say("report"), src: reportPlace(drill)})
}

export const reportPlace = drill => place(`/drills/${drill}/report`)

function openReport(drill, noted) {
  const box = el("dialog", {class: "wide", "aria-label": say("report")},
    el("div", {class: "row"},
      button(say("close"), () => box.close()),
      el("a", {href: reportPlace(drill), target: "_blank", rel: "noopener"}, say("in-a-tab")),
      el("span", {class: "soft small"}, noted)),
    frameReport(drill))
  showBox(box)
}

function showBox(box) {
  box.addEventListener("close", () => box.remove())
  document.body.append(box)
  box.showModal()
}
