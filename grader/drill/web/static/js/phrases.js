// The editor's own words, by what CodeMirror calls them.
import {say} from "./words.js"

const PHRASES = {
  Find: "find", Replace: "replace", next: "find-next", previous: "find-previous", all: "find-all",
  "match case": "match-case", regexp: "regexp", "by word": "by-word", replace: "replace-one",
  "replace all": "replace-all", close: "close", "Go to line": "go-to-line", go: "go",
  "current match": "current-match", "on line": "on-line", "replaced match on line $": "replaced-on",
  "replaced $ matches": "replaced-many", "Control character": "control-character",
}

export const phrases = () =>
  Object.fromEntries(Object.entries(PHRASES).map(([theirs, ours]) => [theirs, say(`find.${ours}`)]))
