// The page: its top, which drill the address names, language and colours.
import {Lost, Refused, get} from "./api.js"
import {el, put} from "./dom.js"
import {showDrill} from "./drill.js"
import {showHome} from "./home.js"
import {keepLanguage, language, languages, say, takeWords} from "./words.js"

const THEME = "mha-drill:theme"
const THEMES = ["system", "light", "dark"]
const AGAIN = 1000
const main = document.getElementById("main")
let leave = () => {}
let turn = 0

// The token has become a cookie; it need not stand in the address or the history any longer.
history.replaceState(null, "", location.pathname + location.hash)
document.getElementById("skip").addEventListener("click", event => {
  event.preventDefault()
  main.focus()
})
addEventListener("hashchange", () => show(true))
setTheme(localStorage.getItem(THEME))
show(false)

// What the address names: #<drill>, or nothing for the first page.
async function show(isMoved) {
  const mine = ++turn
  leave()
  leave = () => {}
  try {
    takeWords(await get("words"))
    document.getElementById("skip").textContent = say("skip")
    document.getElementById("banner").textContent = ""
    const id = location.hash.slice(1)
    const left = id ? await showDrill(main, top, id) : await showHome(main, top)
    if (mine !== turn) return left()
    leave = left
    if (isMoved) main.focus()
  } catch (error) {
    if (!(error instanceof Lost || error instanceof Refused)) throw error
    if (error instanceof Refused) {
      top("")
      put(main, el("div", {class: "narrow"}, el("p", {role: "alert"}, error.message)))
    } else setTimeout(() => mine === turn && show(isMoved), AGAIN)
  }
}

function top(title, clock) {
  put(document.getElementById("top"),
    el("a", {class: "home", href: "#"}, say("name")),
    title ? el("h1", {class: "what"}, title) : null,
    el("div", {class: "right"}, clock ?? null, chooseLanguage(), chooseTheme()))
}

function chooseLanguage() {
  const options = Object.entries(languages()).map(([name, words]) =>
    el("option", {value: name, selected: name === language()}, words))
  return el("select", {
    class: "bare", "aria-label": say("choose-language"),
    onchange: async event => {
      keepLanguage(event.target.value)
      await show(false)
      document.querySelector("#top select").focus()
    },
  }, options)
}

function chooseTheme() {
  const now = localStorage.getItem(THEME) ?? THEMES[0]
  return el("select", {
    class: "bare", "aria-label": say("choose-theme"),
    onchange: event => setTheme(event.target.value),
  }, THEMES.map(name => el("option", {value: name, selected: name === now}, say(`theme-${name}`))))
}

function setTheme(name) {
  const isChosen = THEMES.includes(name) && name !== THEMES[0]
  if (isChosen) document.documentElement.dataset.theme = name
  else delete document.documentElement.dataset.theme
  if (name) localStorage.setItem(THEME, name)
}
