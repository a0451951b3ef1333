// What is asked of the server. It answers with data, or with one sentence about why not.
import {language} from "./words.js"

// The server said no, in a sentence for the reader.
export class Refused extends Error {
  constructor(said, status) {
    super(said)
    this.status = status
  }
}

// The server could not be reached at all.
export class Lost extends Error {}

export const get = path => ask(path, {})

export const post = (path, data = {}) => ask(path, {
  method: "POST",
  headers: {"Content-Type": "application/json"},
  body: JSON.stringify(data),
})

// The address of something with the sentences in the reader's language.
export const place = path => `${path}${language() ? `?lang=${encodeURIComponent(language())}` : ""}`

async function ask(path, how) {
  let answer
  try {
    answer = await fetch(place(`/api/${path}`), how)
  } catch {
    throw new Lost()
  }
  const isData = answer.headers.get("content-type")?.startsWith("application/json")
  try {
    const data = isData ? await answer.json() : {said: await answer.text()}
    if (answer.ok) return data
    throw new Refused(data.said, answer.status)
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Lost()
  }
}
