// A drill that has ended: the review, the follow-up round, the report, the file as it was left.
import {el, put} from "./dom.js"
import {ownDraft} from "./drafts.js"
import {frameReport, reportPlace} from "./grade.js"
import {makeRound} from "./round.js"
import {say} from "./words.js"

export function showFinished(main, drill) {
  put(main, el("div", {class: "narrow"},
    el("h2", {class: "title", tabindex: "-1", "data-first": true}, say("review")),
    writeReview(drill.review),
    makeRound(`drills/${drill.id}`, drill.round),
    drill.has_report && writeReport(drill),
    writeUnsaved(drill),
    drill.text !== null && el("details", {class: "panel"},
      el("summary", {}, say("file", {file: drill.file})),
      el("pre", {class: "source", tabindex: "0"}, drill.text))))
}

function writeReview(review) {
  return el("section", {class: "panel"},
    el("p", {class: "verdict"}, review.recommendation),
    el("p", {class: "soft"}, review.closing),
    el("ul", {class: "marks"}, review.marks.map(mark => el("li", {class: `m${mark.grade}`}, mark.said))),
    review.notes.map(note => el("p", {}, note)))
}

// The end may come from elsewhere: what was being typed here is still to be had.
function writeUnsaved(drill) {
  const draft = ownDraft(drill.id)
  return draft && draft.text !== drill.text && el("details", {class: "panel"},
    el("summary", {}, say("unsaved-text")),
    el("pre", {class: "source", tabindex: "0"}, draft.text))
}

function writeReport(drill) {
  const frame = el("div", {})
  const box = el("details", {class: "panel broad"},
    el("summary", {}, say("report")),
    el("p", {}, el("a", {href: reportPlace(drill.id), target: "_blank", rel: "noopener"}, say("in-a-tab"))),
    frame)
  // Loaded once it is looked at.
  box.addEventListener("toggle", () => {
    if (box.open && !frame.hasChildNodes()) frame.append(frameReport(drill.id))
  })
  return box
}
