// What is read out to people who do not see the page change.

const SECONDS = 0.1

export function announce(...sentences) {
  const place = document.getElementById("live")
  place.textContent = ""
  // The same sentence twice is read twice only if it was gone in between.
  setTimeout(() => { place.textContent = sentences.filter(Boolean).join(" ") }, SECONDS * 1000)
}
