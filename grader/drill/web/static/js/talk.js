// A talk that is over: which of its points were made, as one marks oneself.
import {Lost, Refused} from "./api.js"
import {button, el, put} from "./dom.js"
import {announce} from "./live.js"
import {say} from "./words.js"

// `words` is what could have been said, under a line of its own; `done` is called with the ids of
// the points that were made.
export function showTalk(main, {said, points, words}, done) {
  const boxes = points.map(point => el("input", {type: "checkbox", value: point.id, checked: point.made}))
  const told = el("p", {role: "alert", class: "refusal", hidden: true})
  const title = el("h2", {class: "title", tabindex: "-1", id: "talk-title"}, said)
  put(main, el("div", {class: "narrow"},
    title,
    el("fieldset", {class: "panel ticks", "aria-labelledby": "talk-title"},
      points.map((point, at) => el("label", {}, boxes[at], el("span", {}, point.text)))),
    told,
    el("p", {class: "soft small"}, say("talk-open")),
    button(say("talk-done"), finish, {class: "main"}),
    el("details", {class: "panel"},
      el("summary", {}, words[0]), words.slice(1).map(part => el("p", {}, part)))))
  title.focus()

  async function finish() {
    try {
      await done(boxes.filter(box => box.checked).map(box => box.value))
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Lost)) throw error
      told.textContent = error.message || say("lost")
      told.hidden = false
      announce(told.textContent)
    }
  }
}
