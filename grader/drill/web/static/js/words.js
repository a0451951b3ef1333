// The page's sentences, which come from the server in the reader's language.

const KEPT = "mha-drill:language"
let known = {language: localStorage.getItem(KEPT), languages: {}, sentences: {}}

export const language = () => known.language
export const languages = () => known.languages

export function keepLanguage(name) {
  known = {...known, language: name}
  localStorage.setItem(KEPT, name)
}

export function takeWords(words) {
  known = words
  document.documentElement.lang = say("tag")
}

// The sentence of this name with its values put in.
export function say(name, values = {}) {
  const sentence = known.sentences[name]
  if (sentence === undefined) throw new Error(name)
  return sentence.replace(/\{(\w+)\}/g, (whole, field) => values[field] ?? whole)
}
