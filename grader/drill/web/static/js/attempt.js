// What the server refuses, or cannot be asked, is told where it was asked for and read out.
import {Lost, Refused} from "./api.js"
import {el} from "./dom.js"
import {announce} from "./live.js"
import {say} from "./words.js"

// What `act` gives; where it failed, false, and `tell` has the sentence: `lost` if nobody answered.
export async function attempt(act, tell, lost = say("lost")) {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Lost)) throw error
    const said = error instanceof Refused ? error.message : lost
    tell(said)
    announce(said)
    return false
  }
}

// Where such a sentence stands once there is one, and what puts it there.
export function makeRefusal() {
  const place = el("p", {class: "refusal", hidden: true})
  const tell = sentence => {
    place.textContent = sentence
    place.hidden = false
  }
  return {place, tell}
}
