// A talk that is over: which of its points were made, as one marks oneself.
import {attempt, makeRefusal} from "./attempt.js"
import {button, el, put} from "./dom.js"
import {say} from "./words.js"

// `words` is what could have been said, under a line of its own; `done` is called with the ids of
// the points that were made.
export function showTalk(main, {said, points, words}, done) {
  const boxes = points.map(point => el("input", {type: "checkbox", value: point.id, checked: point.made}))
  const refusal = makeRefusal()
  const title = el("h2", {class: "title", tabindex: "-1", id: "talk-title"}, said)
  put(main, el("div", {class: "narrow"},
    title,
    el("fieldset", {class: "panel ticks", "aria-labelledby": "talk-title"},
      points.map((point, at) => el("label", {}, boxes[at], el("span", {}, point.text)))),
    refusal.place,
    el("p", {class: "soft small"}, say("talk-open")),
    button(say("talk-done"), () => attempt(finish, refusal.tell), {class: "main"}),
    el("details", {class: "panel"},
      el("summary", {}, words[0]), words.slice(1).map(part => el("p", {}, part)))))
  title.focus()

  function finish() {
    return done(boxes.filter(box => box.checked).map(box => box.value))
  }
}
