// The editor of the page: CodeMirror 6 for Python, in the page's own colours and language.
import {EditorState, Compartment, StateEffect, StateField, Transaction} from "@codemirror/state"
import {
  Decoration, EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter,
  highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view"
import {
  defaultKeymap, history, historyKeymap, indentLess, insertTab, isolateHistory,
} from "@codemirror/commands"
import {
  HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting,
} from "@codemirror/language"
import {closeBrackets, closeBracketsKeymap} from "@codemirror/autocomplete"
import {highlightSelectionMatches, searchKeymap, search} from "@codemirror/search"
import {python} from "@codemirror/lang-python"
import {tags} from "@lezer/highlight"

const INDENT = "    "

const colours = HighlightStyle.define([
  {tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)"},
  {tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)"},
  {tag: [tags.number, tags.bool, tags.null, tags.self], color: "var(--code-value)"},
  {tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic"},
  {
    tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)],
    color: "var(--code-name)", fontWeight: "600",
  },
  {tag: tags.invalid, textDecoration: "underline wavy var(--bad)"},
])

const look = EditorView.theme({
  "&": {height: "100%", color: "var(--ink)", backgroundColor: "transparent"},
  "&.cm-focused": {outline: "none"},
  ".cm-scroller": {fontFamily: "var(--mono)", fontSize: "var(--code-size)", lineHeight: "1.6"},
  ".cm-content": {caretColor: "var(--ink)", paddingBlock: "0.75rem"},
  ".cm-cursor": {borderLeftColor: "var(--ink)", borderLeftWidth: "2px"},
  ".cm-gutters": {backgroundColor: "var(--panel)", color: "var(--soft)", border: "none"},
  ".cm-lineNumbers .cm-gutterElement": {padding: "0 0.75rem 0 1rem"},
  ".cm-activeLine, .cm-activeLineGutter": {backgroundColor: "var(--active)"},
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    {backgroundColor: "var(--selected)"},
  ".cm-selectionMatch": {backgroundColor: "var(--selected)"},
  "&.cm-focused .cm-matchingBracket": {backgroundColor: "var(--selected)", outline: "1px solid var(--soft)"},
  ".cm-marked": {backgroundColor: "var(--marked)", boxShadow: "inset 3px 0 var(--bad)"},
  ".cm-searchMatch": {backgroundColor: "var(--marked)"},
  ".cm-searchMatch-selected": {outline: "2px solid var(--accent)"},
  ".cm-panels": {backgroundColor: "var(--sunken)", color: "var(--ink)", borderColor: "var(--edge)"},
  ".cm-panel.cm-search": {padding: "0.5rem", fontSize: "0.9rem"},
  ".cm-textfield": {backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--control)"},
  ".cm-button": {
    backgroundImage: "none", backgroundColor: "var(--panel)", color: "var(--ink)",
    border: "1px solid var(--control)", borderRadius: "6px",
  },
  ".cm-panel.cm-search [name=close]": {color: "var(--ink)", fontSize: "1.2rem"},
})

const setMark = StateEffect.define()
const markDecoration = Decoration.line({class: "cm-marked"})
// The line a grade speaks of: it moves with the text, and is gone once the line is edited away.
const mark = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    marks = marks.map(change.changes)
    for (const effect of change.effects) {
      if (effect.is(setMark)) marks = markLine(change.state, effect.value)
    }
    return marks
  },
  provide: field => EditorView.decorations.from(field),
})

function markLine(state, number) {
  if (!number || number > state.doc.lines) return Decoration.none
  return Decoration.set([markDecoration.range(state.doc.line(number).from)])
}

// Tab indents; after Escape it moves on, until the editor is entered anew.
const keys = [
  {key: "Tab", run: view => indent(view), shift: indentLess},
  {key: "Escape", run: view => { view.setTabFocusMode(true); return false }},
]

function indent(view) {
  if (view.state.selection.ranges.some(range => !range.empty)) return insertTab(view)
  const column = view.state.selection.main.head - view.state.doc.lineAt(view.state.selection.main.head).from
  view.dispatch(view.state.replaceSelection(" ".repeat(INDENT.length - column % INDENT.length)))
  return true
}

// An editor in `parent`. `label` and `describedBy` name it, `phrases` are CodeMirror's words in
// the reader's language, `nonce` lets its style sheet in, `changed` hears of every new text.
export function makeEditor({parent, text, label, describedBy, phrases, nonce, isPython, changed}) {
  const words = new Compartment()
  const state = EditorState.create({
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      keymap.of([...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...keys, ...defaultKeymap]),
      lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), highlightSpecialChars(),
      history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
      highlightSelectionMatches(), search({top: true}), isPython ? python() : EditorView.lineWrapping, indentUnit.of(INDENT),
      syntaxHighlighting(colours), look, mark,
      EditorView.contentAttributes.of({
        "aria-label": label, "aria-describedby": describedBy, spellcheck: "false",
        autocapitalize: "off", autocorrect: "off", translate: "no",
      }),
      words.of(EditorState.phrases.of(phrases)),
      EditorView.updateListener.of(update => {
        if (update.docChanged) changed?.(update.state.doc.toString())
        if (update.focusChanged && !update.view.hasFocus) update.view.setTabFocusMode(false)
      }),
    ],
  })
  const view = new EditorView({state, parent})
  return {
    text: () => view.state.doc.toString(),
    focus: () => view.focus(),
    mark: line => view.dispatch({effects: setMark.of(line)}),
    show: line => goTo(view, line),
    // As one step that can be undone: what was there is not lost.
    replace: text => view.dispatch({
      changes: {from: 0, to: view.state.doc.length, insert: text},
      annotations: [isolateHistory.of("full"), Transaction.userEvent.of("input.paste")],
    }),
    destroy: () => view.destroy(),
  }
}

function goTo(view, number) {
  const line = view.state.doc.line(Math.min(number, view.state.doc.lines))
  view.dispatch({selection: {anchor: line.from}, effects: EditorView.scrollIntoView(line.from, {y: "center"})})
  view.focus()
}
