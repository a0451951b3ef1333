// The follow-up round: a question, an answer typed or spoken, the points and the trap, one's mark.
import {post} from "./api.js"
import {attempt} from "./attempt.js"
import {button, el, put} from "./dom.js"
import {announce} from "./live.js"
import {say} from "./words.js"

// `path` is what is asked about: the round of a drill, or the questions that are due.
export function makeRound(path, round) {
  const panel = el("section", {class: "panel", "aria-labelledby": "round-title", id: "round"})
  show(round)

  function show(round, isNew) {
    put(panel, el("h2", {id: "round-title"}, say("round")), ...write(round))
    if (isNew) panel.querySelector("[data-first]")?.focus()
  }

  function write(round) {
    if (round.question === null) return [el("p", {"data-first": true, tabindex: "-1"}, say("round-done"))]
    const question = el("p", {class: "question", id: "question"}, round.question)
    return [question, ...(round.answered ? writePoints(round) : writeAnswer(round))]
  }

  function writeAnswer({question}) {
    const field = el("textarea", {"aria-labelledby": "question", "data-first": true})
    const told = el("p", {class: "soft small"}, say("answer-how"))
    return [
      field,
      el("div", {class: "row"},
        button(say("answer"), () => {
          if (field.value.trim()) return send("answer", {question, text: field.value}, told)
          told.textContent = say("answer-empty")
          announce(told.textContent)
        }, {class: "main"}),
        button(say("spoken"), () => send("answer", {question, text: ""}, told))),
      told,
    ]
  }

  function writePoints(round) {
    const told = el("p", {class: "soft small"}, say("mark-how"))
    return [
      round.typed && el("p", {class: "typed"}, round.typed),
      el("h3", {"data-first": true, tabindex: "-1"}, say("points")),
      round.found.map(sentence => el("p", {}, sentence)),
      round.points.length > 0 && el("ul", {class: "points"}, round.points.map(point => el("li", {}, point))),
      el("h3", {}, say("trap")), el("p", {}, round.trap),
      el("div", {class: "row", role: "group", "aria-label": say("mark-how")},
        round.ratings.map(rating => button(say(`rating-${rating}`), () => send("mark", {question: round.question, rating}, told),
          rating === round.suggested ? {class: "main"} : {}))),
      told,
    ]
  }

  function send(what, data, told) {
    return attempt(async () => {
      const answer = await post(`${path}/${what}`, data)
      show(answer.round, true)
    }, sentence => { told.textContent = sentence })
  }

  return panel
}
