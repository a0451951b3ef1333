// Drills that have ended: scores over time as a picture and as a table, and what became of mistakes.
import {el, svg} from "./dom.js"
import {say} from "./words.js"

const WIDTH = 640, HEIGHT = 180, LEFT = 34, RIGHT = 12, TOP = 12, BOTTOM = 14

export function writePast({past, mistakes}) {
  return [
    past.length > 1 && draw(past),
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": say("past")}, writeTable(past)),
    mistakes.length > 0 && el("h3", {}, say("mistakes")),
    mistakes.length > 0 && el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": say("mistakes")},
      el("table", {class: "past"}, el("tbody", {}, mistakes.map(writeMistake)))),
    mistakes.length > 0 && el("p", {class: "soft small"}, say("mistakes-how")),
  ]
}

function draw(past) {
  const across = at => LEFT + at * (WIDTH - LEFT - RIGHT) / (past.length - 1)
  const up = share => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)
  const spots = past.map((one, at) => [across(at), up(one.share)])
  return svg("svg", {class: "picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": describe(past)},
    [0, 0.5, 1].map(share => [
      svg("line", {class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: up(share), y2: up(share)}),
      svg("text", {x: LEFT - 8, y: up(share) + 4, "text-anchor": "end"}, String(share * 100)),
    ]),
    svg("polyline", {class: "path", points: spots.map(spot => spot.join(",")).join(" ")}),
    spots.map(([x, y], at) => svg("circle", {class: past[at].share >= 1 ? "dot full" : "dot", cx: x, cy: y, r: 4.5})))
}

const describe = past => say("picture", {count: past.length, first: past[0].score, last: past.at(-1).score})

function writeTable(past) {
  const heads = ["date", "drill", "points", "time", "hints"].map(name => el("th", {scope: "col"}, say(`past-${name}`)))
  return el("table", {class: "past"},
    el("thead", {}, el("tr", {}, heads)),
    el("tbody", {}, [...past].reverse().map(writeRow)))
}

function writeRow(one) {
  const date = new Date(one.started * 1000).toLocaleDateString(document.documentElement.lang)
  return el("tr", {},
    el("td", {}, date),
    el("th", {scope: "row"}, el("a", {href: `#${one.id}`}, say("title", one))),
    el("td", {}, one.score), el("td", {}, one.spent), el("td", {}, String(one.hints)))
}

function writeMistake({id, name, became}) {
  const count = what => became.filter(one => one === what).length
  const words = say("became", {left: count("left"), mended: count("mended")})
  return el("tr", {},
    el("th", {scope: "row"}, name, " ", el("span", {class: "soft code"}, id)),
    el("td", {},
      el("span", {class: "became", "aria-hidden": "true"}, became.map(one => el("span", {class: one}))),
      el("span", {class: "unseen"}, words)))
}
