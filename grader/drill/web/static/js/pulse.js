// Asks again and again how a drill stands, and says so when nobody answers.
import {Lost, Refused, get} from "./api.js"
import {announce} from "./live.js"
import {say} from "./words.js"

const EVERY = 1000

// Calls `seen` with each pulse and the time it was asked for; gives what stops it.
export function startPulse(drill, seen) {
  let timer, stopped = false
  const wake = () => { if (!document.hidden) beat() }
  document.addEventListener("visibilitychange", wake)
  timer = setTimeout(beat, EVERY)

  async function beat() {
    clearTimeout(timer)
    if (stopped) return
    const asked = performance.now()
    try {
      const pulse = await get(`drills/${drill}/pulse`)
      tell("")
      if (!stopped) await seen(pulse, asked)
    } catch (error) {
      if (!(error instanceof Lost || error instanceof Refused)) throw error
      // Another server has another token: only its own address opens it.
      if (!stopped) tell(error instanceof Lost ? say("lost") : say("other-server"))
    } finally {
      clearTimeout(timer)
      if (!stopped) timer = setTimeout(beat, EVERY)
    }
  }

  return () => {
    stopped = true
    clearTimeout(timer)
    document.removeEventListener("visibilitychange", wake)
    tell("")
  }
}

function tell(sentence) {
  const banner = document.getElementById("banner")
  if (banner.textContent === sentence) return
  if (!sentence) announce(say("found"))
  banner.textContent = sentence
}
