// Elements made in code. Whatever is not an element is put in as text, so nothing that came from a
// candidate's file can become markup.

const SVG = "http://www.w3.org/2000/svg"

// el("p", {class: "soft", onclick: act}, "text", another) -> <p class="soft">text…</p>
export const el = (name, attributes, ...children) =>
  fill(document.createElement(name), attributes, children)

export const svg = (name, attributes, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children)

// In place of what was there.
export function put(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter(isThere))
}

// A button that does one thing at a time.
export function button(words, act, attributes = {}) {
  const made = el("button", {type: "button", ...attributes}, words)
  made.addEventListener("click", async () => {
    if (made.getAttribute("aria-busy")) return
    made.setAttribute("aria-busy", "true")
    try {
      await act(made)
    } finally {
      made.removeAttribute("aria-busy")
    }
  })
  return made
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value)
    else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : value)
    }
  }
  made.append(...children.flat(Infinity).filter(isThere))
  return made
}

const isThere = child => child !== null && child !== undefined && child !== false
