// Where no drill is opened: those that are open, a new one, what is due, what is past.
import {get, post} from "./api.js"
import {attempt, makeRefusal} from "./attempt.js"
import {writeTime} from "./clock.js"
import {button, el, put} from "./dom.js"
import {writePast} from "./past.js"
import {makeRound} from "./round.js"
import {say} from "./words.js"

export async function showHome(main, top) {
  const home = await get("home")
  document.title = say("name")
  top("")
  const form = writeNew(home)
  put(main, el("div", {class: "narrow"},
    el("h1", {}, say("home")),
    home.open.length > 0 && part(say("open"), el("ul", {class: "list"}, home.open.map(writeOpen))),
    part(say("new"), ...form.parts),
    home.due.length > 0 && writeDues(home.due),
    home.due.length === 0 && home.past.length > 0 && home.untried.length > 0 && writeUntried(home, form),
    home.past.length > 0 && part(say("past"), ...writePast(home))))
  return () => {}
}

function part(title, ...children) {
  return el("section", {class: "panel"}, el("h2", {}, title), children)
}

function writeOpen(drill) {
  return el("li", {},
    el("a", {href: `#${drill.id}`}, say("title", drill)),
    el("span", {class: "soft small"}, drill.talked ? say("to-mark") : writeTime(drill.left)))
}

function writeDues(dues) {
  const panel = part(say("due"), el("ul", {class: "list"}, dues.map(writeDue)))
  const isAsked = dues.some(due => due.kind === "question")
  const refusal = makeRefusal()
  const ask = async () => {
    const {round} = await get("due")
    const asked = makeRound("due", round)
    panel.replaceWith(asked)
    asked.querySelector("[data-first]").focus()
  }
  if (isAsked) panel.append(button(say("answer-due"), () => attempt(ask, refusal.tell)), refusal.place)
  return panel
}

function writeDue(due) {
  return el("li", {}, el("span", {}, due.said), el("span", {class: "soft small"}, say(`due-${due.kind}`)))
}

// What was never done: the form takes what is chosen.
function writeUntried({untried, kinds, exercises}, form) {
  const called = (all, id) => all.find(one => one.id === id).name
  return part(say("untried"), el("p", {class: "soft small"}, say("untried-how")),
    el("div", {class: "row"}, untried.map(one =>
      button(say("title", {kind: called(kinds, one.kind), exercise: called(exercises, one.exercise)}),
        () => form.choose(one)))))
}

function writeNew(home) {
  const kind = choice(home.kinds)
  const isDue = home.due.some(due => due.kind !== "question")
  const due = isDue ? [{id: "due", name: say("due-one")}] : []
  const exercise = choice([...home.exercises, {id: "", name: say("any")}, ...due], home.first)
  const level = choice(home.levels)
  const minutes = el("input", {type: "number", min: "1", max: "1440", step: "any", inputmode: "decimal"})
  const refusal = makeRefusal()
  const setMinutes = () => { minutes.value = home.kinds.find(one => one.id === kind.value).minutes }
  kind.addEventListener("change", setMinutes)
  setMinutes()

  async function start() {
    const asked = {kind: kind.value, exercise: exercise.value, level: level.value}
    const made = await post("start", {...asked, minutes: minutes.valueAsNumber})
    location.hash = made.id
  }

  const begin = button(say("start"), () => attempt(start, refusal.tell), {class: "main"})
  const parts = [
    el("div", {class: "fields"},
      el("label", {}, say("kind"), kind), el("label", {}, say("exercise-label"), exercise),
      el("label", {}, say("minutes"), minutes), el("label", {}, say("level"), level)),
    refusal.place,
    el("div", {class: "row"}, begin, el("span", {class: "soft small"}, say("start-what"))),
  ]

  function choose(one) {
    kind.value = one.kind
    exercise.value = one.exercise
    setMinutes()
    begin.focus()
  }

  return {parts, choose}
}

function choice(options, chosen) {
  return el("select", {}, options.map(({id, name}) =>
    el("option", {value: id, selected: id === chosen}, name)))
}
