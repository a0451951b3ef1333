// Drills that have ended: scores over time, a picture for each kind and a table; what became of
// mistakes.
import {el, svg} from "./dom.js"
import {say} from "./words.js"

// Pixels from top to bottom; per cent from left to right, so that text keeps its size.
const HEIGHT = 96, TOP = 10, BOTTOM = 10
const LEFT = 12, RIGHT = 97

export function writePast({past, kinds, mistakes, planted}) {
  // Kinds are graded by different things: a line from one to the other would say nothing.
  const series = kinds.map(kind => past.filter(one => one.kind === kind.name)).filter(one => one.length > 0)
  return [
    past.length > 1 && el("div", {class: "charts"}, series.map(writeChart)),
    scroll(say("past"), writeTable(past)),
    mistakes.length > 0 && [
      el("h3", {}, say("mistakes")),
      scroll(say("mistakes"), el("table", {class: "past"}, el("tbody", {}, mistakes.map(writeMistake)))),
      el("p", {class: "soft small"}, say("mistakes-how")),
    ],
    planted.count > 0 && el("p", {class: "soft small"}, say("planted", planted)),
  ]
}

function scroll(label, ...children) {
  return el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": label}, children)
}

function writeChart(series) {
  const {kind, score} = series.at(-1)
  return el("figure", {}, el("figcaption", {class: "small"}, kind, " ",
    el("span", {class: "soft"}, say("last-score", {score}))), draw(series))
}

function draw(series) {
  const step = (RIGHT - LEFT) / Math.max(1, series.length - 1)
  const up = share => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)
  const spots = series.map((one, at) => [`${LEFT + at * step}%`, up(one.share)])
  return svg("svg", {class: "picture", height: HEIGHT, role: "img", "aria-label": describe(series)},
    [0, 0.5, 1].map(share => [
      svg("line", {class: "grid", x1: `${LEFT - 2}%`, x2: "100%", y1: up(share), y2: up(share)}),
      svg("text", {x: `${LEFT - 3}%`, y: up(share) + 4, "text-anchor": "end"}, String(share * 100)),
    ]),
    spots.slice(1).map(([x, y], at) =>
      svg("line", {class: "path", x1: spots[at][0], y1: spots[at][1], x2: x, y2: y})),
    spots.map(([x, y], at) =>
      svg("circle", {class: series[at].share >= 1 ? "dot full" : "dot", cx: x, cy: y, r: 4.5})))
}

const describe = series => say("picture",
  {kind: series[0].kind, count: series.length, first: series[0].score, last: series.at(-1).score})

function writeTable(past) {
  const heads = ["date", "drill", "points", "time", "hints"].map(name => el("th", {scope: "col"}, say(`past-${name}`)))
  return el("table", {class: "past"},
    el("thead", {}, el("tr", {}, heads)),
    el("tbody", {}, [...past].reverse().map(writeRow)))
}

function writeRow(one) {
  const date = new Date(one.started * 1000).toLocaleDateString(document.documentElement.lang, {dateStyle: "short"})
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
