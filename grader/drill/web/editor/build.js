// Bundles editor.js into ../static, and writes down the licence of every package that is in it.
import {createHash} from "node:crypto"
import {readFileSync, writeFileSync} from "node:fs"
import {build} from "esbuild"

// A test compares these, so that the bundle is that of the sources beside it.
const sum = name => createHash("sha256").update(readFileSync(name)).digest("hex")
const sums = ["editor.js", "package-lock.json"].map(name => `${name} ${sum(name)}`)

const made = await build({
  entryPoints: ["editor.js"],
  outfile: "../static/editor.js",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2020",
  legalComments: "none",
  banner: {js: `// Built from ${sums.join(", ")}`},
  metafile: true,
  logLevel: "info",
})

const packageOf = path => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]
const names = [...new Set(Object.keys(made.metafile.inputs).map(packageOf).filter(Boolean))].sort()
const parts = names.map(name => {
  const {version, license} = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"))
  if (license !== "MIT") throw new Error(`${name}: ${license}`)
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`
})
writeFileSync("../static/editor.LICENSE.txt", parts.join(`\n${"-".repeat(72)}\n\n`))
