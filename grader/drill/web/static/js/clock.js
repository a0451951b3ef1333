// The clock: it runs here and is set by the server, which knows the time that counts.
import {el} from "./dom.js"
import {announce} from "./live.js"
import {say} from "./words.js"

const LATE = 5 * 60
// Told once each, in minutes; a clock that is read out all the time would be of no use.
const TOLD = [10, 5, 1]
const TICK = 250

export function makeClock(left) {
  let end, before
  const face = el("span", {class: "clock", role: "timer", "aria-live": "off"})
  const timer = setInterval(show, TICK)
  set(left)
  before = left
  show()

  function set(seconds) {
    end = performance.now() / 1000 + seconds
  }

  function show() {
    const now = end - performance.now() / 1000
    face.textContent = writeTime(now)
    face.className = `clock${now < 0 ? " over" : now < LATE ? " late" : ""}`
    for (const minutes of TOLD) {
      if (before > minutes * 60 && now <= minutes * 60) announce(say("minutes-left", {minutes}))
    }
    if (before >= 0 && now < 0) announce(say("time-up"))
    before = now
  }

  return {face, set, stop: () => clearInterval(timer)}
}

// The time that is left, or over.
export function writeTime(seconds) {
  const whole = Math.floor(Math.abs(seconds))
  const time = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`
  return seconds >= 0 ? say("left", {time}) : say("over", {time})
}
